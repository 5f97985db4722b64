//! From a measurement to its metrics: one file per family, each filling in its
//! part of one sheet, in an order in which later families can use earlier ones.
//!
//! What cannot be known is missing, never zero; no metric is infinite or NaN.

mod efficiency;
mod fine;
mod metrics;
mod number;
mod sheet;
mod sweep;
mod throughput;
mod timing;
mod volume;
mod worker_rows;
mod workers;

use roast_model::{CATALOG, Group, Measurement, Table, Value, canonical_key};

pub use metrics::Metrics;
use sheet::Sheet;

/// Computes every metric of the catalog.
pub fn analyze(measurement: &Measurement) -> Metrics {
    let header = &measurement.header;
    let mut sheet = Sheet::default();
    timing::fill(&mut sheet, header);
    let spans = fine::Spans::read(&header.spans);
    volume::fill(&mut sheet, &header.report, spans.as_ref());
    workers::fill(&mut sheet, measurement.table(Table::Ticks), measurement.table(Table::Workers));
    if let Some(spans) = &spans {
        fine::fill(&mut sheet, spans, &header.processor_prefixes);
    }
    throughput::fill(&mut sheet);
    efficiency::fill(&mut sheet);
    sheet.into_metrics()
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
    throughput::fill(&mut sheet);
    efficiency::fill(&mut sheet);
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
