//! Worker tracking in the JSON layout of the original tool: one list of points
//! per worker and quantity. A state that held for a while is two points, its
//! first and its last sample; drawing a line through them gives the same picture
//! as all samples would.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use roast_model::{ColumnKind, Frame, Table, UtcNs, Value, WORKER_COUNTS, WORKER_SERIES};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Value as Json, json};

use crate::plain_json::{float, plain};

/// Everything that was tracked; serializes as it goes, one series at a time.
pub(crate) struct Tracking<'a> {
    pub(crate) ticks: Option<&'a RecordBatch>,
    pub(crate) workers: Option<&'a RecordBatch>,
    pub(crate) extra: &'a Value,
}

impl Serialize for Tracking<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.ticks.is_none() && self.workers.is_none() && self.extra.is_none() {
            return serializer.serialize_none();
        }
        let mut map = serializer.serialize_map(None)?;
        let mut taken = Vec::new();
        if let Some(ticks) = self.ticks {
            map.serialize_entry(WORKER_COUNTS, &Counts(ticks))?;
            taken.push(WORKER_COUNTS);
        }
        if let Some(workers) = self.workers {
            let order = by_worker(workers);
            for &(series, column) in WORKER_SERIES {
                map.serialize_entry(series, &Series { workers, order: &order, column })?;
                taken.push(series);
            }
        }
        match self.extra {
            Value::Map(pairs) => {
                for (key, value) in crate::plain_json::map(pairs) {
                    let key = if taken.contains(&key.as_str()) { format!("{key}_") } else { key };
                    map.serialize_entry(&key, &value)?;
                }
            }
            Value::None => {}
            other => map.serialize_entry("extra", &plain(other))?,
        }
        map.end()
    }
}

struct Counts<'a>(&'a RecordBatch);

impl Serialize for Counts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let frame = Frame::new(self.0);
        let mut points: Vec<_> = frame.times("time").zip(frame.ints("worker_count")).collect();
        points.sort_unstable();
        serializer.collect_seq(points.into_iter().map(|(time, count)| {
            json!({"timestamp": time.map(|time| time.to_string()), "worker_count": count})
        }))
    }
}

/// Rows of each worker in the order of time; both ends of a row.
type Order<'a> = BTreeMap<&'a str, Vec<(UtcNs, UtcNs, usize)>>;

fn by_worker(workers: &RecordBatch) -> Order<'_> {
    let frame = Frame::new(workers);
    let mut order: Order<'_> = BTreeMap::new();
    let rows = frame.names("worker").zip(frame.times("time")).zip(frame.times("until"));
    for (row, ((worker, time), until)) in rows.enumerate() {
        if let Some(time) = time {
            let until = until.unwrap_or(time);
            order.entry(worker.unwrap_or("")).or_default().push((time, until, row));
        }
    }
    order.values_mut().for_each(|rows| rows.sort_unstable());
    order
}

struct Series<'a> {
    workers: &'a RecordBatch,
    order: &'a Order<'a>,
    column: &'static str,
}

impl Serialize for Series<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = column(self.workers, self.column);
        let mut map = serializer.serialize_map(Some(self.order.len()))?;
        for (worker, rows) in self.order {
            map.serialize_entry(worker, &Points { rows, values: &values, field: self.column })?;
        }
        map.end()
    }
}

struct Points<'a> {
    rows: &'a [(UtcNs, UtcNs, usize)],
    values: &'a [Json],
    field: &'static str,
}

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut points = serializer.serialize_seq(None)?;
        for (time, until, row) in self.rows {
            let Some(value) = self.values.get(*row) else { continue };
            points.serialize_element(&json!({"timestamp": time.to_string(), self.field: value}))?;
            if until > time {
                points.serialize_element(
                    &json!({"timestamp": until.to_string(), self.field: value}),
                )?;
            }
        }
        points.end()
    }
}

/// A column of the `workers` table as JSON, row by row.
fn column(workers: &RecordBatch, name: &str) -> Vec<Json> {
    let frame = Frame::new(workers);
    let kind = Table::Workers.columns().iter().find(|column| column.name == name);
    match kind.map(|column| column.kind) {
        Some(ColumnKind::Int) => frame.ints(name).map(Json::from).collect(),
        Some(ColumnKind::Float) => {
            frame.floats(name).map(|number| number.map_or(Json::Null, float)).collect()
        }
        Some(ColumnKind::Time) => {
            frame.times(name).map(|time| Json::from(time.map(|time| time.to_string()))).collect()
        }
        Some(ColumnKind::Name | ColumnKind::Key | ColumnKind::Text) | None => {
            frame.texts(name).map(Json::from).collect()
        }
    }
}
