//! What stands in for a mapping's `extract_column` and for uproot's executors:
//! each does what the original does and times it.

use std::collections::HashSet;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use roast_record::{BasketWork, Recorder};

use crate::recorder::ChunkRecorder;

/// Calls `extract_column` and records what the read cost.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct ColumnReader {
    recorder: Arc<Recorder>,
    extract_column: Py<PyAny>,
    source: Option<Py<PyAny>>,
    preloaded: HashSet<String>,
}

#[pymethods]
impl ColumnReader {
    #[new]
    #[pyo3(signature = (recorder, extract_column, source=None, *, preloaded=None))]
    fn new(
        recorder: &Bound<'_, ChunkRecorder>,
        extract_column: Py<PyAny>,
        source: Option<Py<PyAny>>,
        preloaded: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut names = HashSet::new();
        if let Some(preloaded) = preloaded {
            for name in preloaded.try_iter()? {
                names.insert(name?.extract()?);
            }
        }
        let recorder = recorder.get().recorder();
        recorder.watch_columns();
        Ok(Self { recorder, extract_column, source, preloaded: names })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let extract_column = self.extract_column.bind(py);
        // A column that the file lacks is made up, not read; and what has no
        // name is read without being counted rather than not at all.
        let Some(name) = branch_name(py, args, kwargs) else {
            return extract_column.call(args, kwargs);
        };
        let name = name.to_string_lossy();
        let before = self.counts(py);
        let Some(read) = self.recorder.begin_read(&name) else {
            return extract_column.call(args, kwargs);
        };
        let column = extract_column.call(args, kwargs);
        let after = self.counts(py);
        let gap = |before: Option<u64>, after: Option<u64>| after?.checked_sub(before?);
        self.recorder.end_read(
            read,
            gap(before.0, after.0),
            gap(before.1, after.1),
            self.preloaded.contains(&*name),
        );
        column
    }

    /// The reader sits in the mapping whose method it holds.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.extract_column)?;
        visit.call(&self.source)
    }
}

impl ColumnReader {
    /// Bytes and requests of the source so far.
    fn counts(&self, py: Python<'_>) -> (Option<u64>, Option<u64>) {
        let Some(source) = self.source.as_ref().map(|source| source.bind(py)) else {
            return (None, None);
        };
        (
            count(source, intern!(py, "num_requested_bytes")),
            count(source, intern!(py, "num_requests")),
        )
    }
}

/// A source's counter; missing where it has none.
pub(crate) fn count(source: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> Option<u64> {
    source.getattr(name).ok()?.extract().ok()
}

fn branch_name<'py>(
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> Option<Bound<'py, PyString>> {
    let handle = match args.get_item(0) {
        Ok(handle) => handle,
        Err(_) => kwargs?.get_item(intern!(py, "columnhandle")).ok()??,
    };
    if handle.is_none() {
        return None;
    }
    // Branches and fields have a name; coffea's handle of a Parquet column has `column`.
    [intern!(py, "name"), intern!(py, "column")]
        .into_iter()
        .find_map(|attribute| handle.getattr(attribute).ok()?.cast_into().ok())
}

/// Hands tasks to an executor and records how long they take, on whichever
/// thread they run.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct TimedExecutor {
    recorder: Arc<Recorder>,
    executor: Py<PyAny>,
    submit: Py<PyAny>,
    work: BasketWork,
    inline: bool,
}

#[pymethods]
impl TimedExecutor {
    /// `kind` is `decompress` or `interpret`; `inline` says that tasks are done
    /// when the executor's `submit` returns.
    #[new]
    #[pyo3(signature = (recorder, executor, kind, *, inline=false))]
    fn new(
        recorder: &Bound<'_, ChunkRecorder>,
        executor: &Bound<'_, PyAny>,
        kind: &str,
        inline: bool,
    ) -> PyResult<Self> {
        let work = match kind {
            "decompress" => BasketWork::Decompress,
            "interpret" => BasketWork::Interpret,
            other => {
                return Err(PyValueError::new_err(format!(
                    "no kind {other:?}; the kinds are decompress, interpret"
                )));
            }
        };
        Ok(Self {
            recorder: recorder.get().recorder(),
            executor: executor.clone().unbind(),
            submit: executor.getattr(intern!(executor.py(), "submit"))?.unbind(),
            work,
            inline,
        })
    }

    /// Takes the task and its arguments.
    #[pyo3(signature = (*args, **kwargs))]
    fn submit<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let submit = self.submit.bind(py);
        if self.inline {
            let timer = Recorder::begin_work();
            let result = submit.call(args, kwargs);
            self.recorder.end_work(&timer, self.work);
            return result;
        }
        let mut all: Vec<Bound<'py, PyAny>> = args.iter().collect();
        if let Some(task) = all.first_mut() {
            let timed = TimedTask {
                recorder: Arc::clone(&self.recorder),
                task: task.clone().unbind(),
                work: self.work,
            };
            *task = Bound::new(py, timed)?.into_any();
        }
        submit.call(PyTuple::new(py, all)?, kwargs)
    }

    fn __getattr__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.executor.bind(py).getattr(name)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.executor)?;
        visit.call(&self.submit)
    }
}

/// A task that times itself.
#[pyclass(frozen, module = "roastcoffea._core")]
struct TimedTask {
    recorder: Arc<Recorder>,
    task: Py<PyAny>,
    work: BasketWork,
}

#[pymethods]
impl TimedTask {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timer = Recorder::begin_work();
        let result = self.task.bind(py).call(args, kwargs);
        self.recorder.end_work(&timer, self.work);
        result
    }
}
