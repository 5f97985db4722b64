//! Many attempts at chunks in little space. A row has an identity of its own,
//! so a row that arrives twice is one row; logs merge in any order and shape.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use crate::costs::{BranchCost, FileFacts};
use crate::kinds::ChunkPhase;
use crate::palette::Palette;
use crate::row::{Head, Renumber, Row, Times, renumber};
use crate::row_store::{RowStore, StoredRow};
use crate::wire::{LogError, Writer};

/// With less to read a second thread is not worth its start.
const BYTES_WORTH_A_THREAD: usize = 1 << 20;
/// Logs that may be read before they are added.
const LOGS_AHEAD: usize = 4;

/// Dataset, file and tree of a chunk, as numbers in the log's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Source {
    pub(crate) dataset: Option<u32>,
    pub(crate) file: Option<u32>,
    pub(crate) uuid: Option<u32>,
    pub(crate) tree: Option<u32>,
}

/// Where a chunk ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) worker: Option<u32>,
    pub(crate) host: Option<u32>,
    pub(crate) thread: Option<u64>,
}

/// Rows of chunks with what reading their branches cost.
#[derive(Clone, Debug, Default)]
pub struct ChunkLog {
    pub(crate) names: Palette<Arc<str>>,
    pub(crate) branch_sets: Palette<Arc<[u32]>>,
    pub(crate) sources: Palette<Source>,
    pub(crate) places: Palette<Place>,
    pub(crate) rows: RowStore,
    /// By dataset and branch.
    pub(crate) costs: BTreeMap<(Option<u32>, u32), BranchCost>,
    /// By source without its dataset.
    pub(crate) files: BTreeMap<Source, FileFacts<u32>>,
    /// Serialization times of rows that have not arrived yet.
    pub(crate) late: BTreeMap<u128, Times>,
    pub(crate) cost_overlap: u64,
}

impl ChunkLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Rows whose branch costs may have been counted twice, because two logs
    /// shared some of their rows but not all.
    pub fn cost_overlap(&self) -> u64 {
        self.cost_overlap
    }

    /// Sections that were neither kept nor summed, over all rows.
    pub fn dropped_sections(&self) -> u64 {
        // Few rows have any, and their first byte says so.
        let dropped = |stored: &StoredRow| {
            let head = Head::read(&mut self.rows.reader(stored)).ok()?;
            head.has_dropped_sections().then(|| self.rows.unpack(stored).dropped_sections)
        };
        self.rows.all().iter().filter_map(dropped).fold(0, u64::saturating_add)
    }

    /// The number of a name.
    pub(crate) fn name(&mut self, name: &str) -> u32 {
        self.names.code(name)
    }

    /// The number of a name that is shared already.
    pub(crate) fn shared_name(&mut self, name: &Arc<str>) -> u32 {
        self.names.code_of(Arc::clone(name))
    }

    /// The name under a number.
    pub(crate) fn name_of(&self, code: Option<u32>) -> Option<&str> {
        self.names.get(code?).map(AsRef::as_ref)
    }

    /// Every row, in the order of arrival.
    #[cfg(test)]
    pub(crate) fn unpacked(&self) -> impl Iterator<Item = Row> {
        self.rows.all().iter().map(|stored| self.rows.unpack(stored))
    }

    /// Adds a row, or completes the one of the same identity.
    pub(crate) fn push(&mut self, nonce: u128, row: Row) {
        if self.rows.find(nonce).is_some() {
            return self.complete(nonce, row.phase(ChunkPhase::Serialize));
        }
        let packed = |writer: &mut Writer| {
            row.pack(writer);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = self.rows.push(nonce, row.start_ns, packed);
        if let Some(late) = self.late.remove(&nonce) {
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
        let index = self.rows.find(nonce);
        let Some((index, stored)) = index.and_then(|index| Some((index, self.rows.get(index)?)))
        else {
            let late = self.late.entry(nonce).or_default();
            *late = late.or_larger(serialize);
            return;
        };
        let mut row = self.rows.unpack(stored);
        if let Some(times) = row.phase_mut(ChunkPhase::Serialize)
            && times.or_larger(serialize) != *times
        {
            *times = times.or_larger(serialize);
            self.rows.replace(index, &row);
        }
    }

    /// Adds logs in the form of [`ChunkLog::to_bytes`], one after the other: while
    /// one is added, the next is read. What cannot be read is left out and told of.
    pub fn merge_all(&mut self, logs: &[&[u8]]) -> Vec<LogError> {
        let mut errors = Vec::new();
        let mut add = |log: Result<Self, LogError>| match log {
            Ok(log) => self.merge(&log),
            Err(error) => errors.push(error),
        };
        if logs.iter().map(|log| log.len()).sum::<usize>() < BYTES_WORTH_A_THREAD {
            logs.iter().for_each(|log| add(Self::from_bytes(log)));
            return errors;
        }
        thread::scope(|scope| {
            let (read, ready) = sync_channel(LOGS_AHEAD);
            let reader = thread::Builder::new().spawn_scoped(scope, move || {
                // Nobody waits for more only if adding failed, which shows on that side.
                logs.iter().all(|log| read.send(Self::from_bytes(log)).is_ok())
            });
            match reader {
                Ok(_) => ready.into_iter().for_each(add),
                // No thread to be had, so this one does both.
                Err(_) => logs.iter().for_each(|log| add(Self::from_bytes(log))),
            }
        });
        errors
    }

    /// Adds what another log holds. Rows that are in both count once; so do
    /// branch costs, unless each log has rows that the other lacks.
    pub fn merge(&mut self, other: &Self) {
        let rows = other.rows.all().iter();
        let shared = rows.filter(|row| self.rows.find(row.nonce()).is_some()).count();
        let mut remap = Remap::new(self, other);
        if shared == 0 {
            remap.add_costs();
        } else if shared == other.rows.len() {
            // Everything in it was counted before.
        } else if shared == remap.log.rows.len() {
            remap.log.costs.clear();
            remap.log.cost_overlap = 0;
            remap.add_costs();
        } else {
            remap.log.cost_overlap = remap.log.cost_overlap.saturating_add(shared as u64);
            remap.add_costs();
        }
        remap.add_files();
        remap.add_rows(shared);
        for (&nonce, &times) in &other.late {
            self.complete(nonce, times);
        }
    }
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

/// Takes one log's content into another one's numbering.
struct Remap<'a> {
    log: &'a mut ChunkLog,
    other: &'a ChunkLog,
    names: Vec<u32>,
}

impl<'a> Remap<'a> {
    fn new(log: &'a mut ChunkLog, other: &'a ChunkLog) -> Self {
        let names = other.names.items().iter().map(|name| log.names.code_of(Arc::clone(name)));
        let names = names.collect();
        Self { log, other, names }
    }

    fn name(&self, code: u32) -> u32 {
        mapped(&self.names, code)
    }

    fn source(&self, source: Source) -> Source {
        Source {
            dataset: source.dataset.map(|code| self.name(code)),
            file: source.file.map(|code| self.name(code)),
            uuid: source.uuid.map(|code| self.name(code)),
            tree: source.tree.map(|code| self.name(code)),
        }
    }

    fn add_costs(&mut self) {
        for (&(dataset, branch), cost) in &self.other.costs {
            let key = (dataset.map(|code| self.name(code)), self.name(branch));
            self.log.costs.entry(key).or_default().add(cost);
        }
        self.log.cost_overlap = self.log.cost_overlap.saturating_add(self.other.cost_overlap);
    }

    fn add_files(&mut self) {
        for (&key, facts) in &self.other.files {
            let facts = facts.rename(|&branch| self.name(branch));
            self.log.files.entry(self.source(key)).or_default().unite(&facts);
        }
    }

    fn add_rows(&mut self, shared: usize) {
        let other = self.other;
        let sources: Vec<u32> = other
            .sources
            .items()
            .iter()
            .map(|&source| self.log.sources.code_of(self.source(source)))
            .collect();
        let places: Vec<u32> = other
            .places
            .items()
            .iter()
            .map(|&place| {
                self.log.places.code_of(Place {
                    worker: place.worker.map(|code| self.name(code)),
                    host: place.host.map(|code| self.name(code)),
                    thread: place.thread,
                })
            })
            .collect();
        let sets: Vec<u32> = other
            .branch_sets
            .items()
            .iter()
            .map(|set| {
                let set: Arc<[u32]> = set.iter().map(|&branch| self.name(branch)).collect();
                self.log.branch_sets.code_of(set)
            })
            .collect();
        let codes = Codes { names: &self.names, sources, places, sets };
        self.log.rows.reserve(other.rows.len() - shared);
        for stored in other.rows.all() {
            let nonce = stored.nonce();
            if shared > 0 && self.log.rows.find(nonce).is_some() {
                let row = other.rows.unpack(stored);
                self.log.complete(nonce, row.phase(ChunkPhase::Serialize));
                continue;
            }
            let mut packed = other.rows.reader(stored);
            let renumbered = self
                .log
                .rows
                .push(nonce, stored.start_ns(), |writer| renumber(&mut packed, writer, &codes));
            // What is stored was packed here or checked on reading.
            debug_assert!(renumbered.is_ok());
            if !self.log.late.is_empty()
                && let Some(late) = self.log.late.remove(&nonce)
            {
                self.log.complete(nonce, late);
            }
        }
    }
}

/// One log's numbers for what another one's rows name.
struct Codes<'a> {
    names: &'a [u32],
    sources: Vec<u32>,
    places: Vec<u32>,
    sets: Vec<u32>,
}

fn mapped(codes: &[u32], code: u32) -> u32 {
    usize::try_from(code).ok().and_then(|code| codes.get(code)).copied().unwrap_or(code)
}

impl Renumber for Codes<'_> {
    fn name(&self, code: u32) -> u32 {
        mapped(self.names, code)
    }

    fn source(&self, code: u32) -> u32 {
        mapped(&self.sources, code)
    }

    fn place(&self, code: u32) -> u32 {
        mapped(&self.places, code)
    }

    fn branch_set(&self, code: u32) -> u32 {
        mapped(&self.sets, code)
    }
}
