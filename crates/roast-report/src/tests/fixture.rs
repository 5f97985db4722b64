//! The runs of the snapshots, and short ways to render them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use roast_analyze::{Metrics, analyze};
use roast_model::{ColumnData, Header, Measurement, Phase, Table, TableBuilder, UtcNs, Value};

use crate::{ExportFormat, Renderer, Report};

pub(crate) const START: i64 = 1_794_765_698_105_039_000;
pub(crate) const SECOND: i64 = 1_000_000_000;

pub(crate) type Run = (Measurement, Metrics);

pub(crate) fn rendered((run, metrics): &Run, renderer: Renderer) -> String {
    renderer.render(&Report::new(&run.header, metrics))
}

pub(crate) fn json(run: &Run) -> String {
    exported(run, ExportFormat::Json)
}

/// All files, each under its name.
pub(crate) fn csv(run: &Run) -> String {
    exported(run, ExportFormat::Csv)
}

fn exported((run, metrics): &Run, format: ExportFormat) -> String {
    let mut all = Vec::new();
    for part in format.parts(run) {
        if format == ExportFormat::Csv {
            all.extend_from_slice(format!("--- {}\n", format.file_name(part)).as_bytes());
        }
        format.write(part, run, metrics, &mut all).unwrap();
    }
    String::from_utf8(all).unwrap()
}

/// Nothing but a wall time.
pub(crate) fn bare() -> Run {
    finish(Measurement { header: header(), tables: BTreeMap::new() })
}

/// Everything.
pub(crate) fn full() -> Run {
    let mut header = header();
    header.name = "ttbar".into();
    header.wall_secs = 754.25;
    header.provenance = Value::map([
        ("host", Value::from("login01")),
        (
            "versions",
            Value::map([
                ("python", Value::from("3.11.9")),
                ("coffea", Value::from("2026.9.0")),
                ("distributed", Value::from("2026.8.0")),
            ]),
        ),
    ]);
    header.report = Value::map([
        ("bytesread", Value::Int(214_935_040_000)),
        ("entries", Value::Int(31_234_567)),
        ("processtime", Value::Float(4321.5)),
        ("chunks", Value::Int(320)),
        ("columns", Value::List(vec!["Jet_pt-data".into(), "nJet-offsets".into()])),
    ]);
    header.spans = Value::Map(vec![
        activity("Ttbar", "thread-cpu", "seconds", Value::Float(3900.25)),
        activity("Ttbar", "thread-noncpu", "seconds", Value::Float(1210.5)),
        activity("Ttbar", "memory-read", "bytes", Value::Int(178_400)),
        activity("Ttbar", "memory-read", "count", Value::Int(320)),
        activity("reduce", "thread-cpu", "seconds", Value::Float(12.5)),
        activity("reduce", "thread-noncpu", "seconds", Value::Float(3.75)),
        activity("reduce", "deserialize", "seconds", Value::Float(0.45)),
        activity("reduce", "compress", "seconds", Value::Float(0.012)),
        (Value::Tuple(vec!["p2p".into(), "x".into()]), Value::Float(f64::NAN)),
    ]);
    header.span_completeness = Some(1.0);
    header.processor_prefixes = vec!["Ttbar".into()];
    header.phases = vec![Phase {
        name: "process".into(),
        start: UtcNs(START),
        stop: UtcNs(START + 720 * SECOND),
        items: 320,
    }];
    header.custom_metrics = Value::map([("ttbar", Value::map([("selected", Value::Int(12))]))]);
    header.metrics = Value::map([
        ("wall_time", Value::Float(754.25)),
        ("core_efficiency", Value::Float(0.5)),
        ("events_per_watt", Value::Float(123.456)),
        ("cut_flow", Value::map([("all", Value::Int(9)), ("two jets", Value::Int(4))])),
        ("passed", Value::Int(1_234_567)),
        ("unknown", Value::None),
    ]);
    header.notes = vec![
        "1 of 41 workers left before it reported its last activity.".into(),
        "The sampler widened its interval from 1 s to 2 s to stay within its budget.".into(),
    ];
    let tables = BTreeMap::from([
        (Table::Chunks, chunks(8)),
        (Table::Sections, sections()),
        (Table::Columns, columns()),
        (Table::Files, files()),
        (Table::Ticks, ticks()),
        (Table::Workers, workers()),
        (Table::Tasks, tasks()),
    ]);
    finish(Measurement { header, tables })
}

/// Ended by an exception halfway, with a report that never came.
pub(crate) fn raised() -> Run {
    let mut header = header();
    header.error = Some(
        "OSError: XRootD error: [ERROR] Operation expired\nin file root://eos/store/nano_12.root"
            .into(),
    );
    header.notes = vec!["The run raised, so there is no coffea report.".into()];
    let tables = BTreeMap::from([
        (Table::Chunks, chunks(2)),
        (Table::Ticks, ticks()),
        (Table::Workers, workers()),
    ]);
    finish(Measurement { header, tables })
}

/// Names that break out of a page, a terminal, a table or a column.
pub(crate) fn hostile() -> Run {
    let long = "verylongword".repeat(20);
    let mut header = header();
    header.name = format!("<script>alert(1)</script> 👩‍👩‍👧‍👦🔥 \u{1b}[31mred\u{7} \u{202e}txet {long}");
    header.backend = "\"><img src=x onerror=alert(1)>".into();
    header.error = Some("Error<b>: & \"quoted\" 'single'\r\n\u{1b}]0;title\u{7}".into());
    header.notes = vec![format!("note <i> {long}"), "日本語の名前".repeat(12)];
    header.metrics = Value::map([
        ("<script>key</script>".to_owned(), Value::from("</td><script>value</script>")),
        (long.clone(), Value::Str(long)),
        ("comma, \"quote\"\nline".to_owned(), Value::Float(f64::INFINITY)),
        ("tracking_data".to_owned(), Value::from("mine")),
        ("日本語".to_owned(), Value::BigInt("123456789012345678901234567890".into())),
    ]);
    let chunks = built(
        Table::Chunks,
        vec![
            ("dataset", ColumnData::Texts(vec![Some("a,\"b\"\nc".into()), Some("=1+1".into())])),
            ("file", ColumnData::Texts(vec![Some("<script>.root".into()), None])),
            ("extra", ColumnData::Texts(vec![Some("not json".into()), Some("[1]".into())])),
            ("outcome", texts(&["replayed", "failed"])),
            ("error", ColumnData::Texts(vec![None, Some("\u{1b}[31m<img src=x>".into())])),
        ],
    );
    let branches = built(
        Table::Columns,
        vec![
            ("branch", ColumnData::Texts(vec![Some("日本語".repeat(30)), Some("<script>".into())])),
            ("wall_secs", ColumnData::Floats(vec![Some(1e9), Some(f64::NAN)])),
        ],
    );
    let tables = BTreeMap::from([(Table::Chunks, chunks), (Table::Columns, branches)]);
    finish(Measurement { header, tables })
}

fn finish(run: Measurement) -> Run {
    let metrics = analyze(&run);
    (run, metrics)
}

pub(crate) fn header() -> Header {
    Header {
        id: "0190".into(),
        name: "run".into(),
        started: UtcNs(START),
        wall_secs: 38.342_809,
        backend: "dask".into(),
        error: None,
        provenance: Value::None,
        report: Value::None,
        custom_metrics: Value::None,
        spans: Value::None,
        span_completeness: None,
        processor_prefixes: Vec::new(),
        phases: Vec::new(),
        tracking_extra: Value::None,
        notes: Vec::new(),
        metrics: Value::None,
    }
}

fn activity(prefix: &str, name: &str, unit: &str, amount: Value) -> (Value, Value) {
    (Value::Tuple(["execute", prefix, name, unit].map(Value::from).to_vec()), amount)
}

pub(crate) fn times(secs: &[i64]) -> ColumnData {
    ColumnData::Ints(secs.iter().map(|secs| Some(START + secs * SECOND)).collect())
}

pub(crate) fn ints(numbers: &[i64]) -> ColumnData {
    ColumnData::Ints(numbers.iter().copied().map(Some).collect())
}

pub(crate) fn texts(words: &[&str]) -> ColumnData {
    ColumnData::Texts(words.iter().map(|word| Some((*word).to_owned())).collect())
}

/// A table of these columns alone, so that a new column changes no snapshot.
pub(crate) fn built(table: Table, columns: Vec<(&str, ColumnData)>) -> RecordBatch {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let mut builder = TableBuilder::new(table);
    builder
        .append(columns.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
        .unwrap();
    let batch = builder.finish().unwrap();
    let kept: Vec<_> = names.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
    batch.project(&kept).unwrap()
}

fn ticks() -> RecordBatch {
    built(
        Table::Ticks,
        vec![
            ("time", times(&[0, 10, 700, 754])),
            ("worker_count", ints(&[1, 2, 2, 1])),
            ("tasks_waiting", ints(&[4, 4, 1, 0])),
            ("tick_secs", ColumnData::Floats(vec![Some(0.001); 4])),
        ],
    )
}

fn workers() -> RecordBatch {
    built(
        Table::Workers,
        vec![
            ("worker", texts(&["tcp://10.0.0.2:1", "tcp://10.0.0.1:1", "tcp://10.0.0.1:1"])),
            ("host", texts(&["10.0.0.2", "10.0.0.1", "10.0.0.1"])),
            ("time", times(&[10, 0, 700])),
            ("until", times(&[700, 10, 754])),
            ("samples", ints(&[691, 11, 55])),
            ("memory_bytes", ints(&[2_100_000_000, 245_309_440, 3_000_000_000])),
            ("memory_limit_bytes", ints(&[4_000_000_000, 4_000_000_000, 4_000_000_000])),
            ("cpu_percent", ColumnData::Floats(vec![Some(312.5), Some(98.25), Some(f64::NAN)])),
            ("threads", ints(&[4, 4, 4])),
            ("processing", ints(&[8, 0, 1])),
            ("spilled_bytes", ints(&[0, 0, 0])),
            ("host_net_read_bps", ColumnData::Floats(vec![Some(1.25e8), None, Some(5e7)])),
        ],
    )
}

const LAST_WORKER: &str = "tcp://10.0.0.1:1";
const FIRST_WORKER: &str = "tcp://10.0.0.2:1";

/// Four threads with two chunks each, of which the last of all took longer to
/// open; and an attempt that failed.
fn chunks(good: i64) -> RecordBatch {
    let rows: Vec<i64> = (0..=good).collect();
    let failed = |row: i64| row == good;
    let whole =
        |get: &dyn Fn(i64) -> i64| ColumnData::Ints(rows.iter().map(|r| Some(get(*r))).collect());
    let secs = |get: &dyn Fn(i64) -> f64| {
        ColumnData::Floats(rows.iter().map(|r| (!failed(*r)).then(|| get(*r))).collect())
    };
    let words = |get: &dyn Fn(i64) -> Option<String>| {
        ColumnData::Texts(rows.iter().map(|r| get(*r)).collect())
    };
    let more = |row: i64| row as f64;
    let open = move |row: i64| if row + 1 == good { 45.5 } else { 0.5 };
    let start = |row: i64| 20 + 330 * (row / 4);
    let stop = move |row: i64| {
        if failed(row) { start(row) + 30 } else { start(row) + 240 + row + open(row) as i64 }
    };
    built(
        Table::Chunks,
        vec![
            ("chunk_id", whole(&|row| row)),
            ("dataset", words(&|row| Some(if row < 5 { "ttbar" } else { "wjets" }.into()))),
            (
                "file",
                words(&|row| {
                    Some(format!("root://eos.example.org//store/mc/nano_{}.root", row % 4))
                }),
            ),
            ("entry_start", whole(&|row| 100_000 * (row / 4))),
            ("entry_stop", whole(&|row| 100_000 * (row / 4 + 1))),
            ("num_events", whole(&|row| 100_000 - 1000 * row)),
            ("worker", words(&|_| Some(FIRST_WORKER.into()))),
            ("outcome", words(&|row| Some(if failed(row) { "failed" } else { "ok" }.into()))),
            ("error", words(&|row| failed(row).then(|| "OSError".into()))),
            ("start", whole(&|row| START + start(row) * SECOND)),
            ("stop", whole(&|row| START + stop(row) * SECOND)),
            ("duration_secs", secs(&|row| 180.0 + more(row))),
            ("unpack_secs", secs(&|_| 0.25)),
            ("open_secs", secs(&|row| open(row))),
            ("tree_secs", secs(&|_| 22.0)),
            ("events_secs", secs(&|_| 8.0)),
            ("process_secs", secs(&|row| 180.0 + more(row))),
            ("process_cpu_secs", secs(&|row| 120.0 + more(row))),
            ("process_run_queue_secs", secs(&|_| 12.0)),
            ("serialize_secs", secs(&|_| 6.0)),
            ("read_secs", secs(&|_| 60.0)),
            ("read_cpu_secs", secs(&|_| 25.0)),
            ("read_run_queue_secs", secs(&|_| 4.0)),
            ("decompress_secs", secs(&|_| 14.0)),
            ("interpret_secs", secs(&|_| 5.0)),
            ("rss_start_bytes", whole(&|row| 246_325_248 + 1_048_576 * row)),
            ("rss_end_bytes", whole(&|row| 346_333_440 - 2_097_152 * row)),
            ("rss_peak_bytes", whole(&|row| 1_346_333_440 + row)),
            ("bytes_read", whole(&|row| 420_000_000 + row)),
            ("read_bytes", whole(&|row| 400_000_000 + row)),
            ("recorder_secs", secs(&|_| 0.004)),
            (
                "extra",
                words(&|row| {
                    (row == 0).then(|| {
                        r#"{"custom_count":42,"pair":{"$tuple":[1,{"$float":"nan"}]},"dataset":"other"}"#.into()
                    })
                }),
            ),
        ],
    )
}

fn tasks() -> RecordBatch {
    let spans: Vec<(i64, i64)> = (0..8)
        .map(|row| {
            (19 + 330 * (row / 4), 262 + 330 * (row / 4) + row + if row == 7 { 45 } else { 0 })
        })
        .chain([(702, 711), (700, 702)])
        .collect();
    let word = |get: &dyn Fn(usize) -> &'static str| {
        ColumnData::Texts((0..spans.len()).map(|row| Some(get(row).to_owned())).collect())
    };
    built(
        Table::Tasks,
        vec![
            ("worker", word(&|row| if row < 8 { FIRST_WORKER } else { LAST_WORKER })),
            ("prefix", word(&|row| if row < 8 { "Ttbar" } else { "reduce" })),
            ("action", word(&|row| if row < 9 { "compute" } else { "transfer" })),
            ("start", times(&spans.iter().map(|span| span.0).collect::<Vec<_>>())),
            ("stop", times(&spans.iter().map(|span| span.1).collect::<Vec<_>>())),
            ("outcome", word(&|_| "memory")),
        ],
    )
}

fn sections() -> RecordBatch {
    built(
        Table::Sections,
        vec![
            ("chunk_id", ints(&[0, 0, 5, 5])),
            ("dataset", texts(&["ttbar", "ttbar", "wjets", "wjets"])),
            ("section", texts(&["jet selection", "histograms", "jet selection", "histograms"])),
            ("kind", texts(&["time", "memory", "time", "memory"])),
            ("wall_secs", ColumnData::Floats(vec![Some(95.0), None, Some(101.5), None])),
            ("cpu_secs", ColumnData::Floats(vec![Some(80.0), None, Some(83.5), None])),
            ("rss_start_bytes", ColumnData::Ints(vec![None, Some(0), None, Some(0)])),
            ("rss_end_bytes", ColumnData::Ints(vec![None, Some(1 << 20), None, Some(3 << 20)])),
            ("count", ints(&[12, 1, 14, 1])),
        ],
    )
}

fn columns() -> RecordBatch {
    let branches: Vec<String> = (0..12).map(|branch| format!("Jet_variable{branch}")).collect();
    let rows = branches.len() as i64;
    let whole =
        |get: &dyn Fn(i64) -> i64| ColumnData::Ints((0..rows).map(|r| Some(get(r))).collect());
    let secs = |get: &dyn Fn(f64) -> f64| {
        ColumnData::Floats((0..rows).map(|r| Some(get(r as f64))).collect())
    };
    built(
        Table::Columns,
        vec![
            ("dataset", ColumnData::Texts(vec![Some("ttbar".into()); branches.len()])),
            ("branch", ColumnData::Texts(branches.into_iter().map(Some).collect())),
            ("chunks", whole(&|_| 8)),
            ("files", whole(&|_| 4)),
            ("reads", whole(&|_| 8)),
            ("wall_secs", secs(&|row| 60.0 / (row + 1.0))),
            ("cpu_secs", secs(&|row| 25.0 / (row + 1.0))),
            ("bytes", whole(&|row| 400_000_000 / (row + 1))),
            ("requests", whole(&|row| 800 - row)),
            ("decompress_secs", secs(&|row| 14.0 / (row + 1.0))),
            ("interpret_secs", secs(&|row| 5.0 / (row + 1.0))),
        ],
    )
}

fn files() -> RecordBatch {
    built(
        Table::Files,
        vec![
            ("file", texts(&["root://eos.example.org//store/mc/nano_0.root"])),
            ("num_branches", ints(&[1610])),
            ("compressed_bytes", ints(&[2_000_000_000])),
            ("uncompressed_bytes", ints(&[5_000_000_000])),
            ("compression_ratio", ColumnData::Floats(vec![Some(0.4)])),
            ("num_branches_read", ints(&[12])),
            ("branch_bytes_read_compressed", ints(&[600_000_000])),
        ],
    )
}
