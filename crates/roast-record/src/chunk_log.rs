//! Many attempts at chunks in little space. A row has an identity of its own,
//! so a row that arrives twice is one row; logs merge in any order and shape.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use roast_model::FirstSeen;

use crate::content::Content;
use crate::kinds::ChunkPhase;
use crate::log_bytes;
use crate::palettes::Palettes;
use crate::row::{Head, Row, Times};
use crate::row_store::{RowStore, StoredRow};
use crate::wire::{LogError, Writer};

/// With less to read a second thread is not worth its start.
const BYTES_WORTH_A_THREAD: usize = 1 << 20;
/// Logs that may be read before they are added.
const LOGS_AHEAD: usize = 4;

/// Rows of chunks with what reading their branches cost.
#[derive(Clone, Debug, Default)]
pub struct ChunkLog {
    pub(crate) palettes: Palettes,
    pub(crate) content: Content,
    /// The rows by their identities.
    known: FirstSeen,
}

impl ChunkLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.content.rows.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.content.rows.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Rows whose branch costs may have been counted twice, because two logs
    /// shared some of their rows but not all.
    pub fn cost_overlap(&self) -> u64 {
        self.content.cost_overlap
    }

    /// Sections that were neither kept nor summed, over all rows.
    pub fn dropped_sections(&self) -> u64 {
        // Few rows have any, and their first byte says so.
        let dropped = |stored: &StoredRow| {
            let head = Head::read(&mut self.content.rows.reader(stored)).ok()?;
            head.has_dropped_sections().then(|| self.content.rows.unpack(stored).dropped_sections)
        };
        self.content.rows.all().iter().filter_map(dropped).fold(0, u64::saturating_add)
    }

    /// The number of a name.
    pub(crate) fn name(&mut self, name: &str) -> u32 {
        self.palettes.names.code(name)
    }

    /// The number of a name that is shared already.
    pub(crate) fn shared_name(&mut self, name: &Arc<str>) -> u32 {
        self.palettes.names.code_of(Arc::clone(name))
    }

    /// The name under a number.
    pub(crate) fn name_of(&self, code: Option<u32>) -> Option<&str> {
        self.palettes.names.get(code?).map(AsRef::as_ref)
    }

    /// Every row, in the order of arrival.
    #[cfg(test)]
    pub(crate) fn unpacked(&self) -> impl Iterator<Item = Row> {
        self.content.rows.all().iter().map(|stored| self.content.rows.unpack(stored))
    }

    /// The number of the row of that identity.
    fn find(&self, nonce: u128) -> Option<usize> {
        let is_it = |row: u32| is_row(&self.content.rows, row, nonce);
        self.known.find(hash(nonce), is_it).map(|row| row as usize)
    }

    /// The number of the row of that identity. If it is not there, it will be the
    /// next one to come.
    fn number_of(&mut self, nonce: u128) -> usize {
        let rows = &self.content.rows;
        let next = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        self.known.first(hash(nonce), next, |row| is_row(rows, row, nonce)) as usize
    }

    /// Adds a row, or completes the one of the same identity.
    pub(crate) fn push(&mut self, nonce: u128, row: Row) {
        if self.number_of(nonce) < self.len() {
            return self.complete(nonce, row.phase(ChunkPhase::Serialize));
        }
        let packed = |writer: &mut Writer| {
            row.pack(writer);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = self.content.rows.push(nonce, row.start_ns, packed);
        if let Some(late) = self.content.late.remove(&nonce) {
            self.complete(nonce, late);
        }
    }

    /// Sets how long the output of an attempt took to serialize. It may be
    /// told before the row arrives, and more than once.
    pub fn set_serialize(
        &mut self,
        nonce: u128,
        wall_ns: u64,
        cpu_ns: Option<u64>,
        run_queue_ns: Option<u64>,
    ) {
        let times = Times {
            wall_us: Some(micros(wall_ns)),
            cpu_us: cpu_ns.map(micros),
            run_queue_us: run_queue_ns.map(micros),
        };
        self.complete(nonce, times);
    }

    fn complete(&mut self, nonce: u128, serialize: Times) {
        if serialize == Times::default() {
            return;
        }
        let index = self.find(nonce);
        let Some((index, stored)) =
            index.and_then(|index| Some((index, self.content.rows.get(index)?)))
        else {
            let late = self.content.late.entry(nonce).or_default();
            *late = late.or_larger(serialize);
            return;
        };
        let mut row = self.content.rows.unpack(stored);
        if let Some(times) = row.phase_mut(ChunkPhase::Serialize)
            && times.or_larger(serialize) != *times
        {
            *times = times.or_larger(serialize);
            self.content.rows.replace(index, &row);
        }
    }

    /// Adds logs in the form of [`ChunkLog::to_bytes`], one after the other: while
    /// one is added, the next is read. What cannot be read is left out and told of.
    pub fn merge_all(&mut self, logs: &[&[u8]]) -> Vec<LogError> {
        let mut palettes = std::mem::take(&mut self.palettes);
        let mut errors = Vec::new();
        let mut add = |content: Result<Content, LogError>| match content {
            Ok(content) => self.add(content),
            Err(error) => errors.push(error),
        };
        let is_much = logs.iter().map(|log| log.len()).sum::<usize>() >= BYTES_WORTH_A_THREAD;
        let is_done = is_much
            && thread::scope(|scope| {
                let (read, ready) = sync_channel(LOGS_AHEAD);
                let palettes = &mut palettes;
                let reader = thread::Builder::new().spawn_scoped(scope, move || {
                    // Nobody waits for more only if adding failed, which shows on that side.
                    logs.iter().all(|log| read.send(log_bytes::read(log, palettes)).is_ok())
                });
                ready.into_iter().for_each(&mut add);
                reader.is_ok()
            });
        // Too little for two threads, or no thread to be had.
        if !is_done {
            logs.iter().for_each(|log| add(log_bytes::read(log, &mut palettes)));
        }
        self.palettes = palettes;
        errors
    }

    /// Adds what another log holds. Rows that are in both count once; so do
    /// branch costs, unless each log has rows that the other lacks.
    pub fn merge(&mut self, other: &Self) {
        let codes = self.palettes.take_over(&other.palettes);
        let content = codes.and_then(|codes| other.content.renumbered(&codes));
        // What a log holds was recorded here or checked on reading.
        debug_assert!(content.is_ok());
        if let Ok(content) = content {
            self.add(content);
        }
    }

    /// Adds what is in the numbers of this log already.
    pub(crate) fn add(&mut self, more: Content) {
        let rows = more.rows.all();
        let before = self.len();
        if before == 0 {
            self.content.rows.reserve(rows.len());
            self.known.reserve(rows.len());
        }
        let mut shared = 0;
        for stored in rows {
            let nonce = stored.nonce();
            let number = self.number_of(nonce);
            if number < self.len() {
                shared += usize::from(number < before);
                let row = more.rows.unpack(stored);
                self.complete(nonce, row.phase(ChunkPhase::Serialize));
                continue;
            }
            self.content.rows.copy(stored, &more.rows);
            if !self.content.late.is_empty()
                && let Some(late) = self.content.late.remove(&nonce)
            {
                self.complete(nonce, late);
            }
        }
        if shared == 0 || shared < rows.len() {
            self.add_costs(&more, before, shared);
        }
        for (key, facts) in more.files {
            self.content.files.entry(key).or_default().unite(&facts);
        }
        for (nonce, times) in more.late {
            self.complete(nonce, times);
        }
    }

    /// Adds the costs of rows of which some may have been here before, but not all.
    fn add_costs(&mut self, more: &Content, before: usize, shared: usize) {
        let own = &mut self.content;
        if shared > 0 && shared == before {
            // All that was counted before is in the others as well.
            own.costs.clear();
            own.cost_overlap = 0;
        } else {
            own.cost_overlap = own.cost_overlap.saturating_add(shared as u64);
        }
        own.cost_overlap = own.cost_overlap.saturating_add(more.cost_overlap);
        for (&key, cost) in &more.costs {
            own.costs.entry(key).or_default().add(cost);
        }
    }
}

/// Identities are random already.
fn hash(nonce: u128) -> u64 {
    (nonce ^ nonce >> 64) as u64
}

fn is_row(rows: &RowStore, row: u32, nonce: u128) -> bool {
    rows.get(row as usize).is_some_and(|row| row.nonce() == nonce)
}

impl Times {
    /// Where two tell of the same, the larger stands whatever the order.
    fn or_larger(self, other: Self) -> Self {
        Self {
            wall_us: self.wall_us.max(other.wall_us),
            cpu_us: self.cpu_us.max(other.cpu_us),
            run_queue_us: self.run_queue_us.max(other.run_queue_us),
        }
    }
}

pub(crate) fn micros(ns: u64) -> u64 {
    ns.saturating_add(500) / 1_000
}
