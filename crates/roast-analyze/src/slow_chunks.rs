//! The slowest chunks, and what was slow in each: the part of the attempt that
//! lies furthest above its median over all chunks.

use roast_model::{Frame, Value};

use crate::chunk_rows::{Outcome, attempt_secs};
use crate::number::usable;
use crate::statistics::median;

/// Rows in `slowest_chunks`.
const SLOWEST: usize = 10;
/// Rows at most in `chunk_outliers`; their count is of all.
const OUTLIERS: usize = 20;
/// With fewer chunks there is no telling what is usual.
const MIN_CHUNKS: usize = 3;
/// Turns a median absolute deviation into a standard deviation, and asks for five.
const DEVIATIONS: f64 = 5.0 * 1.4826;

const PHASES: [&str; 6] = ["unpack", "open", "tree", "events", "process", "serialize"];

/// The metrics made here.
pub(crate) struct Slow {
    pub(crate) slowest: Value,
    pub(crate) outliers: Value,
}

/// Finds them; missing if no successful attempt was timed.
pub(crate) fn find(rows: Frame<'_>, outcomes: &[Outcome]) -> Option<Slow> {
    let good = |row: usize| outcomes.get(row) == Some(&Outcome::Ok);
    let mut timed: Vec<(f64, usize)> = attempt_secs(rows)
        .enumerate()
        .filter(|(row, _)| good(*row))
        .filter_map(|(row, secs)| Some((secs?, row)))
        .collect();
    let count = timed.len();
    if count == 0 {
        return None;
    }
    let mut totals: Vec<f64> = timed.iter().map(|(secs, _)| *secs).collect();
    let middle = median(&mut totals)?;
    let mut deviations: Vec<f64> = totals.iter().map(|secs| (secs - middle).abs()).collect();
    let threshold = middle + DEVIATIONS * median(&mut deviations)?;
    let above = timed.iter().filter(|(secs, _)| *secs > threshold).count();
    let judged = count >= MIN_CHUNKS;

    let slowest_first =
        |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count > OUTLIERS {
        timed.select_nth_unstable_by(OUTLIERS, slowest_first);
        timed.truncate(OUTLIERS);
    }
    timed.sort_unstable_by(slowest_first);
    let described = describe(rows, outcomes, &timed);
    let unusual = if judged { above.min(OUTLIERS) } else { 0 };
    Some(Slow {
        slowest: Value::List(described.iter().take(SLOWEST).cloned().collect()),
        outliers: if judged {
            Value::map([
                ("count", Value::Int(i64::try_from(above).unwrap_or(i64::MAX))),
                ("median_seconds", Value::Float(middle)),
                ("threshold_seconds", Value::Float(threshold)),
                ("rows", Value::List(described.into_iter().take(unusual).collect())),
            ])
        } else {
            Value::None
        },
    })
}

/// The part of an attempt that was slow.
#[derive(Clone, Copy)]
struct SlowPart {
    name: &'static str,
    secs: f64,
    excess_secs: f64,
}

fn describe(rows: Frame<'_>, outcomes: &[Outcome], chosen: &[(f64, usize)]) -> Vec<Value> {
    let mut places: Places =
        chosen.iter().enumerate().map(|(place, (_, row))| (*row, place)).collect();
    places.sort_unstable();
    let slow = slow_parts(rows, outcomes, &places);
    let ids = pick(rows.ints("chunk_id"), &places);
    let datasets = pick(rows.names("dataset"), &places);
    let files = pick(rows.names("file"), &places);
    let starts = pick(rows.ints("entry_start"), &places);
    let stops = pick(rows.ints("entry_stop"), &places);
    let events = pick(rows.ints("num_events"), &places);
    let workers = pick(rows.names("worker"), &places);
    let durations = pick(rows.floats("duration_secs"), &places);
    let at = |place: usize| {
        let slow = slow.get(place).copied().flatten();
        move |value: fn(SlowPart) -> Value| slow.map_or(Value::None, value)
    };
    chosen
        .iter()
        .enumerate()
        .map(|(place, (secs, _))| {
            let slow = at(place);
            Value::map([
                ("chunk_id", nth(&ids, place)),
                ("dataset", nth(&datasets, place)),
                ("file", nth(&files, place)),
                ("entry_start", nth(&starts, place)),
                ("entry_stop", nth(&stops, place)),
                ("num_events", nth(&events, place)),
                ("worker", nth(&workers, place)),
                ("duration", nth(&durations, place)),
                ("attempt_seconds", Value::Float(*secs)),
                ("slow_part", slow(|part| part.name.into())),
                ("slow_part_seconds", slow(|part| part.secs.into())),
                ("slow_part_excess_seconds", slow(|part| part.excess_secs.into())),
            ])
        })
        .collect()
}

fn nth<T: Copy + Into<Value>>(values: &[Option<T>], place: usize) -> Value {
    values.get(place).copied().flatten().into()
}

/// The chosen rows in the order of the table, with their places.
type Places = Vec<(usize, usize)>;

/// The values of a column in a few rows.
fn pick<T: Copy>(column: impl Iterator<Item = Option<T>>, places: &Places) -> Vec<Option<T>> {
    let mut picked = vec![None; places.len()];
    let mut wanted = places.iter().peekable();
    for (row, value) in column.enumerate() {
        if let Some((_, place)) = wanted.next_if(|(next, _)| *next == row) {
            if let Some(slot) = picked.get_mut(*place) {
                *slot = value;
            }
        } else if wanted.peek().is_none() {
            break;
        }
    }
    picked
}

/// For each chosen row the part that exceeds its median the most, if one does.
/// One part after the other, so that only one column of numbers is held.
fn slow_parts(rows: Frame<'_>, outcomes: &[Outcome], places: &Places) -> Vec<Option<SlowPart>> {
    let mut slowest: Vec<Option<SlowPart>> = vec![None; places.len()];
    let mut consider = |name: &'static str, values: Vec<Option<f64>>| {
        let mut usual: Vec<f64> = values
            .iter()
            .zip(outcomes)
            .filter(|(_, outcome)| **outcome == Outcome::Ok)
            .filter_map(|(value, _)| *value)
            .collect();
        let Some(usual) = median(&mut usual) else { return };
        for (slot, value) in slowest.iter_mut().zip(pick(values.into_iter(), places)) {
            let Some(secs) = value else { continue };
            let excess_secs = secs - usual;
            if excess_secs > slot.map_or(0.0, |part| part.excess_secs) {
                *slot = Some(SlowPart { name, secs, excess_secs });
            }
        }
    };
    for (name, phase) in [
        ("unpack", "unpack"),
        ("open", "open"),
        ("tree metadata", "tree"),
        ("events", "events"),
        ("column reads", "read"),
        ("serialize", "serialize"),
    ] {
        consider(name, running_secs(rows, phase).collect());
    }
    consider("user code", user_secs(rows));
    consider("waiting for a core", queue_secs(rows));
    consider("other", other_secs(rows));
    slowest
}

fn known<'a>(rows: Frame<'a>, column: &str) -> impl Iterator<Item = Option<f64>> + use<'a> {
    rows.floats(column).map(|secs| secs.and_then(usable))
}

/// Wall time of a phase without the wait for a core, which is a part of its own.
fn running_secs<'a>(rows: Frame<'a>, phase: &str) -> impl Iterator<Item = Option<f64>> + use<'a> {
    known(rows, &format!("{phase}_secs"))
        .zip(known(rows, &format!("{phase}_run_queue_secs")))
        .map(|(wall, queue)| Some((wall? - queue.unwrap_or(0.0)).max(0.0)))
}

fn user_secs(rows: Frame<'_>) -> Vec<Option<f64>> {
    running_secs(rows, "process")
        .zip(running_secs(rows, "read"))
        .map(|(process, read)| Some((process? - read.unwrap_or(0.0)).max(0.0)))
        .collect()
}

fn queue_secs(rows: Frame<'_>) -> Vec<Option<f64>> {
    sum_of_phases(rows, "run_queue_secs")
}

/// What of the attempt lies outside of all phases.
fn other_secs(rows: Frame<'_>) -> Vec<Option<f64>> {
    attempt_secs(rows)
        .zip(sum_of_phases(rows, "secs"))
        .map(|(total, phases)| Some((total? - phases?).max(0.0)))
        .collect()
}

fn sum_of_phases(rows: Frame<'_>, which: &str) -> Vec<Option<f64>> {
    let mut sums: Vec<Option<f64>> = vec![None; rows.len()];
    for phase in PHASES {
        for (sum, secs) in sums.iter_mut().zip(known(rows, &format!("{phase}_{which}"))) {
            *sum = crate::datasets::plus(*sum, secs, |a, b| a + b);
        }
    }
    sums
}
