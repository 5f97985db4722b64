//! Series keep their extremes, and rates add up to what was done.

use roast_model::Table;
use serde_json::Value as Json;

use super::build::{
    chunk_run, chunk_table, moments, numbers, panel, run_of, tick_table, worker_table,
};
use crate::tests::fixture::{Run, built, ints};

fn chart(timeline: &Json, key: &str) -> Json {
    let charts = timeline["charts"].as_array().unwrap();
    charts.iter().find(|chart| chart["key"] == key).unwrap().clone()
}

fn series(timeline: &Json, key: &str, index: usize) -> Json {
    chart(timeline, key)["series"][index].clone()
}

/// Sum over a binned series of rate times width.
fn integral(timeline: &Json, key: &str) -> f64 {
    let width = timeline["bin_secs"].as_f64().unwrap();
    numbers(&series(timeline, key, 0)["mean"]).iter().sum::<f64>() * width
}

#[test]
fn throughput_adds_up_to_the_events() {
    let rows: Vec<(i64, i64, i64)> =
        (0..500).map(|row| (row * 190, row * 190 + (row * 37) % 5000, 1000 + row)).collect();
    let events: i64 = rows.iter().map(|row| row.2).sum();
    let timeline = panel(&chunk_run(&rows), "timeline");
    let close =
        |found: f64, truth: f64| assert!((found / truth - 1.0).abs() < 1e-3, "{found} {truth}");
    close(integral(&timeline, "throughput") * 1e3, events as f64);
    close(integral(&timeline, "data_rate") * 1e9 / 8.0, events as f64 * 100.0);
    // Of the last ones, what lies beyond the end of the run counts as well.
    let busy: i64 = rows.iter().map(|row| row.1 - row.0).sum();
    close(integral(&timeline, "tasks") * 1e3, busy as f64);
}

#[test]
fn on_samples_a_rate_is_that_of_the_time_around_them() {
    let chunks = chunk_table(&[(0, 2000, 4000), (5500, 6500, 1000)], &|_| "w".into());
    let run = run_of(10.0, vec![(Table::Chunks, chunks), (Table::Ticks, tick_table(10, 1))]);
    let timeline = panel(&run, "timeline");
    assert_eq!(timeline["bin_secs"], Json::Null);
    assert_eq!(numbers(&timeline["time"]), (0..=10).map(f64::from).collect::<Vec<_>>());
    let rates = numbers(&series(&timeline, "throughput", 0)["mean"]);
    assert_eq!(rates, [2.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
}

/// An hour at one sample a second: a worker that is always at 1 GB, and one that
/// is at 2 GB but for one sample of 9 GB and one of 1 kB.
fn spiky() -> Run {
    let giga = 1_000_000_000;
    let stretch = |from, to, bytes| ("b".to_owned(), from, to, bytes, 4);
    let workers = worker_table(&[
        ("a".to_owned(), 0, 3600, giga, 4),
        stretch(0, 1000, 2 * giga),
        stretch(1001, 1001, 9 * giga),
        stretch(1002, 2000, 2 * giga),
        stretch(2001, 2001, 1000),
        stretch(2002, 3600, 2 * giga),
    ]);
    run_of(3600.0, vec![(Table::Workers, workers), (Table::Ticks, tick_table(3600, 2))])
}

#[test]
fn bins_keep_the_extremes() {
    let timeline = panel(&spiky(), "timeline");
    assert_eq!(timeline["time"].as_array().unwrap().len(), 1500);
    assert_eq!(timeline["bin_secs"], 2.4);
    let memory = series(&timeline, "memory", 0);
    let (low, mean, high) =
        (numbers(&memory["low"]), numbers(&memory["mean"]), numbers(&memory["high"]));
    assert_eq!(high.iter().copied().fold(0.0, f64::max), 9e9);
    assert_eq!(low.iter().copied().fold(f64::INFINITY, f64::min), 1000.0);
    assert_eq!((low[0], mean[0], high[0]), (1e9, 1.5e9, 2e9));
    // Second 1001 is in the bin from 1000.8 to 1003.2 s with two others.
    let spike = (1e9 * 3.0 + 9e9 + 2e9 * 2.0) / 6.0;
    assert!((mean[417] / spike - 1.0).abs() < 1e-4, "{}", mean[417]);
    let threads = series(&timeline, "workers", 1);
    assert!(numbers(&threads["mean"]).iter().all(|count| *count == 8.0));
    assert_eq!(threads["low"], Json::Null);
}

#[test]
fn sums_over_workers_are_taken_at_one_moment() {
    let workers = built(
        Table::Workers,
        vec![
            ("worker", super::build::texts(["a", "b", "b"])),
            ("time", moments([0, 0, 2000])),
            ("until", moments([3000, 1000, 3000])),
            ("spilled_bytes", ints(&[5, 7, 100])),
        ],
    );
    let run = run_of(3.0, vec![(Table::Workers, workers), (Table::Ticks, tick_table(3, 2))]);
    let timeline = panel(&run, "timeline");
    assert_eq!(numbers(&series(&timeline, "spill", 0)["mean"]), [12.0, 12.0, 105.0, 105.0]);
    let cpu = chart(&timeline, "cpu");
    assert!(cpu["missing"].as_str().unwrap().contains("track_workers=True"), "{cpu}");
}

#[test]
fn one_sample_one_chunk_and_no_time_at_all() {
    let one = worker_table(&[("w".to_owned(), 0, 0, 5, 1)]);
    let tables = || {
        vec![
            (Table::Workers, one.clone()),
            (Table::Ticks, tick_table(0, 1)),
            (Table::Chunks, chunk_table(&[(0, 0, 10)], &|_| "w".into())),
        ]
    };
    for wall_secs in [0.0, 1e-9, 5.0, f64::NAN] {
        let timeline = panel(&run_of(wall_secs, tables()), "timeline");
        let cells = timeline["time"].as_array().unwrap().len();
        for chart in timeline["charts"].as_array().unwrap() {
            for series in chart["series"].as_array().unwrap() {
                assert_eq!(series["mean"].as_array().unwrap().len(), cells);
            }
        }
    }
}
