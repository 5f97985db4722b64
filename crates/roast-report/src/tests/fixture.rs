//! The runs of the snapshots, and short ways to render them.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use roast_analyze::{Metrics, analyze};
use roast_model::{ColumnData, Header, Measurement, Phase, Table, TableBuilder, UtcNs, Value};

use crate::{ExportFormat, Renderer, Report};

const START: i64 = 1_794_765_698_105_039_000;
const SECOND: i64 = 1_000_000_000;

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
        stop: UtcNs(START + 750 * SECOND),
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
        (Table::Chunks, chunks()),
        (Table::Ticks, ticks()),
        (Table::Workers, workers()),
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
    let tables = BTreeMap::from([(Table::Ticks, ticks()), (Table::Workers, workers())]);
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
        ],
    );
    let tables = BTreeMap::from([(Table::Chunks, chunks)]);
    finish(Measurement { header, tables })
}

fn finish(run: Measurement) -> Run {
    let metrics = analyze(&run);
    (run, metrics)
}

fn header() -> Header {
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

fn times(secs: &[i64]) -> ColumnData {
    ColumnData::Ints(secs.iter().map(|secs| Some(START + secs * SECOND)).collect())
}

fn ints(numbers: &[i64]) -> ColumnData {
    ColumnData::Ints(numbers.iter().copied().map(Some).collect())
}

fn texts(words: &[&str]) -> ColumnData {
    ColumnData::Texts(words.iter().map(|word| Some((*word).to_owned())).collect())
}

/// A table of these columns alone, so that a new column changes no snapshot.
fn built(table: Table, columns: Vec<(&str, ColumnData)>) -> RecordBatch {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    let mut builder = TableBuilder::new(table);
    builder
        .append(columns.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
        .unwrap();
    let batch = builder.build().unwrap();
    let kept: Vec<_> = names.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
    batch.project(&kept).unwrap()
}

fn ticks() -> RecordBatch {
    built(
        Table::Ticks,
        vec![("time", times(&[0, 10, 700, 754])), ("worker_count", ints(&[1, 2, 2, 1]))],
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

fn chunks() -> RecordBatch {
    built(
        Table::Chunks,
        vec![
            ("chunk_id", ints(&[0, 1])),
            ("dataset", texts(&["ttbar", "ttbar"])),
            ("file", texts(&["root://eos/nano_1.root", "root://eos/nano_2.root"])),
            ("entry_start", ints(&[0, 100_000])),
            ("entry_stop", ints(&[100_000, 200_000])),
            ("num_events", ints(&[100_000, 100_000])),
            ("start", times(&[5, 6])),
            ("stop", times(&[18, 20])),
            ("duration_secs", ColumnData::Floats(vec![Some(13.0), Some(14.0)])),
            ("rss_start_bytes", ColumnData::Ints(vec![Some(246_325_248), None])),
            ("rss_end_bytes", ColumnData::Ints(vec![Some(246_333_440), Some(1)])),
            ("error", ColumnData::Texts(vec![None, Some("OSError".into())])),
            (
                "extra",
                ColumnData::Texts(vec![
                    Some(r#"{"custom_count":42,"pair":{"$tuple":[1,{"$float":"nan"}]},"dataset":"other"}"#.into()),
                    None,
                ]),
            ),
        ],
    )
}
