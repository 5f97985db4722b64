//! Tables for pyarrow, polars, pandas and DuckDB through the Arrow C stream.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// One table; hand it to `pyarrow.table`, `polars.DataFrame` or `pandas`.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct ArrowTable {
    batch: Arc<RecordBatch>,
}

impl ArrowTable {
    pub(crate) fn wrap(batch: Arc<RecordBatch>) -> Self {
        Self { batch }
    }
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
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
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
        let schema = self.batch.schema();
        let batches = std::iter::once(Ok((*self.batch).clone()));
        let reader: Box<dyn RecordBatchReader + Send> =
            Box::new(RecordBatchIterator::new(batches, schema));
        let stream = FFI_ArrowArrayStream::new(reader);
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<ArrowTable {} rows: {}>", self.num_rows(), self.column_names().join(", "))
    }
}
