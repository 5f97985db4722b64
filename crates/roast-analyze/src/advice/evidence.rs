//! What the rules look at: the ledger, the run as a whole, and one small record
//! per chunk that gave a result.

use roast_model::{Frame, Measurement, Value};

use crate::chunk_rows::{ByName, Names, Outcome, attempt_secs};
use crate::number::usable;
use crate::sheet::Sheet;
use crate::worker_rows::WorkerRow;

use super::stragglers::Slowest;

/// A chunk that gave a result, as far as its row tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chunk {
    pub(super) dataset: u32,
    pub(super) file: u32,
    pub(super) host: u32,
    pub(super) worker: u32,
    pub(super) events: f64,
    /// From start to stop of the attempt.
    pub(super) secs: f64,
    /// Inside `process()`, column reads included.
    pub(super) process_secs: f64,
    pub(super) read_secs: f64,
    /// CPU time of the user's own code, or its wall time where that is not known.
    pub(super) user_secs: f64,
    /// As far as is known.
    pub(super) read_bytes: f64,
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
            evidence.read_chunks(rows, outcomes);
        }
        Some(evidence)
    }

    fn read_chunks(&mut self, rows: Frame<'a>, outcomes: &[Outcome]) {
        const QUEUES: [&str; 6] = [
            "unpack_run_queue_secs",
            "open_run_queue_secs",
            "tree_run_queue_secs",
            "events_run_queue_secs",
            "process_run_queue_secs",
            "serialize_run_queue_secs",
        ];
        const CPUS: [&str; 6] = [
            "unpack_cpu_secs",
            "open_cpu_secs",
            "tree_cpu_secs",
            "events_cpu_secs",
            "process_cpu_secs",
            "serialize_cpu_secs",
        ];
        let mut workers = Names::default();
        let mut names = ["dataset", "file", "host", "worker"]
            .map(|column| ByName::new(rows.name_cells(column)));
        let mut ints = ["num_events", "read_bytes"].map(|column| rows.ints(column));
        let mut floats = ["process_secs", "duration_secs", "read_secs", "read_cpu_secs"]
            .map(|column| rows.floats(column));
        let mut queues = QUEUES.map(|column| rows.floats(column));
        let mut cpus = CPUS.map(|column| rows.floats(column));
        let mut starts = rows.times("start");
        self.chunks.reserve_exact(rows.len());
        let mut moments: Vec<i64> = Vec::with_capacity(rows.len());
        for (row, (secs, outcome)) in attempt_secs(rows).zip(outcomes).enumerate() {
            let [events, read_bytes] = ints
                .each_mut()
                .map(|ints| ints.next().flatten().map(|int| int as f64).and_then(usable));
            let [process, duration, read, read_cpu] =
                floats.each_mut().map(|secs| secs.next().flatten().and_then(usable));
            let queues = queues.each_mut().map(|secs| secs.next().flatten().and_then(usable));
            let cpus = cpus.each_mut().map(|secs| secs.next().flatten().and_then(usable));
            let start = starts.next().flatten();
            let (Outcome::Ok, Some(secs), Some(events)) = (outcome, secs, events) else { continue };
            let process_secs = process.or(duration).unwrap_or(0.0).min(secs);
            let read_secs = read.unwrap_or(0.0).min(process_secs);
            let process_cpu = cpus.get(4).copied().flatten();
            self.queue_secs += queues.into_iter().flatten().sum::<f64>();
            self.cpu_secs += cpus.into_iter().flatten().sum::<f64>();
            moments.push(start.map_or(0, |start| start.0));
            let [dataset, file, host, worker] = &mut names;
            self.chunks.push(Chunk {
                dataset: code(dataset, row, &mut self.datasets),
                file: code(file, row, &mut self.files),
                host: code(host, row, &mut self.hosts),
                worker: code(worker, row, &mut workers),
                events,
                secs,
                process_secs,
                read_secs,
                user_secs: process_cpu.map_or(process_secs - read_secs, |cpu| {
                    (cpu - read_cpu.unwrap_or(0.0)).max(0.0)
                }),
                read_bytes: read_bytes.unwrap_or(0.0),
            });
        }
        // Tables of a collector are in order.
        if !moments.is_sorted() {
            let mut order: Vec<usize> = (0..moments.len()).collect();
            order.sort_by_key(|chunk| moments.get(*chunk));
            self.chunks =
                order.into_iter().filter_map(|chunk| self.chunks.get(chunk).copied()).collect();
        }
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

fn code<'a>(column: &mut ByName<'a, u32>, row: usize, names: &mut Names<'a>) -> u32 {
    column.get(row, |name| u32::try_from(names.code(name)).unwrap_or(u32::MAX))
}
