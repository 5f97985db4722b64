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
const PAGE_BYTES: i64 = 4096;
const NS_PER_MICRO: i64 = 1000;

/// Nothing that is written has more than 70 bits.
const MAX_BYTES: u32 = 10;

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

    fn in_units(&mut self, number: Option<i64>, guess: i64, unit: i64) {
        let Some(number) = number else { return self.wide(0) };
        let gap = i128::from(number) - i128::from(guess);
        let unit = i128::from(unit);
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
    #[inline(always)]
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
        for shift in (0..7 * MAX_BYTES).step_by(7) {
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
        // Bytes of a number that has not ended yet.
        let mut open = 0;
        let (words, _) = self.rest.as_chunks::<8>();
        for word in words {
            let ends = !u64::from_le_bytes(*word) & HIGH_BITS;
            let count = ends.count_ones() as usize;
            if count >= left || open + ends.trailing_zeros() / 8 >= MAX_BYTES {
                break;
            }
            open = if ends == 0 { open + 8 } else { ends.leading_zeros() / 8 };
            left -= count;
            length += 8;
        }
        for byte in self.rest.get(length..).unwrap_or_default() {
            if left == 0 || open == MAX_BYTES {
                break;
            }
            length += 1;
            let has_ended = byte & 0x80 == 0;
            open = if has_ended { 0 } else { open + 1 };
            left -= usize::from(has_ended);
        }
        if left > 0 { Err(LogError::Damaged) } else { self.bytes(length) }
    }

    /// The number of something in a palette.
    #[inline]
    pub(crate) fn code(&mut self) -> Result<u32, LogError> {
        self.plain()?.try_into().map_err(|_| LogError::Damaged)
    }

    /// The same, or nothing.
    #[inline]
    pub(crate) fn maybe_code(&mut self) -> Result<Option<u32>, LogError> {
        let code = self.plain()?.checked_sub(1);
        code.map(|code| code.try_into().map_err(|_| LogError::Damaged)).transpose()
    }

    #[inline]
    pub(crate) fn plain(&mut self) -> Result<u64, LogError> {
        match self.short() {
            Some(number) => Ok(number),
            None => Ok(u64::try_from(self.long()?).unwrap_or(u64::MAX)),
        }
    }

    // Measured numbers. One that is too large for what it counts is not known, and
    // neither is one that is damaged: then nothing can be read after it, so that
    // what ends with any other number is refused.

    #[inline(always)]
    pub(crate) fn maybe(&mut self) -> Option<u64> {
        match self.short() {
            Some(number) => number.checked_sub(1),
            None => self.long_measured()?.try_into().ok(),
        }
    }

    #[inline(always)]
    pub(crate) fn near(&mut self, guess: i64) -> Option<i64> {
        match self.short() {
            Some(number) => guess.checked_add(unfold_short(number.checked_sub(1)?)),
            None => (i128::from(guess) + unfold(self.long_measured()?)).try_into().ok(),
        }
    }

    #[inline(always)]
    pub(crate) fn short_of(&mut self, limit: Option<u64>) -> Option<u64> {
        let limit = limit.unwrap_or_default();
        match self.short() {
            Some(number) => limit.checked_add_signed(-unfold_short(number.checked_sub(1)?)),
            None => (i128::from(limit) - unfold(self.long_measured()?)).try_into().ok(),
        }
    }

    #[inline(always)]
    fn in_units(&mut self, guess: i64, unit: i64) -> Option<i64> {
        match self.short() {
            Some(number) => {
                let coded = number.checked_sub(1)?;
                let scale = if coded & 1 == 0 { unit } else { 1 };
                // Few units can be more than 64 bits hold, and still lead back from the guess.
                let gap = i128::from(unfold_short(coded >> 1)) * i128::from(scale);
                (i128::from(guess) + gap).try_into().ok()
            }
            None => {
                let coded = self.long_measured()?;
                let scale = if coded & 1 == 0 { unit } else { 1 };
                (i128::from(guess) + unfold(coded >> 1) * i128::from(scale)).try_into().ok()
            }
        }
    }

    #[cold]
    fn long_measured(&mut self) -> Option<u128> {
        match self.long() {
            Ok(number) => number.checked_sub(1),
            Err(_) => {
                self.rest = &[];
                None
            }
        }
    }

    pub(crate) fn memory(&mut self, guess: i64) -> Option<i64> {
        self.in_units(guess, PAGE_BYTES)
    }

    pub(crate) fn moment(&mut self, guess: i64) -> Option<i64> {
        self.in_units(guess, NS_PER_MICRO)
    }

    /// A number of things of which each takes at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize, LogError> {
        let count = usize::try_from(self.plain()?).map_err(|_| LogError::Damaged)?;
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
            prop_assert_eq!(reader.plain().unwrap(), plain);
            prop_assert_eq!(reader.maybe(), maybe);
            prop_assert_eq!(reader.near(guess), near);
            prop_assert_eq!(reader.short_of(limit), maybe);
            prop_assert_eq!(reader.memory(guess), near);
            prop_assert_eq!(reader.moment(guess), near);
            prop_assert!(reader.rest().is_empty());
            let mut reader = Reader::new(&writer.bytes);
            prop_assert_eq!(reader.skip(6).unwrap(), &writer.bytes);
            prop_assert!(reader.rest().is_empty() && reader.skip(1).is_err());
        }
    }

    #[test]
    fn a_number_that_is_too_long_is_refused_wherever_it_stands() {
        for before in 0..20 {
            for (length, is_refused) in [(9, false), (10, false), (11, true), (30, true)] {
                let mut bytes = vec![1; before];
                bytes.extend(vec![0xff; length - 1]);
                bytes.extend([1; 20]);
                let mut reader = Reader::new(&bytes);
                assert_eq!(reader.skip(before + 5).is_err(), is_refused, "{before} {length}");
                let mut reader = Reader::new(bytes.get(before..).unwrap());
                assert_eq!(reader.wide().is_err(), is_refused, "{before} {length}");
            }
        }
    }

    #[test]
    fn nothing_can_be_read_after_a_measured_number_that_is_damaged() {
        let endless = [0xff; 30];
        let cut_off = [0xff; 3];
        for bytes in [&endless[..], &cut_off, &[]] {
            let reads: [fn(&mut Reader<'_>) -> bool; 5] = [
                |reader| reader.maybe().is_none(),
                |reader| reader.near(1).is_none(),
                |reader| reader.short_of(Some(1)).is_none(),
                |reader| reader.memory(1).is_none(),
                |reader| reader.moment(1).is_none(),
            ];
            for read in reads {
                let mut reader = Reader::new(bytes);
                assert!(read(&mut reader) && reader.rest().is_empty() && reader.plain().is_err());
            }
        }
    }

    #[test]
    fn whole_units_come_back_from_the_farthest_guess() {
        for (number, guess) in [(i64::MAX / 2, i64::MIN), (i64::MIN / 2, i64::MAX)] {
            for unit in [PAGE_BYTES, NS_PER_MICRO] {
                let number = number - number % unit + guess % unit;
                let mut writer = Writer::default();
                writer.in_units(Some(number), guess, unit);
                // What is long is read in another way.
                assert!(writer.bytes.len() <= 8);
                writer.bytes.extend([0; 8]);
                assert_eq!(Reader::new(&writer.bytes).in_units(guess, unit), Some(number));
            }
        }
    }

    #[test]
    fn a_measured_number_that_is_too_large_is_missing() {
        let mut bytes = vec![0xff; 9];
        bytes.push(0x7f);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.maybe(), None);
        for guess in [i64::MAX, 0, i64::MIN] {
            assert_eq!(Reader::new(&bytes).near(guess), None);
            assert_eq!(Reader::new(&bytes).memory(guess), None);
        }
        assert_eq!(Reader::new(&bytes).short_of(Some(0)), None);
        assert!(Reader::new(&bytes).code().is_err() && Reader::new(&bytes).maybe_code().is_err());
        // One more than a guess that cannot be more.
        assert_eq!(Reader::new(&[3, 0, 0, 0, 0, 0, 0, 0]).near(i64::MAX), None);
    }
}
