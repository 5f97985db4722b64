//! `roastcoffea show`: the summary of a measurement.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use roast_analyze::{Metrics, analyze};
use roast_model::{Header, Measurement, Table};
use roast_report::{Renderer, Report, write_summary};
use roast_store::StoreError;

use crate::arguments::ShowArguments;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{hint, terminal};

pub(crate) fn run(arguments: &ShowArguments) -> Result<(), Failure> {
    let (measurement, metrics) = load(&arguments.directory)?;
    if arguments.json {
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

/// Reads a measurement and computes its metrics. What an import knows without
/// having the data for it is kept.
pub(crate) fn load(directory: &Path) -> Result<(Measurement, Metrics), Failure> {
    let progress = Progress::reading();
    let measurement = read(directory, &progress).map_err(|error| unreadable(error, directory))?;
    progress.file("computing the metrics");
    let metrics = analyze(&measurement).or_stored(&measurement.header.metrics);
    Ok((measurement, metrics))
}

/// Reads what is known once per run, without the tables.
pub(crate) fn header(directory: &Path) -> Result<Header, Failure> {
    roast_store::read_header(directory)
        .map(|stored| stored.header)
        .map_err(|error| unreadable(error, directory))
}

fn unreadable(error: StoreError, directory: &Path) -> Failure {
    Failure::from(anyhow::Error::new(error).context("could not read the measurement"))
        .hint(hint::for_path(directory))
}

/// Reads table by table, so that one sees that it goes on.
fn read(directory: &Path, progress: &Progress) -> Result<Measurement, StoreError> {
    let stored = roast_store::read_header(directory)?;
    let mut tables = BTreeMap::new();
    for table in Table::ALL {
        progress.file(&format!("reading {table}"));
        if let Some(rows) = stored.read_table(table)? {
            tables.insert(table, rows);
        }
    }
    Ok(Measurement { header: stored.header, tables })
}
