//! A saved measurement, and the program run on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use roast_model::{ColumnData, Header, Measurement, Table, TableBuilder, UtcNs, Value};
use roast_store::SaveOptions;
use tempfile::TempDir;

/// A directory with the measurement `ttbar` in `runs/`, cleared away at the end.
pub(crate) struct Saved {
    pub(crate) root: TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Saved {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let runs = root.path().join("runs");
        std::fs::create_dir(&runs).unwrap();
        roast_store::save(&measurement(1), &runs, "ttbar", SaveOptions::default()).unwrap();
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(arguments);
        command.current_dir(self.root.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        outcome(self.command(arguments))
    }

    /// Every name in the directory, hidden ones included.
    pub(crate) fn entries(&self, directory: &str) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.path(directory))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roastcoffea"));
    command.args(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn outcome(mut command: Command) -> Outcome {
    let output = command.output().unwrap();
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The text with a directory of this machine taken out.
pub(crate) fn without(text: &str, directory: &Path) -> String {
    text.replace(&directory.display().to_string(), "ROOT")
}

/// A run with that many thousand chunks.
pub(crate) fn measurement(thousands: i64) -> Measurement {
    let start = 1_794_765_698_105_039_000;
    let rows = 0..thousands * 1000;
    let column = |make: &dyn Fn(i64) -> i64| {
        ColumnData::Ints(rows.clone().map(|row| Some(make(row))).collect())
    };
    let mut chunks = TableBuilder::new(Table::Chunks);
    chunks
        .append(vec![
            ("chunk_id".into(), column(&|row| row)),
            (
                "dataset".into(),
                ColumnData::Codes(rows.clone().map(|_| Some(0)).collect(), vec!["tt".into()]),
            ),
            ("num_events".into(), column(&|row| row % 77)),
            ("start".into(), column(&|row| start + row)),
        ])
        .unwrap();
    let mut ticks = TableBuilder::new(Table::Ticks);
    ticks
        .append(vec![
            ("time".into(), ColumnData::Ints(vec![Some(start), Some(start + 38_000_000_000)])),
            ("worker_count".into(), ColumnData::Ints(vec![Some(2), Some(2)])),
        ])
        .unwrap();
    let header = Header {
        report: Value::map([
            ("entries", Value::Int(2000)),
            ("bytesread", Value::Int(14_935_040)),
            ("processtime", Value::Float(5.08)),
            ("chunks", Value::Int(40)),
        ]),
        ..Header::new("0190", "ttbar", "dask", UtcNs(start), 38.342_809)
    };
    let tables = BTreeMap::from([
        (Table::Chunks, chunks.finish().unwrap()),
        (Table::Ticks, ticks.finish().unwrap()),
    ]);
    Measurement { header, tables }
}
