//! Tables grow by batches of columns. Names are interned once per table and every
//! column is held as narrow as its values allow, so that a table of many rows
//! takes little more than what they tell.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};

use crate::columns::Column;
use crate::table::Table;

/// One column of a batch, as it comes in.
#[derive(Clone, Debug)]
pub enum ColumnData {
    /// Whole numbers or nanoseconds.
    Ints(Vec<Option<i64>>),
    /// Real numbers.
    Floats(Vec<Option<f64>>),
    /// Indices into a list of names.
    Codes(Vec<Option<u32>>, Vec<String>),
    /// Text, one by one.
    Texts(Vec<Option<String>>),
}

/// A batch does not fit its table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No such column.
    #[error("table {table} has no column {column:?}")]
    UnknownColumn {
        /// The table.
        table: Table,
        /// The name that was given.
        column: String,
    },
    /// The column holds something else.
    #[error("column {column:?} of table {table} cannot hold what it was given")]
    WrongType {
        /// The table.
        table: Table,
        /// The column.
        column: &'static str,
    },
    /// The columns of the batch have different lengths.
    #[error("columns of one batch of table {table} differ in length: {lengths:?}")]
    Ragged {
        /// The table.
        table: Table,
        /// The lengths, in the order of the columns given.
        lengths: Vec<usize>,
    },
    /// A code points past the end of its list of names.
    #[error("column {column:?} of table {table} has a code without a name")]
    BadCode {
        /// The table.
        table: Table,
        /// The column.
        column: &'static str,
    },
    /// Arrow refused to put the columns together.
    #[error("table {table} could not be put together")]
    Arrow {
        /// The table.
        table: Table,
        /// Why.
        source: arrow_schema::ArrowError,
    },
}

/// Collects the rows of one table.
#[derive(Debug)]
pub struct TableBuilder {
    table: Table,
    rows: usize,
    columns: Vec<Column>,
}

impl TableBuilder {
    /// An empty table.
    pub fn new(table: Table) -> Self {
        let columns = table.columns().iter().map(|column| Column::new(column.kind)).collect();
        Self { table, rows: 0, columns }
    }

    /// Which table this is.
    pub fn table(&self) -> Table {
        self.table
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// No rows yet.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a batch of rows. Columns that are not given are missing in all of
    /// them. A batch that does not fit changes nothing.
    pub fn append(&mut self, batch: Vec<(String, ColumnData)>) -> Result<(), TableError> {
        let lengths: Vec<usize> = batch.iter().map(|(_, data)| data.len()).collect();
        let Some(&rows) = lengths.first() else { return Ok(()) };
        if lengths.iter().any(|&length| length != rows) {
            return Err(TableError::Ragged { table: self.table, lengths });
        }
        let mut placed: Vec<Option<ColumnData>> = vec![None; self.columns.len()];
        for (name, data) in batch {
            let index = self
                .table
                .columns()
                .iter()
                .position(|column| column.name == name)
                .ok_or(TableError::UnknownColumn { table: self.table, column: name })?;
            self.check(index, &data)?;
            placed[index] = Some(data);
        }
        for (column, data) in self.columns.iter_mut().zip(placed) {
            match data {
                Some(data) => extend(column, data),
                None => column.extend_missing(rows),
            }
        }
        self.rows += rows;
        Ok(())
    }

    /// A table from its columns, which must be all of them, in order.
    pub fn from_columns(table: Table, columns: Vec<Column>) -> Result<Self, TableError> {
        let lengths: Vec<usize> = columns.iter().map(Column::len).collect();
        let rows = lengths.first().copied().unwrap_or(0);
        if lengths.len() != table.columns().len() || lengths.iter().any(|&length| length != rows) {
            return Err(TableError::Ragged { table, lengths });
        }
        for (column, def) in columns.iter().zip(table.columns()) {
            if std::mem::discriminant(column) != std::mem::discriminant(&Column::new(def.kind)) {
                return Err(TableError::WrongType { table, column: def.name });
            }
        }
        Ok(Self { table, rows, columns })
    }

    /// Adds the rows of a batch, whose columns may be in the documented form or in
    /// that of [`TableBuilder::finish`]. Columns that it does not have are missing.
    pub fn append_batch(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        let rows = batch.num_rows();
        for (column, def) in self.columns.iter_mut().zip(self.table.columns()) {
            match batch.column_by_name(def.name) {
                None => column.extend_missing(rows),
                Some(array) => {
                    if !column.extend_array(array) {
                        return Err(TableError::WrongType { table: self.table, column: def.name });
                    }
                }
            }
        }
        self.rows += rows;
        Ok(())
    }

    /// Adds the rows of another builder of the same table, column by column, so
    /// that hardly anything is there twice.
    pub fn append_table(&mut self, mut other: Self) -> Result<(), TableError> {
        let wrong = |column| TableError::WrongType { table: self.table, column };
        if self.table != other.table {
            return Err(wrong(other.table.name()));
        }
        let columns = self.columns.iter_mut().zip(std::mem::take(&mut other.columns));
        for ((column, mut more), def) in columns.zip(self.table.columns()) {
            let array =
                more.finish().map_err(|source| TableError::Arrow { table: self.table, source })?;
            if !column.extend_array(&array) {
                return Err(wrong(def.name));
            }
        }
        self.rows += other.rows;
        Ok(())
    }

    fn check(&self, index: usize, data: &ColumnData) -> Result<(), TableError> {
        let column = self.table.columns()[index].name;
        match (&self.columns[index], data) {
            (Column::Int(_) | Column::Float(_), ColumnData::Ints(_) | ColumnData::Floats(_))
            | (Column::Name(_) | Column::Key(_) | Column::Text(_), ColumnData::Texts(_)) => Ok(()),
            (
                Column::Name(_) | Column::Key(_) | Column::Text(_),
                ColumnData::Codes(codes, names),
            ) => {
                if codes.iter().flatten().any(|&code| code as usize >= names.len()) {
                    return Err(TableError::BadCode { table: self.table, column });
                }
                Ok(())
            }
            _ => Err(TableError::WrongType { table: self.table, column }),
        }
    }

    /// The rows as one Arrow batch with the columns of the table, each in the
    /// narrowest form that holds its values; [`crate::documented`] gives the types
    /// that the table is documented with.
    pub fn finish(mut self) -> Result<RecordBatch, TableError> {
        let arrow = |source| TableError::Arrow { table: self.table, source };
        let arrays = self
            .columns
            .iter_mut()
            .map(Column::finish)
            .collect::<Result<Vec<ArrayRef>, _>>()
            .map_err(arrow)?;
        let fields: Vec<Field> = self
            .table
            .schema()
            .fields()
            .iter()
            .zip(&arrays)
            .map(|(field, array)| field.as_ref().clone().with_data_type(array.data_type().clone()))
            .collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(arrow)
    }
}

impl ColumnData {
    fn len(&self) -> usize {
        match self {
            Self::Ints(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Codes(codes, _) => codes.len(),
            Self::Texts(values) => values.len(),
        }
    }
}

/// Adds checked data.
fn extend(column: &mut Column, data: ColumnData) {
    match (column, data) {
        (Column::Int(all), ColumnData::Ints(values)) => all.extend(values),
        (Column::Int(all), ColumnData::Floats(values)) => {
            all.extend(values.into_iter().map(|value| value.map(|number| number as i64)));
        }
        (Column::Float(all), ColumnData::Floats(values)) => all.extend(values),
        (Column::Float(all), ColumnData::Ints(values)) => {
            all.extend(values.into_iter().map(|value| value.map(|number| number as f64)));
        }
        (Column::Name(all), ColumnData::Texts(values)) => {
            all.extend(values.iter().map(Option::as_deref));
        }
        (Column::Name(all), ColumnData::Codes(codes, names)) => {
            all.extend_codes(
                codes.into_iter().map(|code| usize::try_from(code?).ok()),
                names.len(),
                |code| names.get(code).map(String::as_str),
            );
        }
        (Column::Key(all), ColumnData::Texts(values)) => {
            all.extend(values.iter().map(Option::as_deref));
        }
        (Column::Key(all), ColumnData::Codes(codes, names)) => {
            let name = |code: u32| names.get(usize::try_from(code).ok()?);
            all.extend(codes.into_iter().map(|code| name(code?).map(String::as_str)));
        }
        (Column::Text(all), ColumnData::Texts(values)) => {
            values.iter().for_each(|value| all.push(value.as_deref()));
        }
        (Column::Text(all), ColumnData::Codes(codes, names)) => {
            for code in codes {
                let name = code.and_then(|code| names.get(usize::try_from(code).ok()?));
                all.push(name.map(String::as_str));
            }
        }
        // Was checked before.
        (column, data) => column.extend_missing(data.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn batch(worker: &str, memory: i64) -> Vec<(String, ColumnData)> {
        vec![
            ("worker".into(), ColumnData::Codes(vec![Some(0)], vec![worker.into()])),
            ("memory_bytes".into(), ColumnData::Ints(vec![Some(memory)])),
        ]
    }

    #[test]
    fn batches_with_their_own_names_share_one_dictionary() {
        let mut builder = TableBuilder::new(Table::Workers);
        for (worker, memory) in [("a", 1), ("b", 2), ("a", 3)] {
            builder.append(batch(worker, memory)).unwrap();
        }
        let rows = builder.finish().unwrap();
        let frame = Frame::new(&rows);
        let names: Vec<_> = frame.names("worker").collect();
        assert_eq!(names, [Some("a"), Some("b"), Some("a")]);
        let memory: Vec<_> = frame.ints("memory_bytes").collect();
        assert_eq!(memory, [Some(1), Some(2), Some(3)]);
        assert_eq!(frame.floats("cpu_percent").collect::<Vec<_>>(), [None; 3]);
    }

    #[test]
    fn missing_values_of_every_kind_stay_missing() {
        let mut builder = TableBuilder::new(Table::Chunks);
        let text = |word: &str| Some(word.to_owned());
        let batch = |column: &str, data| vec![(column.to_owned(), data)];
        builder.append(batch("extra", ColumnData::Texts(vec![text("{}"), None]))).unwrap();
        builder.append(batch("dataset", ColumnData::Texts(vec![None, text("a")]))).unwrap();
        builder.append(batch("start", ColumnData::Floats(vec![None, Some(5.0)]))).unwrap();
        let rows = builder.finish().unwrap();
        let frame = Frame::new(&rows);
        let none = [None; 2];
        assert_eq!(frame.names("extra").collect::<Vec<_>>()[..3], [Some("{}"), None, None]);
        assert_eq!(frame.names("dataset").collect::<Vec<_>>()[..4], [None, None, None, Some("a")]);
        let times: Vec<_> = frame.times("start").map(|time| time.map(|time| time.0)).collect();
        assert_eq!((&times[..2], &times[4..]), (&none[..], &[None, Some(5)][..]));
    }

    #[test]
    fn a_batch_that_does_not_fit_changes_nothing() {
        let mut builder = TableBuilder::new(Table::Workers);
        let ragged = vec![
            ("threads".to_owned(), ColumnData::Ints(vec![Some(1)])),
            ("samples".to_owned(), ColumnData::Ints(vec![])),
        ];
        assert!(matches!(builder.append(ragged), Err(TableError::Ragged { .. })));
        let unknown = vec![("colour".to_owned(), ColumnData::Ints(vec![Some(1)]))];
        assert!(matches!(builder.append(unknown), Err(TableError::UnknownColumn { .. })));
        let bad = vec![("worker".to_owned(), ColumnData::Codes(vec![Some(2)], vec!["a".into()]))];
        assert!(matches!(builder.append(bad), Err(TableError::BadCode { .. })));
        assert!(builder.is_empty());
    }
}
