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

use std::collections::BTreeMap;
use std::io::Write;

use roast_model::{Frame, Measurement, Table};

use crate::export::ExportError;
use chunk_slices::Chunks;
use events::{EventWriter, Process};
use lanes::Lanes;
use task_slices::Tasks;

/// The cluster as a whole; workers are numbered from the next one on.
const CLUSTER: Process = Process(1);

/// Writes the trace.
pub(crate) fn write(measurement: &Measurement, out: &mut dyn Write) -> Result<(), ExportError> {
    let header = &measurement.header;
    let mut events = EventWriter::begin(out, header)?;
    let workers = workers(measurement);
    events.process(CLUSTER, "cluster")?;
    counters::cluster(measurement, CLUSTER, &mut events)?;
    let chunks = Chunks::new(measurement, &workers);
    let tasks = Tasks::new(measurement, &workers, chunks.is_empty());
    for (name, number) in &workers {
        let process = Process(CLUSTER.0 + 1 + number);
        events.process(process, name.unwrap_or("unknown worker"))?;
        let mut lanes = Lanes::default();
        chunks.write(*number, process, &mut lanes, &mut events)?;
        tasks.write(*number, process, &mut lanes, &mut events)?;
    }
    counters::workers(measurement, &workers, CLUSTER, &mut events)?;
    events.finish()
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
