//! Chunk rows as users hold them (one mapping per chunk, memory in MB, epoch
//! seconds) and as the tables hold them (typed columns). A key without a
//! column travels in the `extra` column, so nothing a user adds is lost.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use serde_json::Value as Json;

use crate::frame::Frame;
use crate::table::{ColumnKind, Table};
use crate::value::Value;

const BYTES_PER_MB: f64 = 1_048_576.0;
const BYTES_PER_GB: f64 = 1e9;

/// How a row's key is held in a column.
enum Held {
    Plain,
    EpochSecs,
    Megabytes,
}

/// Row key, column, and how the one becomes the other.
const KEYS: &[(&str, &str, Held)] = &[
    ("chunk_id", "chunk_id", Held::Plain),
    ("dataset", "dataset", Held::Plain),
    ("file", "file", Held::Plain),
    ("uuid", "uuid", Held::Plain),
    ("tree", "tree", Held::Plain),
    ("entry_start", "entry_start", Held::Plain),
    ("entry_stop", "entry_stop", Held::Plain),
    ("num_events", "num_events", Held::Plain),
    ("worker", "worker", Held::Plain),
    ("attempt", "attempt", Held::Plain),
    ("t_start", "start", Held::EpochSecs),
    ("t_end", "stop", Held::EpochSecs),
    ("duration", "duration_secs", Held::Plain),
    ("mem_before_mb", "rss_start_bytes", Held::Megabytes),
    ("mem_after_mb", "rss_end_bytes", Held::Megabytes),
    ("peak_memory_mb", "rss_peak_bytes", Held::Megabytes),
    ("bytes_read", "bytes_read", Held::Plain),
    ("error", "error", Held::Plain),
];

/// Phases of a chunk, in the order in which they happen, with the column of
/// their wall time.
const PHASES: &[(&str, &str)] = &[
    ("unpack", "unpack_secs"),
    ("open", "open_secs"),
    ("tree", "tree_secs"),
    ("events", "events_secs"),
    ("process", "process_secs"),
    ("serialize", "serialize_secs"),
];

/// Computed from other keys whenever a row is shown.
const DERIVED: &str = "mem_delta_mb";

/// One section as a row shows it.
#[derive(Clone, Copy, Debug)]
pub struct ShownSection<'a> {
    /// The name the user gave.
    pub name: &'a str,
    /// `time`, `memory` or `bytes`.
    pub kind: &'a str,
    /// Wall time.
    pub wall_secs: Option<f64>,
    /// Resident memory on entering.
    pub rss_start_bytes: Option<i64>,
    /// Resident memory on leaving.
    pub rss_end_bytes: Option<i64>,
    /// Bytes requested meanwhile.
    pub bytes: Option<i64>,
    /// Sections summed in this one.
    pub count: i64,
}

/// The rows of a `chunks` table as users hold them, with what the other tables
/// know of each.
pub fn chunk_rows(
    chunks: &RecordBatch,
    sections: Option<&RecordBatch>,
    branch_sets: Option<&RecordBatch>,
) -> Vec<Value> {
    let frame = Frame::new(chunks);
    let columns: HashMap<&str, Vec<Value>> = KEYS
        .iter()
        .map(|(_, column, _)| *column)
        .chain(PHASES.iter().map(|(_, column)| *column))
        .map(|column| (column, cells(frame, column)))
        .collect();
    let sections = sections_by_chunk(sections);
    let branches = branches_by_set(branch_sets);
    frame
        .ints("chunk_id")
        .zip(frame.ints("branch_set"))
        .zip(frame.names("extra"))
        .enumerate()
        .map(|(index, ((chunk_id, set), extra))| {
            let cell = |column: &str| {
                columns.get(column).and_then(|cells| cells.get(index)).cloned().unwrap_or_default()
            };
            let sections = chunk_id.and_then(|id| sections.get(&id)).map_or(&[][..], Vec::as_slice);
            // A set with no rows of its own is the empty one.
            let branches = set.map(|set| branches.get(&set).map_or(&[][..], Vec::as_slice));
            chunk_row(&cell, sections, branches, extra)
        })
        .collect()
}

/// One chunk as users hold it. `cell` gives the value of a column of the
/// `chunks` table.
pub fn chunk_row(
    cell: &dyn Fn(&str) -> Value,
    sections: &[ShownSection<'_>],
    branches: Option<&[&str]>,
    extra: Option<&str>,
) -> Value {
    let mut row: Vec<(Value, Value)> = Vec::with_capacity(40);
    for (key, column, held) in KEYS {
        row.push((Value::from(*key), shown(cell(column), held)));
    }
    let start = cell("rss_start_bytes").as_i64();
    let end = cell("rss_end_bytes").as_i64();
    let delta = start.zip(end).map(|(start, end)| end.saturating_sub(start));
    let mut put = |key: &str, value: Value| row.push((Value::from(key), value));
    put(DERIVED, in_units(delta, BYTES_PER_MB));
    put("memory_start_gb", in_units(start, BYTES_PER_GB));
    put("memory_end_gb", in_units(end, BYTES_PER_GB));
    put("memory_delta_gb", in_units(delta, BYTES_PER_GB));
    put(
        "accessed_branches",
        branches.map_or(Value::None, |names| {
            Value::List(names.iter().map(|name| Value::from(*name)).collect())
        }),
    );
    put("timing", summed(sections, "time", |section| section.wall_secs.map(Value::Float)));
    put(
        "memory",
        summed(sections, "memory", |section| {
            let delta = section.rss_end_bytes?.saturating_sub(section.rss_start_bytes?);
            Some(Value::Float(delta as f64 / BYTES_PER_MB))
        }),
    );
    put("bytes", summed(sections, "bytes", |section| section.bytes.map(Value::Int)));
    put("sections", listed(sections, "time", time_section));
    put("memory_sections", listed(sections, "memory", memory_section));
    put("custom_metrics", Value::Map(Vec::new()));
    put("phases", phases(cell));
    if let Some(Value::Map(rest)) = extra.and_then(parse_extra) {
        for (key, value) in rest {
            row.retain(|(present, _)| *present != key);
            row.push((key, value));
        }
    }
    Value::Map(row)
}

fn parse_extra(text: &str) -> Option<Value> {
    serde_json::from_str::<Json>(text).ok().and_then(|json| Value::from_json(&json).ok())
}

fn shown(cell: Value, held: &Held) -> Value {
    match (held, cell) {
        (Held::EpochSecs, Value::Time(moment)) => Value::Float(moment.epoch_secs()),
        (Held::Megabytes, Value::Int(bytes)) => Value::Float(bytes as f64 / BYTES_PER_MB),
        (_, plain) => plain,
    }
}

fn in_units(bytes: Option<i64>, unit: f64) -> Value {
    bytes.map(|bytes| bytes as f64 / unit).into()
}

fn phases(cell: &dyn Fn(&str) -> Value) -> Value {
    Value::map(
        PHASES
            .iter()
            .map(|(phase, column)| (*phase, cell(column)))
            .filter(|(_, secs)| !secs.is_none()),
    )
}

/// Sums per section name, in the order of first use. Sections for which nothing
/// was measured leave their name out.
fn summed(
    sections: &[ShownSection<'_>],
    kind: &str,
    amount: impl Fn(&ShownSection<'_>) -> Option<Value>,
) -> Value {
    let mut sums: Vec<(&str, Value)> = Vec::new();
    for section in sections.iter().filter(|section| section.kind == kind) {
        let Some(more) = amount(section) else { continue };
        match sums.iter_mut().find(|(name, _)| *name == section.name) {
            Some((_, sum)) => {
                *sum = match (&*sum, more) {
                    (Value::Int(sum), Value::Int(more)) => Value::Int(sum.saturating_add(more)),
                    (sum, more) => Value::from(sum.as_f64().zip(more.as_f64()).map(|(a, b)| a + b)),
                }
            }
            None => sums.push((section.name, more)),
        }
    }
    Value::map(sums)
}

fn listed(
    sections: &[ShownSection<'_>],
    kind: &str,
    show: impl Fn(&ShownSection<'_>) -> Vec<(&'static str, Value)>,
) -> Value {
    let list = sections.iter().filter(|section| section.kind == kind).map(|section| {
        let mut pairs = show(section);
        if section.count != 1 {
            pairs.push(("count", Value::Int(section.count)));
        }
        Value::map(pairs)
    });
    Value::List(list.collect())
}

fn time_section(section: &ShownSection<'_>) -> Vec<(&'static str, Value)> {
    vec![("section_name", Value::from(section.name)), ("time_delta", section.wall_secs.into())]
}

fn memory_section(section: &ShownSection<'_>) -> Vec<(&'static str, Value)> {
    let (start, end) = (section.rss_start_bytes, section.rss_end_bytes);
    let delta = start.zip(end).map(|(start, end)| end.saturating_sub(start));
    vec![
        ("section_name", Value::from(section.name)),
        ("memory_start_gb", in_units(start, BYTES_PER_GB)),
        ("memory_end_gb", in_units(end, BYTES_PER_GB)),
        ("memory_delta_gb", in_units(delta, BYTES_PER_GB)),
    ]
}

fn cells(frame: Frame<'_>, column: &str) -> Vec<Value> {
    match kind_of(column) {
        ColumnKind::Name | ColumnKind::Key | ColumnKind::Text => frame
            .texts(column)
            .map(|text| text.map_or(Value::None, |text| Value::Str(text.into_owned())))
            .collect(),
        ColumnKind::Time => {
            frame.times(column).map(|time| time.map_or(Value::None, Value::Time)).collect()
        }
        ColumnKind::Float => frame.floats(column).map(Value::from).collect(),
        ColumnKind::Int => frame.ints(column).map(Value::from).collect(),
    }
}

fn sections_by_chunk(batch: Option<&RecordBatch>) -> HashMap<i64, Vec<ShownSection<'_>>> {
    let mut by_chunk: HashMap<i64, Vec<ShownSection<'_>>> = HashMap::new();
    let Some(frame) = batch.map(Frame::new) else { return by_chunk };
    let names = frame.names("section").zip(frame.names("kind"));
    let numbers = frame.floats("wall_secs").zip(frame.ints("bytes")).zip(frame.ints("count"));
    let memory = frame.ints("rss_start_bytes").zip(frame.ints("rss_end_bytes"));
    for (((chunk, (name, kind)), ((wall_secs, bytes), count)), (rss_start_bytes, rss_end_bytes)) in
        frame.ints("chunk_id").zip(names).zip(numbers).zip(memory)
    {
        if let (Some(chunk), Some(name), Some(kind)) = (chunk, name, kind) {
            by_chunk.entry(chunk).or_default().push(ShownSection {
                name,
                kind,
                wall_secs,
                rss_start_bytes,
                rss_end_bytes,
                bytes,
                count: count.unwrap_or(1),
            });
        }
    }
    by_chunk
}

fn branches_by_set(batch: Option<&RecordBatch>) -> HashMap<i64, Vec<&str>> {
    let mut by_set: HashMap<i64, Vec<&str>> = HashMap::new();
    let Some(frame) = batch.map(Frame::new) else { return by_set };
    for (set, branch) in frame.ints("branch_set").zip(frame.names("branch")) {
        if let (Some(set), Some(branch)) = (set, branch) {
            by_set.entry(set).or_default().push(branch);
        }
    }
    by_set
}

fn kind_of(column: &str) -> ColumnKind {
    Table::Chunks
        .columns()
        .iter()
        .find(|def| def.name == column)
        .map_or(ColumnKind::Text, |def| def.kind)
}
