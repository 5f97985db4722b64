//! Chunks by dataset, and failed attempts by class of error.

use std::collections::{BTreeMap, BTreeSet};

use roast_model::{Frame, Value};

use crate::chunk_identity::Chunks;
use crate::chunk_rows::{ByName, Names, Outcome, attempt_secs, slot};
use crate::number::{ratio, usable};

/// What stands for a dataset that a row does not name.
pub(crate) const UNKNOWN: &str = "unknown";

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    rows: i64,
    secs: Option<f64>,
    events: Option<i64>,
    bytes: Option<i64>,
    failed_chunks: i64,
}

/// `per_dataset`, in the order of names.
pub(crate) fn per_dataset(rows: Frame<'_>, outcomes: &[Outcome], chunks: &Chunks) -> Value {
    let mut names = Names::default();
    let mut tallies: Vec<Tally> = Vec::new();
    let mut durations = rows.floats("duration_secs");
    let mut events = rows.ints("num_events");
    let mut bytes = rows.ints("bytes_read");
    let mut datasets = ByName::new(rows.name_cells("dataset"));
    for (row, outcome) in outcomes.iter().enumerate() {
        let secs = durations.next().flatten().and_then(usable);
        let events = events.next().flatten();
        let bytes = bytes.next().flatten();
        let code = datasets.get(row, |dataset| names.code(dataset.or(Some(UNKNOWN))));
        let Some(tally) = slot(&mut tallies, code) else { continue };
        if chunks.is_first_of_lost(row) {
            tally.failed_chunks += 1;
        }
        if *outcome == Outcome::Ok {
            tally.rows += 1;
            tally.secs = plus(tally.secs, secs, |a, b| a + b);
            tally.events = plus(tally.events, events, i64::saturating_add);
            tally.bytes = plus(tally.bytes, bytes, i64::saturating_add);
        }
    }
    let by_name: BTreeMap<&str, &Tally> =
        names.names().iter().flatten().copied().zip(&tallies).collect();
    Value::map(by_name.into_iter().map(|(name, tally)| (name, tally.to_value())))
}

impl Tally {
    fn to_value(self) -> Value {
        let rows = Some(self.rows as f64);
        let events = self.events.map(|events| events as f64);
        Value::map([
            ("num_chunks", Value::Int(self.rows)),
            ("total_duration", self.secs.into()),
            ("total_events", self.events.into()),
            ("mean_duration", ratio(self.secs, rows).into()),
            ("mean_events_per_chunk", ratio(events, rows).into()),
            ("failed_chunks", Value::Int(self.failed_chunks)),
            ("bytes_read", self.bytes.into()),
            ("time_per_event_us", ratio(self.secs.map(|secs| secs * 1e6), events).into()),
        ])
    }
}

/// `failures`: attempts, chunks and core-seconds by class of error, the most
/// costly first.
pub(crate) fn failures(rows: Frame<'_>, outcomes: &[Outcome], chunks: &Chunks) -> Value {
    #[derive(Default)]
    struct Failure {
        attempts: i64,
        chunks: BTreeSet<u32>,
        secs: Option<f64>,
    }
    let mut by_class: BTreeMap<&str, Failure> = BTreeMap::new();
    for (row, ((error, secs), outcome)) in
        rows.names("error").zip(attempt_secs(rows)).zip(outcomes).enumerate()
    {
        let class = match outcome {
            Outcome::Failed => error.unwrap_or(UNKNOWN),
            Outcome::Repeated => "repeated",
            Outcome::Ok | Outcome::Replayed => continue,
        };
        let failure = by_class.entry(class).or_default();
        failure.attempts += 1;
        failure.chunks.extend(chunks.of_row.get(row));
        failure.secs = plus(failure.secs, secs, |a, b| a + b);
    }
    let mut failures: Vec<(&str, Failure)> = by_class.into_iter().collect();
    failures.sort_by(|a, b| b.1.secs.unwrap_or(0.0).total_cmp(&a.1.secs.unwrap_or(0.0)));
    Value::map(failures.into_iter().map(|(class, failure)| {
        let chunks = i64::try_from(failure.chunks.len()).unwrap_or(i64::MAX);
        let entry = Value::map([
            ("attempts", Value::Int(failure.attempts)),
            ("chunks", Value::Int(chunks)),
            ("core_seconds", failure.secs.into()),
        ]);
        (class, entry)
    }))
}

/// The sum of what is known; missing only if nothing is.
pub(crate) fn plus<T: Copy>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add(a, b)),
        (known, None) | (None, known) => known,
    }
}
