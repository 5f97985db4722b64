//! Saving never leaves a half, and never destroys what it did not write.
#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use roast_model::{Measurement, Table, TableBuilder, Value};
use roast_store::{SaveOptions, StoreError, check_writable, load, save};

const OVERWRITE: SaveOptions = SaveOptions { overwrite: true };

fn plain(measurement: &Measurement, directory: &Path, name: &str) -> Result<(), StoreError> {
    save(measurement, directory, name, SaveOptions::default()).map(|_| ())
}

#[test]
fn a_taken_name_is_refused_unless_told_otherwise() {
    let directory = tempfile::tempdir().unwrap();
    let old = common::small("old");
    plain(&old, directory.path(), "run").unwrap();
    let new = Measurement { tables: Default::default(), ..common::small("new") };
    let error = plain(&new, directory.path(), "run").unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert!(error.to_string().contains("choose another name or pass overwrite"), "{error}");
    assert_eq!(load(&directory.path().join("run")).unwrap(), old);
    let path = save(&new, directory.path(), "run", OVERWRITE).unwrap();
    assert_eq!(load(&path).unwrap(), new);
    assert_eq!(common::names_in(&path), ["measurement.json"]);
    assert_eq!(common::names_in(directory.path()), ["run"]);
}

#[test]
fn an_empty_directory_of_that_name_is_not_silently_replaced() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("run")).unwrap();
    let error = plain(&common::small("run"), directory.path(), "run").unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
}

#[test]
fn overwriting_spares_what_is_not_a_measurement() {
    let directory = tempfile::tempdir().unwrap();
    let measurement = common::small("run");
    let refused = |name: &str, expected: &str| {
        let before = fs::symlink_metadata(directory.path().join(name)).unwrap().file_type();
        let error = save(&measurement, directory.path(), name, OVERWRITE).unwrap_err();
        assert!(matches!(error, StoreError::WouldDestroy { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(check_writable(directory.path(), Some(name), true).is_err());
        assert_eq!(fs::symlink_metadata(directory.path().join(name)).unwrap().file_type(), before);
    };
    fs::create_dir(directory.path().join("thesis")).unwrap();
    fs::write(directory.path().join("thesis/chapter.tex"), "text").unwrap();
    refused("thesis", "chapter.tex");
    fs::write(directory.path().join("file"), "text").unwrap();
    refused("file", "not a directory");
    plain(&measurement, directory.path(), "run").unwrap();
    fs::write(directory.path().join("run/plot.png"), "pixels").unwrap();
    refused("run", "plot.png in it besides the measurement");
    fs::remove_file(directory.path().join("run/plot.png")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("run", directory.path().join("link")).unwrap();
        refused("link", "not a directory");
    }
    // A damaged one may be replaced.
    fs::write(directory.path().join("run/measurement.json"), "{").unwrap();
    save(&measurement, directory.path(), "run", OVERWRITE).unwrap();
    assert_eq!(load(&directory.path().join("run")).unwrap(), measurement);
}

#[test]
fn a_save_that_fails_midway_leaves_nothing_and_keeps_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let good = common::small("run");
    let mut wrong_table = good.clone();
    let chunks = TableBuilder::new(Table::Chunks).finish().unwrap();
    wrong_table.tables.insert(Table::Workers, chunks);
    let mut too_deep = good.clone();
    too_deep.header.metrics = (0..200).fold(Value::None, |inner, _| Value::List(vec![inner]));
    let mut not_a_number = good.clone();
    not_a_number.header.wall_secs = f64::NAN;
    for bad in [&wrong_table, &too_deep, &not_a_number] {
        let error = plain(bad, directory.path(), "new").unwrap_err();
        assert!(matches!(error, StoreError::Unstorable { .. }), "{error}");
        assert_eq!(common::names_in(directory.path()), Vec::<String>::new());
    }
    plain(&good, directory.path(), "run").unwrap();
    save(&too_deep, directory.path(), "run", OVERWRITE).unwrap_err();
    assert_eq!(common::names_in(directory.path()), ["run"]);
    assert_eq!(load(&directory.path().join("run")).unwrap(), good);
}

#[test]
fn concurrent_saves_under_one_name_leave_one_whole_measurement() {
    let directory = tempfile::tempdir().unwrap();
    let saved = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let output_dir = directory.path();
                scope.spawn(move || plain(&common::small(&number.to_string()), output_dir, "run"))
            })
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap().ok()).count()
    });
    assert_eq!(saved, 1);
    assert_eq!(common::names_in(directory.path()), ["run"]);
    load(&directory.path().join("run")).unwrap();
}

#[test]
fn what_cannot_be_written_is_found_out_beforehand() {
    let directory = tempfile::tempdir().unwrap();
    let fresh = directory.path().join("a/b");
    check_writable(&fresh, Some("run"), false).unwrap();
    assert_eq!(common::names_in(&fresh), Vec::<String>::new());
    plain(&common::small("run"), &fresh, "run").unwrap();
    let error = check_writable(&fresh, Some("run"), false).unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    check_writable(&fresh, Some("run"), true).unwrap();
    check_writable(&fresh, None, false).unwrap();
    let error = check_writable(&fresh, Some("../run"), false).unwrap_err();
    assert!(matches!(error, StoreError::BadName { .. }), "{error}");
    assert_eq!(common::names_in(&fresh), ["run"]);
    let below_a_file = fresh.join("run/measurement.json/x");
    let error = check_writable(&below_a_file, None, false).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().ends_with("measurement.json/x"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_takes_no_files_is_an_error_with_its_path() {
    // Not even root can create anything here.
    let error = plain(&common::small("run"), Path::new("/proc/self"), "run").unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().ends_with("/proc/self"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_full_disk_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mount = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).arg(directory.path()).output();
        status.is_ok_and(|output| output.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=16k", "tmpfs"]) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let mut large = common::small("large");
    large.header.notes = vec!["x".repeat(100_000)];
    let result = plain(&large, directory.path(), "large");
    let left = common::names_in(directory.path());
    assert!(mount("umount", &[]));
    assert!(matches!(result, Err(StoreError::Io { .. })), "{result:?}");
    assert_eq!(left, Vec::<String>::new());
}
