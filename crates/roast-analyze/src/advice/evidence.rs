//! What the rules look at: the ledger, the run as a whole, and one small record
//! per chunk that gave a result.

use roast_model::{FloatCells, Frame, IntCells, Measurement, Value, both};

use crate::chunk_rows::{ByName, Names, Outcome, attempt_secs, slot};
use crate::number::usable;
use crate::sheet::Sheet;
use crate::worker_rows::WorkerRow;

use super::stragglers::Slowest;

const PHASES: [&str; 6] = ["unpack", "open", "tree", "events", "process", "serialize"];

/// A chunk that gave a result, as far as its row tells. There may be millions of
/// them: what few rules look at is left in the table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    row: u32,
    pub(super) dataset: u32,
    pub(super) file: u32,
    pub(super) host: u32,
    pub(super) events: f64,
    /// From start to stop of the attempt.
    pub(super) secs: f64,
    /// Inside `process()`, column reads included.
    pub(super) process_secs: f64,
    pub(super) read_secs: f64,
}

/// The context of every rule.
pub(crate) struct Evidence<'a> {
    pub(super) measurement: &'a Measurement,
    pub(super) sheet: &'a Sheet,
    pub(super) workers: &'a [WorkerRow<'a>],
    pub(super) rows: Option<(Frame<'a>, &'a [Outcome])>,
    pub(super) wall_secs: f64,
    /// Every second of every thread; missing without worker tracking.
    pub(super) core_secs: Option<f64>,
    ledger: Option<&'a Value>,
    /// In the order in which they started.
    pub(super) chunks: Vec<Chunk>,
    /// All chunks waiting for a core, in every phase.
    pub(super) queue_secs: f64,
    pub(super) cpu_secs: f64,
    pub(super) datasets: Names<'a>,
    pub(super) files: Names<'a>,
    pub(super) hosts: Names<'a>,
    pub(super) slowest: Option<Slowest>,
}

impl<'a> Evidence<'a> {
    /// Collects it; missing for a run of no time.
    pub(crate) fn read(
        measurement: &'a Measurement,
        sheet: &'a Sheet,
        workers: &'a [WorkerRow<'a>],
        rows: Option<(Frame<'a>, &'a [Outcome])>,
    ) -> Option<Self> {
        let wall_secs = usable(measurement.header.wall_secs).filter(|secs| *secs > 0.0)?;
        let mut evidence = Self {
            measurement,
            sheet,
            workers,
            rows,
            wall_secs,
            core_secs: sheet.get("ledger_available_core_seconds").filter(|secs| *secs > 0.0),
            ledger: sheet.value("ledger"),
            chunks: Vec::new(),
            queue_secs: 0.0,
            cpu_secs: 0.0,
            datasets: Names::default(),
            files: Names::default(),
            hosts: Names::default(),
            slowest: None,
        };
        if let Some((rows, outcomes)) = rows {
            let ((), [queue_secs, cpu_secs]) = both(
                || evidence.read_chunks(rows, outcomes),
                || ["run_queue", "cpu"].map(|clock| summed(rows, outcomes, clock)),
            );
            (evidence.queue_secs, evidence.cpu_secs) = (queue_secs, cpu_secs);
        }
        Some(evidence)
    }

    fn read_chunks(&mut self, rows: Frame<'a>, outcomes: &[Outcome]) {
        let mut names =
            ["dataset", "file", "host"].map(|column| ByName::new(rows.name_cells(column)));
        let [process, duration, read] =
            ["process_secs", "duration_secs", "read_secs"].map(|column| rows.float_cells(column));
        self.chunks.reserve_exact(rows.len());
        for (row, secs, events) in counted(rows, outcomes) {
            let get = |cells: FloatCells<'_>| cells.get(row).and_then(usable);
            let process_secs = get(process).or(get(duration)).unwrap_or(0.0).min(secs);
            let [dataset, file, host] = &mut names;
            self.chunks.push(Chunk {
                row: u32::try_from(row).unwrap_or(u32::MAX),
                dataset: code(dataset, row, &mut self.datasets),
                file: code(file, row, &mut self.files),
                host: code(host, row, &mut self.hosts),
                events,
                secs,
                process_secs,
                read_secs: get(read).unwrap_or(0.0).min(process_secs),
            });
        }
        // Tables of a collector are in order.
        let starts = rows.int_cells("start");
        let start = |chunk: &Chunk| starts.get(chunk.row as usize).unwrap_or(0);
        if !self.chunks.is_sorted_by_key(start) {
            self.chunks.sort_by_key(start);
        }
    }

    /// CPU time of the user's own code in each chunk, or its wall time where that is
    /// not known.
    pub(super) fn user_secs(&self) -> impl Iterator<Item = f64> + Clone {
        let [cpu, read_cpu] = ["process_cpu_secs", "read_cpu_secs"]
            .map(|column| self.rows.map(|(rows, _)| rows.float_cells(column)));
        self.chunks.iter().map(move |chunk| {
            let get =
                |cells: Option<FloatCells<'_>>| cells?.get(chunk.row as usize).and_then(usable);
            get(cpu).map_or(chunk.process_secs - chunk.read_secs, |cpu| {
                (cpu - get(read_cpu).unwrap_or(0.0)).max(0.0)
            })
        })
    }

    /// Bytes of columns read in each chunk, as far as is known.
    pub(super) fn read_bytes(&self) -> impl Iterator<Item = f64> {
        let bytes = self.rows.map(|(rows, _)| rows.int_cells("read_bytes"));
        self.chunks.iter().map(move |chunk| {
            bytes.and_then(|bytes| number(bytes, chunk.row as usize)).unwrap_or(0.0)
        })
    }

    /// Whether each chunk is the first of its worker.
    pub(super) fn is_first_of_worker(&self) -> Vec<bool> {
        let Some((rows, _)) = self.rows else { return Vec::new() };
        let (mut workers, mut seen) = (Names::default(), Vec::new());
        let mut column = ByName::new(rows.name_cells("worker"));
        let is_first = |chunk: &Chunk| {
            let worker = column.get(chunk.row as usize, |name| workers.code(name));
            slot(&mut seen, worker).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        self.chunks.iter().map(is_first).collect()
    }

    /// Events, and memory at the start and at its highest, of each chunk that gave
    /// a result.
    pub(super) fn memory(&self) -> impl Iterator<Item = (f64, Option<f64>, Option<f64>)> {
        self.rows.into_iter().flat_map(|(rows, outcomes)| {
            let bytes = |column| {
                rows.ints(column).map(|bytes| bytes.map(|bytes| bytes as f64).and_then(usable))
            };
            let memory = bytes("rss_start_bytes").zip(bytes("rss_peak_bytes"));
            attempt_secs(rows).zip(bytes("num_events")).zip(memory).zip(outcomes).filter_map(
                |(((secs, events), (start, peak)), outcome)| {
                    secs.filter(|_| *outcome == Outcome::Ok)?;
                    Some((events?, start, peak))
                },
            )
        })
    }

    /// Core-seconds in a row of the ledger; missing without a ledger.
    pub(super) fn row(&self, key: &str) -> Option<f64> {
        self.ledger?.get(key)?.as_f64().and_then(usable)
    }

    /// The sum of several rows.
    pub(super) fn rows_secs(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().map(|key| self.row(key)).sum()
    }

    /// The share of all core time that some rows of the ledger have.
    pub(super) fn share(&self, keys: &[&str]) -> Option<f64> {
        usable(self.rows_secs(keys)? / self.core_secs?)
    }

    /// Task threads that were there on average, at least one.
    pub(super) fn threads(&self) -> Option<usize> {
        let threads = (self.core_secs? / self.wall_secs).round();
        (threads.is_finite() && threads < 1e7).then_some((threads as usize).max(1))
    }

    /// Events in a chunk, on average.
    pub(super) fn mean_events(&self) -> Option<f64> {
        let events: f64 = self.chunks.iter().map(|chunk| chunk.events).sum();
        usable(events / self.chunks.len() as f64).filter(|events| *events > 0.0)
    }

    /// The wall time if so many core-seconds less were spread over all threads.
    pub(super) fn wall_without(&self, core_secs: f64) -> Option<f64> {
        let share = core_secs / self.core_secs?;
        usable(self.wall_secs * (1.0 - share.clamp(0.0, 1.0)))
    }
}

/// Row, length and events of each attempt that gave a result.
fn counted<'a>(
    rows: Frame<'a>,
    outcomes: &'a [Outcome],
) -> impl Iterator<Item = (usize, f64, f64)> + use<'a> {
    let events = rows.int_cells("num_events");
    attempt_secs(rows).zip(outcomes).enumerate().filter_map(move |(row, (secs, outcome))| {
        let events = number(events, row)?;
        (*outcome == Outcome::Ok).then_some((row, secs?, events))
    })
}

/// What these attempts took of one clock, in all phases.
fn summed(rows: Frame<'_>, outcomes: &[Outcome], clock: &str) -> f64 {
    let phases = PHASES.map(|phase| rows.float_cells(&format!("{phase}_{clock}_secs")));
    let of_row = |row: usize| -> f64 {
        phases.iter().filter_map(|cells| cells.get(row).and_then(usable)).sum()
    };
    counted(rows, outcomes).map(|(row, ..)| of_row(row)).sum()
}

fn number(cells: IntCells<'_>, row: usize) -> Option<f64> {
    cells.get(row).map(|number| number as f64).and_then(usable)
}

fn code<'a>(column: &mut ByName<'a, u32>, row: usize, names: &mut Names<'a>) -> u32 {
    column.get(row, |name| u32::try_from(names.code(name)).unwrap_or(u32::MAX))
}
