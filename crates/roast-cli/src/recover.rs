//! `roastcoffea recover`: a measurement from what a killed run left behind.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use roast_analyze::analyze;
use roast_model::{Frame, Header, Measurement, Table, UtcNs, Value};
use roast_record::{ChunkLog, spooled_rows};
use roast_store::SaveOptions;

use crate::arguments::RecoverArguments;
use crate::failure::Failure;

const SPOOL_SUFFIX: &str = ".spool";
const SPOOL_HEADER: &str = "spool.json";
const ROWS_EXTENSION: &str = "rows";

pub(crate) fn run(arguments: &RecoverArguments) -> Result<(), Failure> {
    let spools = find_spools(&arguments.directory)?;
    if spools.is_empty() {
        return Err(Failure::from(anyhow!(
            "nothing to recover in {}",
            arguments.directory.display()
        ))
        .hint(Some(
            "a run that was killed leaves a hidden directory .NAME.spool in its output directory"
                .to_owned(),
        )));
    }
    for spool in spools {
        let (path, chunks) =
            recover(&spool).with_context(|| format!("could not recover {}", spool.display()))?;
        std::fs::remove_dir_all(&spool)
            .with_context(|| format!("could not remove {}", spool.display()))?;
        writeln!(std::io::stdout(), "{}: {chunks} chunks recovered", path.display())
            .context("could not print what was recovered")?;
    }
    Ok(())
}

/// The directory itself if it is a spool, else the spools in it.
fn find_spools(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if directory.join(SPOOL_HEADER).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("could not look into {}", directory.display()))?;
    let mut spools = Vec::new();
    for entry in entries {
        let path = entry.context("could not look into the directory")?.path();
        let named = path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with('.') && name.ends_with(SPOOL_SUFFIX)
        });
        if named && path.join(SPOOL_HEADER).is_file() {
            spools.push(path);
        }
    }
    spools.sort();
    Ok(spools)
}

fn recover(spool: &Path) -> anyhow::Result<(PathBuf, usize)> {
    let header = read_header(spool)?;
    let (log, damaged) = read_rows(spool)?;
    let measurement = measurement(header, &log, damaged)?;
    let Some(output_dir) = spool.parent() else { bail!("the spool has no parent directory") };
    let output_dir = if output_dir.as_os_str().is_empty() { Path::new(".") } else { output_dir };
    let name = measurement.header.name.clone();
    let path = roast_store::save(&measurement, output_dir, &name, SaveOptions::default())?;
    Ok((path, log.len()))
}

fn read_header(spool: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(spool.join(SPOOL_HEADER))
        .context("its description cannot be read")?;
    serde_json::from_str(&text).context("its description is damaged")
}

fn read_rows(spool: &Path) -> anyhow::Result<(ChunkLog, usize)> {
    let mut log = ChunkLog::new();
    let mut damaged = 0;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(spool)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == ROWS_EXTENSION)) {
        let data =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        for row in spooled_rows(&data) {
            match ChunkLog::from_bytes(row) {
                Ok(part) => log.merge(&part),
                Err(_) => damaged += 1,
            }
        }
    }
    Ok((log, damaged))
}

fn measurement(given: Value, log: &ChunkLog, damaged: usize) -> anyhow::Result<Measurement> {
    let text = |key: &str| {
        given
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| anyhow!("its description lacks {key:?}"))
    };
    let started = given
        .get("started_ns")
        .and_then(Value::as_i64)
        .map(UtcNs)
        .ok_or_else(|| anyhow!("its description lacks \"started_ns\""))?;
    let mut tables = BTreeMap::new();
    for builder in log.tables()? {
        tables.insert(builder.table(), builder.finish()?);
    }
    let last = tables
        .get(&Table::Chunks)
        .and_then(|chunks| Frame::new(chunks).times("stop").flatten().max())
        .unwrap_or(started);
    let mut notes = vec![
        "Recovered from the spool of a run that was killed: it ends with the last chunk that \
         arrived, and has no samples of workers, no task intervals, no spans and no report of \
         coffea."
            .to_owned(),
    ];
    if damaged > 0 {
        notes.push(format!("{damaged} chunk rows were damaged and left out."));
    }
    let wall_secs = last.secs_since(started).max(0.0);
    let header = Header {
        error: Some("the process that measured the run was killed".to_owned()),
        provenance: given.get("provenance").cloned().unwrap_or_default(),
        notes,
        ..Header::new(&text("id")?, &text("name")?, &text("backend")?, started, wall_secs)
    };
    let mut measurement = Measurement { header, tables };
    measurement.header.metrics = analyze(&measurement).into_value();
    Ok(measurement)
}
