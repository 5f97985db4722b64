//! Distinct values under small numbers, so that a row can name a file or a set
//! of branches in a byte.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Distinct values in the order of first use.
#[derive(Clone, Debug)]
pub(crate) struct Palette<T> {
    items: Vec<T>,
    codes: HashMap<T, u32, RandomState>,
}

impl<T> Default for Palette<T> {
    fn default() -> Self {
        Self { items: Vec::new(), codes: HashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Palette<T> {
    /// The value's number; a new one if it was not there.
    pub(crate) fn code<Q>(&mut self, item: &Q) -> u32
    where
        T: Borrow<Q> + for<'a> From<&'a Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some(&code) = self.codes.get(item) {
            return code;
        }
        self.insert(T::from(item))
    }

    /// The number of a value that is its own key.
    pub(crate) fn code_of(&mut self, item: T) -> u32 {
        match self.codes.get(&item) {
            Some(&code) => code,
            None => self.insert(item),
        }
    }

    fn insert(&mut self, item: T) -> u32 {
        let code = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(item.clone());
        self.codes.insert(item, code);
        code
    }

    /// The value under a number.
    pub(crate) fn get(&self, code: u32) -> Option<&T> {
        self.items.get(usize::try_from(code).ok()?)
    }

    /// Every value, by number.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }
}
