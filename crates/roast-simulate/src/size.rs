//! How much memory a simulated measurement takes, known before it is made.

use roast_model::Table;

use crate::model::Simulation;
use crate::recorder::Busy;
use crate::schedule::TICK_NS;
use crate::worker_tables::heartbeat_ticks;

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
    let rows = attempts * Table::Chunks.row_bytes()
        + chunks * f64::from(work.sections) * Table::Sections.row_bytes()
        + tasks * (Table::Tasks.row_bytes() + size_of::<Busy>() as f64)
        + beats * Table::Workers.row_bytes()
        + secs * Table::Ticks.row_bytes()
        + files * (Table::Files.row_bytes() + 400.0);
    rows * ROOM
}
