//! Numbers as few bytes: little-endian groups of seven bits, missing values as
//! zero, signed values folded so that small ones stay small. Reading checks
//! every length against what is there.

/// What was given is not a log, or is damaged.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The first bytes are not those of a log.
    #[error("these bytes are not a chunk log")]
    NotALog,
    /// A later version wrote it.
    #[error(
        "this chunk log has format {found}, and this roastcoffea reads format {known}: \
         install the same roastcoffea on the workers and on the client"
    )]
    Newer {
        /// The format found.
        found: u8,
        /// The format this version writes.
        known: u8,
    },
    /// The bytes end early or contradict themselves.
    #[error("this chunk log is damaged")]
    Damaged,
}

/// Sizes of memory come in pages, moments in microseconds: the unit is divided
/// out where nothing is lost by it.
const PAGE_BYTES: i128 = 4096;
const NS_PER_MICRO: i128 = 1000;

/// The bit of each of eight bytes that says that another byte follows.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Writes numbers.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn wide(&mut self, number: u128) {
        let Ok(number) = u64::try_from(number) else {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            return self.wide(number >> 7);
        };
        self.plain(number);
    }

    pub(crate) fn plain(&mut self, number: impl Into<u64>) {
        let mut number = number.into();
        while number >= 0x80 {
            self.bytes.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(crate) fn count(&mut self, length: usize) {
        self.wide(length as u128);
    }

    pub(crate) fn maybe(&mut self, number: Option<impl Into<u64>>) {
        self.wide(number.map_or(0, |number| u128::from(number.into()) + 1));
    }

    fn maybe_signed(&mut self, number: Option<i128>) {
        self.wide(number.map_or(0, |number| fold(number) + 1));
    }

    /// A signed number, as its difference to one that is likely near.
    pub(crate) fn near(&mut self, number: Option<i64>, guess: i64) {
        self.maybe_signed(number.map(|number| i128::from(number) - i128::from(guess)));
    }

    /// A number, as what it falls short of one that is likely near.
    pub(crate) fn short_of(&mut self, number: Option<u64>, limit: Option<u64>) {
        let limit = i128::from(limit.unwrap_or_default());
        self.maybe_signed(number.map(|number| limit - i128::from(number)));
    }

    fn in_units(&mut self, number: Option<i64>, guess: i64, unit: i128) {
        let Some(number) = number else { return self.wide(0) };
        let gap = i128::from(number) - i128::from(guess);
        let coded = if gap % unit == 0 { fold(gap / unit) << 1 } else { fold(gap) << 1 | 1 };
        self.wide(coded + 1);
    }

    pub(crate) fn memory(&mut self, bytes: Option<i64>, guess: i64) {
        self.in_units(bytes, guess, PAGE_BYTES);
    }

    pub(crate) fn moment(&mut self, ns: Option<i64>, guess: i64) {
        self.in_units(ns, guess, NS_PER_MICRO);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// Reads what [`Writer`] wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A number of up to eight bytes, as nearly all are; none if it is longer, or
    /// too close to the end to take eight bytes at once.
    #[inline]
    fn short(&mut self) -> Option<u64> {
        let word = u64::from_le_bytes(*self.rest.first_chunk()?);
        // The byte without a high bit is the last one.
        let ends = !word & HIGH_BITS;
        let length = ends.trailing_zeros() / 8 + 1;
        let kept = word & (ends ^ ends.wrapping_sub(1)) & !HIGH_BITS;
        if ends == 0 {
            return None;
        }
        self.rest = self.rest.get(length as usize..)?;
        // Seven bits of each byte, then of each pair, then of each four.
        let pairs = kept & 0x007f_007f_007f_007f | (kept & 0x7f00_7f00_7f00_7f00) >> 1;
        let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
        Some(fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4)
    }

    /// A number of any length.
    #[cold]
    fn long(&mut self) -> Result<u128, LogError> {
        let mut number = 0_u128;
        let mut bytes = self.rest.iter();
        // Nothing that is written has more than 70 bits.
        for shift in (0..70).step_by(7) {
            let &byte = bytes.next().ok_or(LogError::Damaged)?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                self.rest = bytes.as_slice();
                return Ok(number);
            }
        }
        Err(LogError::Damaged)
    }

    pub(crate) fn wide(&mut self) -> Result<u128, LogError> {
        match self.short() {
            Some(number) => Ok(number.into()),
            None => self.long(),
        }
    }

    /// Passes so many numbers and returns their bytes.
    pub(crate) fn skip(&mut self, numbers: usize) -> Result<&'a [u8], LogError> {
        let mut left = numbers;
        let mut length = 0;
        let (words, _) = self.rest.as_chunks::<8>();
        for word in words {
            let ends = (!u64::from_le_bytes(*word) & HIGH_BITS).count_ones() as usize;
            if ends >= left {
                break;
            }
            left -= ends;
            length += 8;
        }
        for byte in self.rest.get(length..).unwrap_or_default() {
            if left == 0 {
                break;
            }
            length += 1;
            left -= usize::from(byte & 0x80 == 0);
        }
        if left > 0 { Err(LogError::Damaged) } else { self.bytes(length) }
    }

    #[inline]
    pub(crate) fn plain<T: TryFrom<u64> + TryFrom<u128>>(&mut self) -> Result<T, LogError> {
        match self.short() {
            Some(number) => T::try_from(number).map_err(|_| LogError::Damaged),
            None => T::try_from(self.long()?).map_err(|_| LogError::Damaged),
        }
    }

    #[inline]
    pub(crate) fn maybe<T>(&mut self) -> Result<Option<T>, LogError>
    where
        T: TryFrom<u64> + TryFrom<u128>,
    {
        match self.short() {
            Some(0) => Ok(None),
            Some(number) => T::try_from(number - 1).map(Some).map_err(|_| LogError::Damaged),
            None => match self.long()?.checked_sub(1) {
                None => Ok(None),
                Some(number) => T::try_from(number).map(Some).map_err(|_| LogError::Damaged),
            },
        }
    }

    fn maybe_signed(&mut self) -> Result<Option<i128>, LogError> {
        Ok(self.wide()?.checked_sub(1).map(unfold))
    }

    #[inline]
    pub(crate) fn near(&mut self, guess: i64) -> Result<Option<i64>, LogError> {
        match self.short() {
            Some(number) => {
                let Some(folded) = number.checked_sub(1) else { return Ok(None) };
                guess.checked_add(unfold_short(folded)).map(Some).ok_or(LogError::Damaged)
            }
            None => self.maybe_signed()?.map(|gap| narrow(i128::from(guess) + gap)).transpose(),
        }
    }

    #[inline]
    pub(crate) fn short_of(&mut self, limit: Option<u64>) -> Result<Option<u64>, LogError> {
        let limit = limit.unwrap_or_default();
        match self.short() {
            Some(number) => {
                let Some(folded) = number.checked_sub(1) else { return Ok(None) };
                limit.checked_add_signed(-unfold_short(folded)).map(Some).ok_or(LogError::Damaged)
            }
            None => self.maybe_signed()?.map(|gap| narrow(i128::from(limit) - gap)).transpose(),
        }
    }

    fn in_units(&mut self, guess: i64, unit: i128) -> Result<Option<i64>, LogError> {
        let Some(coded) = self.wide()?.checked_sub(1) else { return Ok(None) };
        let scale = if coded & 1 == 0 { unit } else { 1 };
        narrow(i128::from(guess) + unfold(coded >> 1) * scale).map(Some)
    }

    pub(crate) fn memory(&mut self, guess: i64) -> Result<Option<i64>, LogError> {
        self.in_units(guess, PAGE_BYTES)
    }

    pub(crate) fn moment(&mut self, guess: i64) -> Result<Option<i64>, LogError> {
        self.in_units(guess, NS_PER_MICRO)
    }

    /// A number of things of which each takes at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize, LogError> {
        let count: usize = self.plain()?;
        if count > self.rest.len() { Err(LogError::Damaged) } else { Ok(count) }
    }

    pub(crate) fn bytes(&mut self, length: usize) -> Result<&'a [u8], LogError> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(LogError::Damaged)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, LogError> {
        let length = self.count()?;
        std::str::from_utf8(self.bytes(length)?).map_err(|_| LogError::Damaged)
    }
}

fn fold(number: i128) -> u128 {
    ((number << 1) ^ (number >> 127)).cast_unsigned()
}

fn unfold(folded: u128) -> i128 {
    (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
}

/// The same of a number of at most 56 bits.
fn unfold_short(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
}

fn narrow<T: TryFrom<i128>>(number: i128) -> Result<T, LogError> {
    T::try_from(number).map_err(|_| LogError::Damaged)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_comes_back(
            plain in any::<u64>(),
            maybe in any::<Option<u64>>(),
            near in any::<Option<i64>>(),
            guess in any::<i64>(),
            limit in any::<Option<u64>>(),
        ) {
            let mut writer = Writer::default();
            writer.plain(plain);
            writer.maybe(maybe);
            writer.near(near, guess);
            writer.short_of(maybe, limit);
            writer.memory(near, guess);
            writer.moment(near, guess);
            let mut reader = Reader::new(&writer.bytes);
            prop_assert_eq!(reader.plain::<u64>().unwrap(), plain);
            prop_assert_eq!(reader.maybe::<u64>().unwrap(), maybe);
            prop_assert_eq!(reader.near(guess).unwrap(), near);
            prop_assert_eq!(reader.short_of(limit).unwrap(), maybe);
            prop_assert_eq!(reader.memory(guess).unwrap(), near);
            prop_assert_eq!(reader.moment(guess).unwrap(), near);
            prop_assert!(reader.rest().is_empty());
            let mut reader = Reader::new(&writer.bytes);
            prop_assert_eq!(reader.skip(6).unwrap(), &writer.bytes);
            prop_assert!(reader.rest().is_empty() && reader.skip(1).is_err());
        }
    }
}
