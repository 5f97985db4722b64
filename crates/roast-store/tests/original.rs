//! Import of the original tool's directories: a hand-made one, and a real one
//! where it is at hand.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use roast_model::{Frame, Table, UtcNs, Value};
use roast_store::{SaveOptions, StoreError, load, read_header, save};
use serde_json::json;
use tempfile::TempDir;

fn write(directory: &Path, metadata: &str, metrics: &str, clock: Option<&str>) -> PathBuf {
    let path = directory.join("old run");
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("metadata.json"), metadata).unwrap();
    fs::write(path.join("metrics.json"), metrics).unwrap();
    if let Some(clock) = clock {
        fs::write(path.join("start_end_time.txt"), clock).unwrap();
    }
    path
}

const METADATA: &str = r#"{"timestamp": "2026-11-15T18:02:17.5",
    "elapsed_time_seconds": 38.5, "format": "roastcoffea_measurement_v1"}"#;

/// Saved one hour east of Greenwich: 18:01:38 there is 17:01:38 UTC.
fn hand_made() -> (TempDir, PathBuf) {
    let metrics = json!({
        "total_events": 100, "elapsed_time_seconds": 38.5, "total_bytes_read": 4096,
        "total_cpu_time": 5.25, "num_chunks": 2, "core_efficiency": 0.5,
        "per_dataset": {"tt": {"num_chunks": 2}}, "chunk_info": {"('a', 0, 50)": [1, 2, 3]},
        "file_metadata": {"a.root": {"filename": "a.root", "total_branches": 10,
            "total_tree_bytes": 500, "compression_ratio": 0.5, "origin": "T2"}},
        "tracking_data": {
            "worker_counts": {"2026-11-15T18:01:39": 1, "2026-11-15T18:01:40": 2, "later": 2},
            "worker_memory": {"tcp://w:1": [["2026-11-15T18:01:39", 1000], ["2026-11-15T18:01:40", 2000]]},
            "worker_memory_limit": {"tcp://w:1": [["2026-11-15T18:01:39", 0]]},
            "worker_active_tasks": {"tcp://w:1": [["2026-11-15T18:01:40", 3]],
                                    "tcp://w:2": [["2026-11-15T18:01:40", 4]]},
            "worker_cpu": {"tcp://w:1": [["2026-11-15T18:01:39", null]]},
            "worker_last_seen": {"tcp://w:1": [["2026-11-15T18:01:39", 1794762098.75]]},
            "queue_depth": [1, 2]
        },
        "raw_chunk_metrics": [
            {"t_start": 1794762100.5, "t_end": 1794762101.0, "duration": 0.5, "mem_before_mb": 1.5,
             "mem_after_mb": 2.0, "num_events": 50, "dataset": "tt", "file": "a.root", "uuid": null,
             "entry_start": 0, "entry_stop": 50, "bytes_read": 2048, "timing": {"sel": 0.25}},
            {"num_events": 50, "dataset": "tt"}
        ],
        "raw_span_metrics": {"('execute', 'P', 'thread-cpu', 'seconds')": 21.5, "not a tuple": 1}
    });
    // Python writes NaN where there is no number.
    let metrics =
        metrics.to_string().replacen("\"total_events\"", "\"broken\": NaN, \"total_events\"", 1);
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), METADATA, &metrics, Some("1070.25,1108.75"));
    (directory, path)
}

#[test]
fn header_of_a_hand_made_directory() {
    let (_keep, path) = hand_made();
    let stored = read_header(&path).unwrap();
    assert_eq!(stored.start_end, Some((1070.25, 1108.75)));
    assert!(stored.is_imported());
    let header = &stored.header;
    assert_eq!((header.name.as_str(), header.backend.as_str()), ("old run", "dask"));
    assert_eq!(header.wall_secs, 38.5);
    // Saved at 17:02:17.5 UTC after 38.5 s; the first tick was no earlier.
    assert_eq!(header.started, UtcNs::parse("2026-11-15T17:01:39Z").unwrap());
    assert_eq!(
        header.report,
        Value::map([
            ("bytesread", Value::Int(4096)),
            ("entries", Value::Int(100)),
            ("processtime", Value::Float(5.25)),
            ("chunks", Value::Int(2)),
        ])
    );
    let key = Value::Tuple(["execute", "P", "thread-cpu", "seconds"].map(Value::from).to_vec());
    let expected =
        Value::Map(vec![(key, Value::Float(21.5)), (Value::from("not a tuple"), Value::Int(1))]);
    assert_eq!(header.spans, expected);
    assert_eq!(header.metrics.get("cpu_efficiency"), Some(&Value::Float(0.5)));
    assert_eq!(header.metrics.get("wall_time"), Some(&Value::Float(38.5)));
    assert_eq!(header.metrics.get("broken"), Some(&Value::None));
    assert!(header.metrics.get("per_dataset").is_some());
    for bulky in ["tracking_data", "raw_chunk_metrics", "raw_span_metrics", "chunk_info"] {
        assert_eq!(header.metrics.get(bulky), None);
    }
    assert!(header.tracking_extra.get("queue_depth").is_some());
    let from = header.provenance.get("imported_from").and_then(Value::as_str);
    assert_eq!(from, Some("roastcoffea_measurement_v1"));
    let notes = header.notes.join("\n");
    for part in ["UTC+01", "1 tracking samples", "1 span keys", "time of saving"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn tables_of_a_hand_made_directory() {
    let (_keep, path) = hand_made();
    let stored = read_header(&path.join("metadata.json")).unwrap();
    assert_eq!(stored.table_names(), ["chunks", "files", "ticks", "workers"]);
    let table = |table| stored.read_table(table).unwrap().unwrap();

    let ticks = table(Table::Ticks);
    let counts: Vec<_> = Frame::new(&ticks).ints("worker_count").collect();
    assert_eq!(counts, [Some(1), Some(2)]);

    let workers = table(Table::Workers);
    let workers = Frame::new(&workers);
    let names: Vec<_> = workers.names("worker").map(Option::unwrap).collect();
    assert_eq!(names, ["tcp://w:1", "tcp://w:1", "tcp://w:2"]);
    assert_eq!(workers.ints("memory_bytes").collect::<Vec<_>>(), [Some(1000), Some(2000), None]);
    assert_eq!(workers.ints("processing").collect::<Vec<_>>(), [None, Some(3), Some(4)]);
    assert_eq!(workers.ints("memory_limit_bytes").collect::<Vec<_>>(), [None; 3]);
    assert_eq!(workers.floats("cpu_percent").collect::<Vec<_>>(), [None; 3]);
    assert_eq!(workers.ints("samples").collect::<Vec<_>>(), [Some(1); 3]);
    assert!(workers.times("time").eq(workers.times("until")));
    let second = UtcNs::parse("2026-11-15T17:01:40Z").unwrap();
    assert_eq!(workers.times("time").last().unwrap(), Some(second));
    let seen = UtcNs::parse("2026-11-15T17:01:38.75Z").unwrap();
    assert_eq!(workers.times("last_seen").next().unwrap(), Some(seen));

    let chunks = table(Table::Chunks);
    let chunks = Frame::new(&chunks);
    assert_eq!(chunks.ints("chunk_id").collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(chunks.ints("rss_start_bytes").collect::<Vec<_>>(), [Some(3 << 19), None]);
    assert_eq!(chunks.floats("duration_secs").collect::<Vec<_>>(), [Some(0.5), None]);
    let start = UtcNs::parse("2026-11-15T17:01:40.5Z").unwrap();
    assert_eq!(chunks.times("start").next().unwrap(), Some(start));
    let extra: Vec<_> = chunks.names("extra").collect();
    assert_eq!(extra, [Some(r#"{"timing":{"sel":0.25}}"#), None]);

    let files = table(Table::Files);
    let files = Frame::new(&files);
    assert_eq!(files.names("file").next().unwrap(), Some("a.root"));
    assert_eq!(files.ints("uncompressed_bytes").next().unwrap(), Some(1000));
    assert_eq!(files.names("extra").next().unwrap(), Some(r#"{"origin":"T2"}"#));
}

#[test]
fn little_is_enough_and_nothing_is_invented() {
    let directory = tempfile::tempdir().unwrap();
    let path = write(directory.path(), METADATA, "{}", None);
    let stored = read_header(&path).unwrap();
    assert_eq!(stored.start_end, None);
    assert_eq!(stored.table_names(), Vec::<&str>::new());
    assert_eq!(stored.header.report, Value::Map(vec![]));
    assert!(stored.header.spans.is_none());
    assert!(stored.header.notes.iter().any(|note| note.contains("machine that imported")));
}

#[test]
fn damage_and_other_formats() {
    let directory = tempfile::tempdir().unwrap();
    let part = |metadata, metrics, clock| {
        let path = write(directory.path(), metadata, metrics, clock);
        match load(&path) {
            Err(StoreError::Damaged { part, .. }) => part,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(part("{", "{}", None), "metadata.json");
    assert_eq!(part(METADATA, "{\"a\": ", None), "metrics.json");
    assert_eq!(part(METADATA, "[]", None), "metrics.json");
    assert_eq!(part(METADATA, "{}", Some("1070.25")), "start_end_time.txt");
    let bare = r#"{"format": "roastcoffea_measurement_v1"}"#;
    assert_eq!(part(bare, "{}", None), "start_end_time.txt");
    fs::remove_file(directory.path().join("old run/start_end_time.txt")).unwrap();
    assert_eq!(part(bare, "{}", None), "metadata.json");
    let path = write(directory.path(), r#"{"format": "v9"}"#, "{}", None);
    assert!(matches!(load(&path), Err(StoreError::NotAMeasurement { .. })));
    let path = write(directory.path(), METADATA, "{}", None);
    fs::remove_file(path.join("metrics.json")).unwrap();
    assert!(matches!(load(&path), Err(StoreError::Damaged { .. })));
}

#[test]
fn an_import_can_be_saved_and_takes_the_place_of_its_source() {
    let (keep, path) = hand_made();
    let imported = load(&path).unwrap();
    let new = save(&imported, keep.path(), "old run", SaveOptions { overwrite: true }).unwrap();
    assert_eq!(load(&new).unwrap(), imported);
    assert!(!read_header(&new).unwrap().is_imported());
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_real_directory() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/original-0.1.2-measurement");
    if !path.is_dir() {
        eprintln!("skipped: no real directory of the original tool here");
        return;
    }
    let stored = read_header(&path).unwrap();
    assert_eq!(stored.header.name, "original-0.1.2-measurement");
    assert_eq!(stored.start_end, Some((1_070.310_545_536, 1_108.653_354_903)));
    assert_eq!(stored.table_names(), ["chunks", "files", "ticks", "workers"]);
    let recorded = [Table::Chunks, Table::Files, Table::Ticks, Table::Workers];
    let counts = recorded.map(|table| stored.row_count(table).unwrap());
    assert_eq!(counts, [40, 10, 39, 78]);
    assert_eq!(stored.header.spans.pairs().len(), 17);
    assert!(stored.header.spans.pairs().iter().all(|(key, _)| matches!(key, Value::Tuple(_))));
    assert_eq!(stored.header.report.get("bytesread"), Some(&Value::Int(14_935_040)));
    let chunks = stored.read_table(Table::Chunks).unwrap().unwrap();
    let frame = Frame::new(&chunks);
    assert_eq!(frame.ints("num_events").flatten().sum::<i64>(), 2000);
    // The run encloses its chunks and samples.
    let (started, ended) = (stored.header.started, stored.header.ended());
    assert!(frame.times("start").flatten().all(|moment| moment >= started));
    assert!(frame.times("stop").flatten().all(|moment| moment <= ended));
    let measurement = load(&path).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let saved = save(&measurement, directory.path(), "copy", SaveOptions::default()).unwrap();
    assert_eq!(load(&saved).unwrap(), measurement);
}
