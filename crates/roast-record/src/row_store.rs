//! Packed rows, one after another in one block of memory, and which are there.

use std::ops::Range;

use hashbrown::HashTable;

use crate::row::Row;
use crate::wire::{LogError, Reader, Writer};

/// Where a row is, and what logs need to know without unpacking it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow {
    pub(crate) nonce: u128,
    pub(crate) start_ns: Option<i64>,
    offset: usize,
    length: u32,
}

/// Rows in the order of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowStore {
    rows: Vec<StoredRow>,
    packed: Vec<u8>,
    known: HashTable<Known>,
}

/// A row's number beside a part of its identity: most look-ups end here, and the
/// table grows without looking at rows.
#[derive(Clone, Copy, Debug)]
struct Known {
    tag: u32,
    row: u32,
}

impl Known {
    fn hash(self) -> u64 {
        spread(self.tag)
    }
}

/// Identities are random already.
fn tag(nonce: u128) -> u32 {
    (nonce ^ nonce >> 32 ^ nonce >> 64 ^ nonce >> 96) as u32
}

fn spread(tag: u32) -> u64 {
    u64::from(tag).wrapping_mul(0x9e37_79b9_7f4a_7c15)
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

    /// The number of the row of that identity.
    pub(crate) fn find(&self, nonce: u128) -> Option<usize> {
        let tag = tag(nonce);
        let is_it = |known: &Known| {
            known.tag == tag
                && self.rows.get(known.row as usize).is_some_and(|row| row.nonce == nonce)
        };
        self.known.find(spread(tag), is_it).map(|known| known.row as usize)
    }

    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
        self.known.reserve(rows, |known| known.hash());
    }

    /// Adds a row that is not there yet; `write` packs it.
    pub(crate) fn push<E>(
        &mut self,
        nonce: u128,
        start_ns: Option<i64>,
        write: impl FnOnce(&mut Writer) -> Result<(), E>,
    ) -> Result<(), E> {
        let range = self.pack(write)?;
        let row = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let known = Known { tag: tag(nonce), row };
        self.known.insert_unique(known.hash(), known, |known| known.hash());
        self.rows.push(StoredRow { nonce, start_ns, offset: range.start, length: length(&range) });
        Ok(())
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

    /// The row. What is stored was packed here or checked on reading, so there
    /// is nothing that could fail; an empty row would show if it did.
    pub(crate) fn unpack(&self, stored: &StoredRow) -> Row {
        let mut row = Row::default();
        self.unpack_into(stored, &mut row);
        row
    }

    /// The same into a row that was used before.
    pub(crate) fn unpack_into(&self, stored: &StoredRow, row: &mut Row) {
        let mut reader = Reader::new(self.bytes(stored));
        if row.unpack_from(&mut reader, stored.start_ns).is_err() {
            *row = Row::default();
        }
    }
}

fn length(range: &Range<usize>) -> u32 {
    u32::try_from(range.len()).unwrap_or(u32::MAX)
}
