//! Which rows are attempts at the same chunk: same dataset, file, UUID, tree and
//! entries. Without a file and entries there is no telling, so such a row is a
//! chunk of its own.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use roast_model::Frame;

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
    pub(crate) of_row: Vec<usize>,
    /// The row with which each chunk first came.
    pub(crate) first_row: Vec<usize>,
    pub(crate) chunks: Vec<Chunk>,
}

/// Sorts rows into chunks.
pub(crate) fn identify(rows: Frame<'_>, outcomes: &[Outcome]) -> Chunks {
    let mut sources: HashMap<[usize; 4], u32, RandomState> = HashMap::default();
    let mut last_source = ([0; 4], None);
    let mut known: HashMap<(u32, i64, i64), u32, RandomState> =
        HashMap::with_capacity_and_hasher(rows.len(), RandomState::default());
    let mut names = ["dataset", "file", "uuid", "tree"]
        .map(|column| (ByName::new(rows.name_cells(column)), Names::default()));
    let files = rows.name_cells("file");
    let (mut starts, mut stops) = (rows.ints("entry_start"), rows.ints("entry_stop"));
    let mut found = Chunks { of_row: Vec::with_capacity(rows.len()), ..Chunks::default() };
    for (row, outcome) in outcomes.iter().enumerate() {
        let names =
            names.each_mut().map(|(column, names)| column.get(row, |name| names.code(name)));
        let entries = starts.next().flatten().zip(stops.next().flatten());
        let fresh = found.chunks.len();
        let chunk = match entries {
            Some((start, stop)) if files.get(row).is_some() => {
                let source = match last_source {
                    (last, Some(source)) if last == names => source,
                    _ => {
                        let next = u32::try_from(sources.len()).unwrap_or(u32::MAX);
                        *sources.entry(names).or_insert(next)
                    }
                };
                last_source = (names, Some(source));
                let next = u32::try_from(fresh).unwrap_or(u32::MAX);
                *known.entry((source, start, stop)).or_insert(next) as usize
            }
            _ => fresh,
        };
        if chunk == fresh {
            found.first_row.push(row);
        }
        found.of_row.push(chunk);
        let Some(chunk) = slot(&mut found.chunks, chunk) else { continue };
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
