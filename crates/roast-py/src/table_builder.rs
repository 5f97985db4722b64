//! Tables that grow from raw column bytes, as the scheduler ships them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use roast_model::{ColumnData, ColumnKind, Table, TableBuilder as Builder};
use roast_store::{GrowingTable, GrowthError};

use crate::arrow_stream::ArrowTable;

/// Collects the rows of one table.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct TableBuilder {
    inner: Mutex<GrowingTable>,
}

impl TableBuilder {
    pub(crate) fn wrap(builder: Builder) -> Self {
        Self { inner: Mutex::new(GrowingTable::from(builder)) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, GrowingTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.lock().table().name()
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    /// The rows so far as a table.
    fn build(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        py.detach(|| {
            let mut rows = self.lock();
            Ok(ArrowTable::wrap(rows.table(), rows.build()?))
        })
        .map_err(growth_error)
    }

    /// Adds a batch of rows. Times are int64 nanoseconds with the smallest
    /// int64 as missing, other numbers are float64 with NaN as missing, names
    /// are int32 codes with -1 as missing together with their list of names.
    fn append(&self, py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<()> {
        let table = self.lock().table();
        let batch = columns
            .iter()
            .map(|(name, data)| {
                let name: String = name.extract()?;
                let data = column_data(table, &name, &data)?;
                Ok((name, data))
            })
            .collect::<PyResult<Vec<_>>>()?;
        py.detach(|| self.lock().append(batch)).map_err(growth_error)
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
            let table = inner.table();
            let batch = cut(table, cells, columns);
            inner.append(batch).map_err(growth_error)
        })
    }
}

/// The error as the exception of a caller who passed something unfit.
pub(crate) fn growth_error(error: GrowthError) -> PyErr {
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
                    let rounded = rounding(&name);
                    let cell = |cell| number(f64::from_le_bytes(cell)).map(&rounded);
                    ColumnData::Floats(cells.map(cell).collect())
                }
            };
            (name, data)
        })
        .collect()
}

/// Rounds to what a sample can mean: rates to the byte per second, durations to
/// about a millisecond or microsecond. More is noise, and noise does not compress;
/// nor do decimal fractions, so these are binary ones. It is done here rather
/// than on the scheduler, which has better things to do.
fn rounding(column: &str) -> impl Fn(f64) -> f64 + use<> {
    let steps_per_unit = match column {
        "occupancy_secs" => Some(1024.0),
        "event_loop_interval_secs" | "tick_secs" => Some(1024.0 * 1024.0),
        rate if rate.ends_with("_bps") => Some(1.0),
        _ => None,
    };
    move |number| steps_per_unit.map_or(number, |steps| (number * steps).round() / steps)
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
        Some(ColumnKind::Name | ColumnKind::Key | ColumnKind::Text) => {
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
