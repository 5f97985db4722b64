//! A file, host or dataset whose chunks are slower than all others'.
//!
//! A chunk is compared with the medians of the others, of the same dataset where
//! files or hosts are compared: what they take around `process()`, and inside of
//! it. A longer chunk may take longer inside in proportion; a shorter one is not
//! expected to be faster, since part of the user's code may not depend on events.
//! The gain is what the group takes beyond that; for the wall time its chunks are
//! dealt out again at the others' speed.

use super::evidence::{Chunk, Evidence};
use super::plan::Plan;
use super::{Advice, Gain, words};
use crate::datasets::UNKNOWN;
use crate::statistics::median;

/// So many times slower than the others.
const SLOWER: f64 = 1.5;
/// And by so many of the others' own deviations.
const DEVIATIONS: f64 = 5.0 * 1.4826;
/// There must be so many others to compare with.
const MIN_OTHERS: usize = 4;

struct Group {
    code: u32,
    excess_secs: f64,
    ratio: f64,
    chunks: usize,
    usual: Usual,
}

/// What a chunk of the others takes.
#[derive(Clone, Copy)]
struct Usual {
    around_secs: f64,
    process_secs: f64,
    events: f64,
}

impl Usual {
    fn of(chunks: &[&Chunk]) -> Option<Self> {
        let middle = |get: fn(&Chunk) -> f64| {
            median(&mut chunks.iter().map(|chunk| get(chunk)).collect::<Vec<_>>())
        };
        Some(Self {
            around_secs: middle(|chunk| chunk.secs - chunk.process_secs)?,
            process_secs: middle(|chunk| chunk.process_secs)?,
            events: middle(|chunk| chunk.events)?,
        })
    }

    fn secs(self, chunk: &Chunk) -> f64 {
        self.around_secs + self.process_secs * (chunk.events / self.events).max(1.0)
    }
}

pub(super) fn slow_group(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    type Code = fn(&Chunk) -> u32;
    // One file or host inside each dataset; a dataset against the other ones.
    let kinds: [(&str, Code, Code); 3] = [
        ("host", |chunk| chunk.host, |chunk| chunk.dataset),
        ("file", |chunk| chunk.file, |chunk| chunk.dataset),
        ("dataset", |chunk| chunk.dataset, |_| 0),
    ];
    let (kind, code, group) = kinds
        .into_iter()
        .filter_map(|(kind, code, among)| {
            Some((kind, code, slowest(&evidence.chunks, code, among)?))
        })
        // Where a host and a file explain the same, the host comes first.
        .rev()
        .max_by(|a, b| a.2.excess_secs.total_cmp(&b.2.excess_secs))?;
    let outlook = plan?.with_chunk_secs(|index, secs| match evidence.chunks.get(index) {
        Some(chunk) if code(chunk) == group.code => secs.min(group.usual.secs(chunk)),
        _ => secs,
    });
    let gain = Gain::new(group.excess_secs, evidence.wall_secs, outlook.wall_secs);
    if !gain.is_worth(evidence) {
        return None;
    }
    let names = match kind {
        "host" => &evidence.hosts,
        "file" => &evidence.files,
        _ => &evidence.datasets,
    };
    let name = names.names().get(group.code as usize).copied().flatten().unwrap_or(UNKNOWN);
    let action = match kind {
        "host" => "look at this host, or leave it out",
        "file" => "look at this file: copy it to where the others are, or write it anew",
        _ => "look at what the processor does only for this dataset, and where its files are",
    };
    Some(Advice {
        rule: "stragglers",
        headline: format!(
            "Chunks of the {kind} {} take {:.1} times as long as others of their size.",
            words::name(name),
            group.ratio
        ),
        action: format!("{action}: at the speed of the others {}.", gain.sentence()),
        change: format!("look at the slow {kind} {}", words::name(name)),
        evidence: vec![
            (kind, words::name(name)),
            ("its chunks", words::count(group.chunks as f64)),
            (
                "time of a chunk of the others",
                words::duration(group.usual.around_secs + group.usual.process_secs),
            ),
            ("time beyond that", words::core_seconds(group.excess_secs)),
        ],
        threshold: "chunks of one file, host or dataset take half as long again as others of \
                    their size, and by more than five times what those differ among themselves",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}

/// The group that is furthest behind the others in seconds, if any is far enough.
fn slowest(
    chunks: &[Chunk],
    code: impl Fn(&Chunk) -> u32,
    among: impl Fn(&Chunk) -> u32,
) -> Option<Group> {
    let mut sorted: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.events > 0.0).collect();
    sorted.sort_by_key(|chunk| (among(chunk), code(chunk)));
    sorted
        .chunk_by(|a, b| among(a) == among(b))
        .filter_map(|field| slowest_of_field(field, &code))
        .max_by(|a, b| a.excess_secs.total_cmp(&b.excess_secs))
}

/// The same in one field, whose chunks must be in the order of their groups.
fn slowest_of_field(field: &[&Chunk], code: &impl Fn(&Chunk) -> u32) -> Option<Group> {
    let usual = Usual::of(field)?;
    let ratio = |usual: Usual, chunks: &[&Chunk]| {
        let ratios = chunks.iter().map(|chunk| chunk.secs / usual.secs(chunk));
        median(&mut ratios.filter(|ratio| ratio.is_finite()).collect::<Vec<_>>())
    };
    let (group, _) = field
        .chunk_by(|a, b| code(a) == code(b))
        .filter_map(|group| Some((group, ratio(usual, group)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let own_code = code(group.first()?);
    let others: Vec<&Chunk> =
        field.iter().filter(|chunk| code(chunk) != own_code).copied().collect();
    if others.len() < MIN_OTHERS.max(group.len()) {
        return None;
    }
    let usual = Usual::of(&others)?;
    let own = ratio(usual, group)?;
    let mut deviations: Vec<f64> = others
        .iter()
        .map(|chunk| (chunk.secs / usual.secs(chunk) - 1.0).abs())
        .filter(|deviation| deviation.is_finite())
        .collect();
    if own < SLOWER || own < 1.0 + DEVIATIONS * median(&mut deviations)? {
        return None;
    }
    let excess_secs = group.iter().map(|chunk| (chunk.secs - usual.secs(chunk)).max(0.0)).sum();
    Some(Group { code: own_code, excess_secs, ratio: own, chunks: group.len(), usual })
}
