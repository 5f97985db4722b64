//! A section of user code as a context manager. Outside of a chunk it does
//! nothing.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use roast_record::{OpenSection, SectionKind, current_chunk};

use crate::column_reader::count;

/// Measures what happens between entering and leaving, as part of the chunk
/// this thread is working on.
#[pyclass(frozen, freelist = 16, module = "roastcoffea._core")]
pub(crate) struct Section {
    name: Py<PyString>,
    kind: SectionKind,
    source: Option<Py<PyAny>>,
    entered: Mutex<Entered>,
}

/// One object may be entered again inside of itself; mostly it is not.
#[derive(Default)]
struct Entered {
    last: Option<OpenSection>,
    earlier: Vec<OpenSection>,
}

/// A section that measures time. A function takes its arguments as they come,
/// which makes a section in half the time that calling the class takes.
#[pyfunction]
#[pyo3(signature = (processor, name))]
pub(crate) fn track_time(
    processor: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
) -> PyResult<Section> {
    // The thread says which chunk it is; users write the processor all the same.
    let _ = processor;
    Section::of(name, SectionKind::Time, None)
}

#[pymethods]
impl Section {
    /// `kind` is `time`, `memory` or `bytes`; for bytes, `source` is the uproot
    /// source whose requests are counted.
    #[new]
    #[pyo3(signature = (name, kind=None, source=None))]
    fn new(
        name: &Bound<'_, PyAny>,
        kind: Option<&str>,
        source: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let kind = match kind {
            None => SectionKind::Time,
            Some(kind) => SectionKind::from_name(kind).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "no kind {kind:?} of section; the kinds are time, memory, bytes"
                ))
            })?,
        };
        Self::of(name, kind, source)
    }

    fn __enter__<'py>(slf: Bound<'py, Self>) -> Bound<'py, Self> {
        if let Some(chunk) = current_chunk() {
            let section = slf.get();
            let py = slf.py();
            let name = section.name.bind(py);
            let bytes = section.requested_bytes(py);
            let open = match name.to_str() {
                Ok(name) => chunk.enter_section(name, section.kind, bytes),
                // Half of a surrogate pair has no UTF-8.
                Err(_) => chunk.enter_section(&name.to_string_lossy(), section.kind, bytes),
            };
            if let Some(open) = open {
                section.lock().push(open);
            }
        }
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        exc_type: &Bound<'_, PyAny>,
        exc_value: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) {
        // What was raised inside goes on; a section only looks on.
        let _ = (exc_type, exc_value, traceback);
        let open = self.lock().pop();
        if let Some(open) = open {
            open.leave(self.requested_bytes(py));
        }
    }
}

impl Section {
    fn of(name: &Bound<'_, PyAny>, kind: SectionKind, source: Option<Py<PyAny>>) -> PyResult<Self> {
        let name = match name.cast::<PyString>() {
            Ok(name) => name.clone(),
            Err(_) => name.str()?,
        };
        Ok(Self { name: name.unbind(), kind, source, entered: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Entered> {
        self.entered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requested_bytes(&self, py: Python<'_>) -> Option<i64> {
        let source = self.source.as_ref().filter(|_| self.kind == SectionKind::Bytes)?;
        i64::try_from(count(source.bind(py), intern!(py, "num_requested_bytes"))?).ok()
    }
}

impl Entered {
    fn push(&mut self, open: OpenSection) {
        if let Some(last) = self.last.replace(open) {
            self.earlier.push(last);
        }
    }

    fn pop(&mut self) -> Option<OpenSection> {
        let open = self.last.take();
        self.last = self.earlier.pop();
        open
    }
}
