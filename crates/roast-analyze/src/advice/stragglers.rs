//! A file, host or dataset whose chunks are slower than all others'.
//!
//! A chunk is compared with the medians of the others, of the same dataset where
//! files or hosts are compared: what they take around `process()`, and inside of
//! it. A longer chunk may take longer inside in proportion; a shorter one is not
//! expected to be faster, since part of the user's code may not depend on events.
//! The gain is what the group takes beyond that; for the wall time its chunks are
//! dealt out again at the others' speed.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::chunks::{Chunk, Chunks};
use super::evidence::Evidence;
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
    fn of(some: &[Item], more: &[Item], room: &mut Vec<f64>) -> Option<Self> {
        let mut middle = |get: fn(&Item) -> f64| middle(room, some.iter().chain(more).map(get));
        Some(Self {
            around_secs: middle(|item| item.secs() - item.process_secs())?,
            process_secs: middle(Item::process_secs)?,
            events: middle(Item::events)?,
        })
    }

    /// How many times longer than usual each took.
    fn ratios(self, items: &[Item]) -> impl Iterator<Item = f64> {
        let ratios = items.iter().map(move |item| item.secs() / self.secs(item.events()));
        ratios.filter(|ratio| ratio.is_finite())
    }

    fn secs(self, events: f64) -> f64 {
        self.around_secs + self.process_secs * (events / self.events).max(1.0)
    }
}

/// What tells the chunks of a group.
type Code = fn(Chunk<'_>) -> u32;

/// The group of chunks that is furthest behind, of whatever kind.
pub(super) struct Slowest {
    kind: &'static str,
    code: Code,
    group: Group,
}

/// A kind of group, what tells its chunks, and what tells those that may be compared.
pub(super) type Kind = (&'static str, Code, Code);

/// One file or host inside each dataset; a dataset against the other ones.
pub(super) const KINDS: [Kind; 3] = [
    ("host", |chunk| chunk.host(), |chunk| chunk.dataset()),
    ("file", |chunk| chunk.file(), |chunk| chunk.dataset()),
    ("dataset", |chunk| chunk.dataset(), |_| 0),
];

impl Slowest {
    /// The one of a kind.
    pub(super) fn of(chunks: &Chunks<'_>, &(kind, code, among): &Kind) -> Option<Self> {
        Some(Self { kind, code, group: slowest(chunks, code, among)? })
    }

    /// The one furthest behind of all kinds, which come in their order.
    pub(super) fn among(slowest: impl DoubleEndedIterator<Item = Self>) -> Option<Self> {
        // Where a host and a file explain the same, the host comes first.
        slowest.rev().max_by(|a, b| a.group.excess_secs.total_cmp(&b.group.excess_secs))
    }
}

pub(super) fn slow_group(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let Slowest { kind, code, group } = evidence.slowest.as_ref()?;
    let outlook = plan?.with_chunk_secs(|index, secs| match evidence.chunks.get(index) {
        Some(chunk) if code(chunk) == group.code => secs.min(group.usual.secs(chunk.events())),
        _ => secs,
    });
    let gain = Gain::new(group.excess_secs, evidence.wall_secs, outlook.wall_secs);
    if !gain.is_worth(evidence) {
        return None;
    }
    let names = match *kind {
        "host" => &evidence.chunks.hosts,
        "file" => &evidence.chunks.files,
        _ => &evidence.chunks.datasets,
    };
    let name = names.name(group.code).unwrap_or(UNKNOWN);
    let action = match *kind {
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

/// What is compared of a chunk: close together and short, since there are millions
/// of them and they are gone through often. Seven digits tell slow from usual.
#[derive(Clone, Copy, Default)]
struct Item {
    secs: f32,
    process_secs: f32,
    events: f32,
}

impl Item {
    fn of(chunk: Chunk<'_>) -> Self {
        let (secs, process_secs) = (chunk.secs() as f32, chunk.process_secs() as f32);
        Self { secs, process_secs, events: chunk.events() as f32 }
    }

    fn secs(&self) -> f64 {
        self.secs.into()
    }

    fn process_secs(&self) -> f64 {
        self.process_secs.into()
    }

    fn events(&self) -> f64 {
        self.events.into()
    }
}

/// Where the items of a group are.
#[derive(Clone, Copy)]
struct Place {
    among: u32,
    code: u32,
    start: usize,
    stop: usize,
}

/// The group that is furthest behind the others in seconds, if any is far enough.
fn slowest(chunks: &Chunks<'_>, code: Code, among: Code) -> Option<Group> {
    let chunks = || chunks.iter().filter(|chunk| chunk.events() > 0.0);
    let key = |chunk: Chunk<'_>| (among(chunk), code(chunk));
    let (mut groups, group_of) = sorted_groups(chunks().map(key));
    let mut items = vec![Item::default(); group_of.len()];
    for (chunk, group) in chunks().zip(group_of) {
        let Some(place) = groups.get_mut(group as usize) else { continue };
        if let Some(item) = items.get_mut(place.stop) {
            *item = Item::of(chunk);
        }
        place.stop += 1;
    }
    let mut room = Vec::new();
    groups
        .chunk_by(|a, b| a.among == b.among)
        .filter_map(|field| slowest_of_field(field, &items, &mut room))
        .max_by(|a, b| a.excess_secs.total_cmp(&b.excess_secs))
}

/// Every group in order, with room for its items and none in it yet; and the group
/// of each key.
fn sorted_groups(keys: impl Iterator<Item = (u32, u32)>) -> (Vec<Place>, Vec<u32>) {
    let mut numbers: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
    let mut counts: Vec<((u32, u32), usize)> = Vec::new();
    let number_of = |key| {
        let fresh = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let group = *numbers.entry(key).or_insert(fresh);
        if group == fresh {
            counts.push((key, 0));
        }
        if let Some((_, count)) = counts.get_mut(group as usize) {
            *count += 1;
        }
        group
    };
    let mut group_of: Vec<u32> = keys.map(number_of).collect();
    counts.sort_unstable();
    let mut rank = vec![0; counts.len()];
    let mut next = 0;
    let places = (0..)
        .zip(counts)
        .map(|(place, (key, count))| {
            let number = numbers.get(&key).and_then(|number| rank.get_mut(*number as usize));
            if let Some(rank) = number {
                *rank = place;
            }
            let start = next;
            next += count;
            Place { among: key.0, code: key.1, start, stop: start }
        })
        .collect();
    for group in &mut group_of {
        *group = rank.get(*group as usize).copied().unwrap_or(0);
    }
    (places, group_of)
}

/// The same among groups that are compared with each other.
fn slowest_of_field(groups: &[Place], items: &[Item], room: &mut Vec<f64>) -> Option<Group> {
    let (first, last) = (groups.first()?.start, groups.last()?.stop);
    let usual = Usual::of(items.get(first..last)?, &[], room)?;
    let (place, _) = groups
        .iter()
        .filter_map(|place| {
            let group = items.get(place.start..place.stop)?;
            Some((place, middle(room, usual.ratios(group))?))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let group = items.get(place.start..place.stop)?;
    let (before, after) = (items.get(first..place.start)?, items.get(place.stop..last)?);
    if before.len() + after.len() < MIN_OTHERS.max(group.len()) {
        return None;
    }
    let usual = Usual::of(before, after, room)?;
    let ratio = middle(room, usual.ratios(group))?;
    if ratio < SLOWER {
        return None;
    }
    let others = usual.ratios(before).chain(usual.ratios(after));
    if ratio < 1.0 + DEVIATIONS * middle(room, others.map(|ratio| (ratio - 1.0).abs()))? {
        return None;
    }
    let excess = |item: &Item| (item.secs() - usual.secs(item.events())).max(0.0);
    let excess_secs = group.iter().map(excess).sum();
    Some(Group { code: place.code, excess_secs, ratio, chunks: group.len(), usual })
}

/// The median, with room for the numbers that was used before.
fn middle(room: &mut Vec<f64>, numbers: impl Iterator<Item = f64>) -> Option<f64> {
    room.clear();
    room.extend(numbers);
    median(room)
}
