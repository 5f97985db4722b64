//! Packed rows, one after another in one block of memory.

use std::ops::Range;

use crate::row::Row;
use crate::wire::{LogError, Reader, Writer};

/// Where a row is, and what logs need to know without unpacking it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow {
    /// In halves, so that a row takes no more than its parts.
    nonce: [u64; 2],
    start_ns: i64,
    offset: usize,
    length: u32,
    has_start: bool,
}

impl StoredRow {
    pub(crate) fn nonce(&self) -> u128 {
        let [low, high] = self.nonce;
        u128::from(high) << 64 | u128::from(low)
    }

    pub(crate) fn start_ns(&self) -> Option<i64> {
        self.has_start.then_some(self.start_ns)
    }
}

/// Rows in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowStore {
    rows: Vec<StoredRow>,
    packed: Vec<u8>,
}

impl RowStore {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn all(&self) -> &[StoredRow] {
        &self.rows
    }

    pub(crate) fn get(&self, index: usize) -> Option<&StoredRow> {
        self.rows.get(index)
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
    }

    /// Adds a row; `write` packs it.
    pub(crate) fn push<E>(
        &mut self,
        nonce: u128,
        start_ns: Option<i64>,
        write: impl FnOnce(&mut Writer) -> Result<(), E>,
    ) -> Result<(), E> {
        let range = self.pack(write)?;
        self.rows.push(StoredRow {
            nonce: [nonce as u64, (nonce >> 64) as u64],
            start_ns: start_ns.unwrap_or_default(),
            has_start: start_ns.is_some(),
            offset: range.start,
            length: length(&range),
        });
        Ok(())
    }

    /// Adds a row of another store.
    pub(crate) fn copy(&mut self, stored: &StoredRow, from: &Self) {
        let offset = self.packed.len();
        self.packed.extend_from_slice(from.bytes(stored));
        self.rows.push(StoredRow { offset, ..*stored });
    }

    /// Packs a row again that has changed. The old bytes stay where they are: few
    /// rows change, and no other one has to move.
    pub(crate) fn replace(&mut self, index: usize, row: &Row) {
        let Ok(range) = self.pack(|writer| {
            row.pack(writer);
            Ok::<(), LogError>(())
        }) else {
            return;
        };
        if let Some(stored) = self.rows.get_mut(index) {
            (stored.offset, stored.length) = (range.start, length(&range));
        }
    }

    fn pack<E>(
        &mut self,
        write: impl FnOnce(&mut Writer) -> Result<(), E>,
    ) -> Result<Range<usize>, E> {
        let start = self.packed.len();
        let mut writer = Writer { bytes: std::mem::take(&mut self.packed) };
        let written = write(&mut writer);
        self.packed = writer.bytes;
        match written {
            Ok(()) => Ok(start..self.packed.len()),
            Err(error) => {
                self.packed.truncate(start);
                Err(error)
            }
        }
    }

    /// The bytes of a row.
    pub(crate) fn bytes(&self, stored: &StoredRow) -> &[u8] {
        let end = stored.offset.saturating_add(stored.length as usize);
        self.packed.get(stored.offset..end).unwrap_or_default()
    }

    /// A reader that is at a row. It could read on past it, which is quicker than
    /// looking out for the end, and rows say themselves where they end.
    pub(crate) fn reader(&self, stored: &StoredRow) -> Reader<'_> {
        Reader::new(self.packed.get(stored.offset..).unwrap_or_default())
    }

    /// The row. What is stored was packed here or checked on reading, so there
    /// is nothing that could fail; an empty row would show if it did.
    pub(crate) fn unpack(&self, stored: &StoredRow) -> Row {
        let mut row = Row::default();
        self.unpack_into(stored, &mut row);
        row
    }

    /// The same into a row that was used before.
    pub(crate) fn unpack_into(&self, stored: &StoredRow, row: &mut Row) {
        if row.unpack_from(&mut self.reader(stored), stored.start_ns()).is_err() {
            *row = Row::default();
        }
    }
}

fn length(range: &Range<usize>) -> u32 {
    u32::try_from(range.len()).unwrap_or(u32::MAX)
}
