//! A section of user code as a context manager. Outside of a chunk it does
//! nothing.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use roast_record::{OpenSection, SectionKind, current_chunk};

use crate::column_reader::count;

/// Measures what happens between entering and leaving, as part of the chunk
/// this thread is working on.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct Section {
    name: Py<PyString>,
    kind: SectionKind,
    source: Option<Py<PyAny>>,
}

thread_local! {
    /// What this thread has entered and not left, with the address of its
    /// object. Here rather than in the object, because a thread needs no lock
    /// for what is its own.
    static ENTERED: RefCell<Vec<(usize, OpenSection)>> = const { RefCell::new(Vec::new()) };

    /// Sections that this thread made lately, each at the place of its name. A
    /// section holds nothing of one use, so the next use can have it again.
    static MADE: RefCell<[Option<Py<Section>>; PLACES]> =
        const { RefCell::new([const { None }; PLACES]) };
}

/// As many names as a loop may use by turns.
const PLACES: usize = 16;

/// Sections that were entered and never left are looked for from here on.
const MANY_ENTERED: usize = 1_000;

/// A section that measures time. A function takes its arguments as they come,
/// which makes a section in half the time that calling the class takes.
#[pyfunction]
#[pyo3(signature = (processor, name))]
pub(crate) fn track_time(
    processor: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
) -> PyResult<Py<Section>> {
    // The thread says which chunk it is; users write the processor all the same.
    let _ = processor;
    if let Some(section) = Section::made_lately(name) {
        return Ok(section);
    }
    let section = Py::new(name.py(), Section::of(name, SectionKind::Time, None)?)?;
    // Dropped here, because that may run code of the user's.
    let _before = at_place_of(name, |place| place.replace(section.clone_ref(name.py())));
    Ok(section)
}

fn at_place_of<T>(
    name: &Bound<'_, PyAny>,
    act: impl FnOnce(&mut Option<Py<Section>>) -> T,
) -> Option<T> {
    // Objects lie at multiples of sixteen.
    let place = name.as_ptr().addr() / 16 % PLACES;
    let made = |made: &RefCell<[Option<Py<Section>>; PLACES]>| {
        made.try_borrow_mut().ok()?.get_mut(place).map(act)
    };
    MADE.try_with(made).ok().flatten()
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
                section.push(open);
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
        if let Some(open) = self.pop() {
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
        Ok(Self { name: name.unbind(), kind, source })
    }

    /// The section of this very name object, if it was made lately and is not in
    /// use: two that are open at once need not be left in the order of their ends.
    fn made_lately(name: &Bound<'_, PyAny>) -> Option<Py<Self>> {
        at_place_of(name, |place| {
            let section = place.as_ref()?;
            let is_same = section.get().name.as_ptr() == name.as_ptr();
            (is_same && !section.get().is_entered()).then(|| section.clone_ref(name.py()))
        })
        .flatten()
    }

    fn is_entered(&self) -> bool {
        let address = self.address();
        ENTERED
            .try_with(|entered| {
                let entered = entered.try_borrow();
                entered.map_or(true, |all| all.iter().any(|(other, _)| *other == address))
            })
            .unwrap_or(true)
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    fn push(&self, open: OpenSection) {
        // A thread that is being torn down measures nothing more.
        let _ = ENTERED.try_with(|entered| {
            if let Ok(mut entered) = entered.try_borrow_mut() {
                if entered.len() >= MANY_ENTERED {
                    entered.retain(|(_, open)| !open.is_over());
                }
                entered.push((self.address(), open));
            }
        });
    }

    /// The innermost one that was entered through this object. One that another
    /// thread entered ends with its chunk.
    fn pop(&self) -> Option<OpenSection> {
        ENTERED
            .try_with(|entered| {
                let mut entered = entered.try_borrow_mut().ok()?;
                let address = self.address();
                if entered.last().is_some_and(|(last, _)| *last == address) {
                    return entered.pop().map(|(_, open)| open);
                }
                let place = entered.iter().rposition(|(other, _)| *other == address)?;
                Some(entered.remove(place).1)
            })
            .ok()
            .flatten()
    }

    fn requested_bytes(&self, py: Python<'_>) -> Option<i64> {
        let source = self.source.as_ref().filter(|_| self.kind == SectionKind::Bytes)?;
        i64::try_from(count(source.bind(py), intern!(py, "num_requested_bytes"))?).ok()
    }
}
