//! `roastcoffea show`: the summary of a measurement.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use roast_analyze::Metrics;
use roast_model::{Header, Measurement, Table};
use roast_report::{Renderer, Report, write_summary};
use roast_store::{StoreError, Stored};

use crate::arguments::ShowArguments;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{hint, terminal};

/// What analysing needs beside the tables, in tables.
const WORKING_ROOM: f64 = 1.25;

pub(crate) fn run(arguments: &ShowArguments) -> Result<(), Failure> {
    let (measurement, metrics) = load_or_stored(&arguments.directory)?;
    if arguments.json {
        let metrics = metrics.with_files(&measurement);
        return write_summary(&measurement.header, &metrics, &mut std::io::stdout().lock())
            .context("could not print the metrics")
            .map_err(Failure::from);
    }
    let width = arguments.width.map_or_else(terminal::width, usize::from);
    let report = Report::new(&measurement.header, &metrics);
    let text = Renderer::Text { width, color: true }.render(&report);
    terminal::output(arguments.color)
        .write_all(text.as_bytes())
        .context("could not print the summary")
        .map_err(Failure::from)
}

/// Reads a measurement and its metrics, which are computed if another version saved it.
pub(crate) fn load(directory: &Path) -> Result<(Measurement, Metrics), Failure> {
    load_with(directory, Metrics::of)
}

/// Reads a measurement and computes its metrics, so that those of several runs have
/// one definition, whichever versions saved them.
pub(crate) fn load_computed(directory: &Path) -> Result<(Measurement, Metrics), Failure> {
    load_with(directory, Metrics::computed)
}

fn load_with(
    directory: &Path,
    metrics_of: fn(&Measurement) -> Metrics,
) -> Result<(Measurement, Metrics), Failure> {
    let unreadable = |error| unreadable(error, directory);
    let stored = roast_store::read_header(directory).map_err(unreadable)?;
    stored.check_memory(WORKING_ROOM).map_err(unreadable)?;
    let progress = Progress::reading();
    let measurement = read(stored, &progress).map_err(unreadable)?;
    progress.file("computing the metrics");
    let metrics = metrics_of(&measurement);
    Ok((measurement, metrics))
}

/// The same; but where the tables do not fit in memory, the metrics are those that
/// the measurement was saved with, and there are no tables.
fn load_or_stored(directory: &Path) -> Result<(Measurement, Metrics), Failure> {
    let stored =
        roast_store::read_header(directory).map_err(|error| unreadable(error, directory))?;
    match stored.check_memory(WORKING_ROOM) {
        Err(StoreError::TooLarge { shortage, .. }) if !stored.header.metrics.is_none() => {
            let note = format!(
                "note: {shortage}; these are the metrics that the measurement was saved with\n"
            );
            anstream::stderr()
                .write_all(note.as_bytes())
                .context("could not write to standard error")?;
            let metrics = Metrics::stored(&stored.header.metrics);
            Ok((Measurement { header: stored.header, tables: BTreeMap::new() }, metrics))
        }
        _ => load(directory),
    }
}

/// Reads what is known once per run, without the tables.
pub(crate) fn header(directory: &Path) -> Result<Header, Failure> {
    roast_store::read_header(directory)
        .map(|stored| stored.header)
        .map_err(|error| unreadable(error, directory))
}

fn unreadable(error: StoreError, directory: &Path) -> Failure {
    let hint = match &error {
        StoreError::TooLarge { .. } => Some(
            "go to a machine with more memory, or give this one's share to it; `roastcoffea show` \
             needs no tables"
                .to_owned(),
        ),
        _ => hint::for_path(directory),
    };
    Failure::from(anyhow::Error::new(error).context("could not read the measurement")).hint(hint)
}

/// Reads table by table, so that one sees that it goes on.
fn read(stored: Stored, progress: &Progress) -> Result<Measurement, StoreError> {
    let mut tables = BTreeMap::new();
    for table in Table::ALL {
        progress.file(&format!("reading {table}"));
        if let Some(rows) = stored.read_table(table)? {
            tables.insert(table, rows);
        }
    }
    Ok(Measurement { header: stored.header, tables })
}
