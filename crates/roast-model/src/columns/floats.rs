//! Real numbers. Most are seconds that were measured in whole microseconds, or
//! in units of 100 ns: where every one of them is, bit for bit, they are held as
//! decimals of four bytes, which give the same numbers back.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Float64Type};
use arrow_array::{Array, ArrayRef, NullArray, PrimitiveArray};
use arrow_buffer::{NullBufferBuilder, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};

use super::{BLOCK, Waiting, make_room_for, put_valid};
use crate::cells::FloatCells;

/// Digits of a decimal of four bytes.
const DIGITS: u8 = 9;
const MOST: i64 = 999_999_999;

/// Of an array, so many values are added at a time: a stretch without any adds none.
const UNITS_AT_ONCE: usize = 1024;

/// Real numbers that grow.
#[derive(Debug)]
pub struct FloatColumn {
    /// Counts of a unit, or the bits of numbers.
    waiting: Waiting<u64>,
    /// The unit, if they are counts of one.
    unit: Option<Unit>,
    values: Values,
    valid: NullBufferBuilder,
    expected_rows: usize,
}

/// A missing value is held as zero.
#[derive(Debug)]
enum Values {
    Missing,
    /// Whole numbers of a unit.
    Units(Unit, Vec<i32>),
    Float(Vec<f64>),
}

/// What decimals count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Micro,
    TenthMicro,
}

impl Unit {
    const ALL: [Self; 2] = [Self::Micro, Self::TenthMicro];

    fn in_one(self) -> f64 {
        match self {
            Self::Micro => 1e6,
            Self::TenthMicro => 1e7,
        }
    }

    fn decimals(self) -> i8 {
        match self {
            Self::Micro => 6,
            Self::TenthMicro => 7,
        }
    }

    /// Numbers in this unit, if that gives every one of them back.
    fn count(self, numbers: &[f64], units: &mut [i64]) -> bool {
        let in_one = self.in_one();
        let mut exact = true;
        for (number, slot) in numbers.iter().zip(units) {
            let count = (number * in_one).round() as i64;
            *slot = count;
            // Bit for bit: there is no negative zero among whole numbers.
            let back = count as f64 / in_one;
            exact &=
                back.to_bits() == number.to_bits() && count.unsigned_abs() <= MOST.unsigned_abs();
        }
        exact
    }
}

impl Default for FloatColumn {
    fn default() -> Self {
        Self {
            waiting: Waiting::default(),
            unit: None,
            values: Values::Missing,
            valid: NullBufferBuilder::new(0),
            expected_rows: 0,
        }
    }
}

impl FloatColumn {
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

    /// Adds numbers.
    pub fn extend(&mut self, cells: impl IntoIterator<Item = Option<f64>>) {
        cells.into_iter().for_each(|cell| self.push(None, cell.map(f64::to_bits)));
    }

    /// Adds a number that was measured in whole microseconds, as seconds.
    #[inline]
    pub fn push_micros(&mut self, cell: Option<u64>) {
        self.push(Some(Unit::Micro), cell);
    }

    /// Adds a number that was measured in units of 100 ns, as seconds.
    #[inline]
    pub fn push_tenth_micros(&mut self, cell: Option<u64>) {
        self.push(Some(Unit::TenthMicro), cell);
    }

    #[inline]
    fn push(&mut self, unit: Option<Unit>, cell: Option<u64>) {
        if self.unit != unit {
            self.settle();
            self.unit = unit;
        }
        if self.waiting.push(cell) {
            self.settle();
        }
    }

    /// Puts away what waits.
    fn settle(&mut self) {
        let before = self.valid.len();
        let waiting = &self.waiting.values;
        if !self.waiting.note(&mut self.valid) {
            self.values.extend_zeros(waiting.len());
        } else if let Some(unit) = self.unit {
            self.values.extend_counts(unit, waiting, before);
        } else {
            let mut numbers = [0.0; BLOCK];
            for (number, bits) in numbers.iter_mut().zip(waiting) {
                *number = f64::from_bits(*bits);
            }
            self.values.extend(numbers.get(..waiting.len()).unwrap_or_default(), before);
        }
        match &mut self.values {
            Values::Missing => {}
            Values::Units(_, values) => make_room_for(values, self.expected_rows),
            Values::Float(values) => make_room_for(values, self.expected_rows),
        }
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
        let units = match array.data_type() {
            DataType::Decimal32(_, decimals) => {
                let unit = Unit::ALL.into_iter().find(|unit| unit.decimals() == *decimals);
                unit.zip(array.as_primitive_opt::<Decimal32Type>())
            }
            _ => None,
        };
        if let Some((unit, units)) = units {
            for first in (0..units.len()).step_by(UNITS_AT_ONCE) {
                let block = units.slice(first, UNITS_AT_ONCE.min(units.len() - first));
                let before = self.valid.len();
                put_valid(&mut self.valid, block.len(), block.nulls());
                if block.null_count() < block.len() {
                    let counts = block.values().iter().map(|&n| i64::from(n));
                    self.values.extend_units(unit, counts, before);
                } else {
                    self.values.extend_zeros(block.len());
                }
            }
            return true;
        }
        let Some(cells) = FloatCells::of_array(array.as_ref()) else { return false };
        self.extend((0..array.len()).map(|row| cells.get(row)));
        true
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        self.settle();
        let rows = self.valid.len();
        let valid = self.valid.finish();
        Ok(match std::mem::replace(&mut self.values, Values::Missing) {
            Values::Missing => Arc::new(NullArray::new(rows)),
            Values::Units(unit, values) => Arc::new(
                PrimitiveArray::<Decimal32Type>::try_new(ScalarBuffer::from(values), valid)?
                    .with_precision_and_scale(DIGITS, unit.decimals())?,
            ),
            Values::Float(values) => {
                Arc::new(PrimitiveArray::<Float64Type>::try_new(ScalarBuffer::from(values), valid)?)
            }
        })
    }
}

/// In all of these, `before` is the number of rows that are there already, and one
/// of the numbers that are added at least is not missing.
impl Values {
    fn extend(&mut self, numbers: &[f64], before: usize) {
        let first = match self {
            Self::Missing => Some(Unit::Micro),
            Self::Units(unit, _) => Some(*unit),
            Self::Float(_) => None,
        };
        let mut block = [0_i64; BLOCK];
        let units = block.get_mut(..numbers.len()).unwrap_or_default();
        for unit in Unit::ALL {
            if first.is_some_and(|first| first <= unit) && unit.count(numbers, units) {
                return self.extend_units(unit, units.iter().copied(), before);
            }
        }
        self.extend_floats(numbers, before);
    }

    /// Adds counts of a unit, of any size.
    fn extend_counts(&mut self, unit: Unit, counts: &[u64], before: usize) {
        // What are whole microseconds after all is held as such.
        let tens = unit == Unit::TenthMicro && counts.iter().all(|count| count % 10 == 0);
        let most = if tens { 10 * MOST } else { MOST }.unsigned_abs();
        if counts.iter().fold(0, |largest, &count| count.max(largest)) <= most {
            let counts = counts.iter().map(|count| count.cast_signed());
            match tens {
                true => self.extend_units(Unit::Micro, counts.map(|n| n / 10), before),
                false => self.extend_units(unit, counts, before),
            }
        } else {
            let in_one = unit.in_one();
            let numbers: Vec<f64> = counts.iter().map(|count| *count as f64 / in_one).collect();
            self.extend_floats(&numbers, before);
        }
    }

    /// Adds numbers of a unit, of which each has few enough digits.
    fn extend_units(
        &mut self,
        unit: Unit,
        units: impl Iterator<Item = i64> + Clone,
        before: usize,
    ) {
        self.make_room(unit, units.clone(), before);
        match self {
            Self::Missing => {}
            Self::Units(there, values) => {
                let factor = if *there == unit { 1 } else { 10 };
                values.extend(units.map(|units| units as i32 * factor));
            }
            Self::Float(values) => {
                let in_one = unit.in_one();
                values.extend(units.map(|units| units as f64 / in_one));
            }
        }
    }

    fn extend_floats(&mut self, numbers: &[f64], before: usize) {
        self.make_float(before);
        if let Self::Float(values) = self {
            values.extend_from_slice(numbers);
        }
    }

    fn extend_zeros(&mut self, rows: usize) {
        match self {
            Self::Missing => {}
            Self::Units(_, values) => values.resize(values.len() + rows, 0),
            Self::Float(values) => values.resize(values.len() + rows, 0.0),
        }
    }

    /// Makes the values such that these can be added: in one unit with them, or as
    /// floats if there is no room for that.
    fn make_room(&mut self, unit: Unit, mut units: impl Iterator<Item = i64>, before: usize) {
        let fits = |units: i64| units.abs() <= MOST / 10;
        match self {
            Self::Missing => *self = Self::Units(unit, vec![0; before]),
            Self::Units(there, _) if *there == unit => {}
            Self::Units(Unit::TenthMicro, _) => {
                if !units.all(fits) {
                    self.make_float(before);
                }
            }
            Self::Units(Unit::Micro, values) => {
                if values.iter().all(|&units| fits(units.into())) {
                    let mut values = std::mem::take(values);
                    values.iter_mut().for_each(|units| *units *= 10);
                    *self = Self::Units(Unit::TenthMicro, values);
                } else {
                    self.make_float(before);
                }
            }
            Self::Float(_) => {}
        }
    }

    fn make_float(&mut self, before: usize) {
        match self {
            Self::Missing => *self = Self::Float(vec![0.0; before]),
            Self::Units(unit, values) => {
                let in_one = unit.in_one();
                *self = Self::Float(values.iter().map(|&n| f64::from(n) / in_one).collect());
            }
            Self::Float(_) => {}
        }
    }
}
