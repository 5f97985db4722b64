//! Worker tracking in the layout that users read and custom backends return:
//! `worker_counts` as `{time: count}`, everything else as
//! `{worker: [(time, value), ...]}`.

use std::collections::BTreeMap;

use crate::table::{ColumnKind, Table};
use crate::table_builder::{ColumnData, TableBuilder, TableError};
use crate::time::UtcNs;
use crate::value::Value;

/// The series of worker counts.
pub const WORKER_COUNTS: &str = "worker_counts";

/// Series by worker: the key users read and the column that holds it.
pub const WORKER_SERIES: &[(&str, &str)] = &[
    ("worker_memory", "memory_bytes"),
    ("worker_memory_limit", "memory_limit_bytes"),
    ("worker_cpu", "cpu_percent"),
    ("worker_cores", "threads"),
    ("worker_active_tasks", "processing"),
    ("worker_executing", "executing"),
    ("worker_nbytes", "stored_bytes"),
    ("worker_occupancy", "occupancy_secs"),
    ("worker_last_seen", "last_seen"),
    ("worker_spilled_bytes", "spilled_bytes"),
    ("worker_host_net_read_bps", "host_net_read_bps"),
    ("worker_host_net_write_bps", "host_net_write_bps"),
    ("worker_host_disk_read_bps", "host_disk_read_bps"),
    ("worker_host_disk_write_bps", "host_disk_write_bps"),
    ("worker_event_loop_interval", "event_loop_interval_secs"),
];

/// Tracking data as tables.
#[derive(Debug)]
pub struct TrackingTables {
    /// One row per entry of `worker_counts`; absent if there was no such series.
    pub ticks: Option<TableBuilder>,
    /// One row per worker and time; absent if there were no such series.
    pub workers: Option<TableBuilder>,
    /// What is not in this layout, as it came.
    pub rest: Value,
}

/// Turns tracking data into tables. Entries whose time is not a
/// [`Value::Time`] are not in the layout; the whole series then stays in `rest`.
pub fn tracking_tables(data: &Value) -> Result<TrackingTables, TableError> {
    let mut ticks = None;
    let mut rows: BTreeMap<(String, UtcNs), BTreeMap<&'static str, f64>> = BTreeMap::new();
    let mut any_series = false;
    let mut rest = Vec::new();
    for (key, series) in data.pairs() {
        let name = key.as_str().unwrap_or_default();
        if name == WORKER_COUNTS
            && let Some(counts) = count_series(series)
        {
            ticks = Some(ticks_table(counts)?);
            continue;
        }
        let column = WORKER_SERIES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
        match column.and_then(|column| Some((column, worker_series(series)?))) {
            Some((column, points)) => {
                any_series = true;
                for (worker, time, value) in points {
                    let row = rows.entry((worker, time)).or_default();
                    if let Some(value) = value {
                        row.insert(column, value);
                    }
                }
            }
            None => rest.push((key.clone(), series.clone())),
        }
    }
    let workers = any_series.then(|| workers_table(&rows)).transpose()?;
    let rest = if rest.is_empty() { Value::None } else { Value::Map(rest) };
    Ok(TrackingTables { ticks, workers, rest })
}

fn count_series(series: &Value) -> Option<Vec<(UtcNs, Option<f64>)>> {
    if !matches!(series, Value::Map(_)) {
        return None;
    }
    let mut counts: Vec<_> = series
        .pairs()
        .iter()
        .map(|(time, count)| match time {
            Value::Time(time) => Some((*time, count.as_f64())),
            _ => None,
        })
        .collect::<Option<_>>()?;
    counts.sort_by_key(|(time, _)| *time);
    Some(counts)
}

type Point = (String, UtcNs, Option<f64>);

fn worker_series(series: &Value) -> Option<Vec<Point>> {
    if !matches!(series, Value::Map(_)) {
        return None;
    }
    let mut points = Vec::new();
    for (worker, samples) in series.pairs() {
        let worker = worker.as_str()?;
        for sample in samples.items()? {
            match sample.items()? {
                [Value::Time(time), value] => {
                    let value = value.as_f64().filter(|number| number.is_finite());
                    points.push((worker.to_owned(), *time, value));
                }
                _ => return None,
            }
        }
    }
    Some(points)
}

fn ticks_table(counts: Vec<(UtcNs, Option<f64>)>) -> Result<TableBuilder, TableError> {
    let mut ticks = TableBuilder::new(Table::Ticks);
    let (times, counts): (Vec<_>, Vec<_>) =
        counts.into_iter().map(|(time, count)| (Some(time.0), count)).unzip();
    ticks.append(vec![
        ("time".into(), ColumnData::Ints(times)),
        ("worker_count".into(), ColumnData::Floats(counts)),
    ])?;
    Ok(ticks)
}

fn workers_table(
    rows: &BTreeMap<(String, UtcNs), BTreeMap<&'static str, f64>>,
) -> Result<TableBuilder, TableError> {
    let mut workers = TableBuilder::new(Table::Workers);
    let times = || ColumnData::Ints(rows.keys().map(|(_, time)| Some(time.0)).collect());
    let mut batch: Vec<(String, ColumnData)> = vec![
        (
            "worker".into(),
            ColumnData::Texts(rows.keys().map(|(worker, _)| Some(worker.clone())).collect()),
        ),
        ("time".into(), times()),
        ("until".into(), times()),
        ("samples".into(), ColumnData::Ints(vec![Some(1); rows.len()])),
    ];
    for (_, column) in WORKER_SERIES {
        let values = rows.values().map(|row| row.get(column).copied());
        let is_time = Table::Workers
            .columns()
            .iter()
            .any(|def| def.name == *column && def.kind == ColumnKind::Time);
        let data = if is_time {
            ColumnData::Ints(
                values.map(|secs| secs.map(|secs| UtcNs(0).after_secs(secs).0)).collect(),
            )
        } else {
            ColumnData::Floats(values.collect())
        };
        batch.push(((*column).to_owned(), data));
    }
    workers.append(batch)?;
    Ok(workers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn at(secs: i64) -> Value {
        Value::Time(UtcNs(secs * 1_000_000_000))
    }

    #[test]
    fn series_of_one_worker_meet_in_one_row_per_time() {
        let data = Value::map([
            (WORKER_COUNTS, Value::Map(vec![(at(2), Value::Int(1)), (at(1), Value::Int(2))])),
            (
                "worker_memory",
                Value::map([("a", Value::List(vec![Value::Tuple(vec![at(1), Value::Int(10)])]))]),
            ),
            (
                "worker_cpu",
                Value::map([(
                    "a",
                    Value::List(vec![
                        Value::List(vec![at(1), Value::Float(50.0)]),
                        Value::List(vec![at(2), Value::Float(60.0)]),
                    ]),
                )]),
            ),
            ("taskvine_metrics", Value::Int(7)),
        ]);
        let tables = tracking_tables(&data).unwrap();
        assert_eq!(tables.rest, Value::map([("taskvine_metrics", Value::Int(7))]));
        let ticks = tables.ticks.unwrap().finish().unwrap();
        let counts: Vec<_> = Frame::new(&ticks).ints("worker_count").collect();
        assert_eq!(counts, [Some(2), Some(1)]);
        let workers = tables.workers.unwrap().finish().unwrap();
        let frame = Frame::new(&workers);
        assert_eq!(frame.ints("memory_bytes").collect::<Vec<_>>(), [Some(10), None]);
        assert_eq!(frame.floats("cpu_percent").collect::<Vec<_>>(), [Some(50.0), Some(60.0)]);
    }

    #[test]
    fn every_series_has_a_column() {
        for (key, column) in WORKER_SERIES {
            assert!(Table::Workers.columns().iter().any(|def| def.name == *column), "{key}");
        }
    }

    #[test]
    fn a_series_in_another_layout_is_kept_as_it_came() {
        let odd = Value::map([(WORKER_COUNTS, Value::Int(3))]);
        let tables = tracking_tables(&odd).unwrap();
        assert!(tables.ticks.is_none());
        assert_eq!(tables.rest, odd);
    }
}
