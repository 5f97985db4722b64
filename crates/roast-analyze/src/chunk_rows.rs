//! What every look at the `chunks` table needs: how each attempt ended, how long
//! it took, and names as small numbers.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use roast_model::{FloatCells, Frame, IntCells, NameCells, UtcNs};

use crate::number::usable;

/// The phases of an attempt, as their columns are called.
pub(crate) const PHASES: [&str; 6] = ["unpack", "open", "tree", "events", "process", "serialize"];

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It gave the chunk's result.
    Ok,
    /// It raised.
    Failed,
    /// It succeeded, and so did a later attempt.
    Repeated,
    /// The result came from a checkpoint: nothing ran.
    Replayed,
}

/// The outcome of each row. Imported rows do not say: without an error they
/// succeeded.
pub fn outcomes(chunks: Frame<'_>) -> Vec<Outcome> {
    let errors = chunks.name_cells("error");
    let mut told = ByName::new(chunks.name_cells("outcome"));
    let outcome_of = |outcome: Option<&str>| match outcome {
        Some("ok") => Some(Outcome::Ok),
        Some("failed") => Some(Outcome::Failed),
        Some("repeated") => Some(Outcome::Repeated),
        Some("replayed") => Some(Outcome::Replayed),
        _ => None,
    };
    (0..chunks.len())
        .map(|row| {
            told.get(row, outcome_of).unwrap_or_else(|| match errors.get(row) {
                Some(_) => Outcome::Failed,
                None => Outcome::Ok,
            })
        })
        .collect()
}

/// What follows from the names in a column, found once for each name: rows number
/// them, and the numbers are looked up instead.
pub(crate) struct ByName<'a, T> {
    cells: NameCells<'a>,
    found: Vec<Option<T>>,
    of_missing: Option<T>,
}

impl<'a, T: Copy> ByName<'a, T> {
    pub(crate) fn new(cells: NameCells<'a>) -> Self {
        Self { cells, found: vec![None; cells.word_count().unwrap_or(0)], of_missing: None }
    }

    /// What follows from the name in a row.
    pub(crate) fn get(&mut self, row: usize, find: impl FnOnce(Option<&'a str>) -> T) -> T {
        let Some(code) = self.cells.code(row) else {
            return match (self.cells.get(row), self.of_missing) {
                (None, Some(found)) => found,
                (None, None) => *self.of_missing.insert(find(None)),
                (name, _) => find(name),
            };
        };
        match self.found.get_mut(code) {
            Some(Some(found)) => *found,
            Some(slot) => *slot.insert(find(self.cells.word(code))),
            None => find(None),
        }
    }
}

/// How long attempts took.
#[derive(Clone, Copy, Default)]
pub(crate) struct Attempts<'a> {
    start: IntCells<'a>,
    stop: IntCells<'a>,
    duration: FloatCells<'a>,
}

impl<'a> Attempts<'a> {
    pub(crate) fn of(chunks: Frame<'a>) -> Self {
        Self {
            start: chunks.int_cells("start"),
            stop: chunks.int_cells("stop"),
            duration: chunks.float_cells("duration_secs"),
        }
    }

    /// Seconds from start to stop; those of `process()` where the attempt itself
    /// was not timed.
    #[inline]
    pub(crate) fn secs(self, row: usize) -> Option<f64> {
        let span = self.start.get(row).zip(self.stop.get(row));
        span.map(|(start, stop)| UtcNs(stop).secs_since(UtcNs(start)))
            .and_then(usable)
            .or_else(|| self.duration.get(row).and_then(usable))
    }
}

/// How long each attempt took.
pub fn attempt_secs<'a>(chunks: Frame<'a>) -> impl Iterator<Item = Option<f64>> + use<'a> {
    let attempts = Attempts::of(chunks);
    (0..chunks.len()).map(move |row| attempts.secs(row))
}

/// Names as numbers, in the order in which they first came.
#[derive(Debug, Default)]
pub struct Names<'a> {
    codes: HashMap<Option<&'a str>, usize, RandomState>,
    names: Vec<Option<&'a str>>,
    last: Option<(&'a str, usize)>,
}

impl<'a> Names<'a> {
    /// The number of a name; a missing name has one too.
    pub fn code(&mut self, name: Option<&'a str>) -> usize {
        // Names come out of a dictionary and often in runs: the same place in
        // memory is the same name, without hashing it.
        if let (Some((last, code)), Some(name)) = (self.last, name)
            && std::ptr::eq(last, name)
        {
            return code;
        }
        let fresh = self.names.len();
        let code = *self.codes.entry(name).or_insert(fresh);
        if code == fresh {
            self.names.push(name);
        }
        self.last = name.map(|name| (name, code));
        code
    }

    /// The number of a name that came before.
    pub(crate) fn known(&self, name: Option<&str>) -> Option<usize> {
        self.codes.get(&name).copied()
    }

    /// Names by number.
    pub fn names(&self) -> &[Option<&'a str>] {
        &self.names
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// A value for each name. Tables have millions of rows and thousands of names, so a
/// name is looked up by its hash and put in order once.
#[derive(Debug)]
pub struct Grouped<'a, T> {
    names: Names<'a>,
    values: Vec<T>,
}

impl<T> Default for Grouped<'_, T> {
    fn default() -> Self {
        Self { names: Names::default(), values: Vec::new() }
    }
}

impl<'a, T: Default> Grouped<'a, T> {
    /// Changes the value of a name, which is the default one at first.
    pub fn update(&mut self, name: Option<&'a str>, change: impl FnOnce(&mut T)) {
        if let Some(value) = slot(&mut self.values, self.names.code(name)) {
            change(value);
        }
    }

    /// The names so far, in the order in which they first came.
    pub fn names(&self) -> &[Option<&'a str>] {
        self.names.names()
    }

    /// Names and values in the order of the names.
    pub fn into_sorted(self) -> Vec<(Option<&'a str>, T)> {
        let names = self.names.names().iter().copied();
        let mut sorted: Vec<_> = names.zip(self.values).collect();
        sorted.sort_unstable_by_key(|(name, _)| *name);
        sorted
    }
}

/// The entry under a number, made with those before it if it is not there yet.
pub(crate) fn slot<T: Default>(slots: &mut Vec<T>, code: usize) -> Option<&mut T> {
    if slots.len() <= code {
        slots.resize_with(code.saturating_add(1), T::default);
    }
    slots.get_mut(code)
}
