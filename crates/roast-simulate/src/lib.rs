//! Measurements of runs that never were: a seeded model of a cluster is given
//! chunks to process, and what a collector would have recorded of it becomes a
//! measurement of any size, with every table filled and a truth that is known.
//!
//! ```text
//! model ─► layout     which file and which events each chunk has
//!          schedule   who does what when: chunks, retries, reduction, churn
//!            ├─► attempt         what one attempt at a chunk costs
//!            └─► recorder        rows of chunks, sections and tasks
//!          input_tables, worker_tables, header   the rest of the measurement
//! ```

mod attempt;
mod columns;
mod draw;
mod header;
mod input_tables;
mod layout;
mod model;
mod preset;
mod recorder;
mod reduction;
mod rows;
mod schedule;
mod size;
mod worker_tables;

use arrow_array::RecordBatch;
use roast_model::{Measurement, Table, TableBuilder, TableError, both};

pub use model::{Cluster, Costs, Simulation, SimulationError, Workload};
pub use preset::Preset;
pub use size::needed_bytes;

use layout::Layout;
use recorder::Recorder;

/// Runs the model. The same simulation always gives the same measurement.
///
/// The header's metrics are left empty: whoever needs them computes them.
pub fn simulate(simulation: &Simulation) -> Result<Measurement, SimulationError> {
    simulation.check()?;
    let layout = Layout::new(simulation);
    let mut recorder = Recorder::new(simulation, &layout);
    let run = schedule::run(simulation, &layout, &mut recorder).map_err(made)?;
    let (mut recorded, totals, busy) = recorder.finish().map_err(made)?;
    let (of_workers, of_chunks) = both(
        || finished(worker_tables::make(simulation, &run, busy)?),
        || {
            let mut builders = std::mem::take(&mut recorded);
            builders.extend(input_tables::make(&layout, &totals)?);
            finished(builders)
        },
    );
    let tables = of_chunks.map_err(made)?.into_iter().chain(of_workers.map_err(made)?).collect();
    let header = header::make(simulation, &layout, &run, &totals);
    Ok(Measurement { header, tables })
}

fn finished(builders: Vec<TableBuilder>) -> Result<Vec<(Table, RecordBatch)>, TableError> {
    builders.into_iter().map(|builder| Ok((builder.table(), builder.finish()?))).collect()
}

fn made(source: TableError) -> SimulationError {
    SimulationError::Table { source }
}
