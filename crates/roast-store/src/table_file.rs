//! One table as the bytes of one Parquet file, and back. Names stay dictionary
//! encoded; whole numbers are stored as differences, and real ones by their
//! distinct values while those are few, which is what makes time series small.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use roast_model::{ColumnKind, Table, TableBuilder, TableError, documented_batches};

use crate::error::StoreError;

/// Lets readers that stream hold one group at a time.
const ROWS_PER_GROUP: usize = 128 * 1024;
/// Rows that are read at a time.
const ROWS_PER_BATCH: usize = 16 * 1024;
/// Room for 2048 distinct numbers: a percentage with one decimal fits, and a
/// column of arbitrary durations is soon found not to.
const FLOAT_DICTIONARY_BYTES: usize = 16 * 1024;
/// Higher levels gain nothing on columns encoded like these.
const ZSTD_LEVEL: i32 = 1;

/// The file's name.
pub(crate) fn file_name(table: Table) -> String {
    format!("{table}.parquet")
}

/// The file's content.
pub(crate) fn encode(table: Table, batch: &RecordBatch) -> Result<Vec<u8>, StoreError> {
    let unstorable = |why| StoreError::Unstorable { part: format!("table {table}"), why };
    if !same_columns(&table.schema(), &batch.schema()) {
        return Err(unstorable("its columns are not those of this table".into()));
    }
    let write = || -> Result<Vec<u8>, ParquetError> {
        let mut writer =
            ArrowWriter::try_new(Vec::new(), table.schema(), Some(properties(table)?))?;
        for group in documented_batches(table, batch, ROWS_PER_GROUP) {
            writer.write(&group?)?;
        }
        writer.into_inner()
    };
    write().map_err(|error| unstorable(error.to_string()))
}

fn same_columns(expected: &Schema, found: &Schema) -> bool {
    expected.fields().len() == found.fields().len()
        && expected.fields().iter().zip(found.fields()).all(|(a, b)| a.name() == b.name())
}

fn properties(table: Table) -> Result<WriterProperties, ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for column in table.columns() {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            ColumnKind::Time | ColumnKind::Int => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            ColumnKind::Float => builder
                .set_column_dictionary_page_size_limit(path.clone(), FLOAT_DICTIONARY_BYTES)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            ColumnKind::Name | ColumnKind::Key | ColumnKind::Text => builder,
        };
    }
    Ok(builder.build())
}

/// Reads the file's content into exactly the table's columns, each as narrow as
/// its values allow; `path` is for messages.
pub(crate) fn decode(
    table: Table,
    bytes: Vec<u8>,
    rows: u64,
    path: &Path,
) -> Result<RecordBatch, StoreError> {
    let damaged = |why: String| StoreError::damaged(format!("table {table}"), why, path);
    // The checksum says these are the bytes that were written, not that a sane
    // program wrote them: the decoder may meet lengths it trusts too much.
    let batch = catch_unwind(AssertUnwindSafe(|| read_all(table, bytes)))
        .map_err(|_| damaged("it is not readable as Parquet".into()))?
        .map_err(|error| damaged(error.to_string()))?;
    if batch.num_rows() as u64 != rows {
        return Err(damaged(format!("it has {} rows instead of {rows}", batch.num_rows())));
    }
    Ok(batch)
}

fn read_all(table: Table, bytes: Vec<u8>) -> Result<RecordBatch, ParquetError> {
    let mut rows = TableBuilder::new(table);
    append_to(&mut rows, Bytes::from(bytes))?;
    rows.finish().map_err(unfit)
}

/// Adds a file's rows to a table, batch by batch, so that only the narrow form is
/// there as a whole.
pub(crate) fn append_to(rows: &mut TableBuilder, bytes: Bytes) -> Result<(), ParquetError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes)?;
    for batch in reader.with_batch_size(ROWS_PER_BATCH).build()? {
        rows.append_batch(&conform(rows.table(), &batch?)?).map_err(unfit)?;
    }
    Ok(())
}

fn unfit(error: TableError) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Columns that an older version did not have are missing in every row; columns
/// that only a later version knows are left out.
fn conform(table: Table, batch: &RecordBatch) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let schema = table.schema();
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let columns = schema
        .fields()
        .iter()
        .map(|field| match batch.column_by_name(field.name()) {
            None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            Some(column) if column.data_type() == field.data_type() => Ok(column.clone()),
            Some(column) => cast_with_options(column, field.data_type(), &options),
        })
        .collect::<Result<Vec<ArrayRef>, _>>()?;
    RecordBatch::try_new(schema, columns)
}
