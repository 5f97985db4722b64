//! Workers over time: no two intervals on one thread, and no second lost in a
//! raster.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roast_model::Table;
use serde_json::Value as Json;

use super::build::{
    chunk_run, chunk_table, moments, numbers, panel, run_of, texts, tick_table, worker_table,
};
use crate::tests::fixture::{built, full};

fn words(list: &Json) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn intervals_of_one_thread_never_overlap() {
    let rows: Vec<(i64, i64, i64)> =
        (0..300).map(|row| (row * 170, row * 170 + 200 + row % 400, 5)).collect();
    let run =
        run_of(100.0, vec![(Table::Chunks, chunk_table(&rows, &|row| format!("w{}", row % 2)))]);
    for run in [run, full()] {
        let lanes = panel(&run, "lanes");
        assert_eq!(lanes["kind"], "intervals");
        let (lane, thread) = (numbers(&lanes["lane"]), numbers(&lanes["thread"]));
        let (start, long) = (numbers(&lanes["start_secs"]), numbers(&lanes["duration_secs"]));
        let mut until = std::collections::HashMap::new();
        for index in 0..lane.len() {
            let key = (lane[index] as i64, thread[index] as i64);
            let free = until.insert(key, start[index] + long[index]).unwrap_or(0.0);
            assert!(free <= start[index] + 1e-3, "{key:?}");
            let threads = lanes["workers"][lane[index] as usize]["threads"].as_f64().unwrap();
            assert!(thread[index] < threads);
        }
    }
}

#[test]
fn tasks_around_a_chunk_are_the_chunk() {
    let chunks = chunk_table(&[(1000, 2000, 5), (3000, 4000, 5)], &|_| "w".into());
    let tasks = built(
        Table::Tasks,
        vec![
            ("worker", texts(["w", "w", "w", "w", "w", "w"])),
            ("prefix", texts(["pre", "Processor", "Processor", "Processor", "reduce", "reduce"])),
            ("action", texts(["compute", "compute", "compute", "compute", "transfer", "compute"])),
            // The scheduler's clock is behind by 40 ms.
            ("start", moments([0, 950, 2950, 4500, 6000, 7000])),
            ("stop", moments([500, 1970, 3970, 5500, 6100, 8000])),
            ("outcome", texts(["memory", "memory", "memory", "erred", "memory", "memory"])),
        ],
    );
    let mut run = run_of(10.0, vec![(Table::Chunks, chunks), (Table::Tasks, tasks)]);
    for listed in [vec!["Processor".to_owned()], vec![]] {
        run.0.header.processor_prefixes = listed;
        let lanes = panel(&run, "lanes");
        assert_eq!(
            words(&lanes["what"]),
            ["other", "chunk", "chunk", "failed", "transfer", "reduce"]
        );
        assert_eq!(lanes["workers"].as_array().unwrap().len(), 1);
        assert_eq!(lanes["workers"][0]["threads"], 1);
        assert_eq!(lanes["file"][0], Json::Null);
        assert_eq!(lanes["files"], serde_json::json!(["file0.root", "file1.root"]));
    }
}

#[test]
fn a_raster_adds_up_to_the_time_on_chunks() {
    // 500 workers with two threads for 1000 s, 50 chunks each.
    let (workers, each) = (500, 50_i64);
    let rows: Vec<(i64, i64, i64)> = (0..workers * each)
        .map(|row| (row % each * 19_000, row % each * 19_000 + 5000 + row % 9000, 1))
        .collect();
    let name = |row: usize| format!("w{:03}", row as i64 / each);
    let samples: Vec<_> =
        (0..workers).map(|worker| (format!("w{worker:03}"), 0, 1000, 1, 2)).collect();
    let run = run_of(
        1000.0,
        vec![
            (Table::Chunks, chunk_table(&rows, &name)),
            (Table::Workers, worker_table(&samples)),
            (Table::Ticks, tick_table(1000, workers)),
        ],
    );
    let lanes = panel(&run, "lanes");
    assert_eq!((&lanes["kind"], &lanes["columns"]), (&Json::from("raster"), &Json::from(1000)));
    let groups = lanes["rows"].as_array().unwrap();
    assert_eq!(groups.len(), 250);
    assert_eq!(groups[0], serde_json::json!({"name": "w000 … w001", "workers": 2}));
    let busy = STANDARD.decode(lanes["busy"].as_str().unwrap()).unwrap();
    assert_eq!(busy.len(), 250 * 1000);
    assert!(!busy.contains(&255));
    let cell_thread_secs = 2.0 * 2.0;
    let secs: f64 = busy.iter().map(|mark| f64::from(*mark) / 254.0 * cell_thread_secs).sum();
    let truth: i64 = rows.iter().map(|row| row.1 - row.0).sum();
    assert!((secs / (truth as f64 / 1e3) - 1.0).abs() < 0.01, "{secs} {truth}");
    let failed = STANDARD.decode(lanes["failed"].as_str().unwrap()).unwrap();
    assert!(failed.len() == busy.len() && failed.iter().all(|mark| *mark == 0));
}

#[test]
fn a_raster_shows_who_was_not_there() {
    let rows: Vec<(i64, i64, i64)> = (0..20_001).map(|_| (0, 50_000, 1)).collect();
    let samples = [("a".to_owned(), 0, 49, 1, 4), ("b".to_owned(), 50, 100, 1, 4)];
    let run = run_of(
        100.0,
        vec![
            (Table::Chunks, chunk_table(&rows, &|_| "a".into())),
            (Table::Workers, worker_table(&samples)),
            (Table::Ticks, tick_table(100, 1)),
        ],
    );
    let lanes = panel(&run, "lanes");
    let busy = STANDARD.decode(lanes["busy"].as_str().unwrap()).unwrap();
    assert_eq!((busy[0], busy[499], busy[999]), (254, 254, 255));
    assert_eq!((busy[1000], busy[1999]), (255, 0));
}

#[test]
fn without_times_there_are_no_lanes() {
    let page = serde_json::to_value(super::page(&chunk_run(&[]))).unwrap();
    assert!(page["lanes"]["missing"].as_str().unwrap().contains("Runner"));
}
