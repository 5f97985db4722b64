//! What was read of the input: compression and coverage by file, and what each
//! branch cost.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow_array::RecordBatch;
use foldhash::fast::RandomState;
use roast_model::{Frame, Value};

use crate::chunk_rows::{ByName, Names, Outcome};
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

pub(crate) fn fill(sheet: &mut Sheet, tables: Tables<'_>, outcomes: &[Outcome]) {
    if let Some(files) = tables.files.filter(|files| files.num_rows() > 0) {
        by_file(sheet, Frame::new(files), &column_bytes(tables.chunks, outcomes));
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
    // By numbers first: rows are many, files are fewer.
    let mut columns = ["file", "uuid", "tree"]
        .map(|column| (ByName::new(chunks.name_cells(column)), Names::default()));
    let mut sums: HashMap<[usize; 3], i64, RandomState> = HashMap::default();
    for (row, (requested, outcome)) in chunks.ints("read_bytes").zip(outcomes).enumerate() {
        if let (Some(requested), Outcome::Ok) = (requested, outcome) {
            let key = columns.each_mut().map(|(column, names)| column.get(row, |n| names.code(n)));
            let sum = sums.entry(key).or_default();
            *sum = sum.saturating_add(requested);
        }
    }
    let [files, uuids, trees] = columns.map(|(_, names)| names);
    let name = |names: &Names<'a>, code: usize| names.names().get(code).copied().flatten();
    sums.into_iter()
        .map(|([file, uuid, tree], sum)| {
            ((name(&files, file), name(&uuids, uuid), name(&trees, tree)), sum)
        })
        .collect()
}

fn by_file(sheet: &mut Sheet, files: Frame<'_>, column_bytes: &BytesOf<'_>) {
    let names: Vec<Option<&str>> = files.names("file").collect();
    let mut trees = files.names("tree");
    let mut uuids = files.names("uuid");
    let mut totals = files.ints("num_branches");
    let mut read = files.ints("num_branches_read");
    let mut sizes = files.ints("compressed_bytes");
    let mut ratios = files.floats("compression_ratio");
    let mut sizes_read = files.ints("branch_bytes_read_compressed");
    let mut metadata: BTreeMap<String, Value> = BTreeMap::new();
    let mut reading: BTreeMap<String, Value> = BTreeMap::new();
    let (mut all_ratios, mut coverages, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    let mut covered = false;
    for file in &names {
        let (uuid, tree) = (uuids.next().flatten(), trees.next().flatten());
        let total = totals.next().flatten();
        let read = read.next().flatten();
        let size = sizes.next().flatten();
        let compression = ratios.next().flatten().and_then(usable);
        let size_read = sizes_read.next().flatten();
        let percent = |part: Option<i64>, whole: Option<i64>| {
            ratio(part.map(|part| part as f64 * 100.0), whole.map(|whole| whole as f64))
        };
        let (coverage, share) = (percent(read, total), percent(size_read, size));
        all_ratios.extend(compression);
        coverages.extend(coverage);
        shares.extend(share);
        covered |= read.is_some();
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
                ("compression_ratio", compression.into()),
                ("total_branches", total.into()),
                ("total_tree_bytes", size.into()),
            ]),
        );
        reading.insert(
            name,
            Value::map([
                ("total_branches", total.into()),
                ("branches_read", read.into()),
                ("branches_read_percent", coverage.into()),
                ("total_tree_bytes", size.into()),
                ("bytes_read", column_bytes.get(&(*file, uuid, tree)).copied().into()),
                ("bytes_read_percent", share.into()),
            ]),
        );
    }
    let mean = |numbers: Vec<f64>| {
        Summary::of(numbers.into_iter().map(|number| (number, 1.0))).map(|summary| summary.mean)
    };
    sheet.nested("file_metadata", Value::map(metadata));
    // An import knows files without knowing what was read of them.
    if covered {
        sheet.nested("file_read_metrics", Value::map(reading));
    }
    sheet.real("avg_compression_ratio", mean(all_ratios));
    sheet.real("avg_branches_read_percent", mean(coverages));
    sheet.real("avg_bytes_read_percent", mean(shares));
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
