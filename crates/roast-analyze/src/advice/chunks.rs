//! The chunks that gave a result, as the rules see them: numbers are read where
//! they are in the table, since there may be millions of them.

use roast_model::{FloatCells, Frame, IntCells, NameCells};

use crate::chunk_rows::{Attempts, Names, Outcome};
use crate::number::usable;

/// In the order in which they started.
#[derive(Default)]
pub(super) struct Chunks<'a> {
    rows: Vec<u32>,
    /// From start to stop; what nearly every rule asks for.
    secs: Vec<f64>,
    events: IntCells<'a>,
    read_bytes: IntCells<'a>,
    process: FloatCells<'a>,
    duration: FloatCells<'a>,
    process_cpu: FloatCells<'a>,
    read: FloatCells<'a>,
    read_cpu: FloatCells<'a>,
    pub(super) datasets: Numbered<'a>,
    pub(super) files: Numbered<'a>,
    pub(super) hosts: Numbered<'a>,
    workers: Numbered<'a>,
}

impl<'a> Chunks<'a> {
    pub(super) fn read(rows: Frame<'a>, outcomes: &[Outcome]) -> Self {
        let ints = |column| rows.int_cells(column);
        let floats = |column| rows.float_cells(column);
        let numbered = |column| Numbered::read(rows.name_cells(column), rows.len());
        let mut chunks = Self {
            rows: Vec::with_capacity(rows.len()),
            secs: Vec::with_capacity(rows.len()),
            events: ints("num_events"),
            read_bytes: ints("read_bytes"),
            process: floats("process_secs"),
            duration: floats("duration_secs"),
            process_cpu: floats("process_cpu_secs"),
            read: floats("read_secs"),
            read_cpu: floats("read_cpu_secs"),
            datasets: numbered("dataset"),
            files: numbered("file"),
            hosts: numbered("host"),
            workers: numbered("worker"),
        };
        let attempts = Attempts::of(rows);
        for (row, _) in (0..).zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Ok) {
            let has_events = number(chunks.events, row as usize).is_some();
            if let (Some(secs), true) = (attempts.secs(row as usize), has_events) {
                chunks.rows.push(row);
                chunks.secs.push(secs);
            }
        }
        // Tables of a collector are in order.
        let starts = ints("start");
        let start = |row: &u32| starts.get(*row as usize).unwrap_or(0);
        if !chunks.rows.is_sorted_by_key(start) {
            chunks.rows.sort_by_key(start);
            let secs = |row: &u32| attempts.secs(*row as usize).unwrap_or(0.0);
            chunks.secs = chunks.rows.iter().map(secs).collect();
        }
        chunks
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn get(&self, index: usize) -> Option<Chunk<'_>> {
        let row = *self.rows.get(index)? as usize;
        Some(Chunk { chunks: self, row, secs: *self.secs.get(index)? })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Chunk<'_>> + Clone {
        let chunks = self.rows.iter().zip(&self.secs);
        chunks.map(|(row, secs)| Chunk { chunks: self, row: *row as usize, secs: *secs })
    }

    /// The sum of some columns over all chunks, as far as they are known.
    pub(super) fn sum(&self, columns: &[FloatCells<'_>]) -> f64 {
        let of_row = |row: &u32| -> f64 {
            columns.iter().filter_map(|cells| cells.get(*row as usize).and_then(usable)).sum()
        };
        self.rows.iter().map(of_row).sum()
    }
}

/// One of them.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'c> {
    chunks: &'c Chunks<'c>,
    row: usize,
    secs: f64,
}

impl Chunk<'_> {
    #[inline]
    pub(super) fn dataset(&self) -> u32 {
        self.chunks.datasets.get(self.row)
    }

    pub(super) fn file(&self) -> u32 {
        self.chunks.files.get(self.row)
    }

    pub(super) fn host(&self) -> u32 {
        self.chunks.hosts.get(self.row)
    }

    pub(super) fn worker(&self) -> u32 {
        self.chunks.workers.get(self.row)
    }

    #[inline]
    pub(super) fn events(&self) -> f64 {
        number(self.chunks.events, self.row).unwrap_or(0.0)
    }

    /// From start to stop of the attempt.
    pub(super) fn secs(&self) -> f64 {
        self.secs
    }

    /// Inside `process()`, column reads included.
    #[inline]
    pub(super) fn process_secs(&self) -> f64 {
        let Chunks { process, duration, .. } = self.chunks;
        self.of(*process).or_else(|| self.of(*duration)).unwrap_or(0.0).min(self.secs())
    }

    #[inline]
    pub(super) fn read_secs(&self) -> f64 {
        self.of(self.chunks.read).unwrap_or(0.0).min(self.process_secs())
    }

    /// CPU time of the user's own code, or its wall time where that is not known.
    #[inline]
    pub(super) fn user_secs(&self) -> f64 {
        match self.of(self.chunks.process_cpu) {
            Some(cpu) => (cpu - self.of(self.chunks.read_cpu).unwrap_or(0.0)).max(0.0),
            None => self.process_secs() - self.read_secs(),
        }
    }

    /// As far as is known.
    pub(super) fn read_bytes(&self) -> f64 {
        number(self.chunks.read_bytes, self.row).unwrap_or(0.0)
    }

    fn of(&self, cells: FloatCells<'_>) -> Option<f64> {
        cells.get(self.row).and_then(usable)
    }
}

fn number(cells: IntCells<'_>, row: usize) -> Option<f64> {
    cells.get(row).map(|number| number as f64).and_then(usable)
}

/// A column of names, and a number for each that is the same wherever the name is.
#[derive(Default)]
pub(super) struct Numbered<'a> {
    cells: NameCells<'a>,
    /// By the column's own number of the name, or by row if it has none.
    numbers: Vec<u32>,
    is_by_row: bool,
    of_missing: u32,
    names: Names<'a>,
}

impl<'a> Numbered<'a> {
    fn read(cells: NameCells<'a>, rows: usize) -> Self {
        let mut names = Names::default();
        let mut number = |name| u32::try_from(names.code(name)).unwrap_or(u32::MAX);
        let numbers = match cells.word_count() {
            Some(words) => (0..words).map(|word| number(cells.word(word))).collect(),
            None => (0..rows).map(|row| number(cells.get(row))).collect(),
        };
        let of_missing = number(None);
        let is_by_row = cells.word_count().is_none();
        Self { cells, numbers, is_by_row, of_missing, names }
    }

    #[inline]
    fn get(&self, row: usize) -> u32 {
        let place = if self.is_by_row { Some(row) } else { self.cells.code(row) };
        place.and_then(|place| self.numbers.get(place)).copied().unwrap_or(self.of_missing)
    }

    /// The name under a number.
    pub(super) fn name(&self, number: u32) -> Option<&'a str> {
        self.names.names().get(number as usize).copied().flatten()
    }

    /// The number of a name.
    pub(super) fn number(&self, name: Option<&str>) -> Option<u32> {
        self.names.known(name).and_then(|number| u32::try_from(number).ok())
    }
}
