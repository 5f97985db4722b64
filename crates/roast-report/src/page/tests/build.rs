//! Short ways to make runs of which the truth is known.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use roast_analyze::analyze;
use roast_model::{ColumnData, Measurement, Table};
use serde_json::Value as Json;

use crate::PageData;
use crate::tests::fixture::{Run, SECOND, START, built, header, ints};

pub(crate) fn page(run: &Run) -> PageData {
    PageData::new(&run.0, &run.1)
}

/// The data of a panel.
pub(crate) fn panel(run: &Run, name: &str) -> Json {
    let mut page = serde_json::to_value(page(run)).unwrap();
    assert!(page[name]["missing"].is_null(), "{}", page[name]);
    page[name]["data"].take()
}

/// The rows of a table as maps from key to cell.
pub(crate) fn table(run: &Run, key: &str) -> Vec<BTreeMap<String, Json>> {
    let page = serde_json::to_value(page(run)).unwrap();
    let tables = page["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["key"] == key).unwrap();
    let columns = table["columns"].as_array().unwrap();
    let keys = || columns.iter().map(|column| column["key"].as_str().unwrap().to_owned());
    let rows = table["rows"].as_array().unwrap();
    rows.iter().map(|row| keys().zip(row.as_array().unwrap().iter().cloned()).collect()).collect()
}

pub(crate) fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

pub(crate) fn run_of(wall_secs: f64, tables: Vec<(Table, RecordBatch)>) -> Run {
    let mut header = header();
    header.wall_secs = wall_secs;
    let measurement = Measurement { header, tables: tables.into_iter().collect() };
    let metrics = analyze(&measurement);
    (measurement, metrics)
}

pub(crate) fn texts(words: impl IntoIterator<Item = impl Into<String>>) -> ColumnData {
    ColumnData::Texts(words.into_iter().map(|word| Some(word.into())).collect())
}

/// Milliseconds of the run as moments.
pub(crate) fn moments(millis: impl IntoIterator<Item = i64>) -> ColumnData {
    let ns = millis.into_iter().map(|millis| Some(START + millis * SECOND / 1000));
    ColumnData::Ints(ns.collect())
}

/// Chunks from start to stop, in milliseconds, with that many events.
pub(crate) fn chunk_table(
    rows: &[(i64, i64, i64)],
    worker: &dyn Fn(usize) -> String,
) -> RecordBatch {
    let whole =
        |get: &dyn Fn(&(i64, i64, i64)) -> i64| ints(&rows.iter().map(get).collect::<Vec<_>>());
    built(
        Table::Chunks,
        vec![
            ("chunk_id", ints(&(0..rows.len() as i64).collect::<Vec<_>>())),
            ("dataset", texts((0..rows.len()).map(|row| format!("dataset{}", row % 3)))),
            ("file", texts((0..rows.len()).map(|row| format!("file{}.root", row % 7)))),
            ("entry_start", ints(&(0..rows.len() as i64).map(|row| row * 10).collect::<Vec<_>>())),
            (
                "entry_stop",
                ints(&(0..rows.len() as i64).map(|row| row * 10 + 10).collect::<Vec<_>>()),
            ),
            ("num_events", whole(&|row| row.2)),
            ("bytes_read", whole(&|row| row.2 * 100)),
            ("worker", texts((0..rows.len()).map(worker))),
            ("outcome", texts(rows.iter().map(|_| "ok"))),
            ("start", moments(rows.iter().map(|row| row.0))),
            ("stop", moments(rows.iter().map(|row| row.1))),
            (
                "duration_secs",
                ColumnData::Floats(
                    rows.iter().map(|row| Some((row.1 - row.0) as f64 / 1e3)).collect(),
                ),
            ),
        ],
    )
}

/// A run of 100 s of nothing but these chunks, on one worker that is not tracked.
pub(crate) fn chunk_run(rows: &[(i64, i64, i64)]) -> Run {
    run_of(100.0, vec![(Table::Chunks, chunk_table(rows, &|_| "w".into()))])
}

/// One tick a second from 0 on.
pub(crate) fn tick_table(secs: i64, workers: i64) -> RecordBatch {
    built(
        Table::Ticks,
        vec![
            ("time", moments((0..=secs).map(|sec| sec * 1000))),
            ("worker_count", ints(&vec![workers; secs as usize + 1])),
        ],
    )
}

/// A stretch of a worker: name, first and last second, memory, threads.
pub(crate) type Stretch = (String, i64, i64, i64, i64);

pub(crate) fn worker_table(rows: &[Stretch]) -> RecordBatch {
    built(
        Table::Workers,
        vec![
            ("worker", texts(rows.iter().map(|row| row.0.clone()))),
            ("host", texts(rows.iter().map(|_| "host"))),
            ("time", moments(rows.iter().map(|row| row.1 * 1000))),
            ("until", moments(rows.iter().map(|row| row.2 * 1000))),
            ("samples", ints(&rows.iter().map(|row| row.2 - row.1 + 1).collect::<Vec<_>>())),
            ("memory_bytes", ints(&rows.iter().map(|row| row.3).collect::<Vec<_>>())),
            ("threads", ints(&rows.iter().map(|row| row.4).collect::<Vec<_>>())),
        ],
    )
}
