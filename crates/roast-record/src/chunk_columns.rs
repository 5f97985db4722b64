//! Where each column of the `chunks` table comes from in a row. Tables and the
//! rows that users see are both made from this list, so they agree.

use roast_model::{
    Column, ColumnData, ColumnKind, FloatColumn, IntColumn, KeyColumn, NameColumn, Table,
    TextColumn, UtcNs, Value,
};

use crate::chunk_log::ChunkLog;
use crate::kinds::ChunkPhase;
use crate::log_tables::SetNumbers;
use crate::order::Ranked;
use crate::palettes::{Place, Source};
use crate::row::{Reading, Row, Times};

/// A row with all that its columns are made from.
pub(crate) struct View<'a> {
    log: &'a ChunkLog,
    pub(crate) row: &'a Row,
    pub(crate) ranked: Ranked,
    pub(crate) chunk_id: i64,
    /// What branch sets have in the table of branch sets.
    numbers: &'a SetNumbers,
    pub(crate) source: Source,
    place: Place,
}

/// A name of the log, and the number after it.
type TaskKey = (u32, Option<u64>);

/// How a column's value is found.
#[derive(Clone, Copy)]
pub(crate) enum Get {
    Int(fn(&View<'_>) -> Option<i64>),
    /// Seconds, from microseconds.
    Micros(fn(&View<'_>) -> Option<u64>),
    /// A name of the log.
    Name(fn(&View<'_>) -> Option<u32>),
    /// One of few names that are none of the log's.
    Word(fn(&View<'_>) -> &'static str),
    /// A name of the log, and the number of a task.
    Key(fn(&View<'_>) -> Option<TaskKey>),
    /// Text, if there is one.
    Text(for<'a> fn(&View<'a>) -> Option<&'a str>),
}

impl<'a> View<'a> {
    pub(crate) fn new(
        log: &'a ChunkLog,
        row: &'a Row,
        ranked: Ranked,
        chunk_id: i64,
        numbers: &'a SetNumbers,
    ) -> Self {
        let source = log.palettes.sources.get(row.source).copied().unwrap_or_default();
        let place = log.palettes.places.get(row.place).copied().unwrap_or_default();
        Self { log, row, ranked, chunk_id, numbers, source, place }
    }

    fn phase(&self, phase: ChunkPhase) -> Times {
        self.row.phase(phase)
    }

    fn reading(&self) -> Option<Reading> {
        self.row.reading
    }

    /// The branch set's number in the table of branch sets.
    fn branch_set(&self) -> Option<i64> {
        *self.numbers.get(self.row.branch_set? as usize)?
    }

    fn num_branches(&self) -> Option<i64> {
        let set = self.log.palettes.branch_sets.get(self.row.branch_set?)?;
        i64::try_from(set.len()).ok()
    }

    /// The value of a column.
    pub(crate) fn cell(&self, column: &str) -> Value {
        let Some((_, get)) = CHUNK_COLUMNS.iter().find(|(name, _)| *name == column) else {
            return Value::None;
        };
        match get {
            Get::Int(get) if is_time(column) => {
                get(self).map_or(Value::None, |ns| Value::Time(UtcNs(ns)))
            }
            Get::Int(get) => get(self).into(),
            Get::Micros(get) => secs(get(self)).into(),
            Get::Name(get) => self.log.name_of(get(self)).into(),
            Get::Word(get) => get(self).into(),
            Get::Key(get) => match get(self) {
                None => Value::None,
                Some((head, None)) => self.log.name_of(Some(head)).into(),
                Some((head, Some(number))) => Value::Str(format!(
                    "{}-{number}",
                    self.log.name_of(Some(head)).unwrap_or_default()
                )),
            },
            Get::Text(get) => get(self).into(),
        }
    }
}

fn is_time(column: &str) -> bool {
    let mut columns = Table::Chunks.columns().iter();
    columns.any(|def| def.name == column && def.kind == ColumnKind::Time)
}

/// Seconds from microseconds.
pub(crate) fn secs(micros: Option<u64>) -> Option<f64> {
    micros.map(|micros| micros as f64 / 1e6)
}

pub(crate) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

macro_rules! phase_columns {
    ($phase:ident) => {
        (
            Get::Micros(|view| view.phase(ChunkPhase::$phase).wall_us),
            Get::Micros(|view| view.phase(ChunkPhase::$phase).cpu_us),
            Get::Micros(|view| view.phase(ChunkPhase::$phase).run_queue_us),
        )
    };
}

const UNPACK: (Get, Get, Get) = phase_columns!(Unpack);
const OPEN: (Get, Get, Get) = phase_columns!(Open);
const TREE: (Get, Get, Get) = phase_columns!(Tree);
const EVENTS: (Get, Get, Get) = phase_columns!(Events);
const PROCESS: (Get, Get, Get) = phase_columns!(Process);
const SERIALIZE: (Get, Get, Get) = phase_columns!(Serialize);

/// Every column of the `chunks` table.
pub(crate) const CHUNK_COLUMNS: &[(&str, Get)] = &[
    ("chunk_id", Get::Int(|view| Some(view.chunk_id))),
    ("dataset", Get::Name(|view| view.source.dataset)),
    ("file", Get::Name(|view| view.source.file)),
    ("uuid", Get::Name(|view| view.source.uuid)),
    ("tree", Get::Name(|view| view.source.tree)),
    ("entry_start", Get::Int(|view| view.row.entry_start)),
    ("entry_stop", Get::Int(|view| view.row.entry_stop)),
    ("num_events", Get::Int(|view| view.row.num_events)),
    ("worker", Get::Name(|view| view.place.worker)),
    ("start", Get::Int(|view| view.row.start_ns)),
    ("stop", Get::Int(|view| view.row.stop_ns)),
    ("duration_secs", PROCESS.0),
    ("rss_start_bytes", Get::Int(|view| view.row.rss_start_bytes)),
    ("rss_end_bytes", Get::Int(|view| view.row.rss_end_bytes)),
    ("bytes_read", Get::Int(|view| view.row.bytes_read)),
    ("error", Get::Name(|view| view.row.error)),
    ("extra", Get::Text(|view| view.row.extra.as_deref())),
    ("attempt", Get::Int(|view| Some(view.ranked.attempt.into()))),
    ("outcome", Get::Word(|view| view.ranked.outcome.name())),
    ("host", Get::Name(|view| view.place.host)),
    ("thread", Get::Int(|view| view.place.thread.map(to_i64))),
    ("task_key", Get::Key(|view| Some((view.row.task_head?, view.row.task_number)))),
    ("unpack_secs", UNPACK.0),
    ("unpack_cpu_secs", UNPACK.1),
    ("unpack_run_queue_secs", UNPACK.2),
    ("open_secs", OPEN.0),
    ("open_cpu_secs", OPEN.1),
    ("open_run_queue_secs", OPEN.2),
    ("tree_secs", TREE.0),
    ("tree_cpu_secs", TREE.1),
    ("tree_run_queue_secs", TREE.2),
    ("events_secs", EVENTS.0),
    ("events_cpu_secs", EVENTS.1),
    ("events_run_queue_secs", EVENTS.2),
    ("process_secs", PROCESS.0),
    ("process_cpu_secs", PROCESS.1),
    ("process_run_queue_secs", PROCESS.2),
    ("serialize_secs", SERIALIZE.0),
    ("serialize_cpu_secs", SERIALIZE.1),
    ("serialize_run_queue_secs", SERIALIZE.2),
    ("read_secs", Get::Micros(|view| view.reading()?.read.wall_us)),
    ("read_cpu_secs", Get::Micros(|view| view.reading()?.read.cpu_us)),
    ("read_run_queue_secs", Get::Micros(|view| view.reading()?.read.run_queue_us)),
    ("decompress_secs", Get::Micros(|view| view.reading()?.decompress.wall_us)),
    ("decompress_cpu_secs", Get::Micros(|view| view.reading()?.decompress.cpu_us)),
    ("interpret_secs", Get::Micros(|view| view.reading()?.interpret.wall_us)),
    ("interpret_cpu_secs", Get::Micros(|view| view.reading()?.interpret.cpu_us)),
    ("read_bytes", Get::Int(|view| view.reading()?.bytes)),
    ("requests", Get::Int(|view| view.row.requests.map(to_i64))),
    ("reads", Get::Int(|view| Some(to_i64(view.reading()?.reads)))),
    ("cached_reads", Get::Int(|view| Some(to_i64(view.reading()?.cached)))),
    ("preloaded_reads", Get::Int(|view| Some(to_i64(view.reading()?.preloaded)))),
    ("setup_bytes", Get::Int(|view| view.row.setup_bytes)),
    ("rss_peak_bytes", Get::Int(|view| view.row.rss_peak_bytes)),
    ("recorder_secs", Get::Micros(|view| view.row.recorder_us)),
    ("branch_set", Get::Int(|view| view.branch_set())),
    ("num_branches", Get::Int(|view| view.num_branches())),
    ("dropped_sections", Get::Int(|view| Some(to_i64(view.row.dropped_sections)))),
];

/// A column that grows, and how its values are found.
pub(crate) enum Growing {
    Int(fn(&View<'_>) -> Option<i64>, IntColumn),
    Micros(fn(&View<'_>) -> Option<u64>, FloatColumn),
    Name(fn(&View<'_>) -> Option<u32>, LogNames),
    Word(fn(&View<'_>) -> &'static str, Words),
    Key(fn(&View<'_>) -> Option<TaskKey>, LogNames, IntColumn),
    Text(for<'a> fn(&View<'a>) -> Option<&'a str>, TextColumn),
}

impl Growing {
    /// A column that is to have so many rows.
    pub(crate) fn new(get: Get, rows: usize) -> Self {
        match get {
            Get::Int(get) => Self::Int(get, ints(rows)),
            Get::Micros(get) => {
                let mut column = FloatColumn::default();
                column.expect_rows(rows);
                Self::Micros(get, column)
            }
            Get::Name(get) => Self::Name(get, LogNames::expecting(rows)),
            Get::Word(get) => Self::Word(get, Words::expecting(rows)),
            Get::Key(get) => Self::Key(get, LogNames::expecting(rows), ints(rows)),
            Get::Text(get) => Self::Text(get, TextColumn::default()),
        }
    }

    pub(crate) fn extend(&mut self, views: &[View<'_>]) {
        match self {
            Self::Int(get, column) => views.iter().for_each(|view| column.push(get(view))),
            Self::Micros(get, column) => {
                views.iter().for_each(|view| column.push_micros(get(view)));
            }
            Self::Name(get, names) => views.iter().for_each(|view| names.push(get(view))),
            Self::Word(get, words) => views.iter().for_each(|view| words.push(get(view))),
            Self::Key(get, heads, numbers) => {
                for key in views.iter().map(get) {
                    heads.push(key.map(|(head, _)| head));
                    numbers.push(key.and_then(|(_, number)| number).map(to_i64));
                }
            }
            Self::Text(get, column) => views.iter().for_each(|view| column.push(get(view))),
        }
    }

    pub(crate) fn finish(self, log: &ChunkLog) -> Column {
        match self {
            Self::Int(_, column) => Column::Int(column),
            Self::Micros(_, column) => Column::Float(column),
            Self::Name(_, names) => Column::Name(names.finish(log)),
            Self::Word(_, words) => Column::Name(words.finish()),
            Self::Key(_, heads, numbers) => {
                Column::Key(KeyColumn::from_parts(heads.finish(log), numbers))
            }
            Self::Text(_, column) => Column::Text(column),
        }
    }
}

fn ints(rows: usize) -> IntColumn {
    let mut column = IntColumn::default();
    column.expect_rows(rows);
    column
}

/// Few words as a column.
#[derive(Default)]
pub(crate) struct Words {
    codes: IntColumn,
    used: Vec<&'static str>,
}

impl Words {
    fn expecting(rows: usize) -> Self {
        Self { codes: ints(rows), used: Vec::new() }
    }

    pub(crate) fn expect_rows(&mut self, rows: usize) {
        self.codes.expect_rows(rows);
    }

    pub(crate) fn push(&mut self, word: &'static str) {
        let known = self.used.iter().position(|used| *used == word);
        let code = known.unwrap_or_else(|| {
            self.used.push(word);
            self.used.len() - 1
        });
        self.codes.push(i64::try_from(code).ok());
    }

    pub(crate) fn finish(self) -> NameColumn {
        NameColumn::from_codes(self.codes, self.used)
    }
}

/// Names of a log as a column with only those that it uses, in the order in which
/// it first does.
#[derive(Default)]
pub(crate) struct LogNames {
    codes: IntColumn,
    /// The log's numbers of the names used.
    used: Vec<u32>,
    /// By the log's numbers, what they are here.
    own: Vec<Option<u32>>,
}

impl LogNames {
    fn expecting(rows: usize) -> Self {
        Self { codes: ints(rows), ..Self::default() }
    }

    pub(crate) fn expect_rows(&mut self, rows: usize) {
        self.codes.expect_rows(rows);
    }

    #[inline]
    pub(crate) fn push(&mut self, name: Option<u32>) {
        let code = name.and_then(|name| self.own_code(name));
        self.codes.push(code.map(i64::from));
    }

    fn own_code(&mut self, name: u32) -> Option<u32> {
        let place = usize::try_from(name).ok()?;
        if self.own.len() <= place {
            self.own.resize(place + 1, None);
        }
        let slot = self.own.get_mut(place)?;
        if slot.is_none() {
            *slot = u32::try_from(self.used.len()).ok();
            self.used.push(name);
        }
        *slot
    }

    pub(crate) fn finish(self, log: &ChunkLog) -> NameColumn {
        let names = self.used.iter().map(|name| log.name_of(Some(*name)).unwrap_or_default());
        NameColumn::from_codes(self.codes, names)
    }
}

/// A column of names with only the names it uses.
pub(crate) fn named(log: &ChunkLog, mut codes: Vec<Option<u32>>) -> ColumnData {
    let mut own: Vec<Option<u32>> = vec![None; log.palettes.names.len()];
    let mut names: Vec<String> = Vec::new();
    for code in &mut codes {
        *code = code.and_then(|global| {
            let slot = own.get_mut(usize::try_from(global).ok()?)?;
            if slot.is_none() {
                names.push(log.name_of(Some(global))?.to_owned());
                *slot = u32::try_from(names.len() - 1).ok();
            }
            *slot
        });
    }
    ColumnData::Codes(codes, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_the_table_has_a_source() {
        let ours: Vec<&str> = CHUNK_COLUMNS.iter().map(|(name, _)| *name).collect();
        let table: Vec<&str> = Table::Chunks.columns().iter().map(|def| def.name).collect();
        assert_eq!(ours, table);
    }
}
