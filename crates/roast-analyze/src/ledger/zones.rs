//! What an idle thread was waiting for: the stretches of the run in which idle
//! time means the same. Outside of them it waits for the client.

use roast_model::{Frame, Header};

use super::rows::Entry;
use super::work::{Load, Span, Work};

/// A stretch in which idle time goes into one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    pub(super) span: Span,
    pub(super) idle: Entry,
}

/// When chunks were being processed, in order and without overlap. Where the
/// client did not say, from the first to the last chunk.
pub(super) fn process_phases(header: &Header, work: &Work<'_>) -> Vec<Span> {
    let mut phases: Vec<Span> = header
        .phases
        .iter()
        .filter(|phase| phase.name == "process" && phase.start < phase.stop)
        .map(|phase| Span { start: phase.start.0, stop: phase.stop.0 })
        .collect();
    if header.phases.is_empty() {
        phases.extend(work.processing());
    }
    phases.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(phases.len());
    for phase in phases {
        match merged.last_mut() {
            Some(last) if phase.start <= last.stop => last.stop = last.stop.max(phase.stop),
            _ => merged.push(phase),
        }
    }
    merged
}

/// For each phase the last tick at which a task was waiting for a worker. None if
/// none ever did: then every task was handed out at once, and that nothing waits
/// says nothing.
pub(super) fn last_waiting(ticks: Option<Frame<'_>>, phases: &[Span]) -> Vec<Option<i64>> {
    let waiting: Vec<i64> = ticks
        .map(|ticks| {
            ticks
                .times("time")
                .zip(ticks.ints("tasks_waiting"))
                .filter(|(_, waiting)| waiting.is_some_and(|waiting| waiting > 0))
                .filter_map(|(time, _)| Some(time?.0))
                .collect()
        })
        .unwrap_or_default();
    phases
        .iter()
        .map(|phase| {
            let within = |moment: &&i64| (phase.start..phase.stop).contains(moment);
            waiting.iter().filter(within).max().copied()
        })
        .collect()
}

/// The zones of one worker, in order and without overlap.
pub(super) fn of_worker(phases: &[Span], waiting: &[Option<i64>], load: &Load) -> Vec<Zone> {
    let mut zones = Vec::with_capacity(3 * phases.len());
    // First start of a chunk and last stop of anything, by phase.
    let mut busy: Vec<(Option<i64>, Option<i64>)> = vec![(None, None); phases.len()];
    for stretch in &load.stretches {
        let phase = phases.partition_point(|phase| phase.stop <= stretch.span.start);
        let Some((phase, (first, last))) = phases.get(phase).zip(busy.get_mut(phase)) else {
            continue;
        };
        if stretch.span.stop <= phase.start {
            continue;
        }
        *last = (*last).max(Some(stretch.span.stop));
        if stretch.is_processor {
            let start = stretch.span.start;
            *first = Some(first.map_or(start, |first| first.min(start)));
        }
    }
    for ((phase, waiting), (first, last)) in phases.iter().zip(waiting).zip(busy) {
        let (ramp_up, tail) = match (first, last) {
            (Some(first), Some(last)) => {
                let tail = waiting.map_or(last, |waiting| waiting.min(last));
                (first, tail.max(first))
            }
            // It never got a chunk: as long as some waited it was about to.
            _ => {
                let ramp_up = waiting.unwrap_or(phase.start);
                (ramp_up, ramp_up)
            }
        };
        let ramp_up = ramp_up.clamp(phase.start, phase.stop);
        let tail = tail.clamp(ramp_up, phase.stop);
        for (start, stop, idle) in [
            (phase.start, ramp_up, Entry::IdleRampUp),
            (ramp_up, tail, Entry::IdleStarved),
            (tail, phase.stop, Entry::IdleTail),
        ] {
            if start < stop {
                zones.push(Zone { span: Span { start, stop }, idle });
            }
        }
    }
    zones
}
