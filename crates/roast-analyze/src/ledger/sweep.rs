//! One worker from its first to its last moment: at every moment so many threads
//! were there, so many stretches of work going on, and the rest was idle.

use super::presence::Threads;
use super::rows::{Entry, Seconds};
use super::work::{Load, Span};
use super::zones::Zone;

/// What changes at a moment.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// So many threads more or less.
    Threads(i64),
    Begins(u32),
    Ends(u32),
    /// So many transfers more or less.
    Transfers(i64),
    /// So many other activities more or less.
    Others(i64),
    /// Idle time from here on goes into another row.
    Zone(Entry),
}

pub(super) fn worker(
    threads: &[Threads],
    load: &Load,
    zones: &[Zone],
    seconds: &mut Seconds,
    ns_of_row: &mut [i64],
) {
    let ns_of_stretch = pass(changes(threads, load, zones), load.stretches.len(), seconds);
    let mut left = ns_of_stretch.clone();
    for placed in &load.rows {
        let at = placed.stretch as usize;
        let Some(stretch) = load.stretches.get(at) else { continue };
        let Some(granted) = ns_of_stretch.get(at) else { continue };
        // Rows that claim more than their task share what there is.
        let whole = stretch.span.length().max(stretch.rows_ns);
        let ns = share(*granted, placed.length_ns, whole);
        if let Some(slot) = ns_of_row.get_mut(placed.row as usize) {
            *slot = ns;
        }
        if let Some(left) = left.get_mut(at) {
            *left -= ns;
        }
    }
    for (stretch, ns) in load.stretches.iter().zip(left) {
        seconds.add(stretch.rest, i128::from(ns));
    }
}

/// `amount × part / whole`, rounded down so that parts never exceed the amount.
pub(super) fn share(amount: i64, part: i64, whole: i64) -> i64 {
    if whole <= 0 {
        return 0;
    }
    let part = part.clamp(0, whole);
    // Mostly 64 bits are enough, and much quicker.
    match amount.checked_mul(part) {
        Some(product) => product / whole,
        None => {
            let exact = i128::from(amount) * i128::from(part) / i128::from(whole);
            i64::try_from(exact).unwrap_or(i64::MAX)
        }
    }
}

fn changes(threads: &[Threads], load: &Load, zones: &[Zone]) -> Vec<(i64, Change)> {
    let count = threads.len() + load.stretches.len() + load.transfers.len() + load.others.len();
    let mut changes = Vec::with_capacity(2 * (count + zones.len()));
    let mut both = |span: Span, begin: Change, end: Change| {
        changes.push((span.start, begin));
        changes.push((span.stop, end));
    };
    for part in threads {
        let span = Span { start: part.start, stop: part.stop };
        both(span, Change::Threads(part.count), Change::Threads(part.count.saturating_neg()));
    }
    for (index, stretch) in (0..).zip(&load.stretches) {
        both(stretch.span, Change::Begins(index), Change::Ends(index));
    }
    for span in &load.transfers {
        both(*span, Change::Transfers(1), Change::Transfers(-1));
    }
    for span in &load.others {
        both(*span, Change::Others(1), Change::Others(-1));
    }
    // Zones that touch: the one that ends must not undo the one that begins.
    for zone in zones {
        changes.push((zone.span.start, Change::Zone(zone.idle)));
    }
    for (index, zone) in zones.iter().enumerate() {
        if zones.get(index + 1).is_none_or(|next| next.span.start > zone.span.stop) {
            changes.push((zone.span.stop, Change::Zone(Entry::IdleClient)));
        }
    }
    changes.sort_unstable_by_key(|(moment, _)| *moment);
    changes
}

/// Goes through the changes in order; returns the time that each stretch gets.
fn pass(changes: Vec<(i64, Change)>, stretches: usize, seconds: &mut Seconds) -> Vec<i64> {
    let mut granted = vec![0_i64; stretches];
    let (mut threads, mut busy) = (0_i64, 0_i64);
    let (mut transfers, mut others) = (0_i64, 0_i64);
    let mut zone = Entry::IdleClient;
    // What a stretch that had been going on all along would have got so far.
    let mut clock_ns = 0_i64;
    let mut before = changes.first().map_or(0, |(moment, _)| *moment);
    for (moment, change) in changes {
        let length = moment.saturating_sub(before);
        before = moment;
        if length > 0 && threads > 0 {
            // More stretches than threads: each gets the same share of them.
            clock_ns += if busy > threads { share(length, threads, busy) } else { length };
            let mut free = threads.saturating_sub(busy).max(0);
            let mut put = |entry: Entry, count: i64| {
                let count = count.clamp(0, free);
                free -= count;
                seconds.add(entry, i128::from(length).saturating_mul(i128::from(count)));
            };
            // Only where a thread had nothing to compute was it kept by these.
            put(Entry::Transfer, transfers);
            put(Entry::Overhead, others);
            put(zone, i64::MAX);
        }
        match change {
            Change::Threads(more) => threads = threads.saturating_add(more),
            Change::Transfers(more) => transfers += more,
            Change::Others(more) => others += more,
            Change::Zone(entry) => zone = entry,
            Change::Begins(stretch) => {
                busy += 1;
                if let Some(granted) = granted.get_mut(stretch as usize) {
                    *granted = clock_ns.saturating_neg();
                }
            }
            Change::Ends(stretch) => {
                busy -= 1;
                if let Some(granted) = granted.get_mut(stretch as usize) {
                    *granted = granted.saturating_add(clock_ns);
                }
            }
        }
    }
    granted
}
