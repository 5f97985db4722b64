//! Tables of a report that are not metrics: one row per dataset, section, chunk,
//! branch or class of error. Made from the nested metrics, free of any format.

use roast_analyze::Metrics;
use roast_model::{Unit, Value};

use crate::units::show;

/// Rows at most, in any format.
const MOST_ROWS: usize = 10;
/// Rows of the slowest chunks where space is dear.
const SLOWEST_IN_TEXT: usize = 5;

/// A table for people.
#[derive(Clone, Debug, PartialEq)]
pub struct DataTable {
    /// The heading.
    pub title: String,
    /// The columns, the most important first.
    pub columns: Vec<DataColumn>,
    /// The cells, row by row; `None` for what is missing.
    pub rows: Vec<Vec<Option<String>>>,
    /// Rows that a terminal shows.
    pub text_rows: usize,
    /// Rows that are left out even of `rows`.
    pub left_out: usize,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataColumn {
    /// What stands above it.
    pub title: &'static str,
    /// How its cells are set.
    pub kind: CellKind,
}

/// How a cell is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A name: to the left, and the first to be shortened; its end tells most.
    Name,
    /// A number: to the right.
    Number,
    /// A few words: to the left.
    Words,
}

/// How a column comes out of a row's value.
type Cell = fn(&str, &Value) -> Option<String>;

/// Title, kind and content of a column.
type Column = (&'static str, CellKind, Cell);

use CellKind::{Name, Number, Words};

/// Every table about which something is known.
pub(crate) fn tables(metrics: &Metrics) -> Vec<DataTable> {
    let nested = |key| metrics.get(key).unwrap_or(&Value::None);
    let mut slowest = of_list("Slowest chunks", nested("slowest_chunks"), SLOWEST);
    slowest.text_rows = SLOWEST_IN_TEXT;
    [
        of_map("Datasets", &by_size(nested("per_dataset"), "total_duration"), DATASETS),
        of_map("Sections of process()", nested("sections"), SECTIONS),
        slowest,
        of_map("Branches", nested("branches"), BRANCHES),
        of_map("Failed and repeated attempts", nested("failures"), FAILURES),
    ]
    .into_iter()
    .filter(|table| !table.rows.is_empty())
    .map(DataTable::without_empty_columns)
    .collect()
}

const DATASETS: &[Column] = &[
    ("dataset", Name, |name, _| Some(name.to_owned())),
    ("chunks", Number, |_, row| cell(row, "num_chunks", Unit::Count)),
    ("events", Number, |_, row| cell(row, "total_events", Unit::Count)),
    ("in process()", Number, |_, row| cell(row, "total_duration", Unit::Seconds)),
    ("per chunk", Number, |_, row| cell(row, "mean_duration", Unit::Seconds)),
    ("per event", Number, |_, row| cell(row, "time_per_event_us", Unit::Microseconds)),
    ("read", Number, |_, row| cell(row, "bytes_read", Unit::Bytes)),
    ("failed chunks", Number, |_, row| {
        cell(row, "failed_chunks", Unit::Count).filter(|count| count != "0")
    }),
];

const SECTIONS: &[Column] = &[
    ("section", Name, |name, _| Some(name.to_owned())),
    ("time", Number, |_, row| cell(row, "total_seconds", Unit::Seconds)),
    ("of process()", Number, |_, row| cell(row, "share_of_processing_percent", Unit::Percent)),
    ("times", Number, |_, row| {
        cell(row, "count", Unit::Count)
            .filter(|count| count != "0")
            .or_else(|| cell(row, "memory_count", Unit::Count).filter(|count| count != "0"))
    }),
    ("mean", Number, |_, row| cell(row, "mean_seconds", Unit::Seconds)),
    ("memory growth (mean)", Number, |_, row| cell(row, "memory_delta_mean_mb", Unit::Mebibytes)),
    ("(max)", Number, |_, row| cell(row, "memory_delta_max_mb", Unit::Mebibytes)),
    ("read", Number, |_, row| cell(row, "bytes", Unit::Bytes)),
];

const SLOWEST: &[Column] = &[
    ("took", Number, |_, row| cell(row, "attempt_seconds", Unit::Seconds)),
    ("what was slow", Words, |_, row| {
        let part = text(row, "slow_part")?;
        Some(format!("{part} +{}", cell(row, "slow_part_excess_seconds", Unit::Seconds)?))
    }),
    ("file", Name, |_, row| text(row, "file")),
    ("entries", Number, |_, row| {
        let bound = |key| row.get(key).and_then(Value::as_i64);
        Some(format!("{}–{}", bound("entry_start")?, bound("entry_stop")?))
    }),
    ("dataset", Name, |_, row| text(row, "dataset")),
    ("worker", Name, |_, row| text(row, "worker")),
];

const BRANCHES: &[Column] = &[
    ("branch", Name, |name, _| Some(name.to_owned())),
    ("time", Number, |_, row| cell(row, "seconds", Unit::Seconds)),
    ("CPU", Number, |_, row| cell(row, "cpu_seconds", Unit::Seconds)),
    ("decompress", Number, |_, row| cell(row, "decompress_seconds", Unit::Seconds)),
    ("interpret", Number, |_, row| cell(row, "interpret_seconds", Unit::Seconds)),
    ("read", Number, |_, row| cell(row, "bytes", Unit::Bytes)),
    ("requests", Number, |_, row| cell(row, "requests", Unit::Count)),
    ("chunks", Number, |_, row| cell(row, "chunks", Unit::Count)),
];

const FAILURES: &[Column] = &[
    ("error", Name, |name, _| Some(name.to_owned())),
    ("attempts", Number, |_, row| cell(row, "attempts", Unit::Count)),
    ("chunks", Number, |_, row| cell(row, "chunks", Unit::Count)),
    ("core time wasted", Number, |_, row| cell(row, "core_seconds", Unit::Seconds)),
];

fn cell(row: &Value, key: &str, unit: Unit) -> Option<String> {
    row.get(key).and_then(Value::as_f64).map(|number| show(number, unit))
}

fn text(row: &Value, key: &str) -> Option<String> {
    row.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn of_map(title: &str, map: &Value, columns: &[Column]) -> DataTable {
    let rows = map.pairs().iter().filter_map(|(key, row)| Some((key.as_str()?, row)));
    table(title, rows, columns)
}

fn of_list(title: &str, list: &Value, columns: &[Column]) -> DataTable {
    table(title, list.items().unwrap_or_default().iter().map(|row| ("", row)), columns)
}

fn table<'a>(
    title: &str,
    rows: impl Iterator<Item = (&'a str, &'a Value)>,
    columns: &[Column],
) -> DataTable {
    let mut cells: Vec<Vec<Option<String>>> = Vec::new();
    let mut left_out = 0;
    for (name, row) in rows {
        if cells.len() < MOST_ROWS {
            cells.push(columns.iter().map(|(_, _, content)| content(name, row)).collect());
        } else {
            left_out += 1;
        }
    }
    DataTable {
        title: title.to_owned(),
        columns: columns.iter().map(|&(title, kind, _)| DataColumn { title, kind }).collect(),
        rows: cells,
        text_rows: MOST_ROWS,
        left_out,
    }
}

/// The entries of a map of maps, the largest first.
fn by_size(map: &Value, key: &str) -> Value {
    let mut pairs = map.pairs().to_vec();
    let size = |row: &Value| row.get(key).and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY);
    pairs.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
    Value::Map(pairs)
}

impl DataTable {
    /// What is missing in every row needs no column.
    fn without_empty_columns(mut self) -> Self {
        let filled: Vec<bool> = (0..self.columns.len())
            .map(|column| self.rows.iter().any(|row| row.get(column).is_some_and(Option::is_some)))
            .collect();
        let mut keep = filled.iter();
        self.columns.retain(|_| keep.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut keep = filled.iter();
            row.retain(|_| keep.next().copied().unwrap_or(true));
        }
        self
    }
}
