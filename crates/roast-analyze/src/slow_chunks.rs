//! The slowest chunks, and what was slow in each: the part of the attempt that
//! lies furthest above its median over all chunks.

use roast_model::{FloatCells, Frame, Value};

use crate::chunk_rows::{Attempts, Outcome, PHASES, attempt_secs};
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
    let mut room: Vec<f64> = timed.iter().map(|(secs, _)| *secs).collect();
    let middle = median(&mut room)?;
    room.iter_mut().for_each(|secs| *secs = (*secs - middle).abs());
    let threshold = middle + DEVIATIONS * median(&mut room)?;
    let above = timed.iter().filter(|(secs, _)| *secs > threshold).count();
    let judged = count >= MIN_CHUNKS;

    let slowest_first =
        |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count > OUTLIERS {
        timed.select_nth_unstable_by(OUTLIERS, slowest_first);
        timed.truncate(OUTLIERS);
    }
    timed.sort_unstable_by(slowest_first);
    let described = describe(rows, outcomes, &timed, room);
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

fn describe(
    rows: Frame<'_>,
    outcomes: &[Outcome],
    chosen: &[(f64, usize)],
    room: Vec<f64>,
) -> Vec<Value> {
    let slow = slow_parts(rows, outcomes, chosen, room);
    let int = |name| rows.int_cells(name);
    let (ids, starts, stops) = (int("chunk_id"), int("entry_start"), int("entry_stop"));
    let (events, durations) = (int("num_events"), rows.float_cells("duration_secs"));
    let [datasets, files, workers] =
        ["dataset", "file", "worker"].map(|column| rows.name_cells(column));
    let at = |place: usize| {
        let slow = slow.get(place).copied().flatten();
        move |value: fn(SlowPart) -> Value| slow.map_or(Value::None, value)
    };
    chosen
        .iter()
        .enumerate()
        .map(|(place, (secs, row))| {
            let slow = at(place);
            Value::map([
                ("chunk_id", ids.get(*row).into()),
                ("dataset", datasets.get(*row).into()),
                ("file", files.get(*row).into()),
                ("entry_start", starts.get(*row).into()),
                ("entry_stop", stops.get(*row).into()),
                ("num_events", events.get(*row).into()),
                ("worker", workers.get(*row).into()),
                ("duration", durations.get(*row).into()),
                ("attempt_seconds", Value::Float(*secs)),
                ("slow_part", slow(|part| part.name.into())),
                ("slow_part_seconds", slow(|part| part.secs.into())),
                ("slow_part_excess_seconds", slow(|part| part.excess_secs.into())),
            ])
        })
        .collect()
}

/// For each chosen row the part that exceeds its median the most, if one does.
fn slow_parts(
    rows: Frame<'_>,
    outcomes: &[Outcome],
    chosen: &[(f64, usize)],
    mut room: Vec<f64>,
) -> Vec<Option<SlowPart>> {
    let mut slowest: Vec<Option<SlowPart>> = vec![None; chosen.len()];
    let mut consider = |name: &'static str, secs_of: &dyn Fn(usize) -> Option<f64>| {
        room.clear();
        let good = outcomes.iter().enumerate().filter(|(_, outcome)| **outcome == Outcome::Ok);
        room.extend(good.filter_map(|(row, _)| secs_of(row)));
        let Some(usual) = median(&mut room) else { return };
        for (slot, (_, row)) in slowest.iter_mut().zip(chosen) {
            let Some(secs) = secs_of(*row) else { continue };
            let excess_secs = secs - usual;
            if excess_secs > slot.map_or(0.0, |part| part.excess_secs) {
                *slot = Some(SlowPart { name, secs, excess_secs });
            }
        }
    };
    let read = Part::of(rows, "read");
    let phases = PHASES.map(|phase| Part::of(rows, phase));
    let [unpack, open, tree, events, process, serialize] = phases;
    for (name, part) in [
        ("unpack", unpack),
        ("open", open),
        ("tree metadata", tree),
        ("events", events),
        ("column reads", read),
        ("serialize", serialize),
    ] {
        consider(name, &|row| part.running_secs(row));
    }
    consider("user code", &|row| {
        Some((process.running_secs(row)? - read.running_secs(row).unwrap_or(0.0)).max(0.0))
    });
    consider("waiting for a core", &|row| total(phases.iter().map(|part| part.queue_secs(row))));
    let attempts = Attempts::of(rows);
    consider("other", &|row| {
        let phases = total(phases.iter().map(|part| part.wall_secs(row)));
        Some((attempts.secs(row)? - phases?).max(0.0))
    });
    slowest
}

/// A phase of an attempt, or its column reads.
#[derive(Clone, Copy)]
struct Part<'a> {
    wall: FloatCells<'a>,
    queue: FloatCells<'a>,
}

impl<'a> Part<'a> {
    fn of(rows: Frame<'a>, phase: &str) -> Self {
        Self {
            wall: rows.float_cells(&format!("{phase}_secs")),
            queue: rows.float_cells(&format!("{phase}_run_queue_secs")),
        }
    }

    fn wall_secs(self, row: usize) -> Option<f64> {
        self.wall.get(row).and_then(usable)
    }

    fn queue_secs(self, row: usize) -> Option<f64> {
        self.queue.get(row).and_then(usable)
    }

    /// Wall time without the wait for a core, which is a part of its own.
    fn running_secs(self, row: usize) -> Option<f64> {
        Some((self.wall_secs(row)? - self.queue_secs(row).unwrap_or(0.0)).max(0.0))
    }
}

/// The sum of what is known; missing only if nothing is.
fn total(secs: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    secs.fold(None, |sum, secs| crate::datasets::plus(sum, secs, |a, b| a + b))
}
