//! `roastcoffea export`: a measurement in a format for other programs.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use roast_analyze::Metrics;
use roast_model::Measurement;
use roast_report::{ExportFormat, Part};

use crate::arguments::{ExportArguments, Format};
use crate::destination::{Directory, File};
use crate::failure::Failure;
use crate::interrupt::{Interrupts, Watched};
use crate::progress::Progress;
use crate::show;

/// Where standard output is meant.
pub(crate) const STDOUT: &str = "-";

/// What is being exported, and the watch over it.
struct Export<'e> {
    format: ExportFormat,
    measurement: &'e Measurement,
    metrics: &'e Metrics,
    interrupts: &'e Interrupts,
    progress: Progress,
}

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Failure> {
    let format = ExportFormat::from(arguments.format);
    let to_stdout = arguments.output.as_deref().map(Path::as_os_str) == Some(OsStr::new(STDOUT));
    if to_stdout && matches!(arguments.format, Format::Csv | Format::Parquet) {
        return Err(Failure::usage(
            format!("{} consists of several files", format.extension()),
            "name a directory with -o, or use --format json or trace for standard output"
                .to_owned(),
        ));
    }
    let interrupts = Interrupts::listen().context("could not listen for signals")?;
    let (measurement, metrics) = show::load(&arguments.directory)?;
    let export = Export {
        format,
        measurement: &measurement,
        metrics: &metrics,
        interrupts: &interrupts,
        progress: Progress::start(),
    };
    if to_stdout {
        export.part(Part::Whole, std::io::stdout().lock())?;
        return Ok(());
    }
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => default_output(&measurement.header.name, arguments.format),
    };
    match arguments.format {
        Format::Json | Format::Trace => export.file(&output, arguments.force)?,
        Format::Csv | Format::Parquet => export.directory(&output, arguments.force)?,
    }
    drop(export);
    writeln!(std::io::stdout(), "{}", output.display())
        .context("could not print where it was written")
        .map_err(Failure::from)
}

impl Export<'_> {
    fn file(&self, path: &Path, force: bool) -> Result<(), Failure> {
        let file = File::begin(path, force)?;
        self.part(Part::Whole, file.writer())?;
        file.finish()
    }

    fn directory(&self, path: &Path, force: bool) -> Result<(), Failure> {
        let directory = Directory::begin(path, self.format.extension(), force)?;
        for part in self.format.parts(self.measurement) {
            let name = self.format.file_name(part);
            self.part(part, directory.create(&name)?)?;
        }
        self.interrupts.check().map_err(anyhow::Error::new)?;
        directory.finish()
    }

    fn part(&self, part: Part, out: impl Write) -> anyhow::Result<()> {
        let name = self.format.file_name(part);
        self.interrupts.check()?;
        self.progress.file(&name);
        let watched = Watched { inner: out, interrupts: self.interrupts, progress: &self.progress };
        let mut out = BufWriter::new(watched);
        self.format
            .write(part, self.measurement, self.metrics, &mut out)
            .with_context(|| format!("could not write {name}"))?;
        out.flush().with_context(|| format!("could not write {name}"))
    }
}

/// `<name>.json`, `<name>-trace.json`, `<name>-csv` or `<name>-parquet` where the
/// program was started.
fn default_output(name: &str, format: Format) -> PathBuf {
    let stem = roast_store::file_stem(name);
    PathBuf::from(match format {
        Format::Json => format!("{stem}.json"),
        Format::Csv => format!("{stem}-csv"),
        Format::Parquet => format!("{stem}-parquet"),
        Format::Trace => format!("{stem}-trace.json"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use roast_model::{Header, Table, TableBuilder, UtcNs};

    use super::*;

    fn measurement() -> Measurement {
        let header = Header::new("0", "run", "local", UtcNs(0), 1.0);
        let ticks = TableBuilder::new(Table::Ticks).finish().unwrap();
        Measurement { header, tables: BTreeMap::from([(Table::Ticks, ticks)]) }
    }

    #[test]
    fn an_interrupt_leaves_no_file_and_no_directory() {
        let folder = tempfile::tempdir().unwrap();
        let measurement = measurement();
        let metrics = roast_analyze::analyze(&measurement);
        let interrupts = Interrupts::listen().unwrap();
        let export = |format| Export {
            format,
            measurement: &measurement,
            metrics: &metrics,
            interrupts: &interrupts,
            progress: Progress::start(),
        };
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        export(ExportFormat::Json).file(&folder.path().join("kept.json"), false).unwrap();
        signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
        let file = export(ExportFormat::Json).file(&folder.path().join("x.json"), false);
        assert_eq!(file.unwrap_err().tell(), 130);
        for format in [ExportFormat::Csv, ExportFormat::Parquet] {
            let directory = export(format).directory(&folder.path().join("x"), false);
            assert_eq!(directory.unwrap_err().tell(), 130);
        }
        assert_eq!(entries(), 1);
    }
}
