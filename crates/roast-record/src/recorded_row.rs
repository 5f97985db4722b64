//! From what a recorder gathered, in nanoseconds and names, to the one row of
//! its log, in the units in which rows are kept.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use roast_model::Value;

use crate::chunk_log::{ChunkLog, micros};
use crate::clock::nanos;
use crate::costs::BranchCost;
use crate::identity::Ending;
use crate::palettes::{Place, Source};
use crate::read_sums::{ReadSum, Sum};
use crate::recorder::State;
use crate::row::{Reading, Row, Section, Times};

/// The log of one attempt that ended at `ended`.
pub(crate) fn log_of(nonce: u128, state: State, ending: Ending, ended: Instant) -> ChunkLog {
    let mut log = ChunkLog::new();
    let identity = &state.identity;
    let name = |log: &mut ChunkLog, text: &Option<String>| text.as_ref().map(|text| log.name(text));
    let source = Source {
        dataset: name(&mut log, &identity.dataset),
        file: name(&mut log, &identity.file),
        uuid: name(&mut log, &identity.uuid),
        tree: name(&mut log, &identity.tree),
    };
    let place = Place {
        worker: name(&mut log, &identity.worker),
        host: name(&mut log, &identity.host),
        thread: state.thread_id,
    };
    let elapsed_us = micros(nanos(ended.saturating_duration_since(state.started.wall)));
    let elapsed_ns = to_i64(elapsed_us.saturating_mul(1_000));
    let mut row = Row {
        source: log.palettes.sources.code_of(source),
        place: log.palettes.places.code_of(place),
        entry_start: identity.entry_start,
        entry_stop: identity.entry_stop,
        num_events: state.num_events,
        start_ns: Some(state.start_utc.0),
        stop_ns: Some(state.start_utc.0.saturating_add(elapsed_ns)),
        phases: state.phases.map(Times::from),
        rss_start_bytes: state.rss_start_bytes.map(to_i64),
        rss_end_bytes: state.rss_end_bytes.map(to_i64),
        rss_peak_bytes: state.memory.peak_bytes().map(to_i64),
        bytes_read: ending.bytes_read,
        setup_bytes: ending.setup_bytes,
        requests: ending.requests.or(state.total.requests),
        replayed: ending.replayed,
        dropped_sections: state.sections.dropped,
        extra: extra(&state),
        ..Row::default()
    };
    if let Some(key) = &identity.task_key {
        log.set_task_key(&mut row, key);
    }
    row.error = ending.error.as_ref().map(|error| log.name(error));
    row.sections = sections(&mut log, &state);
    add_branches(&mut log, &mut row, &state, source.dataset);
    for (key, facts) in &state.files {
        let key = Source {
            dataset: None,
            file: name(&mut log, &key.file),
            uuid: name(&mut log, &key.uuid),
            tree: name(&mut log, &key.tree),
        };
        let Ok(facts) = facts.rename(|branch| Ok::<_, Infallible>(log.shared_name(branch)));
        log.content.files.entry(key).or_default().unite(&facts);
    }
    row.recorder_us = Some(micros(state.own_ns.saturating_add(nanos(ended.elapsed()))));
    log.push(nonce, row);
    log
}

fn add_branches(log: &mut ChunkLog, row: &mut Row, state: &State, dataset: Option<u32>) {
    let Some(branches) = &state.branches else { return };
    let mut sorted: Vec<(&Arc<str>, &ReadSum)> = branches.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let mut set = Vec::with_capacity(sorted.len());
    for (name, sum) in sorted {
        let branch = log.shared_name(name);
        set.push(branch);
        log.content.costs.insert((dataset, branch), BranchCost::from(sum));
    }
    row.branch_set = Some(log.palettes.branch_sets.code_of(Arc::from(set)));
    row.reading = Some(Reading {
        read: Times::from(state.total.read),
        decompress: Times::from(state.total.decompress),
        interpret: Times::from(state.total.interpret),
        bytes: state.total.bytes.map(to_i64),
        reads: state.total.reads,
        cached: state.total.cached,
        preloaded: state.total.preloaded,
    });
}

fn sections(log: &mut ChunkLog, state: &State) -> Vec<Section> {
    let stack = &state.sections;
    let names: Vec<u32> = stack.names.iter().map(|name| log.name(name)).collect();
    let name_of = |code: u32| usize::try_from(code).ok().and_then(|code| names.get(code)).copied();
    let mut sections = Vec::with_capacity(stack.kept.len() + stack.summed.len());
    for section in &stack.kept {
        let gauges = section.gauges.as_deref().copied().unwrap_or_default();
        sections.push(Section {
            name: section.name.and_then(name_of).unwrap_or_default(),
            kind: section.kind,
            parent: section.parent,
            start: Some(units(section.start_ns)),
            wall: section.wall_ns.map(units),
            cpu: section.cpu_ns.map(units),
            rss_start_bytes: gauges.0.rss_bytes,
            rss_end_bytes: gauges.1.rss_bytes,
            bytes: section.bytes(),
            count: 1,
        });
    }
    for (name, kind, sum) in &stack.summed {
        sections.push(Section {
            name: name_of(*name).unwrap_or_default(),
            kind: *kind,
            parent: None,
            start: None,
            wall: Some(units(sum.wall_ns)),
            cpu: sum.cpu_ns.map(units),
            rss_start_bytes: None,
            rss_end_bytes: None,
            bytes: sum.bytes,
            count: sum.count,
        });
    }
    sections
}

fn extra(state: &State) -> Option<String> {
    let mut pairs = Vec::new();
    if !state.custom.is_empty() {
        pairs.push((Value::from("custom_metrics"), Value::Map(state.custom.clone())));
    }
    pairs.extend(state.extra.iter().cloned());
    (!pairs.is_empty()).then(|| Value::Map(pairs).to_json().to_string())
}

impl From<Sum> for Times {
    fn from(sum: Sum) -> Self {
        Self {
            wall_us: sum.wall_ns.map(micros),
            cpu_us: sum.cpu_ns.map(micros),
            run_queue_us: sum.run_queue_ns.map(micros),
        }
    }
}

impl From<&ReadSum> for BranchCost {
    fn from(sum: &ReadSum) -> Self {
        Self {
            reads: sum.reads,
            cached: sum.cached,
            preloaded: sum.preloaded,
            wall_us: sum.read.wall_ns.map(micros),
            cpu_us: sum.read.cpu_ns.map(micros),
            bytes: sum.bytes,
            requests: sum.requests,
            decompress_us: sum.decompress.wall_ns.map(micros),
            interpret_us: sum.interpret.wall_ns.map(micros),
        }
    }
}

/// Sections are kept in units of 100 ns.
fn units(ns: u64) -> u64 {
    ns.saturating_add(50) / 100
}

fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
