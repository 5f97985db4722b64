//! The original tool's tracking data, one list per field and worker, as the
//! tables of ticks and workers.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use roast_model::{ColumnData, Table, TableError, UtcNs, Value};
use serde_json::Value as Json;

use crate::import_json::plain_value;
use crate::import_rows::{self, Fields, Mapping, Read};
use crate::local_time::LocalClock;

const COUNTS: &str = "worker_counts";
const LAST_SEEN: &str = "worker_last_seen";

const SERIES: &[Mapping] = &[
    ("worker_memory", "memory_bytes", Read::Int),
    ("worker_memory_limit", "memory_limit_bytes", Read::Limit),
    ("worker_cpu", "cpu_percent", Read::Float),
    ("worker_cores", "threads", Read::Int),
    ("worker_active_tasks", "processing", Read::Int),
    ("worker_executing", "executing", Read::Int),
    ("worker_nbytes", "stored_bytes", Read::Int),
    ("worker_occupancy", "occupancy_secs", Read::Float),
    (LAST_SEEN, "last_seen", Read::EpochSecs),
];

/// What the tracking data became.
#[derive(Debug, Default)]
pub(crate) struct Tracking {
    pub(crate) tables: BTreeMap<Table, RecordBatch>,
    /// Series that have no column.
    pub(crate) extra: Value,
    /// Samples that were left out because their time could not be read.
    pub(crate) left_out: usize,
    /// The first tick.
    pub(crate) first: Option<UtcNs>,
}

/// Pairs of a naive time and the epoch seconds of a heartbeat shortly before it.
pub(crate) fn clock_pairs(tracking: &Fields) -> impl Iterator<Item = (&str, f64)> {
    tracking
        .get(LAST_SEEN)
        .and_then(Json::as_object)
        .into_iter()
        .flat_map(|by_worker| by_worker.values())
        .flat_map(points)
        .filter_map(|(time, value)| Some((time?, value.as_f64()?)))
}

/// Reads all series.
pub(crate) fn import(tracking: &Fields, clock: &LocalClock) -> Result<Tracking, TableError> {
    let mut result = Tracking::default();
    if let Some(counts) = tracking.get(COUNTS) {
        let mut ticks = BTreeMap::new();
        for (time, count) in points(counts) {
            match time.and_then(|text| clock.to_utc(text)) {
                Some(moment) => {
                    ticks.insert(moment, Fields::from_iter([(COUNTS.to_owned(), count.clone())]));
                }
                None => result.left_out += 1,
            }
        }
        result.first = ticks.keys().next().copied();
        let (times, rows): (Vec<UtcNs>, Vec<Fields>) = ticks.into_iter().unzip();
        let columns = vec![time_column("time", &times)];
        let mapping = [(COUNTS, "worker_count", Read::Int)];
        let batch = import_rows::build(Table::Ticks, &mapping, rows, columns)?;
        result.tables.insert(Table::Ticks, batch);
    }
    if SERIES.iter().any(|(key, ..)| tracking.contains_key(*key)) {
        let batch = workers(tracking, clock, &mut result.left_out)?;
        result.tables.insert(Table::Workers, batch);
    }
    let known = |key: &str| key == COUNTS || SERIES.iter().any(|(series, ..)| *series == key);
    let extra: Vec<_> = tracking.iter().filter(|(key, _)| !known(key)).collect();
    if !extra.is_empty() {
        result.extra =
            Value::map(extra.into_iter().map(|(key, series)| (key.as_str(), plain_value(series))));
    }
    Ok(result)
}

/// One row per worker and sample, with the fields of all series together.
fn workers(
    tracking: &Fields,
    clock: &LocalClock,
    left_out: &mut usize,
) -> Result<RecordBatch, TableError> {
    let mut samples: BTreeMap<(&str, UtcNs), Fields> = BTreeMap::new();
    for (key, ..) in SERIES {
        let by_worker = tracking.get(*key).and_then(Json::as_object);
        for (worker, series) in by_worker.into_iter().flatten() {
            for (time, value) in points(series) {
                match time.and_then(|text| clock.to_utc(text)) {
                    Some(moment) => {
                        let fields = samples.entry((worker, moment)).or_default();
                        fields.insert((*key).to_owned(), value.clone());
                    }
                    None => *left_out += 1,
                }
            }
        }
    }
    let names = samples.keys().map(|(worker, _)| Some((*worker).to_owned())).collect();
    let times: Vec<UtcNs> = samples.keys().map(|&(_, moment)| moment).collect();
    let columns = vec![
        ("worker".to_owned(), ColumnData::Texts(names)),
        time_column("time", &times),
        time_column("until", &times),
        ("samples".to_owned(), ColumnData::Ints(vec![Some(1); times.len()])),
    ];
    import_rows::build(Table::Workers, SERIES, samples.into_values().collect(), columns)
}

fn time_column(name: &str, times: &[UtcNs]) -> (String, ColumnData) {
    (name.to_owned(), ColumnData::Ints(times.iter().map(|moment| Some(moment.0)).collect()))
}

/// The samples of a series, which is written as an object from time to value, as
/// a list of pairs, or as a list of objects with a `timestamp`.
fn points(series: &Json) -> Vec<(Option<&str>, &Json)> {
    match series {
        Json::Object(by_time) => {
            by_time.iter().map(|(time, value)| (Some(time.as_str()), value)).collect()
        }
        Json::Array(points) => points.iter().map(point).collect(),
        _ => Vec::new(),
    }
}

fn point(point: &Json) -> (Option<&str>, &Json) {
    match point {
        Json::Array(pair) => match pair.as_slice() {
            [time, value] => (time.as_str(), value),
            _ => (None, point),
        },
        Json::Object(fields) => {
            let value = fields.iter().find(|(key, _)| *key != "timestamp").map(|(_, value)| value);
            (fields.get("timestamp").and_then(Json::as_str), value.unwrap_or(&Json::Null))
        }
        _ => (None, point),
    }
}
