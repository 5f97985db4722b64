//! The rows of the ledger, in the order in which they are listed.

/// What kind of thing a row is: the segments of a short picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerFamily {
    /// The user's own code.
    User,
    /// Opening files and reading from them.
    Reading,
    /// Handling results and tasks.
    Handling,
    /// Work that came to nothing.
    Failed,
    /// Threads with nothing to do.
    Idle,
    /// What no record accounts for.
    Unexplained,
}

/// A row of the ledger, for people.
#[derive(Clone, Copy, Debug)]
pub struct LedgerRow {
    /// The key in `metrics["ledger"]`.
    pub key: &'static str,
    /// What people read.
    pub label: &'static str,
    /// What kind of thing it is.
    pub family: LedgerFamily,
    /// Which seconds are in it.
    pub meaning: &'static str,
}

/// A row of the ledger, for the computation; in the order of [`LEDGER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    UserCpu,
    UserWait,
    UserRunQueueWait,
    ColumnRead,
    Decompress,
    Interpret,
    FileOpen,
    TreeMetadata,
    EventsForm,
    SerializeOutput,
    Reduction,
    Transfer,
    FailedWork,
    Overhead,
    IdleRampUp,
    IdleStarved,
    IdleTail,
    IdleClient,
    Unexplained,
}

impl Entry {
    pub(crate) const ALL: [Self; 19] = [
        Self::UserCpu,
        Self::UserWait,
        Self::UserRunQueueWait,
        Self::ColumnRead,
        Self::Decompress,
        Self::Interpret,
        Self::FileOpen,
        Self::TreeMetadata,
        Self::EventsForm,
        Self::SerializeOutput,
        Self::Reduction,
        Self::Transfer,
        Self::FailedWork,
        Self::Overhead,
        Self::IdleRampUp,
        Self::IdleStarved,
        Self::IdleTail,
        Self::IdleClient,
        Self::Unexplained,
    ];
}

/// Core-nanoseconds by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seconds {
    ns: [i128; Entry::ALL.len()],
}

impl Seconds {
    pub(crate) fn add(&mut self, entry: Entry, ns: i128) {
        if let Some(sum) = self.ns.get_mut(entry as usize) {
            *sum = sum.saturating_add(ns.max(0));
        }
    }

    pub(crate) fn get(&self, entry: Entry) -> i128 {
        self.ns.get(entry as usize).copied().unwrap_or(0)
    }

    /// What all rows but `unexplained` hold; that one is the rest, whatever was
    /// put into it.
    pub(crate) fn explained_ns(&self) -> i128 {
        self.ns
            .iter()
            .take(Entry::Unexplained as usize)
            .fold(0, |total, ns| total.saturating_add(*ns))
    }
}

const fn row(
    key: &'static str,
    label: &'static str,
    family: LedgerFamily,
    meaning: &'static str,
) -> LedgerRow {
    LedgerRow { key, label, family, meaning }
}

use LedgerFamily::{Failed, Handling, Idle, Reading, Unexplained, User};

/// Every row of the ledger, in order.
#[rustfmt::skip]
pub const LEDGER: &[LedgerRow] = &[
    row("user_cpu", "user code, on a CPU", User,
        "CPU time in process() outside of column reads"),
    row("user_wait", "user code, waiting", User,
        "time in process() outside of column reads that was neither CPU nor waiting for a core"),
    row("user_run_queue_wait", "user code, waiting for a core", User,
        "time in process() in which the thread was ready to run and another one had the core"),
    row("column_read", "reading columns", Reading,
        "time in column reads without decompression and interpretation"),
    row("decompress", "decompressing", Reading,
        "decompressing baskets"),
    row("interpret", "interpreting", Reading,
        "turning baskets into arrays"),
    row("file_open", "opening files", Reading,
        "opening files"),
    row("tree_metadata", "reading tree metadata", Reading,
        "reading the description of the tree and its branches"),
    row("events_form", "building events", Reading,
        "building the events and their form"),
    row("serialize_output", "packing output", Handling,
        "packing and compressing what process() returned"),
    row("reduction", "reducing output", Handling,
        "tasks that add up outputs"),
    row("transfer", "transfers", Handling,
        "waiting for data of other workers while a thread had nothing else to do"),
    row("failed_work", "failed and repeated work", Failed,
        "attempts that raised or that a later one replaced, and tasks that erred"),
    row("overhead", "handling of tasks", Handling,
        "unpacking the processor, tasks of other kinds, and time in a task outside of its chunk"),
    row("idle_ramp_up", "idle: starting up", Idle,
        "before a worker's first task while chunks are being processed"),
    row("idle_starved", "idle: starved", Idle,
        "between a worker's first and last task, while there was work elsewhere"),
    row("idle_tail", "idle: tail", Idle,
        "when nothing was waiting any more, or after a worker's last task"),
    row("idle_client", "idle: waiting for the client", Idle,
        "while no chunks were being processed: preprocessing, postprocessing and other code"),
    row("unexplained", "unexplained", Unexplained,
        "what no record accounts for"),
];
