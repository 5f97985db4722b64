//! Keys of tasks. Dask numbers the tasks of one call: `name-<id of the call>-<number>`.
//! Kept apart, the first part is shared by all tasks of a run, and a key that no
//! other task has takes a few bytes.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, NullArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field};

use super::{IntColumn, NameColumn};
use crate::cells::{IntCells, NameCells};

/// Keys that are split before their parts are added.
const KEYS_AT_ONCE: usize = 1024;

/// The key without its number, and the number, if joining them with a dash
/// gives the key back.
pub fn split_key(key: &str) -> (&str, Option<u64>) {
    match key.rsplit_once('-') {
        Some((head, digits)) => match digits.parse::<u64>() {
            Ok(number) if number.to_string() == digits => (head, Some(number)),
            _ => (key, None),
        },
        None => (key, None),
    }
}

/// Keys that grow.
#[derive(Debug, Default)]
pub struct KeyColumn {
    heads: NameColumn,
    numbers: IntColumn,
}

impl KeyColumn {
    /// A column from heads and numbers, one of each for every row.
    pub fn from_parts(heads: NameColumn, numbers: IntColumn) -> Self {
        Self { heads, numbers }
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds keys.
    pub fn extend<'a>(&mut self, cells: impl IntoIterator<Item = Option<&'a str>>) {
        let mut cells = cells.into_iter();
        let mut block: Vec<Option<(&str, Option<i64>)>> = Vec::with_capacity(KEYS_AT_ONCE);
        loop {
            block.clear();
            block.extend(cells.by_ref().take(KEYS_AT_ONCE).map(|key| {
                let (head, number) = split_key(key?);
                match number.map(i64::try_from) {
                    None => Some((head, None)),
                    Some(Ok(number)) => Some((head, Some(number))),
                    Some(Err(_)) => Some((key?, None)),
                }
            }));
            self.heads.extend(block.iter().map(|cell| cell.map(|(head, _)| head)));
            self.numbers.extend(block.iter().map(|cell| cell.and_then(|(_, number)| number)));
            if block.len() < KEYS_AT_ONCE {
                return;
            }
        }
    }

    /// Adds rows without a key.
    pub fn extend_missing(&mut self, rows: usize) {
        self.heads.extend_missing(rows);
        self.numbers.extend_missing(rows);
    }

    pub(super) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        if let Some([heads, numbers]) = array.as_struct_opt().map(StructArray::columns) {
            return self.heads.extend_array(heads) && self.numbers.extend_array(numbers);
        }
        let Some(cells) = NameCells::of_array(array.as_ref()) else { return false };
        self.extend((0..array.len()).map(|row| cells.get(row)));
        true
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let rows = self.len();
        let arrays = [self.heads.finish()?, self.numbers.finish()];
        if arrays.iter().all(|array| array.data_type() == &DataType::Null) {
            return Ok(Arc::new(NullArray::new(rows)));
        }
        let fields = ["head", "number"].into_iter().zip(&arrays);
        let fields = fields.map(|(name, array)| Field::new(name, array.data_type().clone(), true));
        Ok(Arc::new(StructArray::try_new(fields.collect(), arrays.to_vec(), None)?))
    }
}

/// Keys by row, in the form above or as names or texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyCells<'a> {
    heads: NameCells<'a>,
    numbers: IntCells<'a>,
}

impl<'a> KeyCells<'a> {
    /// No key in any row.
    pub(crate) const NONE: Self = Self { heads: NameCells::NONE, numbers: IntCells::NONE };

    /// The cells of an array, if it holds keys, names or texts.
    pub(crate) fn of_array(array: &'a dyn Array) -> Option<Self> {
        match array.as_struct_opt().map(StructArray::columns) {
            Some([heads, numbers]) => Some(Self {
                heads: NameCells::of_array(heads)?,
                numbers: IntCells::of_array(numbers)?,
            }),
            Some(_) => None,
            None => Some(Self { heads: NameCells::of_array(array)?, ..Self::NONE }),
        }
    }

    /// The key in a row.
    pub(crate) fn get(self, row: usize) -> Option<Cow<'a, str>> {
        let head = self.heads.get(row)?;
        Some(match self.numbers.get(row) {
            Some(number) => Cow::Owned(format!("{head}-{number}")),
            None => Cow::Borrowed(head),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_comes_back_is_taken_off() {
        assert_eq!(split_key("process-ab12-17"), ("process-ab12", Some(17)));
        for whole in ["process-ab12-017", "process", "process-", "a-99999999999999999999"] {
            assert_eq!(split_key(whole), (whole, None));
        }
    }

    #[test]
    fn every_key_comes_back() {
        let keys = [
            Some("process-ab12-17"),
            None,
            Some("process-ab12-18"),
            Some("other"),
            Some(""),
            Some("-3"),
            Some("a-18446744073709551615"),
        ];
        let mut column = KeyColumn::default();
        column.extend(keys);
        let array = column.finish().unwrap();
        assert!(column.is_empty());
        // Also when it is added to another one.
        column.extend_missing(1);
        assert!(column.extend_array(&array));
        let array = column.finish().unwrap();
        let cells = KeyCells::of_array(&array).unwrap();
        let back: Vec<_> = (1..array.len()).map(|row| cells.get(row)).collect();
        assert_eq!(cells.get(0), None);
        assert_eq!(back.iter().map(Option::as_deref).collect::<Vec<_>>(), keys);
    }
}
