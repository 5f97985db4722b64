//! Histogram, scatter and tables of chunks.

use roast_model::{ColumnData, Table};
use serde_json::{Value as Json, json};

use super::build::{chunk_run, moments, numbers, panel, run_of, table, texts};
use crate::tests::fixture::{Run, built, ints};

#[test]
fn every_chunk_is_in_the_histogram_once() {
    let rows: Vec<(i64, i64, i64)> = (0..1000).map(|row| (0, 100 + row * row % 7919, 1)).collect();
    let runtimes = panel(&chunk_run(&rows), "runtimes");
    let edges = numbers(&runtimes["edges_secs"]);
    let datasets = runtimes["datasets"].as_array().unwrap();
    let mut total = 0.0;
    for dataset in datasets {
        let counts = numbers(&dataset["counts"]);
        assert_eq!(counts.len() + 1, edges.len());
        total += counts.iter().sum::<f64>();
    }
    assert_eq!(total, 1000.0);
    assert!(edges[0] <= 0.1 && edges[edges.len() - 1] >= 8.0);
    assert_eq!(datasets[0]["name"], "dataset0");
    assert!(runtimes["p50_secs"].is_number());
}

/// 20,000 chunks, of which one is slowest, one largest, one fastest, and one failed.
fn crowd() -> Run {
    let count = 20_000_usize;
    let secs = |row: usize| match row {
        777 => 90.0,
        5555 => 0.01,
        _ => 1.0 + (row % 100) as f64 / 100.0,
    };
    let events = |row: usize| if row == 9999 { 900_000 } else { 1000 + row as i64 % 50 };
    let failed = |row: usize| row == 12_345;
    let chunks = built(
        Table::Chunks,
        vec![
            ("dataset", texts((0..count).map(|row| if row % 4 == 0 { "rare" } else { "usual" }))),
            ("file", texts((0..count).map(|row| format!("file{row}.root")))),
            ("num_events", ints(&(0..count).map(events).collect::<Vec<_>>())),
            ("duration_secs", ColumnData::Floats((0..count).map(|row| Some(secs(row))).collect())),
            ("outcome", texts((0..count).map(|row| if failed(row) { "failed" } else { "ok" }))),
            (
                "error",
                ColumnData::Texts(
                    (0..count).map(|row| failed(row).then(|| "OSError".to_owned())).collect(),
                ),
            ),
        ],
    );
    run_of(100.0, vec![(Table::Chunks, chunks)])
}

#[test]
fn the_scatter_keeps_the_extremes() {
    let run = crowd();
    let scatter = panel(&run, "scatter");
    assert_eq!(scatter["total"], 20_000);
    let (events, secs) = (numbers(&scatter["events"]), numbers(&scatter["duration_secs"]));
    assert_eq!(events.len(), 5000);
    assert!(secs.contains(&90.0) && secs.contains(&0.01) && events.contains(&900_000.0));
    let failed = scatter["failed"].as_array().unwrap();
    assert_eq!(failed.iter().filter(|failed| **failed == Json::Bool(true)).count(), 1);
    let files = scatter["files"].as_array().unwrap();
    assert!(files.contains(&json!("file12345.root")) && files.len() == 5000);
    assert_eq!(scatter["datasets"], json!(["usual", "rare"]));
    assert_eq!(scatter["worker_index"][0], Json::Null);
    // About 1000 events in 1 to 2 s.
    let guides = numbers(&scatter["guide_rates_khz"]);
    assert_eq!(guides, [0.5, 1.0]);
    assert_eq!(scatter, panel(&run, "scatter"));
}

#[test]
fn tables_show_the_heaviest_and_say_how_many_there_are() {
    let run = crowd();
    let page = serde_json::to_value(super::page(&run)).unwrap();
    let files = &page["tables"][1];
    assert_eq!((&files["key"], &files["total_rows"]), (&json!("files"), &json!(20_000)));
    assert_eq!(files["rows"].as_array().unwrap().len(), 1000);
    assert_eq!(table(&run, "files")[0]["file"], "file777.root");
    let slowest = table(&run, "chunks");
    assert_eq!((&slowest[0]["secs"], &slowest[0]["file"]), (&json!(90.0), &json!("file777.root")));
    let datasets = table(&run, "datasets");
    assert_eq!(
        (&datasets[0]["dataset"], &datasets[0]["chunks"]),
        (&json!("usual"), &json!(14_999))
    );
}

#[test]
fn failures_say_what_became_of_the_chunk() {
    let chunks = built(
        Table::Chunks,
        vec![
            ("dataset", texts(["d"; 4])),
            ("file", texts(["f"; 4])),
            ("entry_start", ints(&[0, 0, 10, 20])),
            ("entry_stop", ints(&[10, 10, 20, 30])),
            ("start", moments([0, 5000, 0, 0])),
            ("stop", moments([3000, 6000, 1000, 2000])),
            ("num_events", ints(&[10, 10, 10, 10])),
            ("outcome", texts(["failed", "ok", "failed", "repeated"])),
            (
                "error",
                ColumnData::Texts(vec![
                    Some("OSError".into()),
                    None,
                    Some("KeyError".into()),
                    None,
                ]),
            ),
            ("worker", texts(["w"; 4])),
        ],
    );
    let run = run_of(10.0, vec![(Table::Chunks, chunks)]);
    let failures = table(&run, "failures");
    let column = |key: &str| failures.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("secs"), [json!(3.0), json!(2.0), json!(1.0)]);
    assert_eq!(column("error"), [json!("OSError"), Json::Null, json!("KeyError")]);
    assert_eq!(
        column("in_the_end"),
        [json!("succeeded"), json!("never done"), json!("never done")]
    );
    let workers = table(&run, "workers");
    assert_eq!((&workers[0]["busy_secs"], &workers[0]["wasted"]), (&json!(7.0), &json!(3)));
    let files = table(&run, "files");
    assert_eq!((&files[0]["events"], &files[0]["secs"]), (&json!(10), &json!(7.0)));
}
