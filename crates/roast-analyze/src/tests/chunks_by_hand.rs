//! Statistics of chunks, files and branches, against numbers worked out on paper.

use roast_model::{ColumnData, Measurement, Table, Value};

use super::build::{ChunkRow, Row, add_chunks, add_table, add_workers, bare, chunk, texts};
use crate::analyze;

const MB: i64 = 1 << 20;

fn good(file: &str, start: i64, secs: f64) -> ChunkRow {
    chunk("w", 0.0, secs + 1.0)
        .name("dataset", "tt")
        .entries(file, start, start + 100)
        .name("outcome", "ok")
        .int("num_events", 100)
        .int("bytes_read", 1000)
        .int("read_bytes", 400)
        .int("rss_start_bytes", 100 * MB)
        .int("rss_end_bytes", 110 * MB)
        .int("rss_peak_bytes", 150 * MB)
        .secs("duration_secs", secs)
        .secs("recorder_secs", 0.25)
}

/// Three chunks: one at once, one after a failure, one that never came.
fn run() -> Measurement {
    let mut run = bare(10.0);
    let failed = |file: &str, error: &str| {
        chunk("w", 0.0, 3.0)
            .name("dataset", "tt")
            .entries(file, 0, 100)
            .name("outcome", "failed")
            .name("error", error)
            .secs("duration_secs", 99.0)
            .int("num_events", 7)
    };
    let mut larger = good("b", 0, 4.0);
    larger.ints = vec![
        ("entry_start", 0),
        ("entry_stop", 100),
        ("num_events", 300),
        ("rss_start_bytes", 100 * MB),
        ("rss_end_bytes", 96 * MB),
    ];
    add_chunks(
        &mut run,
        &[
            good("a", 0, 2.0),
            failed("b", "OSError"),
            larger,
            failed("c", "OSError"),
            failed("c", "KeyError"),
        ],
    );
    run
}

#[track_caller]
fn number(value: &Value, path: &[&str]) -> Option<f64> {
    let mut value = value;
    for key in path {
        value = value.get(key).unwrap_or_else(|| panic!("no {key} in {value:?}"));
    }
    value.as_f64()
}

#[track_caller]
fn close(found: Option<f64>, expected: f64) {
    let found = found.expect("a number");
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found}, not {expected}");
}

#[test]
fn counts_are_of_distinct_chunks() {
    let metrics = analyze(&run());
    for (key, count) in [
        ("num_successful_chunks", 2),
        ("num_failed_chunks", 1),
        ("num_retried_chunks", 2),
        ("num_replayed_chunks", 0),
        ("total_events_from_chunks", 400),
        ("chunk_events_min", 100),
        ("chunk_events_max", 300),
    ] {
        assert_eq!(metrics.get(key), Some(&Value::Int(count)), "{key}");
    }
}

#[test]
fn statistics_are_over_what_succeeded() {
    let metrics = analyze(&run());
    for (key, expected) in [
        ("chunk_duration_mean", 3.0),
        ("chunk_duration_min", 2.0),
        ("chunk_duration_max", 4.0),
        ("chunk_duration_std", 2.0_f64.sqrt()),
        ("chunk_duration_p50", 3.0),
        ("chunk_duration_p95", 3.9),
        ("chunk_duration_p99", 3.98),
        ("chunk_mem_delta_mean_mb", 3.0),
        ("chunk_mem_delta_min_mb", -4.0),
        ("chunk_mem_delta_max_mb", 10.0),
        ("chunk_peak_memory_max_mb", 150.0),
        ("chunk_events_mean", 200.0),
        ("time_per_event_mean_us", (20_000.0 + 4e6 / 300.0) / 2.0),
        ("runtime_events_correlation", 1.0),
        ("monitoring_overhead_seconds", 0.5),
    ] {
        close(metrics.number(key), expected);
    }
    let per_event = (10.0 / 100.0 - 4.0 / 300.0) / 2.0 * MB as f64;
    close(metrics.number("memory_per_event_mean_bytes"), per_event);
    assert_eq!(metrics.number("data_rate_gbps"), None);
}

#[test]
fn datasets_and_failures() {
    let metrics = analyze(&run());
    let datasets = metrics.get("per_dataset").unwrap();
    for (key, expected) in [
        ("num_chunks", 2.0),
        ("total_duration", 6.0),
        ("total_events", 400.0),
        ("mean_duration", 3.0),
        ("mean_events_per_chunk", 200.0),
        ("failed_chunks", 1.0),
        ("bytes_read", 1000.0),
        ("time_per_event_us", 15_000.0),
    ] {
        close(number(datasets, &["tt", key]), expected);
    }
    let failures = metrics.get("failures").unwrap();
    let classes: Vec<_> = failures.pairs().iter().filter_map(|(key, _)| key.as_str()).collect();
    assert_eq!(classes, ["OSError", "KeyError"]);
    close(number(failures, &["OSError", "attempts"]), 2.0);
    close(number(failures, &["OSError", "chunks"]), 2.0);
    close(number(failures, &["OSError", "core_seconds"]), 6.0);
}

#[test]
fn nothing_without_rows() {
    let mut run = bare(10.0);
    for rows in [None, Some([])] {
        if let Some(rows) = rows {
            add_chunks(&mut run, &rows);
        }
        let metrics = analyze(&run);
        let known: Vec<_> = metrics.iter().filter(|(_, value)| !value.is_none()).collect();
        assert_eq!(known, [("wall_time", &Value::Float(10.0))]);
    }
    // One chunk has no spread and correlates with nothing.
    add_chunks(&mut run, &[good("a", 0, 2.0)]);
    let metrics = analyze(&run);
    for key in ["chunk_duration_std", "runtime_events_correlation", "chunk_outliers"] {
        assert!(metrics.get(key).unwrap().is_none(), "{key}");
    }
    close(metrics.number("chunk_duration_p99"), 2.0);
}

#[test]
fn imported_rows_without_an_outcome_succeeded_unless_they_name_an_error() {
    let mut run = bare(10.0);
    let row = |error: Option<&str>| {
        let row = ChunkRow::default().secs("duration_secs", 1.0);
        error.map_or(row.clone(), |error| row.name("error", error))
    };
    add_chunks(&mut run, &[row(None), row(None), row(Some("E"))]);
    let metrics = analyze(&run);
    assert_eq!(metrics.number("num_successful_chunks"), Some(2.0));
    assert_eq!(metrics.number("num_failed_chunks"), Some(1.0));
    assert_eq!(metrics.number("num_retried_chunks"), Some(0.0));
    assert_eq!(number(metrics.get("per_dataset").unwrap(), &["unknown", "num_chunks"]), Some(2.0));
}

#[test]
fn what_was_replayed_is_not_of_this_run() {
    let mut run = bare(10.0);
    run.header.report = Value::map([
        ("bytesread", Value::Int(5_000_000)),
        ("entries", Value::Int(4000)),
        ("processtime", Value::Float(25.0)),
        ("chunks", Value::Int(4)),
    ]);
    add_workers(&mut run, &[Row { threads: Some(2), ..Row::new("w", 0.0, 10.0, 11) }]);
    super::build::add_ticks(&mut run, &[(0.0, 1), (10.0, 1)]);
    let replayed = |start| {
        let mut row = good("a", start, 50.0).name(
            "extra",
            r#"{"replayed_report":{"bytesread":1000000,"entries":1000,"processtime":10.0},"x":1}"#,
        );
        row.names.retain(|(column, _)| *column != "outcome");
        row.name("outcome", "replayed")
    };
    add_chunks(&mut run, &[replayed(0), replayed(100), good("a", 200, 2.0), good("a", 300, 3.0)]);
    let metrics = analyze(&run);
    for (key, expected) in [
        ("data_rate_mb_per_s", 0.3),
        ("event_rate_wall_khz", 0.2),
        ("event_rate_agg_khz", 0.4),
        ("event_rate_core_hz", 100.0),
        ("cpu_efficiency", 0.25),
        ("speedup_factor", 0.5),
        ("parallel_efficiency_percent", 25.0),
        // These stay what coffea reports.
        ("total_events", 4000.0),
        ("total_bytes_read_coffea", 5e6),
        ("total_cpu_time", 25.0),
        ("num_replayed_chunks", 2.0),
        ("num_successful_chunks", 2.0),
        ("chunk_duration_mean", 2.5),
        ("monitoring_overhead_seconds", 0.5),
        ("monitoring_overhead_percent", 2.5),
    ] {
        close(metrics.number(key), expected);
    }
}

#[test]
fn the_slow_part_of_a_slow_chunk_is_named() {
    let mut run = bare(100.0);
    let usual = |index: i64, wobble: f64| {
        chunk("w", 0.0, 10.0 + wobble)
            .entries("f", index, index + 1)
            .int("chunk_id", index)
            .secs("duration_secs", 6.0)
            .secs("open_secs", 1.0)
            .secs("tree_secs", 2.0)
            .secs("process_secs", 6.0)
            .secs("read_secs", 2.0)
            .secs("process_run_queue_secs", 0.0)
    };
    let mut rows: Vec<ChunkRow> =
        (0..30).map(|index| usual(index, 0.01 * (index % 5) as f64)).collect();
    let slow_open = rows[7].clone();
    rows[7] = ChunkRow { span: Some((0.0, 40.0)), ..slow_open };
    rows[7].secs[1] = ("open_secs", 31.0);
    rows[9].span = Some((0.0, 30.0));
    rows[9].secs[5] = ("process_run_queue_secs", 20.0);
    rows[9].secs[3] = ("process_secs", 26.0);
    add_chunks(&mut run, &rows);
    let metrics = analyze(&run);
    let slowest = metrics.get("slowest_chunks").unwrap().items().unwrap();
    assert_eq!(slowest.len(), 10);
    let part = |index: usize| slowest[index].get("slow_part").unwrap().as_str();
    assert_eq!(number(&slowest[0], &["chunk_id"]), Some(7.0));
    assert_eq!((part(0), part(1)), (Some("open"), Some("waiting for a core")));
    close(number(&slowest[0], &["slow_part_excess_seconds"]), 30.0);
    close(number(&slowest[1], &["attempt_seconds"]), 30.0);
    let outliers = metrics.get("chunk_outliers").unwrap();
    assert_eq!(number(outliers, &["count"]), Some(2.0));
    assert_eq!(outliers.get("rows").unwrap().items().unwrap().len(), 2);
}

#[test]
fn sections_by_name() {
    let mut run = run();
    let count = 6;
    let floats = |numbers: [Option<f64>; 6]| ColumnData::Floats(numbers.to_vec());
    let ints = |numbers: [Option<i64>; 6]| ColumnData::Ints(numbers.to_vec());
    let words = |words: [&str; 6]| texts(words.map(|word| Some(word.to_owned())));
    // Rows 0 and 2 are chunks that count; row 1 failed.
    let mut chunk_rows = vec![
        good("a", 0, 2.0).int("chunk_id", 0),
        chunk("w", 0.0, 1.0).name("outcome", "failed").int("chunk_id", 1),
        good("b", 0, 4.0).int("chunk_id", 2),
    ];
    chunk_rows[2].names[0] = ("dataset", "dy".into());
    add_chunks(&mut run, &chunk_rows);
    add_table(
        &mut run,
        Table::Sections,
        vec![
            ("chunk_id", ints([Some(0), Some(2), Some(1), Some(0), Some(2), Some(2)])),
            ("dataset", words(["tt", "dy", "tt", "tt", "dy", "dy"])),
            ("section", words(["jets", "jets", "jets", "fill", "fill", "read"])),
            ("kind", words(["time", "time", "time", "memory", "memory", "bytes"])),
            ("wall_secs", floats([Some(1.0), Some(2.0), Some(50.0), None, None, None])),
            ("rss_start_bytes", ints([None, None, None, Some(0), Some(MB), None])),
            ("rss_end_bytes", ints([None, None, None, Some(4 * MB), Some(3 * MB), None])),
            ("bytes", ints([None, None, None, None, None, Some(77)])),
            ("count", ints([Some(1), Some(3), Some(1), Some(1), Some(1), Some(1)])),
        ],
    );
    assert_eq!(run.table(Table::Sections).unwrap().num_rows(), count);
    let metrics = analyze(&run);
    let sections = metrics.get("sections").unwrap();
    close(number(sections, &["jets", "count"]), 4.0);
    close(number(sections, &["jets", "total_seconds"]), 3.0);
    close(number(sections, &["jets", "mean_seconds"]), 0.75);
    close(number(sections, &["jets", "share_of_processing_percent"]), 50.0);
    close(number(sections, &["jets", "per_dataset", "dy", "count"]), 3.0);
    close(number(sections, &["fill", "memory_delta_mean_mb"]), 3.0);
    close(number(sections, &["fill", "memory_delta_max_mb"]), 4.0);
    close(number(sections, &["read", "bytes"]), 77.0);
}

#[test]
fn files_and_branches() {
    let mut run = run();
    let word = |text: &str| Some(text.to_owned());
    add_table(
        &mut run,
        Table::Files,
        vec![
            ("file", texts([word("a"), word("b")])),
            ("num_branches", ColumnData::Ints(vec![Some(10), Some(20)])),
            ("num_branches_read", ColumnData::Ints(vec![Some(2), Some(2)])),
            ("compressed_bytes", ColumnData::Ints(vec![Some(1000), Some(4000)])),
            ("compression_ratio", ColumnData::Floats(vec![Some(0.25), Some(0.75)])),
            ("branch_bytes_read_compressed", ColumnData::Ints(vec![Some(100), Some(1200)])),
        ],
    );
    add_table(
        &mut run,
        Table::Columns,
        vec![
            ("dataset", texts([word("tt"), word("dy"), word("tt")])),
            ("branch", texts([word("Jet_pt"), word("Jet_pt"), word("nJet")])),
            ("files", ColumnData::Ints(vec![Some(1), Some(2), Some(1)])),
            ("bytes", ColumnData::Ints(vec![Some(10), Some(20), None])),
            ("wall_secs", ColumnData::Floats(vec![Some(1.0), Some(2.0), Some(9.0)])),
        ],
    );
    let metrics = analyze(&run);
    close(metrics.number("avg_compression_ratio"), 0.5);
    close(metrics.number("avg_branches_read_percent"), 15.0);
    close(metrics.number("avg_bytes_read_percent"), 20.0);
    close(metrics.number("total_branches_read"), 2.0);
    let reading = metrics.get("file_read_metrics").unwrap();
    close(number(reading, &["a", "bytes_read"]), 400.0);
    close(number(reading, &["b", "bytes_read_percent"]), 30.0);
    close(number(metrics.get("file_metadata").unwrap(), &["b", "total_tree_bytes"]), 4000.0);
    let branches = metrics.get("branches").unwrap();
    let order: Vec<_> = branches.pairs().iter().filter_map(|(key, _)| key.as_str()).collect();
    assert_eq!(order, ["nJet", "Jet_pt"]);
    close(number(branches, &["Jet_pt", "files"]), 3.0);
    close(number(branches, &["Jet_pt", "seconds"]), 3.0);
    assert_eq!(number(branches, &["nJet", "bytes"]), None);
}

#[test]
fn stored_tables_fill_gaps_too() {
    let stored = Value::map([
        ("per_dataset", Value::map([("tt", Value::Int(1))])),
        ("sections", Value::Float(1.0)),
        ("num_successful_chunks", Value::map([("a", Value::Int(1))])),
    ]);
    let metrics = crate::Metrics::stored(&stored);
    assert!(metrics.get("per_dataset").unwrap().get("tt").is_some());
    assert!(metrics.get("sections").unwrap().is_none());
    assert!(metrics.get("num_successful_chunks").unwrap().is_none());
}
