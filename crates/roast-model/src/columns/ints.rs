//! Whole numbers in as few bytes as the largest of them needs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, NullArray, PrimitiveArray};
use arrow_buffer::{NullBufferBuilder, ScalarBuffer};
use arrow_schema::DataType;

use super::{Waiting, make_room_for, put_valid};
use crate::cells::IntCells;

/// Whole numbers that grow.
#[derive(Debug)]
pub struct IntColumn {
    waiting: Waiting<i64>,
    values: Values,
    valid: NullBufferBuilder,
    expected_rows: usize,
}

/// A missing value is held as zero.
#[derive(Debug)]
enum Values {
    /// No value so far: only their number is known.
    Missing,
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
}

impl Default for IntColumn {
    fn default() -> Self {
        Self {
            waiting: Waiting::default(),
            values: Values::Missing,
            valid: NullBufferBuilder::new(0),
            expected_rows: 0,
        }
    }
}

impl IntColumn {
    /// Tells how many rows there will be.
    pub fn expect_rows(&mut self, rows: usize) {
        self.expected_rows = rows;
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.valid.len() + self.waiting.values.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, cell: Option<i64>) {
        if self.waiting.push(cell) {
            self.settle();
        }
    }

    /// Adds values.
    pub fn extend(&mut self, cells: impl IntoIterator<Item = Option<i64>>) {
        cells.into_iter().for_each(|cell| self.push(cell));
    }

    /// Puts away what waits.
    fn settle(&mut self) {
        let before = self.valid.len();
        let numbers = &self.waiting.values;
        if self.waiting.note(&mut self.valid) {
            // A missing one is zero, which fits everywhere. A negative one needs as
            // many bits as what it is the opposite of.
            let bits = numbers.iter().fold(0, |bits, &n| bits | n ^ n >> (i64::BITS - 1));
            self.values.make_room(bits, before);
        }
        self.values.make_room_for(self.expected_rows);
        self.values.extend(numbers);
        self.waiting.clear();
    }

    /// Adds rows in which the value is missing.
    pub fn extend_missing(&mut self, rows: usize) {
        self.settle();
        self.valid.append_n_nulls(rows);
        self.values.extend_zeros(rows);
    }

    pub(super) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        self.settle();
        if self.values.extend_same(array) {
            put_valid(&mut self.valid, array.len(), array.nulls());
            return true;
        }
        let Some(cells) = IntCells::of_array(array.as_ref()) else { return false };
        self.extend((0..array.len()).map(|row| cells.get(row)));
        true
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        self.settle();
        let rows = self.valid.len();
        let valid = self.valid.finish();
        match std::mem::replace(&mut self.values, Values::Missing) {
            Values::Missing => Arc::new(NullArray::new(rows)),
            Values::Int8(values) => {
                Arc::new(PrimitiveArray::<Int8Type>::new(ScalarBuffer::from(values), valid))
            }
            Values::Int16(values) => {
                Arc::new(PrimitiveArray::<Int16Type>::new(ScalarBuffer::from(values), valid))
            }
            Values::Int32(values) => {
                Arc::new(PrimitiveArray::<Int32Type>::new(ScalarBuffer::from(values), valid))
            }
            Values::Int64(values) => {
                Arc::new(PrimitiveArray::<Int64Type>::new(ScalarBuffer::from(values), valid))
            }
        }
    }
}

impl Values {
    fn make_room_for(&mut self, rows: usize) {
        match self {
            Self::Missing => {}
            Self::Int8(values) => make_room_for(values, rows),
            Self::Int16(values) => make_room_for(values, rows),
            Self::Int32(values) => make_room_for(values, rows),
            Self::Int64(values) => make_room_for(values, rows),
        }
    }

    fn width(&self) -> u32 {
        match self {
            Self::Missing => 0,
            Self::Int8(_) => i8::BITS,
            Self::Int16(_) => i16::BITS,
            Self::Int32(_) => i32::BITS,
            Self::Int64(_) => i64::BITS,
        }
    }

    /// Widens what is there until numbers of so many bits fit, which come with a sign.
    fn make_room(&mut self, bits: i64, rows: usize) {
        let needed = match i64::BITS - bits.leading_zeros() {
            0..i8::BITS => i8::BITS,
            i8::BITS..i16::BITS => i16::BITS,
            i16::BITS..i32::BITS => i32::BITS,
            _ => i64::BITS,
        };
        if needed <= self.width() {
            return;
        }
        *self = match needed {
            i8::BITS => Self::Int8(self.cast(rows)),
            i16::BITS => Self::Int16(self.cast(rows)),
            i32::BITS => Self::Int32(self.cast(rows)),
            _ => Self::Int64(self.cast(rows)),
        };
    }

    /// The values in a wider type.
    fn cast<T: Default + Clone + TryFrom<i64>>(&self, rows: usize) -> Vec<T> {
        // What is narrower always fits.
        let wide = |number: i64| T::try_from(number).unwrap_or_default();
        match self {
            Self::Missing => vec![T::default(); rows],
            Self::Int8(values) => values.iter().map(|&number| wide(number.into())).collect(),
            Self::Int16(values) => values.iter().map(|&number| wide(number.into())).collect(),
            Self::Int32(values) => values.iter().map(|&number| wide(number.into())).collect(),
            Self::Int64(values) => values.iter().map(|&number| wide(number)).collect(),
        }
    }

    /// Adds numbers for which there is room.
    fn extend(&mut self, block: &[i64]) {
        match self {
            Self::Missing => {}
            Self::Int8(values) => values.extend(block.iter().map(|&number| number as i8)),
            Self::Int16(values) => values.extend(block.iter().map(|&number| number as i16)),
            Self::Int32(values) => values.extend(block.iter().map(|&number| number as i32)),
            Self::Int64(values) => values.extend_from_slice(block),
        }
    }

    /// Adds an array of the same width as it is.
    fn extend_same(&mut self, array: &ArrayRef) -> bool {
        match (self, array.data_type()) {
            (Self::Int8(values), DataType::Int8) => {
                values.extend_from_slice(array.as_primitive::<Int8Type>().values());
            }
            (Self::Int16(values), DataType::Int16) => {
                values.extend_from_slice(array.as_primitive::<Int16Type>().values());
            }
            (Self::Int32(values), DataType::Int32) => {
                values.extend_from_slice(array.as_primitive::<Int32Type>().values());
            }
            (Self::Int64(values), DataType::Int64) => {
                values.extend_from_slice(array.as_primitive::<Int64Type>().values());
            }
            _ => return false,
        }
        true
    }

    fn extend_zeros(&mut self, rows: usize) {
        match self {
            Self::Missing => {}
            Self::Int8(values) => values.resize(values.len() + rows, 0),
            Self::Int16(values) => values.resize(values.len() + rows, 0),
            Self::Int32(values) => values.resize(values.len() + rows, 0),
            Self::Int64(values) => values.resize(values.len() + rows, 0),
        }
    }
}
