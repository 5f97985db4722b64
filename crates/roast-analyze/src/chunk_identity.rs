//! Which rows are attempts at the same chunk: same dataset, file, UUID, tree and
//! entries. Without a file and entries there is no telling, so such a row is a
//! chunk of its own.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use roast_model::{FirstSeen, Frame};

use crate::chunk_rows::{ByName, Names, Outcome, slot};

/// What became of one chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chunk {
    /// Attempts that ran.
    pub(crate) attempts: u32,
    pub(crate) succeeded: bool,
    pub(crate) failed: bool,
    pub(crate) replayed: bool,
}

impl Chunk {
    /// It was tried, and no attempt gave a result.
    pub(crate) fn never_succeeded(self) -> bool {
        self.failed && !self.succeeded && !self.replayed
    }
}

/// The chunks behind the rows.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// The chunk of each row.
    pub(crate) of_row: Vec<u32>,
    /// The row with which each chunk first came.
    first_row: Vec<u32>,
    pub(crate) chunks: Vec<Chunk>,
}

impl Chunks {
    /// The row is the first of a chunk of which no attempt gave a result: one row
    /// for each such chunk.
    pub(crate) fn is_first_of_lost(&self, row: usize) -> bool {
        let chunk = self.of_row.get(row).map(|chunk| *chunk as usize);
        let is_lost = |chunk: usize| self.chunks.get(chunk).is_some_and(|c| c.never_succeeded());
        let first = |chunk: usize| self.first_row.get(chunk).map(|first| *first as usize);
        chunk.is_some_and(|chunk| is_lost(chunk) && first(chunk) == Some(row))
    }
}

/// A column of names, and their numbers.
type Numbered<'a> = (ByName<'a, usize>, Names<'a>);

fn number(column: &mut Numbered<'_>, row: usize) -> usize {
    let (column, names) = column;
    column.get(row, |name| names.code(name))
}

/// Sorts rows into chunks.
pub(crate) fn identify(rows: Frame<'_>, outcomes: &[Outcome]) -> Chunks {
    const SOURCE: [&str; 4] = ["dataset", "file", "uuid", "tree"];
    let sources = SOURCE.map(|column| rows.name_cells(column));
    let mut columns: [Numbered<'_>; 4] =
        sources.map(|cells| (ByName::new(cells), Names::default()));
    let [_, files, ..] = sources;
    let tried_again = tried_again(rows, &mut columns[1]);
    let (starts, stops) = (rows.int_cells("entry_start"), rows.int_cells("entry_stop"));
    let hashes = RandomState::default();
    let mut seen = FirstSeen::default();
    let mut found = Chunks {
        of_row: Vec::with_capacity(rows.len()),
        first_row: Vec::with_capacity(rows.len()),
        chunks: Vec::with_capacity(rows.len()),
    };
    for (row, outcome) in (0..).zip(outcomes) {
        let at = row as usize;
        let is_shared = tried_again.get(number(&mut columns[1], at)) == Some(&true);
        let first = match starts.get(at).zip(stops.get(at)) {
            Some(entries) if is_shared && files.get(at).is_some() => {
                let source = columns.each_mut().map(|column| number(column, at));
                let is_same = |other: u32| {
                    let other = other as usize;
                    starts.get(other).zip(stops.get(other)) == Some(entries)
                        && sources.iter().all(|names| names.get(other) == names.get(at))
                };
                let first = seen.first(hashes.hash_one((source, entries)), row, is_same);
                found.of_row.get(first as usize).copied()
            }
            _ => None,
        };
        let chunk = first.unwrap_or_else(|| {
            found.first_row.push(row);
            u32::try_from(found.chunks.len()).unwrap_or(u32::MAX)
        });
        found.of_row.push(chunk);
        let Some(chunk) = slot(&mut found.chunks, chunk as usize) else { continue };
        match outcome {
            Outcome::Ok | Outcome::Repeated => chunk.succeeded = true,
            Outcome::Failed => chunk.failed = true,
            Outcome::Replayed => chunk.replayed = true,
        }
        if *outcome != Outcome::Replayed {
            chunk.attempts = chunk.attempts.saturating_add(1);
        }
    }
    found
}

/// By number, the files with a row that is not the first attempt at its chunk, or
/// does not say. In every other file each row is a chunk of its own.
fn tried_again(rows: Frame<'_>, files: &mut Numbered<'_>) -> Vec<bool> {
    let attempts = rows.int_cells("attempt");
    let mut tried_again = Vec::new();
    for row in (0..rows.len()).filter(|row| attempts.get(*row) != Some(1)) {
        if let Some(is_shared) = slot(&mut tried_again, number(files, row)) {
            *is_shared = true;
        }
    }
    tried_again
}
