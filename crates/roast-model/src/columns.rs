//! Columns while they grow, each as narrow as its values allow: whole numbers in
//! one to eight bytes, seconds as whole microseconds where that says the same,
//! nothing at all where every value is missing. The narrowest form depends on
//! the values alone, so equal columns are equal however they grew.

mod floats;
mod ints;
mod keys;
mod names;
mod texts;

pub use floats::FloatColumn;
pub use ints::IntColumn;
pub(crate) use keys::KeyCells;
pub use keys::{KeyColumn, split_key};
pub use names::NameColumn;
pub use texts::TextColumn;

use arrow_array::ArrayRef;
use arrow_buffer::{NullBuffer, NullBufferBuilder};
use arrow_schema::ArrowError;

use crate::table::ColumnKind;

/// Cells that are looked at together before they are put away.
const BLOCK: usize = u64::BITS as usize;

/// Cells that wait until there is a block of them. A missing one is held as the
/// default value.
#[derive(Debug, Default)]
struct Waiting<T> {
    values: Vec<T>,
    /// A bit for each that is not missing.
    there: u64,
}

impl<T: Copy + Default> Waiting<T> {
    /// Adds one, and tells whether the block is full.
    #[inline]
    fn push(&mut self, cell: Option<T>) -> bool {
        self.there |= u64::from(cell.is_some()) << self.values.len();
        self.values.push(cell.unwrap_or_default());
        self.values.len() == BLOCK
    }

    /// Notes which are there, and tells whether any is.
    fn note(&self, valid: &mut NullBufferBuilder) -> bool {
        let all = self.values.len();
        match self.there.count_ones() as usize {
            // Also where there is none at all: nothing missing takes no room.
            there if there == all => valid.append_n_non_nulls(all),
            0 => valid.append_n_nulls(all),
            _ => (0..all).for_each(|bit| valid.append(self.there >> bit & 1 == 1)),
        }
        self.there != 0
    }

    fn clear(&mut self) {
        self.values.clear();
        self.there = 0;
    }
}

/// Notes which values of an array are there.
fn put_valid(valid: &mut NullBufferBuilder, rows: usize, missing: Option<&NullBuffer>) {
    match missing {
        None => valid.append_n_non_nulls(rows),
        Some(missing) => valid.append_buffer(missing),
    }
}

/// Makes room for as many values as are expected, at once: growing step by step
/// copies them each time.
fn make_room_for<T>(values: &mut Vec<T>, expected: usize) {
    if values.capacity() < expected {
        values.reserve_exact(expected.saturating_sub(values.len()));
    }
}

/// One column of a table that grows.
#[derive(Debug)]
pub enum Column {
    /// Whole numbers, or nanoseconds since the epoch.
    Int(IntColumn),
    /// Real numbers.
    Float(FloatColumn),
    /// Names that repeat.
    Name(NameColumn),
    /// Keys of tasks.
    Key(KeyColumn),
    /// Texts that rarely repeat.
    Text(TextColumn),
}

impl Column {
    /// A column of that kind without rows.
    pub fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Time | ColumnKind::Int => Self::Int(IntColumn::default()),
            ColumnKind::Float => Self::Float(FloatColumn::default()),
            ColumnKind::Name => Self::Name(NameColumn::default()),
            ColumnKind::Key => Self::Key(KeyColumn::default()),
            ColumnKind::Text => Self::Text(TextColumn::default()),
        }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Int(column) => column.len(),
            Self::Float(column) => column.len(),
            Self::Name(column) => column.len(),
            Self::Key(column) => column.len(),
            Self::Text(column) => column.len(),
        }
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds rows in which the value is missing.
    pub fn extend_missing(&mut self, rows: usize) {
        match self {
            Self::Int(column) => column.extend_missing(rows),
            Self::Float(column) => column.extend_missing(rows),
            Self::Name(column) => column.extend_missing(rows),
            Self::Key(column) => column.extend_missing(rows),
            Self::Text(column) => column.extend_missing(rows),
        }
    }

    /// The rows as an Arrow array; the column is empty afterwards.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        match self {
            Self::Int(column) => Ok(column.finish()),
            Self::Float(column) => column.finish(),
            Self::Name(column) => column.finish(),
            Self::Key(column) => column.finish(),
            Self::Text(column) => Ok(column.finish()),
        }
    }

    /// Adds the rows of an array, in this form or in the documented one; `false`
    /// if it holds something else.
    pub(crate) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        match self {
            Self::Int(column) => column.extend_array(array),
            Self::Float(column) => column.extend_array(array),
            Self::Name(column) => column.extend_array(array),
            Self::Key(column) => column.extend_array(array),
            Self::Text(column) => column.extend_array(array),
        }
    }
}
