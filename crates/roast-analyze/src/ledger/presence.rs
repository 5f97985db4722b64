//! When each worker was there, and with how many threads, from its samples.
//!
//! A sample says what holds around its tick: from halfway since the tick before
//! to halfway to the next one. At the first tick it reaches back to the start of
//! the run, at the last one on to its end. A worker was also there while it ran a
//! chunk, whatever the samples saw of it, and between two stretches if no tick
//! came in which it could have been missed.

use std::collections::BTreeMap;

use roast_model::Frame;

use crate::chunk_rows::{ByName, Outcome};
use crate::worker_rows::WorkerRow;

/// More ticks than any run has; guards against absurd times.
const MAX_TICKS: i64 = 1_000_000;

/// Threads that were there from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Threads {
    pub(super) start: i64,
    pub(super) stop: i64,
    pub(super) count: i64,
}

/// The threads of every worker, in order of time and without overlap.
#[derive(Debug, Default)]
pub(super) struct Presence<'a> {
    workers: BTreeMap<Option<&'a str>, Vec<Threads>>,
}

impl<'a> Presence<'a> {
    pub(super) fn total_ns(&self) -> i128 {
        self.workers.values().flatten().fold(0, |total, part| {
            let length = i128::from(part.stop) - i128::from(part.start);
            total.saturating_add(length.saturating_mul(i128::from(part.count)))
        })
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = (Option<&'a str>, &[Threads])> {
        self.workers.iter().map(|(worker, threads)| (*worker, threads.as_slice()))
    }

    pub(super) fn has(&self, worker: Option<&str>) -> bool {
        self.workers.contains_key(&worker)
    }

    /// The worker, if there is only one.
    pub(super) fn only(&self) -> Option<Option<&'a str>> {
        let mut workers = self.workers.keys();
        workers.next().copied().filter(|_| workers.next().is_none())
    }
}

pub(super) fn read<'a>(
    rows: &[WorkerRow<'a>],
    ticks: Option<Frame<'_>>,
    chunks: Option<(Frame<'a>, &[Outcome])>,
    window: (i64, i64),
) -> Presence<'a> {
    let mut moments: Vec<i64> = ticks
        .map(|ticks| ticks.times("time").flatten().map(|time| time.0).collect())
        .unwrap_or_default();
    if moments.is_empty() {
        moments = guessed_ticks(rows);
    }
    moments.sort_unstable();
    moments.dedup();
    let ticks = Ticks { moments, window };

    // First and last moment, and threads, of each row.
    type Samples = Vec<(i64, i64, Option<i64>)>;
    let mut by_worker: ByName<'a, Samples> = ByName::default();
    for row in rows {
        if let Some((first, last)) = row.span {
            by_worker.update(row.worker, |samples| samples.push((first.0, last.0, row.threads)));
        }
    }
    let mut presence = Presence::default();
    let mut usual_threads: BTreeMap<Option<&'a str>, i64> = BTreeMap::new();
    for (worker, mut samples) in by_worker.into_sorted() {
        samples.sort_unstable();
        // A sample that does not say has as many threads as the worker has elsewhere.
        let Some(usual) = samples.iter().filter_map(|(_, _, threads)| *threads).max() else {
            continue;
        };
        let mut parts: Vec<Threads> = Vec::new();
        for (first, last, threads) in samples {
            let reached = parts.last().map_or(window.0, |part| part.stop);
            let start = ticks.begin(first).max(reached);
            let stop = ticks.end(last);
            let count = threads.unwrap_or(usual);
            if start >= stop || count <= 0 {
                continue;
            }
            match parts.last_mut() {
                Some(part) if part.stop == start && part.count == count => part.stop = stop,
                _ => parts.push(Threads { start, stop, count }),
            }
        }
        if !parts.is_empty() {
            presence.workers.insert(worker, parts);
            usual_threads.insert(worker, usual);
        }
    }
    if let Some((chunks, outcomes)) = chunks {
        for (worker, spans) in spans_by_worker(chunks, outcomes, &presence) {
            if let (Some(parts), Some(usual)) =
                (presence.workers.get_mut(&worker), usual_threads.get(&worker))
            {
                extend(parts, spans, *usual, &ticks);
            }
        }
    }
    presence
}

/// When each worker ran chunks, as far as the worker is known.
fn spans_by_worker<'a>(
    chunks: Frame<'a>,
    outcomes: &[Outcome],
    presence: &Presence<'a>,
) -> BTreeMap<Option<&'a str>, Vec<(i64, i64)>> {
    let mut spans: ByName<'a, Vec<(i64, i64)>> = ByName::default();
    let (mut starts, mut stops) = (chunks.times("start"), chunks.times("stop"));
    for (worker, outcome) in chunks.names("worker").zip(outcomes) {
        let span = starts.next().flatten().zip(stops.next().flatten());
        if let (Some((start, stop)), true) = (span, *outcome != Outcome::Replayed) {
            spans.update(worker, |spans| spans.push((start.0, stop.0)));
        }
    }
    let mut by_worker: BTreeMap<Option<&'a str>, Vec<(i64, i64)>> = BTreeMap::new();
    for (worker, spans) in spans.into_sorted() {
        // Where there is one worker, it is that one, whatever it is called.
        let worker = if presence.has(worker) { Some(worker) } else { presence.only() };
        if let Some(worker) = worker {
            by_worker.entry(worker).or_default().extend(spans);
        }
    }
    by_worker
}

/// Adds what lies outside of the parts, and closes gaps in which there is no tick.
fn extend(parts: &mut Vec<Threads>, mut spans: Vec<(i64, i64)>, count: i64, ticks: &Ticks) {
    spans.sort_unstable();
    let mut missing: Vec<Threads> = Vec::new();
    for (start, stop) in spans {
        let (mut start, stop) = (ticks.clip(start), ticks.clip(stop));
        if let Some(last) = missing.last() {
            start = start.max(last.stop);
        }
        for part in parts.iter().skip(parts.partition_point(|part| part.stop <= start)) {
            if start >= stop || part.start >= stop {
                break;
            }
            if start < part.start {
                missing.push(Threads { start, stop: part.start, count });
            }
            start = start.max(part.stop);
        }
        if start < stop {
            missing.push(Threads { start, stop, count });
        }
    }
    if missing.is_empty() {
        return;
    }
    parts.append(&mut missing);
    parts.sort_unstable_by_key(|part| part.start);
    let mut joined: Vec<Threads> = Vec::with_capacity(parts.len());
    for mut part in parts.drain(..) {
        if let Some(last) = joined.last_mut() {
            let seen_between = ticks.moments.partition_point(|tick| *tick < last.stop)
                < ticks.moments.partition_point(|tick| *tick <= part.start);
            if !seen_between {
                part.start = last.stop;
            }
            if part.start == last.stop && part.count == last.count {
                last.stop = part.stop;
                continue;
            }
        }
        joined.push(part);
    }
    *parts = joined;
}

struct Ticks {
    moments: Vec<i64>,
    window: (i64, i64),
}

impl Ticks {
    /// From when on a sample at that moment holds.
    fn begin(&self, moment: i64) -> i64 {
        let nearest = self.nearest(moment);
        let before = nearest.checked_sub(1).and_then(|tick| self.moments.get(tick));
        self.clip(match (before, self.moments.get(nearest)) {
            (Some(before), Some(tick)) => midpoint(*before, *tick),
            _ => self.window.0,
        })
    }

    /// Until when it holds.
    fn end(&self, moment: i64) -> i64 {
        let nearest = self.nearest(moment);
        self.clip(match (self.moments.get(nearest), self.moments.get(nearest.saturating_add(1))) {
            (Some(tick), Some(after)) => midpoint(*tick, *after),
            _ => self.window.1,
        })
    }

    /// The tick a sample belongs to: its times may be off by the time it took.
    fn nearest(&self, moment: i64) -> usize {
        let after = self.moments.partition_point(|tick| *tick < moment);
        let distance = |tick: usize| self.moments.get(tick).map(|tick| tick.abs_diff(moment));
        match (after.checked_sub(1).and_then(distance), distance(after)) {
            (Some(to_before), Some(to_after)) if to_before < to_after => after - 1,
            (Some(_), None) => after - 1,
            _ => after,
        }
    }

    fn clip(&self, moment: i64) -> i64 {
        moment.max(self.window.0).min(self.window.1)
    }
}

fn midpoint(a: i64, b: i64) -> i64 {
    i64::midpoint(a, b)
}

/// Ticks for a backend that has workers but does not say when it sampled: evenly
/// spaced, as the rows with several samples are.
fn guessed_ticks(rows: &[WorkerRow<'_>]) -> Vec<i64> {
    let spans = || rows.iter().filter_map(|row| Some((row.span?, row.samples)));
    let step = spans()
        .filter(|(_, samples)| *samples > 1.0)
        .map(|((first, last), samples)| (last.0.abs_diff(first.0) as f64 / (samples - 1.0)) as i64)
        .filter(|step| *step > 0)
        .min();
    let first = spans().map(|((first, _), _)| first.0).min();
    let last = spans().map(|((_, last), _)| last.0).max();
    match (step, first, last) {
        (Some(step), Some(first), Some(last)) if last.saturating_sub(first) / step < MAX_TICKS => {
            let count = last.saturating_sub(first) / step;
            (0..=count).map(|tick| first.saturating_add(step.saturating_mul(tick))).collect()
        }
        _ => spans().flat_map(|((first, last), _)| [first.0, last.0]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_hold_halfway_to_their_neighbours() {
        let ticks = Ticks { moments: vec![10, 20, 30], window: (0, 50) };
        assert_eq!((ticks.begin(10), ticks.end(10)), (0, 15));
        assert_eq!((ticks.begin(20), ticks.end(20)), (15, 25));
        assert_eq!((ticks.begin(30), ticks.end(30)), (25, 50));
        // Taken a little late.
        assert_eq!((ticks.begin(22), ticks.end(31)), (15, 50));
        let none = Ticks { moments: vec![], window: (0, 50) };
        assert_eq!((none.begin(7), none.end(7)), (0, 50));
    }

    #[test]
    fn chunks_reach_beyond_samples() {
        let ticks = Ticks { moments: vec![100, 200], window: (0, 300) };
        let part = |start, stop, count| Threads { start, stop, count };
        let extended = |parts: &[Threads], spans: &[(i64, i64)]| {
            let mut parts = parts.to_vec();
            extend(&mut parts, spans.to_vec(), 2, &ticks);
            parts
        };
        let sampled = [part(50, 150, 2)];
        assert_eq!(extended(&sampled, &[(60, 140), (70, 150)]), sampled);
        // Before and after, and in the gaps that no tick divides.
        assert_eq!(extended(&sampled, &[(160, 190), (10, 20), (15, 30)]), [part(10, 190, 2)]);
        // At the tick of 200 it was not there.
        assert_eq!(extended(&sampled, &[(210, 400)]), [part(50, 150, 2), part(210, 300, 2)]);
        // Around, with another number of threads in the middle.
        assert_eq!(
            extended(&[part(50, 150, 1)], &[(40, 160)]),
            [part(40, 50, 2), part(50, 150, 1), part(150, 160, 2)]
        );
    }
}
