//! What the rules look at: the ledger, the run as a whole, and the chunks that gave
//! a result.

use roast_model::{Frame, Measurement, Value, both};

use crate::chunk_rows::{Outcome, PHASES, attempt_secs};
use crate::number::usable;
use crate::sheet::Sheet;
use crate::worker_rows::WorkerRow;

use super::chunks::Chunks;
use super::stragglers::Slowest;

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
    pub(super) chunks: Chunks<'a>,
    /// All chunks waiting for a core, in every phase.
    pub(super) queue_secs: f64,
    pub(super) cpu_secs: f64,
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
            chunks: Chunks::default(),
            queue_secs: 0.0,
            cpu_secs: 0.0,
            slowest: None,
        };
        if let Some((rows, outcomes)) = rows {
            let clock =
                |clock| PHASES.map(|phase| rows.float_cells(&format!("{phase}_{clock}_secs")));
            let chunks = Chunks::read(rows, outcomes);
            let (queue_secs, cpu_secs) =
                both(|| chunks.sum(&clock("run_queue")), || chunks.sum(&clock("cpu")));
            evidence = Self { chunks, queue_secs, cpu_secs, ..evidence };
        }
        Some(evidence)
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
        let events: f64 = self.chunks.iter().map(|chunk| chunk.events()).sum();
        usable(events / self.chunks.len() as f64).filter(|events| *events > 0.0)
    }

    /// The wall time if so many core-seconds less were spread over all threads.
    pub(super) fn wall_without(&self, core_secs: f64) -> Option<f64> {
        let share = core_secs / self.core_secs?;
        usable(self.wall_secs * (1.0 - share.clamp(0.0, 1.0)))
    }
}
