//! The measurement in one JSON document, in the layout of the original tool:
//! metrics by key at the top, then what they were made from. Strict JSON in a
//! fixed order, written as it goes.

use std::io::Write;

use arrow_array::RecordBatch;
use roast_analyze::Metrics;
use roast_model::{Header, Measurement, Table, canonical_key, chunk_rows};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};

use crate::export::ExportError;
use crate::plain_json::{map, plain};
use crate::tracking_json::Tracking;

/// Rows that are held as objects at a time.
const ROWS_AT_ONCE: usize = 65_536;

/// Keys at the top that are not metrics.
const RESERVED: [&str; 6] = [
    "measurement",
    "coffea_report",
    "custom_metrics",
    "tracking_data",
    "raw_span_metrics",
    "raw_chunk_metrics",
];

struct Document<'a> {
    header: &'a Header,
    metrics: &'a Metrics,
    /// The tables; `None` for a summary without them.
    tables: Option<&'a Measurement>,
}

/// Writes everything about a measurement.
pub(crate) fn write_full(
    measurement: &Measurement,
    metrics: &Metrics,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let metrics = &metrics.clone().with_files(measurement);
    write(&Document { header: &measurement.header, metrics, tables: Some(measurement) }, out)
}

/// Writes the metrics and what is known once per run, without any table.
pub fn write_summary(
    header: &Header,
    metrics: &Metrics,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    write(&Document { header, metrics, tables: None }, out)
}

fn write(document: &Document<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    serde_json::to_writer_pretty(&mut *out, document)
        .map_err(|error| ExportError::Write(error.into()))?;
    out.write_all(b"\n").map_err(ExportError::Write)
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let header = self.header;
        let mut top = serializer.serialize_map(None)?;
        for (key, value) in self.metrics.iter() {
            top.serialize_entry(key, &plain(value))?;
        }
        for (key, value) in map(header.metrics.pairs()) {
            if canonical_key(&key).is_none() {
                let taken = RESERVED.contains(&key.as_str());
                top.serialize_entry(&if taken { format!("{key}_") } else { key }, &value)?;
            }
        }
        top.serialize_entry("measurement", &about(header))?;
        if let Some(measurement) = self.tables {
            top.serialize_entry("coffea_report", &plain(&header.report))?;
            top.serialize_entry("custom_metrics", &plain(&header.custom_metrics))?;
            let tracking = Tracking {
                ticks: measurement.table(Table::Ticks),
                workers: measurement.table(Table::Workers),
                extra: &header.tracking_extra,
            };
            top.serialize_entry("tracking_data", &tracking)?;
            top.serialize_entry("raw_span_metrics", &plain(&header.spans))?;
            let chunks = measurement.table(Table::Chunks).map(|chunks| Chunks {
                chunks,
                sections: measurement.table(Table::Sections),
                branch_sets: measurement.table(Table::BranchSets),
            });
            top.serialize_entry("raw_chunk_metrics", &chunks)?;
        }
        top.end()
    }
}

fn about(header: &Header) -> Json {
    json!({
        "id": header.id,
        "name": header.name,
        "started": header.started.to_string(),
        "ended": header.ended().to_string(),
        "backend": header.backend,
        "error": header.error,
        "notes": header.notes,
        "span_completeness": header.span_completeness,
        "processor_prefixes": header.processor_prefixes,
        "phases": header.phases.iter().map(|phase| json!({
            "name": phase.name,
            "start": phase.start.to_string(),
            "stop": phase.stop.to_string(),
            "items": phase.items,
        })).collect::<Vec<_>>(),
        "provenance": plain(&header.provenance),
    })
}

/// One object per chunk, as `collector.chunk_metrics` shows it.
struct Chunks<'a> {
    chunks: &'a RecordBatch,
    sections: Option<&'a RecordBatch>,
    branch_sets: Option<&'a RecordBatch>,
}

impl Serialize for Chunks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.chunks.num_rows();
        let mut rows = serializer.serialize_seq(Some(count))?;
        for start in (0..count).step_by(ROWS_AT_ONCE) {
            let some = self.chunks.slice(start, ROWS_AT_ONCE.min(count - start));
            for row in chunk_rows(&some, self.sections, self.branch_sets) {
                rows.serialize_element(&plain(&row))?;
            }
        }
        rows.end()
    }
}
