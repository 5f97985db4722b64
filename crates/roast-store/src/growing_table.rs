//! A table that grows for hours in little memory. The youngest rows are plain
//! columns; whenever enough have gathered they are sealed, which is to say
//! written as Parquet into memory, and read back when the table is asked for.

use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
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
        let youngest = std::mem::replace(&mut self.open, TableBuilder::new(self.table));
        self.sealed_rows = 0;
        let sealed = std::mem::take(&mut self.sealed);
        let rows = if sealed.is_empty() {
            youngest
        } else {
            let mut rows = TableBuilder::new(self.table);
            for part in sealed {
                table_file::append_to(&mut rows, part)
                    .map_err(|source| GrowthError::Unreadable { table: self.table, source })?;
            }
            rows.append_table(youngest)?;
            rows
        };
        Ok(Arc::clone(self.whole.insert(Arc::new(rows.finish()?))))
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

#[cfg(test)]
mod tests {
    use roast_model::Frame;

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
        let names = Frame::new(&whole).name_cells("worker").word_count();
        assert_eq!(names, Some(8), "each name once");
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
