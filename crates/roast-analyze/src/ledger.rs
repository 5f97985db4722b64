//! The ledger: every second of every task thread that was there, in exactly one
//! row, so that the rows add up to what was available.
//!
//! ```text
//! presence   which worker had how many threads, when          → what is available
//! work       tasks and chunk rows as stretches of busy time   → who was busy, when
//! matching   which chunk rows ran inside which task
//! zones      what an idle thread was waiting for, when
//! sweep      the three over time, worker by worker            → seconds per stretch
//! split      the seconds of a chunk row by what it did in them
//! ```
//!
//! Times are whole nanoseconds throughout. A stretch of work never gets more than
//! the worker had threads for: where more stretches overlap than there were
//! threads, each is cut by the same share, and what a chunk row claims beyond its
//! own length is cut in proportion. So no row can exceed what is there, and what
//! is left over, `unexplained`, cannot be negative.

mod matching;
mod presence;
mod rows;
mod split;
mod sweep;
mod work;
mod zones;

use arrow_array::RecordBatch;
use roast_model::{Frame, Header, Value};

use crate::chunk_rows::Outcome;
use crate::number::usable;
use crate::sheet::Sheet;
use crate::worker_rows::WorkerRow;

use rows::{Entry, Seconds};
pub use rows::{LEDGER, LedgerFamily, LedgerRow};
pub(crate) use work::{REDUCE, is_preprocessing};

/// What the ledger is made from.
pub(crate) struct Sources<'a> {
    pub(crate) header: &'a Header,
    pub(crate) workers: &'a [WorkerRow<'a>],
    pub(crate) ticks: Option<&'a RecordBatch>,
    pub(crate) tasks: Option<&'a RecordBatch>,
    pub(crate) chunks: Option<(Frame<'a>, &'a [Outcome])>,
}

pub(crate) fn fill(sheet: &mut Sheet, sources: &Sources<'_>) {
    let header = sources.header;
    if usable(header.wall_secs).is_none() {
        return;
    }
    let window = (header.started.0, header.ended().0);
    let ticks = sources.ticks.map(Frame::new);
    let presence = presence::read(sources.workers, ticks, sources.chunks, window);
    let available = presence.total_ns();
    if available <= 0 {
        return;
    }
    sheet.real("ledger_available_core_seconds", Some(available as f64 / 1e9));

    let work = work::read(sources, &presence);
    // Without knowing who was busy, idle time cannot be told from work.
    if !work.is_known(&presence) {
        return;
    }
    let phases = zones::process_phases(header, &work);
    let waiting = zones::last_waiting(ticks, &phases);
    let mut seconds = Seconds::default();
    let mut ns_of_row = vec![0_i64; sources.chunks.map_or(0, |(rows, _)| rows.len())];
    for (worker, threads) in presence.workers() {
        let load = work.of_worker(worker);
        let zones = zones::of_worker(&phases, &waiting, load);
        sweep::worker(threads, load, &zones, &mut seconds, &mut ns_of_row);
    }
    if let Some((rows, outcomes)) = sources.chunks {
        split::rows(rows, outcomes, &ns_of_row, &mut seconds);
    }
    sheet.nested("ledger", to_value(&seconds, available));
}

fn to_value(seconds: &Seconds, available: i128) -> Value {
    let explained = seconds.explained_ns();
    Value::map(LEDGER.iter().zip(Entry::ALL).map(|(row, entry)| {
        let ns = match entry {
            Entry::Unexplained => available.saturating_sub(explained),
            entry => seconds.get(entry),
        };
        (row.key, Value::Float(ns as f64 / 1e9))
    }))
}
