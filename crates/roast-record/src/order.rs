//! Rows in the order in which they began, each with the number of its attempt
//! and what came of it. Both are known only when every row is there.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use roast_model::FirstSeen;

use crate::chunk_log::ChunkLog;
use crate::row::Head;
use crate::row_store::StoredRow;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The last success of its chunk.
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
#[derive(Clone, Copy, Debug)]
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
        let mut order: Vec<(Option<i64>, u32)> =
            (0..).zip(log.content.rows.all()).map(|(index, row)| (row.start_ns(), index)).collect();
        let nonce = |index: u32| log.content.rows.get(index as usize).map(StoredRow::nonce);
        // Logs arrive more or less in order of time, which a stable sort makes use of.
        order.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| nonce(a.1).cmp(&nonce(b.1))));
        let identity = |index: u32| {
            let mut reader = log.content.rows.reader(log.content.rows.get(index as usize)?);
            let head = Head::read(&mut reader).ok()?;
            Some((head, Head::entries(&mut reader).ok()?))
        };
        let hashes = RandomState::default();
        let mut seen = FirstSeen::default();
        seen.reserve(order.len());
        let mut attempts: Vec<u32> = Vec::with_capacity(order.len());
        let mut rows: Vec<Ranked> = Vec::with_capacity(order.len());
        for (_, index) in order {
            let Some((head, entries)) = identity(index) else { continue };
            let has_file =
                log.palettes.sources.get(head.source).is_some_and(|source| source.file.is_some());
            // Without a file and entries there is no telling whether two rows
            // are about the same chunk: each is one of its own.
            let first = match entries {
                (Some(_), Some(_)) if has_file => {
                    let position = u32::try_from(rows.len()).unwrap_or(u32::MAX);
                    let is_same = |other: u32| {
                        let other = rows.get(other as usize).and_then(|row| identity(row.index));
                        other.is_some_and(|(its, its_entries)| {
                            its.source == head.source && its_entries == entries
                        })
                    };
                    let first =
                        seen.first(hashes.hash_one((head.source, entries)), position, is_same);
                    rows.get(first as usize).map(|row| row.chunk)
                }
                _ => None,
            };
            let fresh = u32::try_from(attempts.len()).unwrap_or(u32::MAX);
            let chunk = first.unwrap_or(fresh);
            if chunk == fresh {
                attempts.push(0);
            }
            let attempt = attempts.get_mut(chunk as usize).map_or(1, |attempts| {
                *attempts += 1;
                *attempts
            });
            let outcome = if head.is_failed() {
                Outcome::Failed
            } else if head.is_replayed() {
                Outcome::Replayed
            } else {
                Outcome::Ok
            };
            let (source, branch_set) = (head.source, head.branch_set);
            rows.push(Ranked { index, attempt, chunk, source, branch_set, outcome });
        }
        mark_repeated(&mut rows, attempts.len());
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

/// Of several successes of a chunk, the last one counts.
fn mark_repeated(rows: &mut [Ranked], chunks: usize) {
    let mut succeeded_later = vec![false; chunks];
    for row in rows.iter_mut().rev().filter(|row| row.outcome == Outcome::Ok) {
        let Some(later) = succeeded_later.get_mut(row.chunk as usize) else { continue };
        if std::mem::replace(later, true) {
            row.outcome = Outcome::Repeated;
        }
    }
}
