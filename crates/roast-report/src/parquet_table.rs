//! A table as Parquet, compressed with zstd.

use std::io::Write;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use roast_model::{Table, documented, documented_batches};

use crate::export::ExportError;

/// Rows that are converted at a time.
const ROWS_PER_BATCH: usize = 128 * 1024;

/// Writes one table. Parquet is small, so it is made in memory first.
pub(crate) fn write_table(
    table: Table,
    batch: &RecordBatch,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let bytes = encode(table, batch).map_err(ExportError::Parquet)?;
    out.write_all(&bytes).map_err(ExportError::Write)
}

fn encode(table: Table, batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut bytes = Vec::new();
    let schema = documented(table, &batch.slice(0, 0))?.schema();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties))?;
    for rows in documented_batches(table, batch, ROWS_PER_BATCH) {
        writer.write(&rows?)?;
    }
    writer.close()?;
    Ok(bytes)
}
