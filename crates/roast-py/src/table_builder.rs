//! Tables that grow from raw column bytes, as the scheduler ships them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use roast_model::{ColumnData, ColumnKind, Table, TableBuilder as Builder, TableError};

use crate::arrow_stream::ArrowTable;

/// Collects the rows of one table.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct TableBuilder {
    inner: Mutex<Rows>,
}

/// Rows are there once: in the builder, or as the table they were built into.
struct Rows {
    builder: Builder,
    built: Option<Arc<RecordBatch>>,
}

impl Rows {
    /// The builder with all rows.
    fn growing(&mut self) -> Result<&mut Builder, TableError> {
        if let Some(built) = self.built.take() {
            self.builder.append_batch(&built)?;
        }
        Ok(&mut self.builder)
    }
}

impl TableBuilder {
    pub(crate) fn wrap(builder: Builder) -> Self {
        Self { inner: Mutex::new(Rows { builder, built: None }) }
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which table this is, and its rows so far, which are not copied.
    pub(crate) fn built(&self) -> Result<(Table, Arc<RecordBatch>), TableError> {
        let mut rows = self.lock();
        let table = rows.builder.table();
        if let Some(built) = &rows.built {
            return Ok((table, Arc::clone(built)));
        }
        let builder = std::mem::replace(&mut rows.builder, Builder::new(table));
        let built = Arc::new(builder.finish()?);
        rows.built = Some(Arc::clone(&built));
        Ok((table, built))
    }
}

#[pymethods]
impl TableBuilder {
    #[new]
    fn new(table: &str) -> PyResult<Self> {
        Ok(Self::wrap(Builder::new(table_named(table)?)))
    }

    /// The table's name.
    #[getter]
    fn table(&self) -> &'static str {
        self.lock().builder.table().name()
    }

    fn __len__(&self) -> usize {
        let rows = self.lock();
        rows.built.as_ref().map_or(rows.builder.len(), |built| built.num_rows())
    }

    /// The rows so far as a table.
    fn build(&self) -> PyResult<ArrowTable> {
        let (table, batch) = self.built().map_err(unfit)?;
        Ok(ArrowTable::wrap(table, batch))
    }

    /// Adds a batch of rows. Times are int64 nanoseconds with the smallest
    /// int64 as missing, other numbers are float64 with NaN as missing, names
    /// are int32 codes with -1 as missing together with their list of names.
    fn append(&self, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let table = self.lock().builder.table();
        let batch = columns
            .iter()
            .map(|(name, data)| {
                let name: String = name.extract()?;
                let data = column_data(table, &name, &data)?;
                Ok((name, data))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let mut rows = self.lock();
        rows.growing().and_then(|builder| builder.append(batch)).map_err(unfit)
    }

    /// Adds rows of eight-byte cells, the columns in the given order. A name
    /// column's cells are codes into the list beside it, -1 as missing; the
    /// others are as for `append`.
    fn append_rows(
        &self,
        py: Python<'_>,
        rows: &[u8],
        columns: Vec<(String, Option<Vec<String>>)>,
    ) -> PyResult<()> {
        let (cells, rest) = rows.as_chunks::<8>();
        if !rest.is_empty() || !cells.len().is_multiple_of(columns.len().max(1)) {
            return Err(PyValueError::new_err(format!(
                "{} bytes are no whole number of rows of {} cells",
                rows.len(),
                columns.len()
            )));
        }
        py.detach(|| {
            let mut inner = self.lock();
            let builder = inner.growing().map_err(unfit)?;
            let batch = cut(builder.table(), cells, columns);
            builder.append(batch).map_err(unfit)
        })
    }
}

fn unfit(error: TableError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Cuts rows into columns.
fn cut(
    table: Table,
    cells: &[[u8; 8]],
    columns: Vec<(String, Option<Vec<String>>)>,
) -> Vec<(String, ColumnData)> {
    let width = columns.len().max(1);
    let of_column = |position: usize| cells.iter().skip(position).step_by(width).copied();
    columns
        .into_iter()
        .enumerate()
        .map(|(position, (name, names))| {
            let cells = of_column(position);
            let data = match (names, kind_of(table, &name)) {
                (Some(names), _) => {
                    let code = |cell| u32::try_from(i64::from_le_bytes(cell)).ok();
                    ColumnData::Codes(cells.map(code).collect(), names)
                }
                (None, Some(ColumnKind::Time)) => {
                    ColumnData::Ints(cells.map(i64::from_le_bytes).map(time).collect())
                }
                (None, _) => {
                    ColumnData::Floats(cells.map(f64::from_le_bytes).map(number).collect())
                }
            };
            (name, data)
        })
        .collect()
}

fn kind_of(table: Table, name: &str) -> Option<ColumnKind> {
    table.columns().iter().find(|column| column.name == name).map(|column| column.kind)
}

fn time(ns: i64) -> Option<i64> {
    (ns != i64::MIN).then_some(ns)
}

fn number(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

pub(crate) fn table_named(name: &str) -> PyResult<Table> {
    Table::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Table::ALL.iter().map(|table| table.name()).collect();
        PyValueError::new_err(format!("no table {name:?}; the tables are {}", known.join(", ")))
    })
}

fn column_data(table: Table, name: &str, data: &Bound<'_, PyAny>) -> PyResult<ColumnData> {
    match kind_of(table, name) {
        Some(ColumnKind::Name | ColumnKind::Text) => {
            let (codes, names): (Bound<'_, PyBytes>, Vec<String>) = data.extract()?;
            let codes = words::<4>(name, codes.as_bytes())?
                .map(|word| u32::try_from(i32::from_le_bytes(word)).ok())
                .collect();
            Ok(ColumnData::Codes(codes, names))
        }
        Some(ColumnKind::Time) => {
            let bytes: Bound<'_, PyBytes> = data.extract()?;
            let times =
                words::<8>(name, bytes.as_bytes())?.map(i64::from_le_bytes).map(time).collect();
            Ok(ColumnData::Ints(times))
        }
        _ => {
            let bytes: Bound<'_, PyBytes> = data.extract()?;
            let numbers =
                words::<8>(name, bytes.as_bytes())?.map(f64::from_le_bytes).map(number).collect();
            Ok(ColumnData::Floats(numbers))
        }
    }
}

fn words<'a, const N: usize>(
    name: &str,
    bytes: &'a [u8],
) -> PyResult<impl Iterator<Item = [u8; N]> + use<'a, N>> {
    let (words, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(PyValueError::new_err(format!(
            "column {name:?} has {} bytes, which is no whole number of {N}-byte values",
            bytes.len()
        )));
    }
    Ok(words.iter().copied())
}
