//! Cells of a column by row, whatever form the column is held in: the one it is
//! documented with, or the narrow one it grows in.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampNanosecondType,
};
use arrow_array::{Array, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};

/// Whole numbers or nanoseconds by row.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntCells<'a> {
    values: Ints<'a>,
    missing: Option<&'a NullBuffer>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Ints<'a> {
    #[default]
    Missing,
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
}

impl<'a> IntCells<'a> {
    /// No value in any row.
    pub(crate) const NONE: Self = Self { values: Ints::Missing, missing: None };

    /// The cells of an array, if it holds whole numbers or nanoseconds.
    pub(crate) fn of_array(array: &'a dyn Array) -> Option<Self> {
        let values = match array.data_type() {
            DataType::Null => Ints::Missing,
            DataType::Int8 => Ints::Int8(array.as_primitive_opt::<Int8Type>()?.values()),
            DataType::Int16 => Ints::Int16(array.as_primitive_opt::<Int16Type>()?.values()),
            DataType::Int32 => Ints::Int32(array.as_primitive_opt::<Int32Type>()?.values()),
            DataType::Int64 => Ints::Int64(array.as_primitive_opt::<Int64Type>()?.values()),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                Ints::Int64(array.as_primitive_opt::<TimestampNanosecondType>()?.values())
            }
            _ => return None,
        };
        Some(Self { values, missing: array.nulls() })
    }

    /// The value in a row.
    #[inline]
    pub fn get(self, row: usize) -> Option<i64> {
        let number = match self.values {
            Ints::Missing => return None,
            Ints::Int8(values) => i64::from(*values.get(row)?),
            Ints::Int16(values) => i64::from(*values.get(row)?),
            Ints::Int32(values) => i64::from(*values.get(row)?),
            Ints::Int64(values) => *values.get(row)?,
        };
        is_there(self.missing, row).then_some(number)
    }
}

/// The row must be one of the column's.
#[inline]
fn is_there(missing: Option<&NullBuffer>, row: usize) -> bool {
    missing.is_none_or(|missing| missing.is_valid(row))
}

/// Real numbers by row.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatCells<'a> {
    values: Floats<'a>,
    missing: Option<&'a NullBuffer>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Floats<'a> {
    #[default]
    Missing,
    /// Whole numbers of a unit, of which there are so many in one.
    Units(&'a [i32], f64),
    Float(&'a [f64]),
}

impl<'a> FloatCells<'a> {
    /// No value in any row.
    pub(crate) const NONE: Self = Self { values: Floats::Missing, missing: None };

    /// The cells of an array, if it holds real numbers.
    pub(crate) fn of_array(array: &'a dyn Array) -> Option<Self> {
        let values = match array.data_type() {
            DataType::Null => Floats::Missing,
            DataType::Decimal32(_, decimals) => {
                let values = array.as_primitive_opt::<Decimal32Type>()?.values();
                Floats::Units(values, 10_f64.powi(i32::from(*decimals)))
            }
            DataType::Float64 => Floats::Float(array.as_primitive_opt::<Float64Type>()?.values()),
            _ => return None,
        };
        Some(Self { values, missing: array.nulls() })
    }

    /// The value in a row.
    #[inline]
    pub fn get(self, row: usize) -> Option<f64> {
        let number = match self.values {
            Floats::Missing => return None,
            Floats::Units(values, in_one) => f64::from(*values.get(row)?) / in_one,
            Floats::Float(values) => *values.get(row)?,
        };
        is_there(self.missing, row).then_some(number)
    }
}

/// Names or texts by row.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameCells<'a> {
    codes: IntCells<'a>,
    words: Option<&'a StringArray>,
    texts: Option<&'a StringArray>,
}

impl<'a> NameCells<'a> {
    /// No name in any row.
    pub(crate) const NONE: Self = Self { codes: IntCells::NONE, words: None, texts: None };

    /// The cells of an array, if it holds names or texts.
    pub(crate) fn of_array(array: &'a dyn Array) -> Option<Self> {
        match array.data_type() {
            DataType::Null => Some(Self::NONE),
            DataType::Utf8 => {
                Some(Self { texts: Some(array.as_string_opt::<i32>()?), ..Self::NONE })
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                Some(Self {
                    codes: IntCells::of_array(dictionary.keys())?,
                    words: Some(dictionary.values().as_string_opt::<i32>()?),
                    texts: None,
                })
            }
            _ => None,
        }
    }

    /// The name in a row.
    #[inline]
    pub fn get(self, row: usize) -> Option<&'a str> {
        match self.texts {
            Some(texts) => word(texts, row),
            None => self.word(self.code(row)?),
        }
    }

    /// The number of the name in a row; none in a column without numbers.
    #[inline]
    pub fn code(self, row: usize) -> Option<usize> {
        usize::try_from(self.codes.get(row)?).ok()
    }

    /// The names that rows number, if they do.
    pub(crate) fn words(self) -> Option<&'a StringArray> {
        self.words
    }

    /// The name under a number.
    #[inline]
    pub fn word(self, code: usize) -> Option<&'a str> {
        word(self.words?, code)
    }

    /// How many names are numbered; none if rows hold their texts themselves.
    pub fn word_count(self) -> Option<usize> {
        self.words.map(Array::len)
    }
}

#[inline]
fn word(words: &StringArray, index: usize) -> Option<&str> {
    (index < words.len() && words.is_valid(index)).then(|| words.value(index))
}
