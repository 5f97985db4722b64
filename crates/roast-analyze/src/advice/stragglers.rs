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
    fn of(some: &[Item], more: &[Item], room: &mut Vec<f64>) -> Option<Self> {
        let mut middle = |get: fn(&Item) -> f64| middle(room, some.iter().chain(more).map(get));
        Some(Self {
            around_secs: middle(|item| item.secs - item.process_secs)?,
            process_secs: middle(|item| item.process_secs)?,
            events: middle(|item| item.events)?,
        })
    }

    /// How many times longer than usual each took.
    fn ratios(self, items: &[Item]) -> impl Iterator<Item = f64> {
        let ratios = items.iter().map(move |item| item.secs / self.secs(item.events));
        ratios.filter(|ratio| ratio.is_finite())
    }

    fn secs(self, events: f64) -> f64 {
        self.around_secs + self.process_secs * (events / self.events).max(1.0)
    }
}

/// What tells the chunks of a group.
type Code = fn(&Chunk) -> u32;

/// The group of chunks that is furthest behind, of whatever kind.
pub(super) struct Slowest {
    kind: &'static str,
    code: Code,
    group: Group,
}

impl Slowest {
    pub(super) fn of(chunks: &[Chunk]) -> Option<Self> {
        // One file or host inside each dataset; a dataset against the other ones.
        let kinds: [(&str, Code, Code); 3] = [
            ("host", |chunk| chunk.host, |chunk| chunk.dataset),
            ("file", |chunk| chunk.file, |chunk| chunk.dataset),
            ("dataset", |chunk| chunk.dataset, |_| 0),
        ];
        let mut room = Room::default();
        let groups = kinds.map(|(_, code, among)| slowest(chunks, code, among, &mut room));
        kinds
            .into_iter()
            .zip(groups)
            .filter_map(|((kind, code, _), group)| Some(Self { kind, code, group: group? }))
            // Where a host and a file explain the same, the host comes first.
            .rev()
            .max_by(|a, b| a.group.excess_secs.total_cmp(&b.group.excess_secs))
    }
}

pub(super) fn slow_group(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let Slowest { kind, code, group } = evidence.slowest.as_ref()?;
    let outlook = plan?.with_chunk_secs(|index, secs| match evidence.chunks.get(index) {
        Some(chunk) if code(chunk) == group.code => secs.min(group.usual.secs(chunk.events)),
        _ => secs,
    });
    let gain = Gain::new(group.excess_secs, evidence.wall_secs, outlook.wall_secs);
    if !gain.is_worth(evidence) {
        return None;
    }
    let names = match *kind {
        "host" => &evidence.hosts,
        "file" => &evidence.files,
        _ => &evidence.datasets,
    };
    let name = names.names().get(group.code as usize).copied().flatten().unwrap_or(UNKNOWN);
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

/// Memory that is used again for each kind of group.
#[derive(Default)]
struct Room {
    items: Vec<Item>,
    ordered: Vec<Item>,
    numbers: Vec<f64>,
}

/// The group that is furthest behind the others in seconds, if any is far enough.
fn slowest(chunks: &[Chunk], code: Code, among: Code, room: &mut Room) -> Option<Group> {
    let Room { items, ordered, numbers } = room;
    items.clear();
    items.extend(chunks.iter().filter(|chunk| chunk.events > 0.0).map(|chunk| Item {
        among: among(chunk),
        code: code(chunk),
        secs: chunk.secs,
        process_secs: chunk.process_secs,
        events: chunk.events,
    }));
    put_in_order(items, ordered, |item| item.code);
    put_in_order(items, ordered, |item| item.among);
    items
        .chunk_by(|a, b| a.among == b.among)
        .filter_map(|field| slowest_of_field(field, numbers))
        .max_by(|a, b| a.excess_secs.total_cmp(&b.excess_secs))
}

/// What is compared of a chunk: close together, since it is gone through often.
#[derive(Clone, Copy, Default)]
struct Item {
    among: u32,
    code: u32,
    secs: f64,
    process_secs: f64,
    events: f64,
}

/// Puts items in the order of a number that runs from zero on; equals stay as they
/// are.
fn put_in_order(items: &mut Vec<Item>, ordered: &mut Vec<Item>, key: impl Fn(&Item) -> u32) {
    if items.is_sorted_by_key(&key) {
        return;
    }
    let key = |item: &Item| key(item) as usize;
    // Where the items of each number begin, and then where the next of them goes.
    let mut places: Vec<usize> = vec![0; items.iter().map(key).max().map_or(0, |most| most + 2)];
    for item in items.iter() {
        if let Some(count) = places.get_mut(key(item) + 1) {
            *count += 1;
        }
    }
    let mut before = 0;
    for place in &mut places {
        before += *place;
        *place = before;
    }
    ordered.resize(items.len(), Item::default());
    for item in items.iter() {
        let Some(place) = places.get_mut(key(item)) else { continue };
        if let Some(slot) = ordered.get_mut(*place) {
            *slot = *item;
        }
        *place += 1;
    }
    std::mem::swap(items, ordered);
}

/// The same in one field, whose chunks must be in the order of their groups.
fn slowest_of_field(field: &[Item], room: &mut Vec<f64>) -> Option<Group> {
    let usual = Usual::of(field, &[], room)?;
    let mut start = 0;
    let (at, _) = field
        .chunk_by(|a, b| a.code == b.code)
        .filter_map(|group| {
            let at = start..start + group.len();
            start = at.end;
            Some((at, middle(room, usual.ratios(group))?))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (before, rest) = field.split_at_checked(at.start)?;
    let (group, after) = rest.split_at_checked(at.len())?;
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
    let excess_secs = group.iter().map(|item| (item.secs - usual.secs(item.events)).max(0.0)).sum();
    let code = group.first()?.code;
    Some(Group { code, excess_secs, ratio, chunks: group.len(), usual })
}

/// The median, with room for the numbers that was used before.
fn middle(room: &mut Vec<f64>, numbers: impl Iterator<Item = f64>) -> Option<f64> {
    room.clear();
    room.extend(numbers);
    median(room)
}
