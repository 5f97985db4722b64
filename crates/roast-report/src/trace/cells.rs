//! Cells of a table by row and column; a column that is not there has none.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampNanosecondType};
use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, TimestampNanosecondArray};

#[derive(Clone, Copy)]
pub(super) struct Ints<'a>(Option<&'a Int64Array>);
#[derive(Clone, Copy)]
pub(super) struct Floats<'a>(Option<&'a Float64Array>);
#[derive(Clone, Copy)]
pub(super) struct Times<'a>(Option<&'a TimestampNanosecondArray>);
#[derive(Clone, Copy)]
pub(super) struct Names<'a>(Option<&'a dyn Array>);

pub(super) fn ints<'a>(batch: &'a RecordBatch, column: &str) -> Ints<'a> {
    Ints(batch.column_by_name(column).and_then(|array| array.as_primitive_opt::<Int64Type>()))
}

pub(super) fn floats<'a>(batch: &'a RecordBatch, column: &str) -> Floats<'a> {
    Floats(batch.column_by_name(column).and_then(|array| array.as_primitive_opt::<Float64Type>()))
}

pub(super) fn times<'a>(batch: &'a RecordBatch, column: &str) -> Times<'a> {
    let array = batch.column_by_name(column);
    Times(array.and_then(|array| array.as_primitive_opt::<TimestampNanosecondType>()))
}

pub(super) fn names<'a>(batch: &'a RecordBatch, column: &str) -> Names<'a> {
    Names(batch.column_by_name(column).map(AsRef::as_ref))
}

fn there(array: &dyn Array, row: usize) -> bool {
    row < array.len() && array.is_valid(row)
}

impl Ints<'_> {
    pub(super) fn get(self, row: usize) -> Option<i64> {
        self.0.filter(|array| there(array, row)).map(|array| array.value(row))
    }
}

impl Floats<'_> {
    pub(super) fn get(self, row: usize) -> Option<f64> {
        let number = self.0.filter(|array| there(array, row)).map(|array| array.value(row));
        number.filter(|number| number.is_finite())
    }
}

impl Times<'_> {
    pub(super) fn get(self, row: usize) -> Option<i64> {
        self.0.filter(|array| there(array, row)).map(|array| array.value(row))
    }
}

impl<'a> Names<'a> {
    pub(super) fn get(self, row: usize) -> Option<&'a str> {
        let array = self.0.filter(|array| there(*array, row))?;
        if let Some(codes) = array.as_dictionary_opt::<Int32Type>() {
            let words = codes.values().as_string_opt::<i32>()?;
            let code = codes.key(row).filter(|code| there(words, *code))?;
            return Some(words.value(code));
        }
        array.as_string_opt::<i32>().map(|words| words.value(row))
    }
}
