//! Typed reading of a table's columns, whatever form they are held in. A column
//! that is absent (an older format, an import) reads as missing in every row.

use std::borrow::Cow;

use arrow_array::RecordBatch;

use crate::cells::{FloatCells, IntCells, NameCells};
use crate::columns::KeyCells;
use crate::time::UtcNs;

/// A table seen as typed columns.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    batch: &'a RecordBatch,
}

impl<'a> Frame<'a> {
    /// Looks at a batch.
    pub fn new(batch: &'a RecordBatch) -> Self {
        Self { batch }
    }

    /// Rows.
    pub fn len(self) -> usize {
        self.batch.num_rows()
    }

    /// No rows.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// A column of whole numbers or nanoseconds, by row.
    pub fn int_cells(self, name: &str) -> IntCells<'a> {
        let array = self.batch.column_by_name(name);
        array.and_then(|array| IntCells::of_array(array)).unwrap_or(IntCells::NONE)
    }

    /// A column of real numbers, by row.
    pub fn float_cells(self, name: &str) -> FloatCells<'a> {
        let array = self.batch.column_by_name(name);
        array.and_then(|array| FloatCells::of_array(array)).unwrap_or(FloatCells::NONE)
    }

    /// A column of names or texts, by row.
    pub fn name_cells(self, name: &str) -> NameCells<'a> {
        let array = self.batch.column_by_name(name);
        array.and_then(|array| NameCells::of_array(array)).unwrap_or(NameCells::NONE)
    }

    /// A column of whole numbers.
    pub fn ints(self, name: &str) -> impl ExactSizeIterator<Item = Option<i64>> + use<'a> {
        let cells = self.int_cells(name);
        (0..self.len()).map(move |row| cells.get(row))
    }

    /// A column of real numbers.
    pub fn floats(self, name: &str) -> impl ExactSizeIterator<Item = Option<f64>> + use<'a> {
        let cells = self.float_cells(name);
        (0..self.len()).map(move |row| cells.get(row))
    }

    /// A column of moments.
    pub fn times(self, name: &str) -> impl ExactSizeIterator<Item = Option<UtcNs>> + use<'a> {
        let cells = self.int_cells(name);
        (0..self.len()).map(move |row| cells.get(row).map(UtcNs))
    }

    /// A column of names, keys or text.
    pub fn texts(
        self,
        name: &str,
    ) -> impl ExactSizeIterator<Item = Option<Cow<'a, str>>> + use<'a> {
        let array = self.batch.column_by_name(name);
        let cells = array.and_then(|array| KeyCells::of_array(array)).unwrap_or(KeyCells::NONE);
        (0..self.len()).map(move |row| cells.get(row))
    }

    /// A column of names or text.
    pub fn names(self, name: &str) -> impl ExactSizeIterator<Item = Option<&'a str>> + use<'a> {
        let cells = self.name_cells(name);
        (0..self.len()).map(move |row| cells.get(row))
    }
}
