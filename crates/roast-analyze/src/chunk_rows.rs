//! What every look at the `chunks` table needs: how each attempt ended, how long
//! it took, and names as small numbers.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use roast_model::Frame;

use crate::number::usable;

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
    chunks
        .names("outcome")
        .zip(chunks.names("error"))
        .map(|(outcome, error)| match outcome {
            Some("ok") => Outcome::Ok,
            Some("failed") => Outcome::Failed,
            Some("repeated") => Outcome::Repeated,
            Some("replayed") => Outcome::Replayed,
            _ if error.is_some() => Outcome::Failed,
            _ => Outcome::Ok,
        })
        .collect()
}

/// Seconds from start to stop of each attempt; those of `process()` where the
/// attempt itself was not timed.
pub fn attempt_secs<'a>(chunks: Frame<'a>) -> impl Iterator<Item = Option<f64>> + use<'a> {
    chunks.times("start").zip(chunks.times("stop")).zip(chunks.floats("duration_secs")).map(
        |((start, stop), duration)| {
            start
                .zip(stop)
                .map(|(start, stop)| stop.secs_since(start))
                .and_then(usable)
                .or_else(|| duration.and_then(usable))
        },
    )
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
pub struct ByName<'a, T> {
    names: Names<'a>,
    values: Vec<T>,
}

impl<T> Default for ByName<'_, T> {
    fn default() -> Self {
        Self { names: Names::default(), values: Vec::new() }
    }
}

impl<'a, T: Default> ByName<'a, T> {
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
