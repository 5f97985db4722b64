//! Metrics and ledger of many chunks: the time per chunk must not grow with
//! their number.

#![expect(clippy::unwrap_used, reason = "a benchmark may end in a panic")]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use roast_analyze::analyze;
use roast_model::{ColumnData, Header, Measurement, Phase, Table, TableBuilder, UtcNs};

const WORKERS: i64 = 200;
const START_NS: i64 = 1_794_765_736_000_000_000;

/// A run in which every worker is busy with one chunk after another.
fn busy_run(rows: i64) -> Measurement {
    let wall_secs = (rows / WORKERS) as f64;
    let mut header = Header::new("0", "bench", "dask", UtcNs(START_NS), wall_secs);
    header.processor_prefixes = vec!["P".into()];
    header.phases = vec![Phase {
        name: "process".into(),
        start: UtcNs(START_NS),
        stop: UtcNs(START_NS + rows / WORKERS * 1_000_000_000),
        items: rows,
    }];
    let mut run = Measurement { header, tables: BTreeMap::new() };
    let ints =
        |get: &dyn Fn(i64) -> i64| ColumnData::Ints((0..rows).map(|n| Some(get(n))).collect());
    let floats =
        |get: &dyn Fn(i64) -> f64| ColumnData::Floats((0..rows).map(|n| Some(get(n))).collect());
    let codes = |count: i64, prefix: &str| {
        let codes = (0..rows).map(|n| u32::try_from(n % count).ok()).collect();
        ColumnData::Codes(codes, (0..count).map(|n| format!("{prefix}{n}")).collect())
    };
    let start = |n: i64| START_NS + n / WORKERS * 1_000_000_000;
    let wobble = |n: i64| 0.001 * ((n * 7919) % 100) as f64;
    let mut chunks = vec![
        ("chunk_id", ints(&|n| n)),
        ("dataset", codes(20, "dataset")),
        ("file", codes(20_000, "root://eos/store/some/long/path/to/a/file/nano_")),
        ("worker", codes(WORKERS, "tcp://10.0.0.1:")),
        ("outcome", ColumnData::Codes(vec![Some(0); rows as usize], vec!["ok".into()])),
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
        chunks.push((name, floats(&wobble)));
    }
    add(&mut run, Table::Chunks, chunks);
    let tasks = vec![
        ("worker", codes(WORKERS, "tcp://10.0.0.1:")),
        ("prefix", codes(1, "P")),
        ("action", ColumnData::Codes(vec![Some(0); rows as usize], vec!["compute".into()])),
        ("outcome", ColumnData::Codes(vec![Some(0); rows as usize], vec!["memory".into()])),
        ("start", ints(&start)),
        ("stop", ints(&|n| start(n) + 950_000_000)),
    ];
    add(&mut run, Table::Tasks, tasks);
    let each = |value: i64| ColumnData::Ints(vec![Some(value); WORKERS as usize]);
    let workers = vec![
        (
            "worker",
            ColumnData::Texts((0..WORKERS).map(|n| Some(format!("tcp://10.0.0.1:{n}"))).collect()),
        ),
        ("time", each(START_NS)),
        ("until", each(start(rows))),
        ("samples", each(rows / WORKERS)),
        ("threads", each(1)),
    ];
    add(&mut run, Table::Workers, workers);
    run
}

fn add(run: &mut Measurement, table: Table, columns: Vec<(&str, ColumnData)>) {
    let mut builder = TableBuilder::new(table);
    builder.append(columns.into_iter().map(|(name, data)| (name.into(), data)).collect()).unwrap();
    run.tables.insert(table, builder.finish().unwrap());
}

fn analysis(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("metrics and ledger");
    group.sample_size(10);
    for rows in [10_000, 100_000, 1_000_000] {
        let run = busy_run(rows);
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_with_input(BenchmarkId::from_parameter(rows), &run, |bencher, run| {
            bencher.iter(|| analyze(black_box(run)));
        });
    }
    group.finish();
}

criterion_group!(benches, analysis);
criterion_main!(benches);
