//! Rows in the order in which they began, each with the number of its attempt
//! and what came of it. Both are known only when every row is there.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use roast_model::{ROWS_WORTH_A_THREAD, both};

use crate::chunk_log::ChunkLog;
use crate::row::Head;
use crate::row_store::StoredRow;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The last success of its chunk.
    #[default]
    Ok,
    /// It raised.
    Failed,
    /// A success that was not the last of its chunk.
    Repeated,
    /// Taken from a checkpoint.
    Replayed,
}

impl Outcome {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Repeated => "repeated",
            Self::Replayed => "replayed",
        }
    }
}

/// A row's place among all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ranked {
    /// Index into the log's rows.
    pub(crate) index: u32,
    /// Number of the attempt at its chunk, from 1.
    pub(crate) attempt: u32,
    /// Same for every attempt at one chunk; numbered from 0 by the first.
    pub(crate) chunk: u32,
    /// Where the chunk is from, as the log numbers it.
    pub(crate) source: u32,
    /// The set of branches it read, as the log numbers them.
    pub(crate) branch_set: Option<u32>,
    pub(crate) outcome: Outcome,
}

/// Rows in the order of their start, ranked.
#[derive(Clone, Debug, Default)]
pub struct RowOrder {
    pub(crate) rows: Vec<Ranked>,
}

impl RowOrder {
    /// Ranks the rows of a log. The order holds until the log changes.
    pub fn of(log: &ChunkLog) -> Self {
        let index = (0..).take(log.len());
        let mut rows: Vec<Ranked> =
            index.map(|index| Ranked { index, ..Ranked::default() }).collect();
        sort_by_start(log, &mut rows);
        let repeats = repeats(log, &mut rows);
        number(&mut rows, &repeats);
        Self { rows }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

fn sort_by_start(log: &ChunkLog, rows: &mut [Ranked]) {
    let stored = |ranked: &Ranked| log.content.rows.get(ranked.index as usize);
    let start = |ranked: &Ranked| stored(ranked).and_then(StoredRow::start_ns);
    let nonce = |ranked: &Ranked| stored(ranked).map(StoredRow::nonce);
    // Logs arrive more or less in order of time, which a stable sort makes use of.
    let sort = |rows: &mut [Ranked]| {
        rows.sort_by(|a, b| start(a).cmp(&start(b)).then_with(|| nonce(a).cmp(&nonce(b))));
    };
    if rows.len() >= ROWS_WORTH_A_THREAD {
        let (first, second) = rows.split_at_mut(rows.len() / 2);
        both(|| sort(first), || sort(second));
    }
    sort(rows);
}

/// Fills in what the head of each row tells, and finds the rows whose chunk came
/// before: the row, and the first of its chunk.
fn repeats(log: &ChunkLog, rows: &mut [Ranked]) -> Vec<(u32, u32)> {
    let hashes = RandomState::default();
    let mut keys = if rows.len() < ROWS_WORTH_A_THREAD {
        keys_of(log, rows, 0, &hashes)
    } else {
        let middle = rows.len() / 2;
        let (first, second) = rows.split_at_mut(middle);
        let (mut keys, more) =
            both(|| keys_of(log, first, 0, &hashes), || keys_of(log, second, middle, &hashes));
        keys.extend(more);
        keys
    };
    // Each part is in order, which a stable sort makes use of.
    keys.sort();
    let mut repeats: Vec<(u32, u32)> = keys
        .chunk_by(|a, b| a.hash == b.hash)
        .filter(|alike| alike.len() > 1)
        .flat_map(|alike| repeats_of(log, rows, alike))
        .collect();
    repeats.sort_unstable();
    repeats
}

/// Part of a chunk's hash, and one of its rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    hash: u32,
    row: u32,
}

/// What tells a chunk from others: its source and entries.
type Identity = (u32, i64, i64);

/// Without a file and entries there is no telling whether two rows are about the
/// same chunk: each is one of its own.
fn identity(log: &ChunkLog, ranked: &Ranked) -> Option<(Head, Option<Identity>)> {
    let rows = &log.content.rows;
    let mut reader = rows.reader(rows.get(ranked.index as usize)?);
    let head = Head::read(&mut reader).ok()?;
    let entries = Head::entries(&mut reader);
    let source = log.palettes.sources.get(head.source).filter(|source| source.file.is_some());
    let identity = match (source, entries) {
        (Some(_), (Some(start), Some(stop))) => Some((head.source, start, stop)),
        _ => None,
    };
    Some((head, identity))
}

/// Keys of rows, the first of which is row number `before`, in order.
fn keys_of(log: &ChunkLog, rows: &mut [Ranked], before: usize, hashes: &RandomState) -> Vec<Key> {
    let mut keys = Vec::with_capacity(rows.len());
    for (row, ranked) in (before..).zip(rows) {
        let Some((head, identity)) = identity(log, ranked) else { continue };
        ranked.source = head.source;
        ranked.branch_set = head.branch_set;
        ranked.outcome = match (head.is_failed(), head.is_replayed()) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Replayed,
            (false, false) => Outcome::Ok,
        };
        if let (Some(identity), Ok(row)) = (identity, u32::try_from(row)) {
            keys.push(Key { hash: (hashes.hash_one(identity) >> 32) as u32, row });
        }
    }
    keys.sort_unstable();
    keys
}

/// Of rows with equal hashes, those that are about the same chunk as one before.
fn repeats_of(log: &ChunkLog, rows: &[Ranked], alike: &[Key]) -> Vec<(u32, u32)> {
    let mut firsts: HashMap<Identity, u32> = HashMap::new();
    let mut repeats = Vec::new();
    for key in alike {
        let ranked = rows.get(key.row as usize);
        let identity = ranked.and_then(|ranked| identity(log, ranked)?.1);
        let Some(identity) = identity else { continue };
        let first = *firsts.entry(identity).or_insert(key.row);
        if first != key.row {
            repeats.push((key.row, first));
        }
    }
    repeats
}

/// Numbers chunks and attempts.
fn number(rows: &mut [Ranked], repeats: &[(u32, u32)]) {
    let mut repeats = repeats.iter().copied().peekable();
    let mut attempts: HashMap<u32, u32> = HashMap::new();
    let mut chunks = 0;
    for row in 0..rows.len() {
        let repeated = repeats.next_if(|repeat| repeat.0 as usize == row);
        let (chunk, attempt) = match repeated.and_then(|repeat| rows.get(repeat.1 as usize)) {
            Some(first) => {
                let attempt = attempts.entry(first.chunk).or_insert(1);
                *attempt += 1;
                (first.chunk, *attempt)
            }
            None => {
                chunks += 1;
                (chunks - 1, 1)
            }
        };
        if let Some(ranked) = rows.get_mut(row) {
            (ranked.chunk, ranked.attempt) = (chunk, attempt);
        }
    }
    // Of several successes of a chunk, the last one counts.
    let mut succeeded_later: HashMap<u32, bool> =
        attempts.into_keys().map(|chunk| (chunk, false)).collect();
    for row in rows.iter_mut().rev().filter(|row| row.outcome == Outcome::Ok) {
        if succeeded_later.is_empty() {
            break;
        }
        let Some(later) = succeeded_later.get_mut(&row.chunk) else { continue };
        if std::mem::replace(later, true) {
            row.outcome = Outcome::Repeated;
        }
    }
}
