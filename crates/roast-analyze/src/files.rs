//! What was read of the input: compression and coverage by file, and what each
//! branch cost. A run may have more files than anyone reads a list of: beyond
//! [`FILES_LISTED`] the metrics have the means only, and [`file_metrics`] lists
//! the files for whoever asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow_array::RecordBatch;
use foldhash::fast::RandomState;
use roast_model::{Frame, Measurement, Table, Value};

use crate::chunk_rows::{Outcome, outcomes};
use crate::datasets::plus;
use crate::number::{Summary, ratio, usable};
use crate::sheet::Sheet;

/// The tables in which something about input stands.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) files: Option<&'a RecordBatch>,
    pub(crate) columns: Option<&'a RecordBatch>,
    pub(crate) branch_sets: Option<&'a RecordBatch>,
    pub(crate) chunks: Frame<'a>,
}

/// Files that the metrics list one by one. Of more, the table `files` tells, and
/// [`file_metrics`].
pub const FILES_LISTED: usize = 200;

/// The metrics that have an entry for each file.
pub const FILE_METRICS: [&str; 2] = ["file_metadata", "file_read_metrics"];

/// The metrics by file, in the order of [`FILE_METRICS`], however many files there
/// are; missing where nothing is known.
pub fn file_metrics(measurement: &Measurement) -> [Value; 2] {
    let chunks = measurement.table(Table::Chunks).map(Frame::new);
    let bytes = chunks.map(|rows| column_bytes(rows, &outcomes(rows))).unwrap_or_default();
    match measurement.table(Table::Files) {
        Some(files) if files.num_rows() > 0 => by_file(Frame::new(files), &bytes),
        _ => [Value::None, Value::None],
    }
}

pub(crate) fn fill(sheet: &mut Sheet, tables: Tables<'_>, outcomes: &[Outcome]) {
    if let Some(files) = tables.files.filter(|files| files.num_rows() > 0) {
        means(sheet, Frame::new(files));
        if files.num_rows() <= FILES_LISTED {
            let lists = by_file(Frame::new(files), &column_bytes(tables.chunks, outcomes));
            for (key, list) in FILE_METRICS.into_iter().zip(lists) {
                sheet.nested(key, list);
            }
        }
    }
    let branches: BTreeSet<&str> = [tables.branch_sets, tables.columns]
        .into_iter()
        .flatten()
        .flat_map(|batch| Frame::new(batch).names("branch").flatten())
        .collect();
    let watched = tables.branch_sets.or(tables.columns).is_some_and(|batch| batch.num_rows() > 0);
    sheet.whole("total_branches_read", watched.then_some(branches.len() as f64));
    if let Some(columns) = tables.columns {
        sheet.nested("branches", by_branch(Frame::new(columns)));
    }
}

/// Names a file's tree.
type Key<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>);

type BytesOf<'a> = HashMap<Key<'a>, i64, RandomState>;

/// Bytes that columns of successful chunks asked for, by file.
fn column_bytes<'a>(chunks: Frame<'a>, outcomes: &[Outcome]) -> BytesOf<'a> {
    let mut bytes = BytesOf::default();
    let mut requested = chunks.ints("read_bytes");
    let (mut uuids, mut trees) = (chunks.names("uuid"), chunks.names("tree"));
    for (file, outcome) in chunks.names("file").zip(outcomes) {
        let key = (file, uuids.next().flatten(), trees.next().flatten());
        if let (Some(requested), Outcome::Ok) = (requested.next().flatten(), outcome) {
            let sum = bytes.entry(key).or_default();
            *sum = sum.saturating_add(requested);
        }
    }
    bytes
}

/// What a row of the table says of a file's tree.
struct FileRow<'a> {
    key: Key<'a>,
    branches: Option<i64>,
    branches_read: Option<i64>,
    tree_bytes: Option<i64>,
    compression: Option<f64>,
    branches_read_percent: Option<f64>,
    bytes_read_percent: Option<f64>,
}

fn file_rows<'a>(files: Frame<'a>) -> impl Iterator<Item = FileRow<'a>> {
    let mut trees = files.names("tree");
    let mut uuids = files.names("uuid");
    let mut totals = files.ints("num_branches");
    let mut read = files.ints("num_branches_read");
    let mut sizes = files.ints("compressed_bytes");
    let mut ratios = files.floats("compression_ratio");
    let mut sizes_read = files.ints("branch_bytes_read_compressed");
    let percent = |part: Option<i64>, whole: Option<i64>| {
        ratio(part.map(|part| part as f64 * 100.0), whole.map(|whole| whole as f64))
    };
    files.names("file").map(move |file| {
        let (branches, branches_read) = (totals.next().flatten(), read.next().flatten());
        let tree_bytes = sizes.next().flatten();
        FileRow {
            key: (file, uuids.next().flatten(), trees.next().flatten()),
            branches,
            branches_read,
            tree_bytes,
            compression: ratios.next().flatten().and_then(usable),
            branches_read_percent: percent(branches_read, branches),
            bytes_read_percent: percent(sizes_read.next().flatten(), tree_bytes),
        }
    })
}

fn means(sheet: &mut Sheet, files: Frame<'_>) {
    let mean = |get: fn(&FileRow<'_>) -> Option<f64>| {
        Summary::of(file_rows(files).filter_map(|file| Some((get(&file)?, 1.0))))
            .map(|summary| summary.mean)
    };
    sheet.real("avg_compression_ratio", mean(|file| file.compression));
    sheet.real("avg_branches_read_percent", mean(|file| file.branches_read_percent));
    sheet.real("avg_bytes_read_percent", mean(|file| file.bytes_read_percent));
}

fn by_file(files: Frame<'_>, column_bytes: &BytesOf<'_>) -> [Value; 2] {
    let mut metadata: BTreeMap<String, Value> = BTreeMap::new();
    let mut reading: BTreeMap<String, Value> = BTreeMap::new();
    let mut covered = false;
    for row in file_rows(files) {
        covered |= row.branches_read.is_some();
        let (file, uuid, tree) = row.key;
        // One file may hold several trees, and one name stand for several files.
        let mut name = file.unwrap_or("unknown").to_owned();
        for more in [tree, uuid].into_iter().flatten() {
            if metadata.contains_key(&name) {
                name = format!("{name}:{more}");
            }
        }
        metadata.insert(
            name.clone(),
            Value::map([
                ("compression_ratio", row.compression.into()),
                ("total_branches", row.branches.into()),
                ("total_tree_bytes", row.tree_bytes.into()),
            ]),
        );
        reading.insert(
            name,
            Value::map([
                ("total_branches", row.branches.into()),
                ("branches_read", row.branches_read.into()),
                ("branches_read_percent", row.branches_read_percent.into()),
                ("total_tree_bytes", row.tree_bytes.into()),
                ("bytes_read", column_bytes.get(&row.key).copied().into()),
                ("bytes_read_percent", row.bytes_read_percent.into()),
            ]),
        );
    }
    // An import knows files without knowing what was read of them.
    [Value::map(metadata), if covered { Value::map(reading) } else { Value::None }]
}

fn by_branch(columns: Frame<'_>) -> Value {
    const COUNTS: [&str; 5] = ["files", "chunks", "reads", "bytes", "requests"];
    const SECONDS: [(&str, &str); 4] = [
        ("wall_secs", "seconds"),
        ("cpu_secs", "cpu_seconds"),
        ("decompress_secs", "decompress_seconds"),
        ("interpret_secs", "interpret_seconds"),
    ];
    #[derive(Default)]
    struct Cost {
        counts: [Option<i64>; 5],
        secs: [Option<f64>; 4],
    }
    let mut counts = COUNTS.map(|column| columns.ints(column));
    let mut seconds = SECONDS.map(|(column, _)| columns.floats(column));
    let mut costs: BTreeMap<&str, Cost> = BTreeMap::new();
    for branch in columns.names("branch") {
        let cost = costs.entry(branch.unwrap_or("unknown")).or_default();
        for (sum, column) in cost.counts.iter_mut().zip(&mut counts) {
            *sum = plus(*sum, column.next().flatten(), i64::saturating_add);
        }
        for (sum, column) in cost.secs.iter_mut().zip(&mut seconds) {
            *sum = plus(*sum, column.next().flatten().and_then(usable), |a, b| a + b);
        }
    }
    if costs.is_empty() {
        return Value::None;
    }
    let mut ordered: Vec<(&str, Cost)> = costs.into_iter().collect();
    let secs = |cost: &Cost| cost.secs.first().copied().flatten().unwrap_or(-1.0);
    ordered.sort_by(|a, b| secs(&b.1).total_cmp(&secs(&a.1)).then(a.0.cmp(b.0)));
    Value::map(ordered.into_iter().map(|(branch, cost)| {
        let counts = COUNTS.into_iter().zip(cost.counts.map(Value::from));
        let secs = SECONDS.into_iter().map(|(_, key)| key).zip(cost.secs.map(Value::from));
        (branch, Value::map(counts.chain(secs)))
    }))
}
