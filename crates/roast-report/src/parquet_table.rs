//! A table as Parquet, compressed with zstd.

use std::io::Write;

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::export::ExportError;

/// Writes one table. Parquet is small, so it is made in memory first.
pub(crate) fn write_table(batch: &RecordBatch, out: &mut dyn Write) -> Result<(), ExportError> {
    let bytes = encode(batch).map_err(ExportError::Parquet)?;
    out.write_all(&bytes).map_err(ExportError::Write)
}

fn encode(batch: &RecordBatch) -> Result<Vec<u8>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.close()?;
    Ok(bytes)
}
