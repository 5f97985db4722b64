//! Rows in the order in which they began, each with the number of its attempt
//! and what came of it. Both are known only when every row is there.

use std::collections::HashMap;

use crate::chunk_log::ChunkLog;

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
    pub(crate) index: usize,
    /// Number of the attempt at its chunk, from 1.
    pub(crate) attempt: i64,
    pub(crate) outcome: Outcome,
    /// Same for every attempt at one chunk.
    pub(crate) chunk: usize,
    /// The set of branches it read, as the log numbers them.
    pub(crate) branch_set: Option<u32>,
}

/// Rows in the order of their start, ranked.
#[derive(Clone, Debug, Default)]
pub struct RowOrder {
    pub(crate) rows: Vec<Ranked>,
}

impl RowOrder {
    /// Ranks the rows of a log. The order holds until the log changes.
    pub fn of(log: &ChunkLog) -> Self {
        let mut indices: Vec<usize> = (0..log.rows.len()).collect();
        indices.sort_unstable_by_key(|&index| {
            log.rows.get(index).map(|row| (row.start_ns, row.nonce))
        });
        let mut chunks: HashMap<_, usize> = HashMap::new();
        let mut attempts: Vec<i64> = Vec::new();
        let mut last_ok: Vec<Option<usize>> = Vec::new();
        let mut rows = Vec::with_capacity(indices.len());
        for index in indices {
            let Some(row) = log.rows.get(index).map(|stored| stored.unpack()) else { continue };
            let has_file = log.sources.get(row.source).is_some_and(|source| source.file.is_some());
            let fresh = attempts.len();
            // Without a file and entries there is no telling whether two rows
            // are about the same chunk: each is one of its own.
            let chunk = match (row.entry_start, row.entry_stop) {
                (Some(start), Some(stop)) if has_file => {
                    *chunks.entry((row.source, start, stop)).or_insert(fresh)
                }
                _ => fresh,
            };
            if chunk == fresh {
                attempts.push(0);
                last_ok.push(None);
            }
            let attempt = attempts.get_mut(chunk).map_or(1, |attempts| {
                *attempts += 1;
                *attempts
            });
            let outcome = if row.error.is_some() {
                Outcome::Failed
            } else if row.replayed {
                Outcome::Replayed
            } else {
                Outcome::Ok
            };
            if outcome == Outcome::Ok
                && let Some(earlier) =
                    last_ok.get_mut(chunk).and_then(|last| last.replace(rows.len()))
                && let Some(earlier) = rows.get_mut(earlier)
            {
                let earlier: &mut Ranked = earlier;
                earlier.outcome = Outcome::Repeated;
            }
            rows.push(Ranked { index, attempt, outcome, chunk, branch_set: row.branch_set });
        }
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
