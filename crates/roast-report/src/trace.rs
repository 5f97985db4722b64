//! A measurement as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing:
//! one process per worker, one track per thread of it, chunks with their phases
//! and sections as nested slices, tasks on tracks of their own, and counters.
//!
//! Events are written as they are made; what is kept in memory is an order of the
//! rows, a few bytes for each.

mod cells;
mod chunk_slices;
mod counters;
mod events;
mod lanes;
mod task_slices;
mod window;

use std::collections::BTreeMap;
use std::io::Write;

use roast_model::{Frame, Measurement, Table};

use crate::export::ExportError;
use chunk_slices::Chunks;
use events::{EventWriter, Process};
use lanes::Lanes;
use task_slices::Tasks;
pub use window::Window;

/// The cluster as a whole; workers are numbered from the next one on.
const CLUSTER: Process = Process(1);

/// Writes the trace.
pub(crate) fn write(
    measurement: &Measurement,
    window: Window,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let header = &measurement.header;
    let shown = window.in_run(header);
    let mut events = EventWriter::begin(out, header)?;
    let workers = workers(measurement);
    events.process(CLUSTER, "cluster")?;
    counters::cluster(measurement, shown, CLUSTER, &mut events)?;
    let chunks = Chunks::new(measurement, &workers, shown);
    let tasks = Tasks::new(measurement, &workers, shown, chunks.are_unknown());
    for (name, number) in &workers {
        let process = Process(CLUSTER.0 + 1 + number);
        events.process(process, name.unwrap_or("unknown worker"))?;
        let mut lanes = Lanes::default();
        chunks.write(*number, process, &mut lanes, &mut events)?;
        tasks.write(*number, process, &mut lanes, &mut events)?;
    }
    counters::workers(measurement, &workers, shown, CLUSTER, &mut events)?;
    events.finish()
}

/// A chunk with its phases, and what it says of itself.
const CHUNK_BYTES: f64 = 1100.0;
const SECTION_BYTES: f64 = 120.0;
const TASK_BYTES: f64 = 170.0;
/// The counters of a worker that changed.
const SAMPLE_BYTES: f64 = 200.0;

/// About how long the trace gets, if the run went on evenly.
pub fn trace_bytes(measurement: &Measurement, window: Window) -> f64 {
    let rows = |table| measurement.table(table).map_or(0.0, |batch| batch.num_rows() as f64);
    let whole = rows(Table::Chunks) * CHUNK_BYTES
        + rows(Table::Sections) * SECTION_BYTES
        + (rows(Table::Tasks) - rows(Table::Chunks)).max(0.0) * TASK_BYTES
        + rows(Table::Workers) * SAMPLE_BYTES;
    whole * window.share(&measurement.header)
}

/// Every worker of any table, in order, with its number.
type Workers<'a> = BTreeMap<Option<&'a str>, u32>;

fn workers(measurement: &Measurement) -> Workers<'_> {
    let mut workers = Workers::new();
    for table in [Table::Workers, Table::Chunks, Table::Tasks] {
        let Some(batch) = measurement.table(table) else { continue };
        let mut last = None;
        for worker in Frame::new(batch).names("worker") {
            // Rows of one worker often follow one another.
            if last != Some(worker) {
                workers.insert(worker, 0);
                last = Some(worker);
            }
        }
    }
    for (number, slot) in workers.values_mut().enumerate() {
        *slot = number as u32;
    }
    workers
}
