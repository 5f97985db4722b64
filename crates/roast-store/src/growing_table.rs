//! A table that grows for hours in little memory. The youngest rows are plain
//! columns; whenever enough have gathered they are sealed, which is to say
//! written as Parquet into memory, and read back when the table is asked for.

use std::sync::Arc;

use arrow_array::builder::PrimitiveBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::ArrowError;
use arrow_select::concat::concat;
use bytes::Bytes;
use indexmap::IndexSet;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use roast_model::{ColumnData, Table, TableBuilder, TableError};

use crate::error::StoreError;
use crate::table_file;

/// Rows that are gathered before they are sealed: less than three megabytes of
/// worker samples, and enough that the names of a thousand workers, which each
/// sealed part has again, do not weigh.
const ROWS_PER_SEAL: usize = 16 * 1024;

/// Collects the rows of one table.
#[derive(Debug)]
pub struct GrowingTable {
    table: Table,
    /// Parquet files, the oldest rows first.
    sealed: Vec<Bytes>,
    sealed_rows: usize,
    open: TableBuilder,
    /// All of the rows once they were asked for, and then nothing is sealed or open.
    whole: Option<Arc<RecordBatch>>,
}

/// Rows did not fit, or could not be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// They do not fit the table.
    #[error(transparent)]
    Unfit(#[from] TableError),
    /// They could not be sealed.
    #[error(transparent)]
    Unsealable(#[from] StoreError),
    /// What was sealed could not be read back.
    #[error("rows of table {table} could not be read back: {source}")]
    Unreadable {
        /// The table.
        table: Table,
        /// Why.
        source: ParquetError,
    },
}

impl GrowingTable {
    /// An empty table.
    pub fn new(table: Table) -> Self {
        Self::from(TableBuilder::new(table))
    }

    /// Which table this is.
    pub fn table(&self) -> Table {
        self.table
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        let whole = self.whole.as_ref().map_or(0, |whole| whole.num_rows());
        self.sealed_rows + self.open.len() + whole
    }

    /// No rows yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a batch of rows, as [`TableBuilder::append`] does. A batch that does
    /// not fit changes nothing.
    pub fn append(&mut self, batch: Vec<(String, ColumnData)>) -> Result<(), GrowthError> {
        if let Some(whole) = &self.whole {
            self.sealed.push(seal(self.table, whole)?);
            self.sealed_rows = whole.num_rows();
            self.whole = None;
        }
        self.open.append(batch)?;
        if self.open.len() >= ROWS_PER_SEAL {
            let rows = self.open.len();
            let open = std::mem::replace(&mut self.open, TableBuilder::new(self.table));
            self.sealed.push(seal(self.table, &open.finish()?)?);
            self.sealed_rows += rows;
        }
        Ok(())
    }

    /// The rows so far. Until more are added, everyone who asks shares them.
    pub fn build(&mut self) -> Result<Arc<RecordBatch>, GrowthError> {
        if let Some(whole) = &self.whole {
            return Ok(Arc::clone(whole));
        }
        let open = std::mem::replace(&mut self.open, TableBuilder::new(self.table)).finish()?;
        let whole = if self.sealed.is_empty() {
            open
        } else {
            join(self.table, &self.sealed, &open)
                .map_err(|source| GrowthError::Unreadable { table: self.table, source })?
        };
        self.sealed = Vec::new();
        self.sealed_rows = 0;
        Ok(Arc::clone(self.whole.insert(Arc::new(whole))))
    }
}

impl From<TableBuilder> for GrowingTable {
    fn from(open: TableBuilder) -> Self {
        Self { table: open.table(), sealed: Vec::new(), sealed_rows: 0, open, whole: None }
    }
}

fn seal(table: Table, rows: &RecordBatch) -> Result<Bytes, StoreError> {
    Ok(Bytes::from(table_file::encode(table, rows)?.into_boxed_slice()))
}

/// Reads column after column, so that beside the whole table there is never more
/// than one of its columns in pieces.
fn join(table: Table, sealed: &[Bytes], open: &RecordBatch) -> Result<RecordBatch, ParquetError> {
    let sealed = sealed
        .iter()
        .map(|bytes| Ok((bytes, ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new())?)))
        .collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = table.schema();
    let columns = schema
        .fields()
        .iter()
        .zip(open.columns())
        .enumerate()
        .map(|(index, (field, youngest))| {
            let mut pieces = Vec::with_capacity(sealed.len() + 1);
            for (bytes, metadata) in &sealed {
                read_column(bytes, metadata, index, &mut pieces)?;
            }
            pieces.push(Arc::clone(youngest));
            for piece in &mut pieces {
                if piece.data_type() != field.data_type() {
                    *piece = cast(piece, field.data_type())?;
                }
            }
            Ok(join_column(&pieces)?)
        })
        .collect::<Result<Vec<ArrayRef>, ParquetError>>()?;
    Ok(RecordBatch::try_new(schema, columns)?)
}

fn read_column(
    bytes: &Bytes,
    metadata: &ArrowReaderMetadata,
    index: usize,
    pieces: &mut Vec<ArrayRef>,
) -> Result<(), ParquetError> {
    let rows = metadata.metadata().file_metadata().num_rows();
    let mask = ProjectionMask::roots(metadata.parquet_schema(), [index]);
    let batches =
        ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata.clone())
            .with_projection(mask)
            .with_batch_size(usize::try_from(rows).unwrap_or(0).max(1))
            .build()?;
    for batch in batches {
        pieces.extend(batch?.columns().iter().cloned());
    }
    Ok(())
}

fn join_column(pieces: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let words: Option<Vec<_>> = pieces
        .iter()
        .map(|piece| {
            let names = piece.as_dictionary_opt::<Int32Type>()?;
            Some((names, names.values().as_string_opt::<i32>()?))
        })
        .collect();
    match words {
        Some(words) => join_names(&words),
        None => concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>()),
    }
}

/// Each piece has names of its own; the whole has each name once.
fn join_names(
    pieces: &[(&DictionaryArray<Int32Type>, &StringArray)],
) -> Result<ArrayRef, ArrowError> {
    let mut all: IndexSet<&str> = IndexSet::new();
    let rows = pieces.iter().map(|(codes, _)| codes.len()).sum();
    let mut joined = PrimitiveBuilder::<Int32Type>::with_capacity(rows);
    for (codes, words) in pieces {
        let known: Vec<Option<i32>> = words
            .iter()
            .map(|word| word.and_then(|word| i32::try_from(all.insert_full(word).0).ok()))
            .collect();
        let code = |code: i32| usize::try_from(code).ok().and_then(|code| known.get(code).copied());
        joined.extend(codes.keys().iter().map(|local| local.and_then(code).flatten()));
    }
    let all = StringArray::from_iter_values(all);
    Ok(Arc::new(DictionaryArray::try_new(joined.finish(), Arc::new(all))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of two workers, one of them without a name.
    fn batch(first: i64, rows: i64) -> Vec<(String, ColumnData)> {
        let numbers = first..first + rows;
        let names = vec![format!("worker {}", first % 7), "idle".to_owned()];
        vec![
            ("time".into(), ColumnData::Ints(numbers.clone().map(Some).collect())),
            (
                "worker".into(),
                ColumnData::Codes(
                    numbers.clone().map(|n| [Some(0), Some(1), None][n as usize % 3]).collect(),
                    names,
                ),
            ),
            (
                "cpu_percent".into(),
                ColumnData::Floats(
                    numbers.map(|n| (n % 5 > 0).then_some(n as f64 / 3.0)).collect(),
                ),
            ),
        ]
    }

    fn plain(batches: &[(i64, i64)]) -> RecordBatch {
        let mut builder = TableBuilder::new(Table::Workers);
        for &(first, rows) in batches {
            builder.append(batch(first, rows)).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn sealed_rows_come_back_as_they_were() {
        let batches: Vec<(i64, i64)> = (0..60).map(|number| (number * 1_111, 1_111)).collect();
        let mut growing = GrowingTable::new(Table::Workers);
        for &(first, rows) in &batches {
            growing.append(batch(first, rows)).unwrap();
        }
        assert_eq!(growing.sealed.len(), 4);
        assert!(growing.open.len() < ROWS_PER_SEAL);
        assert_eq!(growing.len(), 60 * 1_111);
        let whole = growing.build().unwrap();
        assert_eq!(*whole, plain(&batches));
        let names = whole.column_by_name("worker").unwrap().as_dictionary::<Int32Type>().values();
        assert_eq!(names.len(), 8, "each name once");
    }

    #[test]
    fn a_table_that_was_looked_at_grows_on() {
        let mut growing = GrowingTable::from({
            let mut builder = TableBuilder::new(Table::Workers);
            builder.append(batch(0, 10)).unwrap();
            builder
        });
        let first = growing.build().unwrap();
        assert!(Arc::ptr_eq(&first, &growing.build().unwrap()));
        growing.append(batch(10, 3)).unwrap();
        assert_eq!(growing.len(), 13);
        assert_eq!(*growing.build().unwrap(), plain(&[(0, 10), (10, 3)]));
        assert_eq!(*first, plain(&[(0, 10)]));
    }

    #[test]
    fn rows_that_do_not_fit_change_nothing() {
        let mut growing = GrowingTable::new(Table::Workers);
        growing.append(batch(0, 5)).unwrap();
        growing.build().unwrap();
        let unknown = vec![("colour".to_owned(), ColumnData::Ints(vec![Some(1)]))];
        assert!(matches!(growing.append(unknown), Err(GrowthError::Unfit(_))));
        assert_eq!(growing.len(), 5);
        assert_eq!(*growing.build().unwrap(), plain(&[(0, 5)]));
        assert!(GrowingTable::new(Table::Ticks).build().unwrap().num_rows() == 0);
    }

    #[test]
    fn sealed_rows_take_a_fraction_of_the_memory() {
        let mut growing = GrowingTable::new(Table::Workers);
        growing.append(batch(0, ROWS_PER_SEAL as i64)).unwrap();
        let sealed: usize = growing.sealed.iter().map(Bytes::len).sum();
        assert!(growing.open.is_empty());
        assert!(sealed * 4 < plain(&[(0, ROWS_PER_SEAL as i64)]).get_array_memory_size());
    }
}
