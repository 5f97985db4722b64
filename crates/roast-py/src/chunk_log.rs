//! Rows of chunks as Python holds, adds and ships them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyList, PySlice, PyType};
use roast_model::Value;
use roast_record::{ChunkLog as Log, RowOrder};

use crate::convert::{to_python, to_value};
use crate::errors::MeasurementError;
use crate::table_builder::TableBuilder;

/// Rows of chunks: merges without decoding, pickles as compact bytes, and reads
/// like a list of dicts.
#[pyclass(frozen, sequence, module = "roastcoffea._core")]
pub(crate) struct ChunkLog {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    log: Log,
    /// Made when a row is asked for; stale as soon as the log changes.
    order: Option<Arc<RowOrder>>,
}

impl Inner {
    fn change(&mut self) -> &mut Log {
        self.order = None;
        &mut self.log
    }

    fn order(&mut self) -> Arc<RowOrder> {
        let Self { log, order } = self;
        Arc::clone(order.get_or_insert_with(|| Arc::new(RowOrder::of(log))))
    }
}

impl ChunkLog {
    pub(crate) fn wrap(log: Log) -> Self {
        Self { inner: Mutex::new(Inner { log, order: None }) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn merge_from(&self, other: &Self) {
        // A log holds all of its own rows already.
        if std::ptr::eq(self, other) {
            return;
        }
        // Two threads that add two logs to each other must not wait in a ring.
        let self_first = std::ptr::from_ref(self) < std::ptr::from_ref(other);
        let (mut own, theirs);
        if self_first {
            own = self.lock();
            theirs = other.lock();
        } else {
            theirs = other.lock();
            own = self.lock();
        }
        own.change().merge(&theirs.log);
    }

    fn values(&self, positions: impl Iterator<Item = usize>) -> Vec<Value> {
        let mut inner = self.lock();
        let order = inner.order();
        positions.filter_map(|position| inner.log.row(&order, position)).collect()
    }
}

#[pymethods]
impl ChunkLog {
    /// An empty log, or the one that `to_bytes` wrote.
    #[new]
    #[pyo3(signature = (data=None))]
    fn new(py: Python<'_>, data: Option<&[u8]>) -> PyResult<Self> {
        match data {
            None => Ok(Self::wrap(Log::new())),
            Some(data) => py.detach(|| Log::from_bytes(data)).map(Self::wrap).map_err(unreadable),
        }
    }

    /// The log that `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Self::new(py, Some(data))
    }

    /// The log as compact bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().log.to_bytes());
        PyBytes::new(py, &bytes)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        (slf.get_type(), (slf.get().to_bytes(slf.py()),))
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        Self::wrap(py.detach(|| self.lock().log.clone()))
    }

    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyAny>) -> Self {
        // Nothing in a log is shared with other objects.
        let _ = memo;
        self.__copy__(py)
    }

    fn __add__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sum = self.__copy__(py);
        if let Ok(other) = other.cast::<Self>() {
            let other = other.get();
            py.detach(|| sum.merge_from(other));
        } else if !is_nothing(other)? {
            return Ok(py.NotImplemented().into_bound(py));
        }
        Ok(Bound::new(py, sum)?.into_any())
    }

    /// An empty log, as coffea's own accumulators ask for.
    fn identity(&self) -> Self {
        Self::wrap(Log::new())
    }

    /// Adds in place, as coffea's own accumulators do.
    fn add(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        self.__iadd__(py, other)
    }

    fn __radd__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.__add__(py, other)
    }

    fn __iadd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(other) = other.cast::<Self>() {
            let other = other.get();
            py.detach(|| self.merge_from(other));
            return Ok(());
        }
        if is_nothing(other)? {
            return Ok(());
        }
        Err(PyTypeError::new_err(format!(
            "only a ChunkLog can be added to a ChunkLog, not {}",
            other.get_type().name()?
        )))
    }

    /// Adds what another log holds; rows that are in both count once.
    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) {
        let other = other.get();
        py.detach(|| self.merge_from(other));
    }

    /// Adds logs in the form of `to_bytes`. Those that cannot be read are left
    /// out; returned is what is wrong with each of them.
    fn merge_all(&self, py: Python<'_>, logs: Vec<PyBackedBytes>) -> Vec<String> {
        let logs: Vec<&[u8]> = logs.iter().map(AsRef::as_ref).collect();
        let errors = py.detach(|| self.lock().change().merge_all(&logs));
        errors.iter().map(ToString::to_string).collect()
    }

    /// Adds a row as a dict with the names that rows have.
    fn add_row(&self, row: &Bound<'_, PyAny>) -> PyResult<()> {
        let row = to_value(row)?;
        if self.lock().change().add_row(&row) {
            return Ok(());
        }
        Err(PyTypeError::new_err("a chunk's row must be a dict"))
    }

    /// Sets how long the output of an attempt took to serialize, also before
    /// its row is there.
    #[pyo3(signature = (nonce, wall_ns, cpu_ns=None, run_queue_ns=None))]
    fn set_serialize(
        &self,
        nonce: &[u8],
        wall_ns: u64,
        cpu_ns: Option<u64>,
        run_queue_ns: Option<u64>,
    ) -> PyResult<()> {
        let nonce: [u8; 16] = nonce.try_into().map_err(|_| {
            PyValueError::new_err(format!(
                "a nonce has 16 bytes, not {}; take it from ChunkRecorder.nonce",
                nonce.len()
            ))
        })?;
        let nonce = u128::from_le_bytes(nonce);
        self.lock().change().set_serialize(nonce, wall_ns, cpu_ns, run_queue_ns);
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.lock().log.len()
    }

    /// Rows as dicts, in the order of their start.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = py.detach(|| self.values(0..self.__len__()));
        let rows = values.iter().map(|row| to_python(py, row)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.rows(py)?.try_iter()?.into_any())
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        index: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let length = isize::try_from(self.__len__()).unwrap_or(isize::MAX);
        if let Ok(slice) = index.cast::<PySlice>() {
            let bounds = slice.indices(length)?;
            let mut positions = Vec::new();
            let mut at = bounds.start;
            while (bounds.step > 0 && at < bounds.stop) || (bounds.step < 0 && at > bounds.stop) {
                positions.extend(usize::try_from(at).ok());
                at += bounds.step;
            }
            let values = py.detach(|| self.values(positions.into_iter()));
            let rows = values.iter().map(|row| to_python(py, row)).collect::<PyResult<Vec<_>>>()?;
            return Ok(PyList::new(py, rows)?.into_any());
        }
        let index: isize = index.extract()?;
        let position = usize::try_from(if index < 0 { index + length } else { index });
        let values = position.map(|position| self.values(std::iter::once(position)));
        match values.ok().and_then(|values| values.into_iter().next()) {
            Some(row) => to_python(py, &row),
            None => Err(PyIndexError::new_err("there is no such chunk row")),
        }
    }

    /// Tables of chunks, sections, columns, branch sets and files.
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<TableBuilder>> {
        let tables = py
            .detach(|| self.lock().log.tables())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(tables.into_iter().map(TableBuilder::wrap).collect())
    }

    /// Sections that were neither kept nor summed.
    #[getter]
    fn dropped_sections(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.lock().log.dropped_sections())
    }

    /// Rows whose branch costs may have been counted twice.
    #[getter]
    fn cost_overlap(&self) -> u64 {
        self.lock().log.cost_overlap()
    }

    /// Forgets everything.
    fn clear(&self) {
        self.lock().change().clear();
    }

    fn __repr__(&self) -> String {
        format!("<ChunkLog {} rows>", self.__len__())
    }
}

/// What `sum` and reductions start from.
fn is_nothing(other: &Bound<'_, PyAny>) -> PyResult<bool> {
    if other.is_none() {
        return Ok(true);
    }
    if let Ok(list) = other.cast::<PyList>() {
        return Ok(list.is_empty());
    }
    other.eq(0)
}

fn unreadable(error: roast_record::LogError) -> PyErr {
    MeasurementError::new_err(error.to_string())
}
