//! Where each column of the `chunks` table comes from in a row. Tables and the
//! rows that users see are both made from this list, so they agree.

use roast_model::{
    Column, ColumnData, ColumnKind, IntColumn, KeyColumn, NameColumn, Table, UtcNs, Value,
};

use crate::chunk_log::ChunkLog;
use crate::kinds::ChunkPhase;
use crate::log_tables::SetNumbers;
use crate::order::Ranked;
use crate::palettes::{Place, Source};
use crate::row::{Reading, Row, Times};

/// A row with all that its columns are made from.
pub(crate) struct View<'a> {
    pub(crate) log: &'a ChunkLog,
    pub(crate) row: &'a Row,
    pub(crate) ranked: Ranked,
    pub(crate) chunk_id: i64,
    /// What branch sets have in the table of branch sets.
    pub(crate) numbers: &'a SetNumbers,
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

impl View<'_> {
    fn phase(&self, phase: ChunkPhase) -> Times {
        self.row.phase(phase)
    }

    fn reading(&self) -> Option<Reading> {
        self.row.reading
    }

    pub(crate) fn source(&self) -> Source {
        self.log.palettes.sources.get(self.row.source).copied().unwrap_or_default()
    }

    fn place(&self) -> Place {
        self.log.palettes.places.get(self.row.place).copied().unwrap_or_default()
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
    ("dataset", Get::Name(|view| view.source().dataset)),
    ("file", Get::Name(|view| view.source().file)),
    ("uuid", Get::Name(|view| view.source().uuid)),
    ("tree", Get::Name(|view| view.source().tree)),
    ("entry_start", Get::Int(|view| view.row.entry_start)),
    ("entry_stop", Get::Int(|view| view.row.entry_stop)),
    ("num_events", Get::Int(|view| view.row.num_events)),
    ("worker", Get::Name(|view| view.place().worker)),
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
    ("host", Get::Name(|view| view.place().host)),
    ("thread", Get::Int(|view| view.place().thread.map(to_i64))),
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

/// A column that grows by batches of rows.
pub(crate) enum Growing {
    /// Anything but names of the log.
    Plain(Column),
    Names(LogNames),
    Keys(LogNames, IntColumn),
}

impl Growing {
    /// A column that is to have so many rows.
    pub(crate) fn new(kind: ColumnKind, get: Get, rows: usize) -> Self {
        let mut growing = match get {
            Get::Name(_) => Self::Names(LogNames::default()),
            Get::Key(_) => Self::Keys(LogNames::default(), IntColumn::default()),
            _ => Self::Plain(Column::new(kind)),
        };
        match &mut growing {
            Self::Plain(column) => column.expect_rows(rows),
            Self::Names(names) => names.expect_rows(rows),
            Self::Keys(heads, numbers) => {
                heads.expect_rows(rows);
                numbers.expect_rows(rows);
            }
        }
        growing
    }

    pub(crate) fn extend(&mut self, get: Get, views: &[View<'_>]) {
        match (self, get) {
            (Self::Plain(Column::Int(column)), Get::Int(get)) => {
                column.extend(views.iter().map(get));
            }
            (Self::Plain(Column::Float(column)), Get::Micros(get)) => {
                column.extend_micros(views.iter().map(get));
            }
            (Self::Plain(Column::Name(column)), Get::Word(get)) => {
                column.extend(views.iter().map(|view| Some(get(view))));
            }
            (Self::Plain(Column::Text(column)), Get::Text(get)) => {
                views.iter().for_each(|view| column.push(get(view)));
            }
            (Self::Keys(heads, numbers), Get::Key(get)) => {
                heads.extend(views.iter().map(|view| get(view).map(|(head, _)| head)));
                numbers.extend(views.iter().map(|view| get(view)?.1.map(to_i64)));
            }
            (Self::Names(names), Get::Name(get)) => names.extend(views.iter().map(get)),
            // The pairs above are all there are: `new` made the column.
            (Self::Plain(column), _) => column.extend_missing(views.len()),
            (Self::Names(names), _) => names.extend(views.iter().map(|_| None)),
            (Self::Keys(heads, numbers), _) => {
                heads.extend(views.iter().map(|_| None));
                numbers.extend_missing(views.len());
            }
        }
    }

    pub(crate) fn finish(self, log: &ChunkLog) -> Column {
        match self {
            Self::Plain(column) => column,
            Self::Names(names) => Column::Name(names.finish(log)),
            Self::Keys(heads, numbers) => {
                Column::Key(KeyColumn::from_parts(heads.finish(log), numbers))
            }
        }
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
    pub(crate) fn expect_rows(&mut self, rows: usize) {
        self.codes.expect_rows(rows);
    }

    pub(crate) fn extend(&mut self, names: impl Iterator<Item = Option<u32>>) {
        let Self { codes, used, own } = self;
        codes.extend(names.map(|name| {
            let name = name?;
            let place = usize::try_from(name).ok()?;
            if own.len() <= place {
                own.resize(place + 1, None);
            }
            let slot = own.get_mut(place)?;
            if slot.is_none() {
                *slot = u32::try_from(used.len()).ok();
                used.push(name);
            }
            slot.map(i64::from)
        }));
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
