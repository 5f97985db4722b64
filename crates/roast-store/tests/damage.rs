//! Whatever happens to the files: an error that names the part, or an equal
//! measurement; never a panic, never silently something else.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use roast_model::{Frame, Table, documented};
use roast_store::{SaveOptions, StoreError, load, read_header, save};
use tempfile::TempDir;

fn saved() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path =
        save(&common::small("run"), directory.path(), "run", SaveOptions::default()).unwrap();
    (directory, path)
}

fn assert_damaged(path: &Path, part: &str) {
    match load(path) {
        Err(StoreError::Damaged { part: named, .. }) => assert_eq!(named, part),
        other => panic!("{part}: {other:?}"),
    }
}

#[test]
fn damage_names_its_part() {
    let (_keep, path) = saved();
    let manifest = path.join("measurement.json");
    let ticks = common::table_path(&path, Table::Ticks);
    let (json, parquet) = (fs::read(&manifest).unwrap(), fs::read(&ticks).unwrap());

    fs::write(&ticks, &parquet[..parquet.len() / 2]).unwrap();
    assert_damaged(&path, "table ticks");
    let mut flipped = parquet.clone();
    flipped[parquet.len() / 2] ^= 1;
    fs::write(&ticks, &flipped).unwrap();
    assert_damaged(&path, "table ticks");
    fs::remove_file(&ticks).unwrap();
    assert_damaged(&path, "table ticks");
    fs::create_dir(&ticks).unwrap();
    assert_damaged(&path, "ticks.parquet");
    fs::remove_dir(&ticks).unwrap();
    fs::write(&ticks, &parquet).unwrap();

    fs::write(&manifest, &json[..json.len() / 2]).unwrap();
    assert_damaged(&path, "measurement.json");
    let digit = String::from_utf8(json.clone()).unwrap().replace("38.34", "38.35");
    fs::write(&manifest, digit).unwrap();
    assert_damaged(&path, "measurement.json");
    fs::remove_file(&manifest).unwrap();
    assert_damaged(&path, "measurement.json");
    fs::write(&manifest, &json).unwrap();
    load(&path).unwrap();
}

#[test]
fn wrong_row_counts_and_files_elsewhere_are_damage() {
    let (_keep, path) = saved();
    common::reseal(&path, |json| json["tables"]["ticks"]["rows"] = 51.into());
    assert_damaged(&path, "table ticks");
    common::reseal(&path, |json| json["tables"]["ticks"]["file"] = "../ticks.parquet".into());
    assert_damaged(&path, "measurement.json");
    common::reseal(&path, |json| json["tables"] = 3.into());
    assert_damaged(&path, "measurement.json");
}

#[test]
fn a_later_minor_version_is_read_and_a_later_major_refused() {
    let (_keep, path) = saved();
    common::reseal(&path, |json| {
        json["format"]["minor"] = 7.into();
        json["colour"] = "blue".into();
        json["tables"]["steps"] = json["tables"]["ticks"].clone();
        json["tables"]["steps"]["unit"] = "m".into();
    });
    assert_eq!(load(&path).unwrap(), common::small("run"));
    common::reseal(&path, |json| json["format"]["major"] = 2.into());
    let error = read_header(&path).unwrap_err();
    assert!(matches!(error, StoreError::NewerMajor { found_major: 2, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("2.7") && text.contains("1.x") && text.contains("upgrade"), "{text}");
}

#[test]
fn a_table_of_another_minor_version_gets_exactly_the_known_columns() {
    let (_keep, path) = saved();
    // The columns of `workers` are not those of `ticks`, except for `time`.
    let workers = fs::read(common::table_path(&path, Table::Workers)).unwrap();
    common::replace_table(&path, Table::Ticks, &workers);
    common::reseal(&path, |json| json["tables"]["ticks"]["rows"] = 0.into());
    let ticks = read_header(&path).unwrap().read_table(Table::Ticks).unwrap().unwrap();
    let as_documented = documented(Table::Ticks, &ticks).unwrap();
    assert_eq!(as_documented.schema(), Table::Ticks.schema());
    assert!(Frame::new(&ticks).is_empty());
}

#[test]
fn what_is_not_a_measurement_is_described() {
    let (keep, path) = saved();
    let message = |path: &Path| read_header(path).unwrap_err().to_string();
    let here = keep.path();
    assert!(message(here).contains("a directory of measurements (run)"), "{}", message(here));
    assert!(message(&here.join("nowhere")).contains("nothing to read"));
    fs::create_dir(here.join("empty")).unwrap();
    assert!(message(&here.join("empty")).contains("an empty directory"));
    fs::write(here.join("empty/notes.txt"), "x").unwrap();
    assert!(message(&here.join("empty")).contains("a directory with notes.txt"));
    assert!(message(&here.join("empty/notes.txt")).contains("a single file"));
    fs::write(here.join("empty/measurement.json"), "{\"format\": 1}").unwrap();
    assert!(message(&here.join("empty")).contains("does not name roastcoffea-measurement"));
    load(&path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn flips_and_cuts_never_go_unnoticed(
        file in prop::sample::select(vec!["measurement.json", "ticks.parquet", "workers.parquet"]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_keep, path) = saved();
        let mut bytes = fs::read(path.join(file)).unwrap();
        for (index, mask) in flips {
            *index.get_mut(&mut bytes) ^= mask;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(path.join(file), bytes).unwrap();
        if let Ok(measurement) = load(&path) {
            prop_assert_eq!(measurement, common::small("run"));
        }
    }

    #[test]
    fn nonsense_with_a_fitting_checksum_is_no_panic(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (_keep, path) = saved();
        let mut bytes = fs::read(common::table_path(&path, Table::Ticks)).unwrap();
        for (index, mask) in flips {
            *index.get_mut(&mut bytes) ^= mask;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        common::replace_table(&path, Table::Ticks, &bytes);
        if let Ok(measurement) = load(&path) {
            prop_assert_eq!(measurement.tables[&Table::Ticks].num_rows(), 50);
        }
    }
}
