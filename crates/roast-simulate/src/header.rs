//! What is known once per run: coffea's report, Dask's spans, and that all of it
//! is made up.

use std::hash::{DefaultHasher, Hash, Hasher};

use roast_model::{Header, Phase, UtcNs, Value};

use crate::draw::Draw;
use crate::layout::{Layout, uuid};
use crate::model::Simulation;
use crate::recorder::{Sums, Totals};
use crate::rows::PROCESSOR;
use crate::schedule::Run;

/// One number for all that was asked for, so that runs of one seed but of different
/// size are different runs.
fn fingerprint(simulation: &Simulation) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{simulation:?}").hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn make(simulation: &Simulation, layout: &Layout, run: &Run, totals: &Totals) -> Header {
    let at = |ns: i64| UtcNs(simulation.started.0 + ns);
    let phase = |name: &str, (start, stop): (i64, i64), items: usize| Phase {
        name: name.to_owned(),
        start: at(start),
        stop: at(stop),
        items: items as i64,
    };
    let id = uuid(Draw::new(fingerprint(simulation), 6).bits());
    let wall_secs = run.wall_ns as f64 / 1e9;
    Header {
        provenance: provenance(simulation),
        report: report(simulation, layout, totals),
        spans: spans(simulation, run, totals),
        span_completeness: Some(1.0),
        processor_prefixes: vec![PROCESSOR.to_owned()],
        phases: vec![
            phase("preprocess", (0, run.process.0), layout.files.len()),
            phase("process", run.process, simulation.workload.chunks as usize),
        ],
        notes: vec![format!(
            "Simulated, not measured: a model of {} workers with {} threads each, seed {}.",
            simulation.cluster.workers, simulation.cluster.threads_per_worker, simulation.seed
        )],
        ..Header::new(&id, &simulation.name, "dask", simulation.started, wall_secs)
    }
}

fn provenance(simulation: &Simulation) -> Value {
    let (cluster, work) = (&simulation.cluster, &simulation.workload);
    Value::map([
        ("host", Value::from("a simulated cluster")),
        ("program", Value::from("roastcoffea simulate")),
        ("simulated", Value::Bool(true)),
        (
            "simulation",
            Value::map([
                // As text: a seed may be larger than any number JSON is sure to keep.
                ("seed", Value::Str(simulation.seed.to_string())),
                ("workers", Value::Int(cluster.workers.into())),
                ("threads_per_worker", Value::Int(cluster.threads_per_worker.into())),
                ("chunks", Value::Int(work.chunks as i64)),
                ("events", Value::Int(work.events as i64)),
                ("failures", Value::Float(work.failures)),
                ("stragglers", Value::Float(work.stragglers)),
            ]),
        ),
        ("versions", Value::map([("roastcoffea", Value::from(env!("CARGO_PKG_VERSION")))])),
    ])
}

fn report(simulation: &Simulation, layout: &Layout, totals: &Totals) -> Value {
    let sum = |get: fn(&Sums) -> i64| totals.by_dataset.iter().map(get).sum::<i64>();
    let columns =
        layout.branches.iter().map(|branch| Value::Str(format!("{}-data", branch.name))).collect();
    Value::map([
        ("bytesread", Value::Int(sum(|sums| sums.bytes))),
        ("columns", Value::Set(columns)),
        ("entries", Value::Int(sum(|sums| sums.events))),
        ("processtime", Value::Float(totals.process_ns as f64 / 1e9)),
        ("chunks", Value::Int(simulation.workload.chunks as i64)),
    ])
}

fn spans(simulation: &Simulation, run: &Run, totals: &Totals) -> Value {
    let reduce_cpu = totals.reduce_ns * 9 / 10;
    let threads = i64::from(simulation.cluster.threads_per_worker);
    let there: i64 = run
        .workers
        .iter()
        .map(|worker| (worker.stop - worker.start).max(0).saturating_mul(threads))
        .sum();
    let worked = totals.task_ns + totals.reduce_ns + totals.failed_ns;
    let entries = [
        (PROCESSOR, "thread-cpu", totals.attempt_cpu_ns),
        (PROCESSOR, "thread-noncpu", totals.task_ns - totals.attempt_cpu_ns),
        (PROCESSOR, "failed", totals.failed_ns),
        ("reduce", "thread-cpu", reduce_cpu),
        ("reduce", "thread-noncpu", totals.reduce_ns - reduce_cpu),
        ("N/A", "idle or other spans", (there - worked).max(0)),
    ];
    Value::Map(
        entries
            .into_iter()
            .map(|(prefix, activity, ns)| {
                let key = ["execute", prefix, activity, "seconds"].map(Value::from);
                (Value::Tuple(key.to_vec()), Value::Float(ns as f64 / 1e9))
            })
            .collect(),
    )
}
