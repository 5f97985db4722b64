//! A million chunks. Times on a shared machine say little, so this only prints
//! them: `cargo test --release -p roast-analyze -- --ignored --nocapture million`

use roast_model::{ColumnData, Table};

use super::build::{Row, add_table, add_workers, at, bare, phase};
use crate::analyze;

#[test]
#[ignore = "prints times; run in release"]
#[expect(clippy::print_stdout, reason = "it is for people to read")]
fn a_million_chunks() {
    const ROWS: i64 = 1_000_000;
    const WORKERS: i64 = 200;
    let wall_secs = (ROWS / WORKERS) as f64;
    let mut run = bare(wall_secs);
    run.header.processor_prefixes = vec!["P".into()];
    run.header.phases = vec![phase("process", 0.0, wall_secs)];
    let ints =
        |get: &dyn Fn(i64) -> i64| ColumnData::Ints((0..ROWS).map(|n| Some(get(n))).collect());
    let floats =
        |get: &dyn Fn(i64) -> f64| ColumnData::Floats((0..ROWS).map(|n| Some(get(n))).collect());
    let codes = |count: i64, prefix: &str| {
        let codes = (0..ROWS).map(|n| Some((n % count) as u32)).collect();
        ColumnData::Codes(codes, (0..count).map(|n| format!("{prefix}{n}")).collect())
    };
    let start = |n: i64| at((n / WORKERS) as f64);
    let wobble = |n: i64| 0.01 * ((n * 7919) % 100) as f64;
    let mut columns = vec![
        ("chunk_id", ints(&|n| n)),
        ("dataset", codes(20, "dataset")),
        ("file", codes(20_000, "root://eos/store/some/long/path/to/a/file/nano_")),
        ("worker", codes(WORKERS, "tcp://10.0.0.1:")),
        ("outcome", codes(1, "ok")),
        ("entry_start", ints(&|n| n)),
        ("entry_stop", ints(&|n| n + 100)),
        ("num_events", ints(&|n| 100 + n % 7)),
        ("bytes_read", ints(&|n| n)),
        ("rss_start_bytes", ints(&|n| n)),
        ("rss_end_bytes", ints(&|n| 2 * n)),
        ("start", ints(&start)),
        ("stop", ints(&|n| start(n) + 900_000_000)),
    ];
    for name in [
        "duration_secs",
        "process_secs",
        "process_cpu_secs",
        "process_run_queue_secs",
        "read_secs",
        "read_cpu_secs",
        "open_secs",
        "tree_secs",
        "events_secs",
        "serialize_secs",
        "recorder_secs",
    ] {
        columns.push((name, floats(&|n| 0.1 * wobble(n))));
    }
    add_table(&mut run, Table::Chunks, columns);
    add_table(
        &mut run,
        Table::Tasks,
        vec![
            ("worker", codes(WORKERS, "tcp://10.0.0.1:")),
            ("prefix", codes(1, "P")),
            ("action", ColumnData::Codes(vec![Some(0); ROWS as usize], vec!["compute".into()])),
            ("outcome", ColumnData::Codes(vec![Some(0); ROWS as usize], vec!["memory".into()])),
            ("start", ints(&start)),
            ("stop", ints(&|n| start(n) + 950_000_000)),
        ],
    );
    let workers: Vec<Row> = (0..WORKERS)
        .map(|n| Row {
            threads: Some(1),
            ..Row::new(&format!("tcp://10.0.0.1:{n}"), 0.0, wall_secs, ROWS / WORKERS)
        })
        .collect();
    add_workers(&mut run, &workers);
    let began = std::time::Instant::now();
    let metrics = analyze(&run);
    println!("a million chunks in {:?}", began.elapsed());
    assert_eq!(metrics.number("num_successful_chunks"), Some(ROWS as f64));
    assert!(!metrics.get("ledger").unwrap().is_none());
}
