//! Random measurements, and small ones, for the tests of this crate.
#![allow(dead_code, clippy::unwrap_used, reason = "shared by test programs that use parts of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use roast_model::{
    ColumnData, ColumnKind, Header, Measurement, Phase, Table, TableBuilder, UtcNs, Value,
};
use serde_json::Value as Json;

pub(crate) fn header(name: &str) -> Header {
    Header {
        id: "0192-abc".into(),
        name: name.into(),
        started: UtcNs(1_794_765_698_105_039_123),
        wall_secs: 38.342_809_366_999_97,
        backend: "dask".into(),
        error: None,
        provenance: Value::map([("coffea", Value::from("2026.9.0"))]),
        report: Value::map([("entries", Value::Int(2000)), ("rate", Value::Float(f64::NAN))]),
        custom_metrics: Value::None,
        spans: Value::Map(vec![(
            Value::Tuple(vec![Value::from("execute"), Value::from("P")]),
            Value::Float(0.1 + 0.2),
        )]),
        span_completeness: Some(1.0),
        processor_prefixes: vec!["P".into()],
        phases: vec![Phase { name: "process".into(), start: UtcNs(1), stop: UtcNs(2), items: 40 }],
        tracking_extra: Value::None,
        notes: vec!["nothing is missing".into()],
        metrics: Value::map([("wall_time", Value::Float(38.34))]),
    }
}

/// Ticks with rows, workers without any, the rest not recorded.
pub(crate) fn small(name: &str) -> Measurement {
    let mut ticks = TableBuilder::new(Table::Ticks);
    let times = (0..50).map(|second| Some(1_794_765_698_000_000_000 + second * 1_000_000_007));
    ticks
        .append(vec![
            ("time".into(), ColumnData::Ints(times.collect())),
            ("worker_count".into(), ColumnData::Ints(vec![Some(2); 50])),
        ])
        .unwrap();
    let tables = BTreeMap::from([
        (Table::Ticks, ticks.finish().unwrap()),
        (Table::Workers, TableBuilder::new(Table::Workers).finish().unwrap()),
    ]);
    Measurement { header: header(name), tables }
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        Just(Value::Float(f64::NEG_INFINITY)),
        Just(Value::BigInt("123456789012345678901234567890".into())),
        "\\PC{0,12}".prop_map(Value::Str),
        any::<i64>().prop_map(|ns| Value::Time(UtcNs(ns))),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            items.clone().prop_map(Value::List),
            items.prop_map(Value::Tuple),
            prop::collection::btree_map("[$]?[a-z\"\\\\]{0,6}", inner.clone(), 0..4)
                .prop_map(Value::map),
            inner.clone().prop_map(|item| Value::Set(vec![item])),
            inner.prop_map(|item| Value::Map(vec![(Value::Tuple(vec![]), item)])),
        ]
    })
}

pub(crate) fn any_header() -> impl Strategy<Value = Header> {
    let texts = prop::collection::vec("\\PC{0,10}", 0..3);
    let finite = prop::num::f64::NORMAL | prop::num::f64::ZERO;
    let once = ("\\PC{1,10}", any::<i64>(), finite, prop::option::of("\\PC{0,9}"));
    let values = (any_value(), any_value(), any_value(), any_value(), any_value(), any_value());
    (once, values, prop::option::of(finite), texts.clone(), texts, any::<(i64, i64, i64)>())
        .prop_map(|(once, values, span_completeness, processor_prefixes, notes, phase)| Header {
            id: once.0.clone(),
            name: once.0,
            started: UtcNs(once.1),
            wall_secs: once.2,
            backend: "local".into(),
            error: once.3,
            provenance: values.0,
            report: values.1,
            custom_metrics: values.2,
            spans: values.3,
            span_completeness,
            processor_prefixes,
            phases: vec![Phase {
                name: "preprocess".into(),
                start: UtcNs(phase.0),
                stop: UtcNs(phase.1),
                items: phase.2,
            }],
            tracking_extra: values.4,
            notes,
            metrics: values.5,
        })
}

fn any_column(kind: ColumnKind, rows: usize) -> BoxedStrategy<ColumnData> {
    match kind {
        ColumnKind::Time | ColumnKind::Int => {
            prop::collection::vec(any::<Option<i64>>(), rows).prop_map(ColumnData::Ints).boxed()
        }
        ColumnKind::Float => prop::collection::vec(
            prop::option::of(any::<f64>().prop_filter("NaN is not equal", |x| !x.is_nan())),
            rows,
        )
        .prop_map(ColumnData::Floats)
        .boxed(),
        ColumnKind::Key => {
            prop::collection::vec(prop::option::of("[ab]-[0-9]{1,3}|[a-c→-]{0,2}|\\PC{0,9}"), rows)
                .prop_map(ColumnData::Texts)
                .boxed()
        }
        ColumnKind::Name | ColumnKind::Text => {
            prop::collection::vec(prop::option::of("[a-c→]{0,2}|\\PC{0,9}"), rows)
                .prop_map(ColumnData::Texts)
                .boxed()
        }
    }
}

pub(crate) fn any_table(table: Table) -> impl Strategy<Value = arrow_array::RecordBatch> {
    (0_usize..12).prop_flat_map(move |rows| {
        let columns: Vec<_> =
            table.columns().iter().map(|column| any_column(column.kind, rows)).collect();
        columns.prop_map(move |columns| {
            let names = table.columns().iter().map(|column| column.name.to_owned());
            let mut builder = TableBuilder::new(table);
            builder.append(names.zip(columns).collect()).unwrap();
            builder.finish().unwrap()
        })
    })
}

pub(crate) fn any_measurement() -> impl Strategy<Value = Measurement> {
    let tables: Vec<_> =
        Table::ALL.into_iter().map(|table| prop::option::of(any_table(table))).collect();
    (any_header(), tables).prop_map(|(header, batches)| Measurement {
        header,
        tables: Table::ALL
            .into_iter()
            .zip(batches)
            .filter_map(|(table, batch)| Some((table, batch?)))
            .collect(),
    })
}

pub(crate) fn any_name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_ éß漢→-][a-zA-Z0-9_. éß漢→-]{0,20}"
        .prop_filter("blank", |name| !name.trim().is_empty())
}

/// The names in a directory, hidden ones included.
pub(crate) fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Changes the manifest and gives it a checksum that fits again.
pub(crate) fn reseal(measurement: &Path, change: impl FnOnce(&mut Json)) {
    let path = measurement.join("measurement.json");
    let mut json: Json = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    json.as_object_mut().unwrap().shift_remove("crc32");
    change(&mut json);
    let text = serde_json::to_string_pretty(&json).unwrap();
    let covered = format!("{},\n  ", text.strip_suffix("\n}").unwrap());
    let crc32 = crc32fast::hash(covered.as_bytes());
    fs::write(&path, format!("{covered}\"crc32\": \"{crc32:08x}\"\n}}\n")).unwrap();
}

/// Replaces a table's file and makes the manifest agree with it.
pub(crate) fn replace_table(measurement: &Path, table: Table, bytes: &[u8]) {
    fs::write(table_path(measurement, table), bytes).unwrap();
    reseal(measurement, |json| {
        let entry = &mut json["tables"][table.name()];
        entry["bytes"] = bytes.len().into();
        entry["crc32"] = format!("{:08x}", crc32fast::hash(bytes)).into();
    });
}

pub(crate) fn table_path(measurement: &Path, table: Table) -> PathBuf {
    measurement.join(format!("{table}.parquet"))
}
