//! Real numbers. Most are seconds that were measured in whole microseconds, or
//! in units of 100 ns: where every one of them is, bit for bit, they are held as
//! decimals of four bytes, which give the same numbers back.

use std::sync::Arc;

use arrow_array::types::{Decimal32Type, Float64Type};
use arrow_array::{ArrayRef, NullArray, PrimitiveArray};
use arrow_buffer::{NullBufferBuilder, ScalarBuffer};
use arrow_schema::ArrowError;

use super::BLOCK;
use crate::cells::FloatCells;

/// Digits of a decimal of four bytes.
const DIGITS: u8 = 9;
const MOST: i64 = 999_999_999;

/// Real numbers that grow.
#[derive(Debug)]
pub struct FloatColumn {
    values: Values,
    valid: NullBufferBuilder,
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

    /// The number in this unit, if that gives it back.
    fn count(self, number: f64) -> Option<i64> {
        let units = (number * self.in_one()).round();
        let back = units / self.in_one();
        (back.to_bits() == number.to_bits() && units.abs() <= MOST as f64).then_some(units as i64)
    }
}

impl Default for FloatColumn {
    fn default() -> Self {
        Self { values: Values::Missing, valid: NullBufferBuilder::new(0) }
    }
}

impl FloatColumn {
    /// Rows.
    pub fn len(&self) -> usize {
        self.valid.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds numbers.
    pub fn extend(&mut self, cells: impl IntoIterator<Item = Option<f64>>) {
        let mut cells = cells.into_iter();
        let mut block = [None; BLOCK];
        loop {
            let mut count = 0;
            for (slot, cell) in block.iter_mut().zip(&mut cells) {
                *slot = cell;
                count += 1;
            }
            if let Some(block) = block.get(..count) {
                self.extend_block(block);
            }
            if count < BLOCK {
                return;
            }
        }
    }

    /// Adds numbers that were measured in whole microseconds, as seconds.
    pub fn extend_micros(&mut self, cells: impl IntoIterator<Item = Option<u64>>) {
        self.extend_units(Unit::Micro, cells);
    }

    /// Adds numbers that were measured in units of 100 ns, as seconds.
    pub fn extend_tenth_micros(&mut self, cells: impl IntoIterator<Item = Option<u64>>) {
        self.extend_units(Unit::TenthMicro, cells);
    }

    /// Adds rows in which the value is missing.
    pub fn extend_missing(&mut self, rows: usize) {
        self.valid.append_n_nulls(rows);
        match &mut self.values {
            Values::Missing => {}
            Values::Units(_, values) => values.resize(values.len() + rows, 0),
            Values::Float(values) => values.resize(values.len() + rows, 0.0),
        }
    }

    fn extend_block(&mut self, block: &[Option<f64>]) {
        let all_in =
            |unit: Unit| block.iter().copied().flatten().all(|number| unit.count(number).is_some());
        let first = match &self.values {
            Values::Missing => Some(Unit::Micro),
            Values::Units(unit, _) => Some(*unit),
            Values::Float(_) => None,
        };
        let unit = [Unit::Micro, Unit::TenthMicro]
            .into_iter()
            .find(|unit| first.is_some_and(|first| first <= *unit) && all_in(*unit));
        match unit {
            Some(unit) => {
                let cells = block.iter().map(|cell| cell.and_then(|number| unit.count(number)));
                self.put_units(unit, cells);
            }
            None => self.put_floats(block.iter().copied()),
        }
    }

    fn extend_units(&mut self, unit: Unit, cells: impl IntoIterator<Item = Option<u64>>) {
        let mut cells = cells.into_iter();
        let mut block = [None; BLOCK];
        loop {
            let mut count = 0;
            let (mut most, mut whole) = (0, true);
            for (slot, cell) in block.iter_mut().zip(&mut cells) {
                *slot = cell;
                count += 1;
                let units = cell.unwrap_or(0);
                most = most.max(units);
                whole &= unit == Unit::Micro || units % 10 == 0;
            }
            let Some(block) = block.get(..count) else { return };
            let known = |cell: &Option<u64>| cell.and_then(|units| i64::try_from(units).ok());
            let within = |most: u64| most <= MOST.unsigned_abs();
            match unit {
                Unit::Micro if within(most) => {
                    self.put_units(Unit::Micro, block.iter().map(known));
                }
                Unit::TenthMicro if whole && within(most / 10) => {
                    let micros = block.iter().map(|cell| known(cell).map(|units| units / 10));
                    self.put_units(Unit::Micro, micros);
                }
                Unit::TenthMicro if within(most) => {
                    self.put_units(Unit::TenthMicro, block.iter().map(known));
                }
                unit => {
                    let secs = |cell: &Option<u64>| cell.map(|units| units as f64 / unit.in_one());
                    self.put_floats(block.iter().map(secs));
                }
            }
            if count < BLOCK {
                return;
            }
        }
    }

    /// Adds numbers of which each fits in so many digits.
    fn put_units(&mut self, unit: Unit, cells: impl Iterator<Item = Option<i64>> + Clone) {
        let rows = self.valid.len();
        let mut unit = unit;
        let mut some = cells.clone().flatten().peekable();
        if some.peek().is_some() {
            self.values.make_room(unit, rows);
        }
        let mut factor = 1;
        if let Values::Units(there, _) = &self.values
            && *there != unit
        {
            // Whole microseconds among smaller units, if there is room for them.
            factor = 10;
            unit = *there;
            if some.any(|units| units.abs() > MOST / 10) {
                let micros = |units: i64| units as f64 / Unit::Micro.in_one();
                return self.put_floats(cells.map(|cell| cell.map(micros)));
            }
        }
        match &mut self.values {
            Values::Missing => {}
            Values::Units(_, values) => {
                values.extend(
                    cells.clone().map(|cell| cell.map_or(0, |units| (units * factor) as i32)),
                );
            }
            Values::Float(values) => {
                let secs = |units: i64| units as f64 / unit.in_one();
                values.extend(cells.clone().map(|cell| cell.map_or(0.0, secs)));
            }
        }
        put_valid(&mut self.valid, cells.map(|cell| cell.is_some()));
    }

    fn put_floats(&mut self, cells: impl Iterator<Item = Option<f64>> + Clone) {
        if cells.clone().flatten().next().is_some() {
            self.values.make_float(self.valid.len());
        }
        match &mut self.values {
            Values::Float(values) => values.extend(cells.clone().map(Option::unwrap_or_default)),
            Values::Units(_, values) => values.extend(cells.clone().map(|_| 0)),
            Values::Missing => {}
        }
        put_valid(&mut self.valid, cells.map(|cell| cell.is_some()));
    }

    pub(super) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        let Some(cells) = FloatCells::of_array(array.as_ref()) else { return false };
        self.extend((0..array.len()).map(|row| cells.get(row)));
        true
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
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

fn put_valid(valid: &mut NullBufferBuilder, cells: impl Iterator<Item = bool> + Clone) {
    let count = cells.clone().count();
    if cells.clone().all(|there| there) {
        valid.append_n_non_nulls(count);
    } else if !cells.clone().any(|there| there) {
        valid.append_n_nulls(count);
    } else {
        cells.for_each(|there| valid.append(there));
    }
}

impl Values {
    /// Makes the values such that numbers in this unit can be added, or floats if
    /// there is no such form.
    fn make_room(&mut self, needed: Unit, rows: usize) {
        match self {
            Self::Missing => *self = Self::Units(needed, vec![0; rows]),
            Self::Units(Unit::Micro, values) if needed == Unit::TenthMicro => {
                let fits = |units: &i32| i64::from(*units).abs() <= MOST / 10;
                if values.iter().all(fits) {
                    let mut values = std::mem::take(values);
                    values.iter_mut().for_each(|units| *units *= 10);
                    *self = Self::Units(Unit::TenthMicro, values);
                } else {
                    self.make_float(rows);
                }
            }
            Self::Units(..) | Self::Float(_) => {}
        }
    }

    fn make_float(&mut self, rows: usize) {
        match self {
            Self::Missing => *self = Self::Float(vec![0.0; rows]),
            Self::Units(unit, values) => {
                let in_one = unit.in_one();
                *self = Self::Float(values.iter().map(|&n| f64::from(n) / in_one).collect());
            }
            Self::Float(_) => {}
        }
    }
}
