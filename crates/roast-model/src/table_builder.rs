//! Tables grow by batches of columns; names are interned once per table, so a
//! batch costs what its numbers cost.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray,
};

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
#[derive(Clone, Debug)]
pub struct TableBuilder {
    table: Table,
    rows: usize,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
enum Column {
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Name { codes: Vec<Option<i32>>, names: Vec<String>, lookup: HashMap<String, i32> },
    Text(Vec<Option<String>>),
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
        let arrow = |source| TableError::Arrow { table: self.table, source };
        let arrays = self
            .table
            .columns()
            .iter()
            .zip(&self.columns)
            .map(|(def, column)| column.build(def.kind))
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
            ColumnKind::Time | ColumnKind::Int => Self::Int(Vec::new()),
            ColumnKind::Float => Self::Float(Vec::new()),
            ColumnKind::Name => {
                Self::Name { codes: Vec::new(), names: Vec::new(), lookup: HashMap::new() }
            }
            ColumnKind::Text => Self::Text(Vec::new()),
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
            (Self::Name { codes, names, lookup }, Some(ColumnData::Texts(values))) => {
                codes.extend(
                    values.into_iter().map(|value| value.map(|name| intern(names, lookup, name))),
                );
            }
            (Self::Name { codes, names, lookup }, Some(ColumnData::Codes(local, local_names))) => {
                let global: Vec<i32> =
                    local_names.into_iter().map(|name| intern(names, lookup, name)).collect();
                codes.extend(
                    local
                        .into_iter()
                        .map(|code| code.and_then(|c| global.get(c as usize).copied())),
                );
            }
            (Self::Text(all), Some(ColumnData::Texts(values))) => all.extend(values),
            (Self::Text(all), Some(ColumnData::Codes(codes, names))) => {
                all.extend(
                    codes.into_iter().map(|code| code.and_then(|c| names.get(c as usize).cloned())),
                );
            }
            (Self::Int(all), _) => all.extend(std::iter::repeat_n(None, rows)),
            (Self::Float(all), _) => all.extend(std::iter::repeat_n(None, rows)),
            (Self::Name { codes, .. }, _) => codes.extend(std::iter::repeat_n(None, rows)),
            (Self::Text(all), _) => all.extend(std::iter::repeat_n(None, rows)),
        }
    }

    fn build(&self, kind: ColumnKind) -> Result<ArrayRef, arrow_schema::ArrowError> {
        Ok(match self {
            Self::Int(values) if kind == ColumnKind::Time => {
                Arc::new(TimestampNanosecondArray::from(values.clone()).with_timezone("UTC"))
            }
            Self::Int(values) => Arc::new(Int64Array::from(values.clone())),
            Self::Float(values) => Arc::new(Float64Array::from(values.clone())),
            Self::Name { codes, names, .. } => Arc::new(DictionaryArray::try_new(
                Int32Array::from(codes.clone()),
                Arc::new(StringArray::from(names.clone())),
            )?),
            Self::Text(values) => Arc::new(StringArray::from(values.clone())),
        })
    }
}

fn intern(names: &mut Vec<String>, lookup: &mut HashMap<String, i32>, name: String) -> i32 {
    if let Some(&code) = lookup.get(&name) {
        return code;
    }
    let code = i32::try_from(names.len()).unwrap_or(i32::MAX);
    names.push(name.clone());
    lookup.insert(name, code);
    code
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
