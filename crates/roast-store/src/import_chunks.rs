//! The original tool's chunk list and file metadata as the tables of chunks and
//! files.

use std::iter;

use arrow_array::RecordBatch;
use roast_model::{ColumnData, Table, TableError};
use serde_json::Value as Json;

use crate::import_rows::{self, Fields, Mapping, Read};

const CHUNK_FIELDS: &[Mapping] = &[
    ("dataset", "dataset", Read::Name),
    ("file", "file", Read::Name),
    ("uuid", "uuid", Read::Name),
    ("tree", "tree", Read::Name),
    ("entry_start", "entry_start", Read::Int),
    ("entry_stop", "entry_stop", Read::Int),
    ("num_events", "num_events", Read::Int),
    ("worker", "worker", Read::Name),
    ("t_start", "start", Read::EpochSecs),
    ("t_end", "stop", Read::EpochSecs),
    ("duration", "duration_secs", Read::Float),
    ("mem_before_mb", "rss_start_bytes", Read::Mebibytes),
    ("mem_after_mb", "rss_end_bytes", Read::Mebibytes),
    ("bytes_read", "bytes_read", Read::Int),
    ("error", "error", Read::Name),
];

const FILE_FIELDS: &[Mapping] = &[
    ("total_branches", "num_branches", Read::Int),
    ("total_tree_bytes", "compressed_bytes", Read::Int),
    ("compression_ratio", "compression_ratio", Read::Float),
];

/// The table of chunks from `raw_chunk_metrics`.
pub(crate) fn chunks(list: &[Json]) -> Result<RecordBatch, TableError> {
    let rows: Vec<Fields> = list.iter().map(fields).collect();
    let ids = (0_i64..).take(rows.len()).map(Some).collect();
    let ready = vec![("chunk_id".to_owned(), ColumnData::Ints(ids))];
    import_rows::build(Table::Chunks, CHUNK_FIELDS, rows, ready)
}

/// The table of files from `file_metadata`.
pub(crate) fn files(by_file: &Fields) -> Result<RecordBatch, TableError> {
    let names = by_file.keys().cloned().map(Some).collect();
    let rows: Vec<Fields> = by_file
        .iter()
        .map(|(name, metadata)| {
            let mut row = fields(metadata);
            if row.get("filename").and_then(Json::as_str) == Some(name) {
                row.shift_remove("filename");
            }
            row
        })
        .collect();
    let uncompressed = rows.iter().map(uncompressed_bytes).collect();
    let ready = vec![
        ("file".to_owned(), ColumnData::Texts(names)),
        ("uncompressed_bytes".to_owned(), ColumnData::Ints(uncompressed)),
    ];
    import_rows::build(Table::Files, FILE_FIELDS, rows, ready)
}

/// The ratio was computed from the two sizes, of which only one was saved.
fn uncompressed_bytes(row: &Fields) -> Option<i64> {
    let compressed = row.get("total_tree_bytes")?.as_f64()?;
    let ratio = row.get("compression_ratio")?.as_f64()?;
    let bytes = (compressed / ratio).round();
    (bytes.is_finite() && bytes < 9e15 && ratio > 0.0).then_some(bytes as i64)
}

/// The fields of a row; something that has none is kept whole.
fn fields(row: &Json) -> Fields {
    match row {
        Json::Object(fields) => fields.clone(),
        other => iter::once(("value".to_owned(), other.clone())).collect(),
    }
}
