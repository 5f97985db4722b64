//! Typed reading of a table's columns. A column that is absent (an older
//! format, an import) reads as missing in every row.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};

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

    fn column(self, name: &str) -> Option<&'a ArrayRef> {
        self.batch.column_by_name(name)
    }

    /// A column of whole numbers.
    pub fn ints(self, name: &str) -> impl ExactSizeIterator<Item = Option<i64>> + use<'a> {
        let array = self.column(name).and_then(|array| array.as_primitive_opt::<Int64Type>());
        (0..self.len()).map(move |row| {
            array.and_then(|values| values.is_valid(row).then(|| values.value(row)))
        })
    }

    /// A column of real numbers.
    pub fn floats(self, name: &str) -> impl ExactSizeIterator<Item = Option<f64>> + use<'a> {
        let array = self.column(name).and_then(|array| array.as_primitive_opt::<Float64Type>());
        (0..self.len()).map(move |row| {
            array.and_then(|values| values.is_valid(row).then(|| values.value(row)))
        })
    }

    /// A column of moments.
    pub fn times(self, name: &str) -> impl ExactSizeIterator<Item = Option<UtcNs>> + use<'a> {
        let array =
            self.column(name).and_then(|array| array.as_primitive_opt::<TimestampNanosecondType>());
        (0..self.len()).map(move |row| {
            array.and_then(|values| values.is_valid(row).then(|| UtcNs(values.value(row))))
        })
    }

    /// A column of names or text.
    pub fn names(self, name: &str) -> impl ExactSizeIterator<Item = Option<&'a str>> + use<'a> {
        let column = self.column(name);
        let dictionary = column.and_then(|array| array.as_dictionary_opt::<Int32Type>());
        let words = dictionary.and_then(|array| array.values().as_string_opt::<i32>());
        let plain = column.and_then(|array| array.as_string_opt::<i32>());
        (0..self.len()).map(move |row| match (dictionary, words, plain) {
            (Some(codes), Some(words), _) => {
                codes.key(row).and_then(|code| words.is_valid(code).then(|| words.value(code)))
            }
            (_, _, Some(texts)) => texts.is_valid(row).then(|| texts.value(row)),
            _ => None,
        })
    }
}
