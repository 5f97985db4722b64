//! Tables for pyarrow, polars, pandas and DuckDB through the Arrow C stream.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use roast_model::{ColumnKind, Frame, Table, UtcNs, documented_batches};

/// Rows that are handed over at a time.
const ROWS_PER_BATCH: usize = 128 * 1024;

/// One table; hand it to `pyarrow.table`, `polars.DataFrame` or `pandas`.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct ArrowTable {
    table: Table,
    batch: Arc<RecordBatch>,
}

impl ArrowTable {
    pub(crate) fn wrap(table: Table, batch: Arc<RecordBatch>) -> Self {
        Self { table, batch }
    }

    fn kind(&self, column: &str) -> PyResult<ColumnKind> {
        let mut columns = self.table.columns().iter();
        columns
            .find(|def| def.name == column)
            .map(|def| def.kind)
            .ok_or_else(|| PyKeyError::new_err(column.to_owned()))
    }
}

/// Numbers as NumPy reads them; a missing one is NaN.
pub(crate) fn float_bytes(values: impl IntoIterator<Item = Option<f64>>) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.unwrap_or(f64::NAN).to_ne_bytes()).collect()
}

#[pymethods]
impl ArrowTable {
    /// Rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.table.columns().iter().map(|def| def.name.to_owned()).collect()
    }

    /// A column of numbers or times as native float64 values, for `numpy.frombuffer`:
    /// NaN is missing, times are seconds since the epoch.
    fn floats<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyBytes>> {
        let frame = Frame::new(&self.batch);
        let values: Vec<Option<f64>> = match self.kind(column)? {
            ColumnKind::Int => frame.ints(column).map(|cell| cell.map(|n| n as f64)).collect(),
            ColumnKind::Time => {
                frame.times(column).map(|cell| cell.map(UtcNs::epoch_secs)).collect()
            }
            _ => frame.floats(column).collect(),
        };
        Ok(PyBytes::new(py, &float_bytes(values)))
    }

    /// A column of names; `None` is missing.
    fn texts(&self, column: &str) -> PyResult<Vec<Option<Cow<'_, str>>>> {
        self.kind(column)?;
        Ok(Frame::new(&self.batch).texts(column).collect())
    }

    /// The Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer may ask for other types; giving ours is allowed.
        drop(requested_schema);
        let schema = self.table.schema();
        let batches = documented_batches(self.table, &self.batch, ROWS_PER_BATCH);
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches, schema));
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<ArrowTable {} rows: {}>", self.num_rows(), self.column_names().join(", "))
    }
}
