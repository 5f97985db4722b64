//! Small measurements for the tests.

use std::collections::BTreeMap;

use roast_model::{
    ColumnData, ColumnKind, Header, Measurement, Phase, Table, TableBuilder, UtcNs, Value,
};

pub(crate) const START: i64 = 1_794_765_736_000_000_000;

/// A run of that many wall seconds of which nothing else is known.
pub(crate) fn bare(wall_secs: f64) -> Measurement {
    let header = Header::new("0", "test", "dask", UtcNs(START), wall_secs);
    Measurement { header, tables: BTreeMap::new() }
}

pub(crate) fn add_ticks(measurement: &mut Measurement, ticks: &[(f64, i64)]) {
    let mut builder = TableBuilder::new(Table::Ticks);
    builder
        .append(vec![
            ("time".into(), ColumnData::Ints(ticks.iter().map(|t| Some(at(t.0))).collect())),
            ("worker_count".into(), ColumnData::Ints(ticks.iter().map(|t| Some(t.1)).collect())),
        ])
        .unwrap();
    measurement.tables.insert(Table::Ticks, builder.finish().unwrap());
}

/// A row of the `workers` table, times in seconds from the start.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) worker: String,
    pub(crate) host: Option<String>,
    pub(crate) time: f64,
    pub(crate) until: f64,
    pub(crate) samples: i64,
    pub(crate) memory: Option<i64>,
    pub(crate) limit: Option<i64>,
    pub(crate) cpu: Option<f64>,
    pub(crate) threads: Option<i64>,
    pub(crate) spilled: Option<i64>,
    pub(crate) net_read: Option<f64>,
}

impl Row {
    pub(crate) fn new(worker: &str, time: f64, until: f64, samples: i64) -> Self {
        Self {
            worker: worker.into(),
            host: Some("h".into()),
            time,
            until,
            samples,
            memory: None,
            limit: None,
            cpu: None,
            threads: None,
            spilled: None,
            net_read: None,
        }
    }
}

pub(crate) fn add_workers(measurement: &mut Measurement, rows: &[Row]) {
    let ints = |get: &dyn Fn(&Row) -> Option<i64>| ColumnData::Ints(rows.iter().map(get).collect());
    let floats =
        |get: &dyn Fn(&Row) -> Option<f64>| ColumnData::Floats(rows.iter().map(get).collect());
    let mut builder = TableBuilder::new(Table::Workers);
    builder
        .append(vec![
            (
                "worker".into(),
                ColumnData::Texts(rows.iter().map(|r| Some(r.worker.clone())).collect()),
            ),
            ("host".into(), ColumnData::Texts(rows.iter().map(|r| r.host.clone()).collect())),
            ("time".into(), ints(&|r| Some(at(r.time)))),
            ("until".into(), ints(&|r| Some(at(r.until)))),
            ("samples".into(), ints(&|r| Some(r.samples))),
            ("memory_bytes".into(), ints(&|r| r.memory)),
            ("memory_limit_bytes".into(), ints(&|r| r.limit)),
            ("cpu_percent".into(), floats(&|r| r.cpu)),
            ("threads".into(), ints(&|r| r.threads)),
            ("spilled_bytes".into(), ints(&|r| r.spilled)),
            ("host_net_read_bps".into(), floats(&|r| r.net_read)),
        ])
        .unwrap();
    measurement.tables.insert(Table::Workers, builder.finish().unwrap());
}

pub(crate) fn span(entries: &[(&str, &str, &str, Value)]) -> Value {
    Value::Map(
        entries
            .iter()
            .map(|(prefix, activity, unit, amount)| {
                let key = ["execute", prefix, activity, unit].map(Value::from);
                (Value::Tuple(key.to_vec()), amount.clone())
            })
            .collect(),
    )
}

/// Adds a table of which only these columns are known.
pub(crate) fn add_table(
    measurement: &mut Measurement,
    table: Table,
    columns: Vec<(&str, ColumnData)>,
) {
    let mut builder = TableBuilder::new(table);
    builder
        .append(columns.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
        .unwrap();
    measurement.tables.insert(table, builder.finish().unwrap());
}

pub(crate) fn texts(words: impl IntoIterator<Item = Option<String>>) -> ColumnData {
    ColumnData::Texts(words.into_iter().collect())
}

/// A row of the `tasks` table, times in seconds from the start.
#[derive(Clone, Debug)]
pub(crate) struct TaskRow {
    pub(crate) worker: String,
    pub(crate) prefix: String,
    pub(crate) action: String,
    pub(crate) outcome: String,
    pub(crate) start: f64,
    pub(crate) stop: f64,
}

/// A task that computed and succeeded.
pub(crate) fn task(worker: &str, prefix: &str, start: f64, stop: f64) -> TaskRow {
    TaskRow {
        worker: worker.into(),
        prefix: prefix.into(),
        action: "compute".into(),
        outcome: "memory".into(),
        start,
        stop,
    }
}

pub(crate) fn add_tasks(measurement: &mut Measurement, rows: &[TaskRow]) {
    let words = |get: fn(&TaskRow) -> &str| texts(rows.iter().map(|r| Some(get(r).to_owned())));
    let times = |get: fn(&TaskRow) -> f64| {
        ColumnData::Ints(rows.iter().map(|r| Some(at(get(r)))).collect())
    };
    add_table(
        measurement,
        Table::Tasks,
        vec![
            ("worker", words(|r| &r.worker)),
            ("prefix", words(|r| &r.prefix)),
            ("action", words(|r| &r.action)),
            ("outcome", words(|r| &r.outcome)),
            ("start", times(|r| r.start)),
            ("stop", times(|r| r.stop)),
        ],
    );
}

/// A row of the `chunks` table: times in seconds from the start, and any other
/// columns of seconds, whole numbers and names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkRow {
    pub(crate) worker: String,
    pub(crate) span: Option<(f64, f64)>,
    pub(crate) names: Vec<(&'static str, String)>,
    pub(crate) ints: Vec<(&'static str, i64)>,
    pub(crate) secs: Vec<(&'static str, f64)>,
}

pub(crate) fn chunk(worker: &str, start: f64, stop: f64) -> ChunkRow {
    ChunkRow { worker: worker.into(), span: Some((start, stop)), ..ChunkRow::default() }
}

impl ChunkRow {
    pub(crate) fn name(mut self, column: &'static str, name: &str) -> Self {
        self.names.push((column, name.into()));
        self
    }

    pub(crate) fn int(mut self, column: &'static str, number: i64) -> Self {
        self.ints.push((column, number));
        self
    }

    pub(crate) fn secs(mut self, column: &'static str, secs: f64) -> Self {
        self.secs.push((column, secs));
        self
    }

    /// The entries of a file.
    pub(crate) fn entries(self, file: &str, start: i64, stop: i64) -> Self {
        self.name("file", file).int("entry_start", start).int("entry_stop", stop)
    }
}

pub(crate) fn add_chunks(measurement: &mut Measurement, rows: &[ChunkRow]) {
    fn find<T: Clone>(cells: &[(&str, T)], name: &str) -> Option<T> {
        cells.iter().find(|(column, _)| *column == name).map(|(_, cell)| cell.clone())
    }
    let columns = Table::Chunks
        .columns()
        .iter()
        .map(|column| {
            let name = column.name;
            let span = |get: fn((f64, f64)) -> f64| {
                ColumnData::Ints(rows.iter().map(|r| r.span.map(|span| at(get(span)))).collect())
            };
            let data = match (name, column.kind) {
                ("worker", _) => {
                    texts(rows.iter().map(|r| (!r.worker.is_empty()).then(|| r.worker.clone())))
                }
                ("start", _) => span(|span| span.0),
                ("stop", _) => span(|span| span.1),
                (_, ColumnKind::Float) => {
                    ColumnData::Floats(rows.iter().map(|r| find(&r.secs, name)).collect())
                }
                (_, ColumnKind::Int | ColumnKind::Time) => {
                    ColumnData::Ints(rows.iter().map(|r| find(&r.ints, name)).collect())
                }
                _ => texts(rows.iter().map(|r| find(&r.names, name))),
            };
            (name, data)
        })
        .collect();
    add_table(measurement, Table::Chunks, columns);
}

/// Ticks every second up to that one; tasks wait up to the other.
pub(crate) fn add_second_ticks(measurement: &mut Measurement, last: i64, waiting_until: i64) {
    let seconds: Vec<i64> = (0..=last).collect();
    let ints = |get: &dyn Fn(i64) -> i64| {
        ColumnData::Ints(seconds.iter().map(|second| Some(get(*second))).collect())
    };
    add_table(
        measurement,
        Table::Ticks,
        vec![
            ("time", ints(&|second| at(second as f64))),
            ("tasks_waiting", ints(&|second| i64::from(second <= waiting_until))),
        ],
    );
}

pub(crate) fn phase(name: &str, start: f64, stop: f64) -> Phase {
    Phase { name: name.into(), start: UtcNs(at(start)), stop: UtcNs(at(stop)), items: 1 }
}

pub(crate) fn at(secs: f64) -> i64 {
    UtcNs(START).after_secs(secs).0
}
