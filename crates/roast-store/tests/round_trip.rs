//! What is loaded equals what was saved.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;

use proptest::prelude::*;
use roast_model::{ColumnData, Frame, Measurement, Table, TableBuilder, documented};
use roast_store::{SaveOptions, load, read_header, save};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_measurement_comes_back_equal(
        measurement in common::any_measurement(),
        name in common::any_name(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = save(&measurement, directory.path(), &name, SaveOptions::default()).unwrap();
        let back = load(&path).unwrap();
        prop_assert_eq!(&back, &measurement);
        for (table, batch) in &back.tables {
            prop_assert_eq!(documented(*table, batch).unwrap().schema(), table.schema());
        }
        prop_assert_eq!(common::names_in(directory.path()), vec![name]);
    }
}

#[test]
fn a_recorded_empty_table_is_not_a_missing_one() {
    let directory = tempfile::tempdir().unwrap();
    let measurement = common::small("run");
    let path = save(&measurement, directory.path(), "run", SaveOptions::default()).unwrap();
    let stored = read_header(&path).unwrap();
    assert_eq!(stored.table_names(), ["ticks", "workers"]);
    assert_eq!(stored.row_count(Table::Workers), Some(0));
    assert_eq!(stored.read_table(Table::Workers).unwrap().unwrap().num_rows(), 0);
    assert_eq!(stored.row_count(Table::Tasks), None);
    assert!(stored.read_table(Table::Tasks).unwrap().is_none());
    assert_eq!((stored.start_end, stored.is_imported()), (None, false));
    assert_eq!(stored.path, path);
}

#[test]
fn the_json_file_may_be_given_instead_of_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path =
        save(&common::small("run"), directory.path(), "run", SaveOptions::default()).unwrap();
    let stored = read_header(&path.join("measurement.json")).unwrap();
    assert_eq!(stored.path, path);
}

#[test]
fn one_table_is_read_without_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let path =
        save(&common::small("run"), directory.path(), "run", SaveOptions::default()).unwrap();
    fs::remove_file(common::table_path(&path, Table::Workers)).unwrap();
    let stored = read_header(&path).unwrap();
    assert_eq!(stored.read_table(Table::Ticks).unwrap().unwrap().num_rows(), 50);
    assert!(stored.read_table(Table::Workers).is_err());
}

#[test]
fn several_row_groups_come_back_as_one_batch_with_one_dictionary() {
    let rows: u32 = 300_000;
    let mut builder = TableBuilder::new(Table::Tasks);
    // Different names in different row groups.
    let codes = (0..rows).map(|row| Some(row / 1000)).collect();
    let names = (0..rows / 1000).map(|code| format!("worker-{code}")).collect();
    let times = (0..i64::from(rows)).map(Some).collect();
    builder
        .append(vec![
            ("worker".into(), ColumnData::Codes(codes, names)),
            ("start".into(), ColumnData::Ints(times)),
        ])
        .unwrap();
    let batch = builder.finish().unwrap();
    let measurement =
        Measurement { header: common::header("wide"), tables: [(Table::Tasks, batch)].into() };
    let directory = tempfile::tempdir().unwrap();
    let path = save(&measurement, directory.path(), "wide", SaveOptions::default()).unwrap();
    let back = load(&path).unwrap();
    assert_eq!(back, measurement);
    let frame = Frame::new(back.table(Table::Tasks).unwrap());
    assert_eq!(frame.names("worker").last().unwrap(), Some("worker-299"));
}

#[test]
fn the_manifest_is_stable_and_readable_by_people() {
    let directory = tempfile::tempdir().unwrap();
    let text = |name: &str| {
        let path =
            save(&common::small("run"), directory.path(), name, SaveOptions::default()).unwrap();
        fs::read_to_string(path.join("measurement.json")).unwrap()
    };
    let first = text("a");
    assert_eq!(first, text("b"));
    let json: serde_json::Value = serde_json::from_str(&first).unwrap();
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys[..3], ["format", "id", "name"]);
    assert_eq!(keys[keys.len() - 2..], ["tables", "crc32"]);
    assert_eq!(json["format"]["name"], "roastcoffea-measurement");
    assert_eq!(json["tables"]["ticks"]["file"], "ticks.parquet");
    assert_eq!(json["tables"]["ticks"]["rows"], 50);
    assert!(first.starts_with("{\n  \"format\": {\n    \"name\""), "{first}");
}
