//! Small measurements for the tests.

use std::collections::BTreeMap;

use roast_model::{ColumnData, Header, Measurement, Table, TableBuilder, UtcNs, Value};

pub(crate) const START: i64 = 1_794_765_736_000_000_000;

/// A run of that many wall seconds of which nothing else is known.
pub(crate) fn bare(wall_secs: f64) -> Measurement {
    let header = Header {
        id: "0".into(),
        name: "test".into(),
        started: UtcNs(START),
        wall_secs,
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
    };
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
    measurement.tables.insert(Table::Ticks, builder.build().unwrap());
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
    measurement.tables.insert(Table::Workers, builder.build().unwrap());
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

fn at(secs: f64) -> i64 {
    UtcNs(START).after_secs(secs).0
}
