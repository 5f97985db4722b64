//! Tables grow by batches of columns, which are held as Arrow holds them: eight
//! bytes for a number, four for a name, one bit for whether it is missing. Names
//! are interned once per table, so a batch costs what its numbers cost.

use std::sync::Arc;

use arrow_array::builder::{PrimitiveBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray,
};
use arrow_schema::ArrowError;
use indexmap::IndexSet;

use crate::table::{ColumnKind, Table};

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

#[derive(Debug)]
enum Column {
    Int(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float64Type>),
    Name { codes: PrimitiveBuilder<Int32Type>, names: IndexSet<Box<str>> },
    Text(StringBuilder),
}

impl TableBuilder {
    /// An empty table.
    pub fn new(table: Table) -> Self {
        let columns = table.columns().iter().map(|column| Column::empty(column.kind)).collect();
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
            column.extend(data, rows);
        }
        self.rows += rows;
        Ok(())
    }

    fn check(&self, index: usize, data: &ColumnData) -> Result<(), TableError> {
        let column = self.table.columns()[index].name;
        match (&self.columns[index], data) {
            (Column::Int(_) | Column::Float(_), ColumnData::Ints(_) | ColumnData::Floats(_))
            | (Column::Name { .. } | Column::Text(_), ColumnData::Texts(_)) => Ok(()),
            (Column::Name { .. } | Column::Text(_), ColumnData::Codes(codes, names)) => {
                if codes.iter().flatten().any(|&code| code as usize >= names.len()) {
                    return Err(TableError::BadCode { table: self.table, column });
                }
                Ok(())
            }
            _ => Err(TableError::WrongType { table: self.table, column }),
        }
    }

    /// The rows so far as one Arrow batch.
    pub fn build(&self) -> Result<RecordBatch, TableError> {
        self.put_together(self.columns.iter(), |column, kind| column.build(kind))
    }

    /// The rows as one Arrow batch, without a copy of them.
    pub fn finish(mut self) -> Result<RecordBatch, TableError> {
        let columns = std::mem::take(&mut self.columns);
        self.put_together(columns.into_iter(), |column, kind| column.finish(kind))
    }

    fn put_together<C>(
        &self,
        columns: impl Iterator<Item = C>,
        make: impl Fn(C, ColumnKind) -> Result<ArrayRef, ArrowError>,
    ) -> Result<RecordBatch, TableError> {
        let arrow = |source| TableError::Arrow { table: self.table, source };
        let arrays = self
            .table
            .columns()
            .iter()
            .zip(columns)
            .map(|(def, column)| make(column, def.kind))
            .collect::<Result<Vec<ArrayRef>, _>>()
            .map_err(arrow)?;
        RecordBatch::try_new(self.table.schema(), arrays).map_err(arrow)
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

impl Column {
    fn empty(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Time | ColumnKind::Int => Self::Int(PrimitiveBuilder::with_capacity(0)),
            ColumnKind::Float => Self::Float(PrimitiveBuilder::with_capacity(0)),
            ColumnKind::Name => {
                Self::Name { codes: PrimitiveBuilder::with_capacity(0), names: IndexSet::new() }
            }
            ColumnKind::Text => Self::Text(StringBuilder::with_capacity(0, 0)),
        }
    }

    /// Adds checked data, or `rows` missing values.
    fn extend(&mut self, data: Option<ColumnData>, rows: usize) {
        match (self, data) {
            (Self::Int(all), Some(ColumnData::Ints(values))) => all.extend(values),
            (Self::Int(all), Some(ColumnData::Floats(values))) => {
                all.extend(values.into_iter().map(|value| value.map(|number| number as i64)));
            }
            (Self::Float(all), Some(ColumnData::Floats(values))) => all.extend(values),
            (Self::Float(all), Some(ColumnData::Ints(values))) => {
                all.extend(values.into_iter().map(|value| value.map(|number| number as f64)));
            }
            (Self::Name { codes, names }, Some(ColumnData::Texts(values))) => {
                codes.extend(values.into_iter().map(|value| value.map(|name| intern(names, name))));
            }
            (Self::Name { codes, names }, Some(ColumnData::Codes(local, local_names))) => {
                let global: Vec<i32> =
                    local_names.into_iter().map(|name| intern(names, name)).collect();
                codes.extend(
                    local
                        .into_iter()
                        .map(|code| code.and_then(|c| global.get(c as usize).copied())),
                );
            }
            (Self::Text(all), Some(ColumnData::Texts(values))) => all.extend(values),
            (Self::Text(all), Some(ColumnData::Codes(codes, names))) => {
                all.extend(codes.into_iter().map(|code| code.and_then(|c| names.get(c as usize))));
            }
            (Self::Int(all), _) => all.append_nulls(rows),
            (Self::Float(all), _) => all.append_nulls(rows),
            (Self::Name { codes, .. }, _) => codes.append_nulls(rows),
            (Self::Text(all), _) => all.append_nulls(rows),
        }
    }

    fn build(&self, kind: ColumnKind) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Int(values) => ints(values.finish_cloned(), kind),
            Self::Float(values) => Arc::new(values.finish_cloned()),
            Self::Name { codes, names } => dictionary(codes.finish_cloned(), names)?,
            Self::Text(values) => Arc::new(values.finish_cloned()),
        })
    }

    fn finish(self, kind: ColumnKind) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Self::Int(mut values) => ints(values.finish(), kind),
            Self::Float(mut values) => Arc::new(values.finish()),
            Self::Name { mut codes, names } => dictionary(codes.finish(), &names)?,
            Self::Text(mut values) => Arc::new(values.finish()),
        })
    }
}

fn ints(values: Int64Array, kind: ColumnKind) -> ArrayRef {
    if kind == ColumnKind::Time {
        let times: TimestampNanosecondArray = values.reinterpret_cast();
        Arc::new(times.with_timezone("UTC"))
    } else {
        Arc::new(values)
    }
}

fn dictionary(codes: Int32Array, names: &IndexSet<Box<str>>) -> Result<ArrayRef, ArrowError> {
    let names = StringArray::from_iter_values(names);
    Ok(Arc::new(DictionaryArray::try_new(codes, Arc::new(names))?))
}

fn intern(names: &mut IndexSet<Box<str>>, name: String) -> i32 {
    let code = match names.get_index_of(name.as_str()) {
        Some(code) => code,
        None => names.insert_full(name.into_boxed_str()).0,
    };
    i32::try_from(code).unwrap_or(i32::MAX)
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
        let rows = builder.build().unwrap();
        let frame = Frame::new(&rows);
        let names: Vec<_> = frame.names("worker").collect();
        assert_eq!(names, [Some("a"), Some("b"), Some("a")]);
        let memory: Vec<_> = frame.ints("memory_bytes").collect();
        assert_eq!(memory, [Some(1), Some(2), Some(3)]);
        assert_eq!(frame.floats("cpu_percent").collect::<Vec<_>>(), [None; 3]);
        assert_eq!(builder.finish().unwrap(), rows);
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
