//! From a measurement to its metrics: one file per family, each filling in its
//! part of one sheet, in an order in which later families can use earlier ones.
//!
//! What cannot be known is missing, never zero; no metric is infinite or NaN.

mod advice;
mod chunk_identity;
mod chunk_rows;
mod chunks;
mod compare;
mod datasets;
mod efficiency;
mod files;
mod fine;
mod ledger;
mod limits;
mod metrics;
mod monitoring;
mod number;
mod replays;
mod scaling;
mod sections;
mod sheet;
mod slow_chunks;
mod statistics;
mod sweep;
mod throughput;
mod timing;
mod volume;
mod worker_rows;
mod workers;

use roast_model::{CATALOG, Frame, Group, Measurement, Table, Value, at_once, canonical_key};

pub use chunk_rows::{Grouped, Names, Outcome, attempt_secs, outcomes};
pub use compare::{
    Basis, ComparedRow, Comparison, Difference, Headline, Part, Run, RunFacts, Told, Verdict,
    compare,
};
pub use files::{FILE_METRICS, FILES_LISTED, file_metrics};
pub use ledger::{LEDGER, LedgerFamily, LedgerRow};
pub use limits::limits;
pub use metrics::Metrics;
use replays::Replayed;
pub use scaling::{Fit, NoFit, Scaling, ScalingError, ScalingPoint, Stopper, scaling};
use sheet::Sheet;
pub use worker_rows::{WorkerRow, read as worker_rows};

/// Computes every metric of the catalog.
pub fn analyze(measurement: &Measurement) -> Metrics {
    let header = &measurement.header;
    let mut sheet = Sheet::default();
    timing::fill(&mut sheet, header);
    let spans = fine::Spans::read(&header.spans);
    volume::fill(&mut sheet, &header.report, spans.as_ref());
    let ticks = measurement.table(Table::Ticks);
    let worker_rows = measurement.table(Table::Workers).map(worker_rows).unwrap_or_default();
    workers::fill(&mut sheet, ticks, &worker_rows);
    if let Some(spans) = &spans {
        fine::fill(&mut sheet, spans, &header.processor_prefixes);
    }
    let rows = measurement.table(Table::Chunks).filter(|rows| rows.num_rows() > 0).map(Frame::new);
    let outcomes = rows.map(outcomes).unwrap_or_default();
    let chunks = rows.map(|rows| (rows, outcomes.as_slice()));
    let replayed = chunks.map(|(rows, outcomes)| Replayed::read(rows, outcomes));
    throughput::fill(&mut sheet, replayed.unwrap_or_default());
    efficiency::fill(&mut sheet, replayed.unwrap_or_default());
    let sources = ledger::Sources {
        header,
        workers: &worker_rows,
        ticks,
        tasks: measurement.table(Table::Tasks),
        chunks,
    };
    // None of these looks at what another writes, and together they are more than
    // half of the work. The dearest come first.
    type Family<'a> = Box<dyn Fn(&mut Sheet) + Sync + 'a>;
    let mut families: Vec<Family<'_>> = vec![Box::new(|sheet| ledger::fill(sheet, &sources))];
    if let Some((rows, outcomes)) = chunks {
        families.push(Box::new(move |sheet| slow_chunk_metrics(sheet, rows, outcomes)));
        families.push(Box::new(move |sheet| chunk_metrics(sheet, rows, outcomes)));
        families.push(Box::new(move |sheet| section_metrics(sheet, measurement, rows, outcomes)));
        families.push(Box::new(move |sheet| file_metrics_of(sheet, measurement, rows, outcomes)));
    }
    families.push(Box::new(|sheet| workers::fill_sums(sheet, ticks, &worker_rows)));
    let filled = at_once(families.len(), |number| {
        let mut sheet = Sheet::default();
        if let Some(fill) = families.get(number) {
            fill(&mut sheet);
        }
        sheet
    });
    for family in filled {
        sheet.take_over(family);
    }
    monitoring::fill(&mut sheet, chunks, ticks);
    let found = advice::Evidence::read(measurement, &sheet, &worker_rows, chunks).map(advice::find);
    if let Some(found) = found {
        found.fill(&mut sheet);
    }
    sheet.into_metrics()
}

fn chunk_metrics(sheet: &mut Sheet, rows: Frame<'_>, outcomes: &[Outcome]) {
    let identified = chunk_identity::identify(rows, outcomes);
    chunks::fill(sheet, rows, outcomes, &identified);
    sheet.nested("per_dataset", datasets::per_dataset(rows, outcomes, &identified));
    sheet.nested("failures", datasets::failures(rows, outcomes, &identified));
}

fn section_metrics(
    sheet: &mut Sheet,
    measurement: &Measurement,
    rows: Frame<'_>,
    outcomes: &[Outcome],
) {
    if let Some(sections) = measurement.table(Table::Sections) {
        sheet.nested("sections", sections::by_name(Frame::new(sections), rows, outcomes));
    }
}

fn file_metrics_of(
    sheet: &mut Sheet,
    measurement: &Measurement,
    rows: Frame<'_>,
    outcomes: &[Outcome],
) {
    let tables = files::Tables {
        files: measurement.table(Table::Files),
        columns: measurement.table(Table::Columns),
        branch_sets: measurement.table(Table::BranchSets),
        chunks: rows,
    };
    files::fill(sheet, tables, outcomes);
}

fn slow_chunk_metrics(sheet: &mut Sheet, rows: Frame<'_>, outcomes: &[Outcome]) {
    if let Some(slow) = slow_chunks::find(rows, outcomes) {
        sheet.nested("slowest_chunks", slow.slowest);
        sheet.nested("chunk_outliers", slow.outliers);
    }
}

/// The efficiency metrics that follow from a map of metrics already known, under
/// keys or aliases; every key of the group, missing where something is lacking.
pub fn efficiency_metrics(known: &Value) -> Value {
    let mut sheet = Sheet::default();
    for (key, value) in known.pairs() {
        if let Some(key) = key.as_str().and_then(canonical_key) {
            sheet.real(key, value.as_f64());
        }
    }
    if sheet.get("total_cores").is_none() {
        workers::total_cores(&mut sheet);
    }
    throughput::fill(&mut sheet, Replayed::default());
    efficiency::fill(&mut sheet, Replayed::default());
    let metrics = sheet.into_metrics();
    Value::map(
        CATALOG
            .iter()
            .filter(|metric| metric.group == Group::Efficiency)
            .map(|metric| (metric.key, metrics.get(metric.key).cloned().unwrap_or_default())),
    )
}

#[cfg(test)]
mod tests;
