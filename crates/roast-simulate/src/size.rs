//! How much memory a simulated measurement takes, known before it is made.

use roast_model::{ColumnKind, Table};

use crate::model::Simulation;
use crate::recorder::Busy;
use crate::schedule::TICK_NS;
use crate::worker_tables::heartbeat_ticks;

/// A distinct task key: its text, twice while the table is put together.
const KEY_BYTES: f64 = 200.0;
/// Buffers grow by doubling.
const ROOM: f64 = 1.5;

/// About how many bytes [`simulate`](crate::simulate) needs.
pub fn needed_bytes(simulation: &Simulation) -> f64 {
    let work = &simulation.workload;
    let chunks = work.chunks as f64;
    let attempts = chunks * (1.0 + work.failures);
    let tasks = chunks * (1.0 + 2.0 / f64::from(work.reduced_together.max(2)));
    let secs = simulation.expected_secs();
    let beat_secs = heartbeat_ticks(simulation.cluster.workers) as f64 * TICK_NS as f64 / 1e9;
    let beats = f64::from(simulation.cluster.workers) * (secs / beat_secs + 1.0);
    let files = chunks / f64::from(work.chunks_per_file.max(1));
    let rows = attempts * (row_bytes(Table::Chunks) + KEY_BYTES)
        + chunks * f64::from(work.sections) * row_bytes(Table::Sections)
        + tasks * (row_bytes(Table::Tasks) + size_of::<Busy>() as f64)
        + beats * row_bytes(Table::Workers)
        + secs * row_bytes(Table::Ticks)
        + files * (row_bytes(Table::Files) + 400.0);
    rows * ROOM
}

fn row_bytes(table: Table) -> f64 {
    table
        .columns()
        .iter()
        .map(|column| match column.kind {
            ColumnKind::Name | ColumnKind::Text => 4.0,
            ColumnKind::Time | ColumnKind::Int | ColumnKind::Float => 8.0,
        })
        .sum()
}
