//! Tasks of Dask as slices on tracks of their own: reductions, transfers and
//! whatever else it timed. Tasks of the processor are left to their chunks.

use arrow_array::RecordBatch;
use roast_model::{Measurement, Table};
use serde_json::json;

use super::Workers;
use super::cells::{self, Ints, Names, Times};
use super::events::{EventWriter, Process, Slice, Span};
use super::lanes::{Kind, Lanes};
use super::window::Moments;
use crate::export::ExportError;

/// The task rows to show.
pub(super) struct Tasks<'a> {
    columns: Option<Columns<'a>>,
    /// Worker, start and row, in order.
    order: Vec<(u32, i64, usize)>,
}

struct Columns<'a> {
    prefix: Names<'a>,
    action: Names<'a>,
    outcome: Names<'a>,
    start: Times<'a>,
    stop: Times<'a>,
    nbytes: Ints<'a>,
}

impl<'a> Tasks<'a> {
    pub(super) fn new(
        measurement: &'a Measurement,
        workers: &Workers<'a>,
        shown: Moments,
        without_chunks: bool,
    ) -> Self {
        let Some(batch) = measurement.table(Table::Tasks) else {
            return Self { columns: None, order: Vec::new() };
        };
        let columns = Columns::new(batch);
        let processors = &measurement.header.processor_prefixes;
        let names = cells::names(batch, "worker");
        let mut order: Vec<(u32, i64, usize)> = (0..batch.num_rows())
            .filter(|row| {
                let is_chunk = columns.action.get(*row) == Some("compute")
                    && columns.outcome.get(*row) != Some("erred")
                    && columns.prefix.get(*row).is_some_and(|p| processors.iter().any(|q| q == p));
                without_chunks || !is_chunk
            })
            .filter_map(|row| {
                let span = columns.span(row).filter(|span| shown.touches(span.start, span.stop))?;
                Some((*workers.get(&names.get(row))?, span.start, row))
            })
            .collect();
        order.sort_unstable();
        Self { columns: Some(columns), order }
    }

    /// Writes the tasks of one worker.
    pub(super) fn write(
        &self,
        worker: u32,
        process: Process,
        lanes: &mut Lanes<'a>,
        events: &mut EventWriter<'_>,
    ) -> Result<(), ExportError> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let first = self.order.partition_point(|(number, ..)| *number < worker);
        let rows = self.order.get(first..).unwrap_or_default().iter();
        for (_, _, row) in rows.take_while(|(number, ..)| *number == worker) {
            let Some(span) = columns.span(*row) else { continue };
            let action = columns.action.get(*row).unwrap_or("task");
            let lane = if action == "compute" { "tasks" } else { action };
            let (track, span) = lanes.place(process, Kind::Other(lane), span, events)?;
            let prefix = columns.prefix.get(*row).unwrap_or("task");
            let name =
                if action == "compute" { prefix.to_owned() } else { format!("{action} {prefix}") };
            let outcome = columns.outcome.get(*row);
            let details =
                json!({"action": action, "outcome": outcome, "nbytes": columns.nbytes.get(*row)});
            let slice = Slice {
                name: &name,
                category: "task",
                span,
                failed: outcome == Some("erred"),
                details: Some(&details),
            };
            events.slice(track, slice)?;
        }
        Ok(())
    }
}

impl<'a> Columns<'a> {
    fn new(batch: &'a RecordBatch) -> Self {
        Self {
            prefix: cells::names(batch, "prefix"),
            action: cells::names(batch, "action"),
            outcome: cells::names(batch, "outcome"),
            start: cells::times(batch, "start"),
            stop: cells::times(batch, "stop"),
            nbytes: cells::ints(batch, "nbytes"),
        }
    }

    fn span(&self, row: usize) -> Option<Span> {
        let (start, stop) = (self.start.get(row)?, self.stop.get(row)?);
        (start <= stop).then_some(Span { start, stop })
    }
}
