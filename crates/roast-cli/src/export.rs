//! `roastcoffea export`: a measurement in a format for other programs.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use roast_analyze::Metrics;
use roast_model::Measurement;
use roast_report::{ExportFormat, Part, Window, trace_bytes};

use crate::arguments::{ExportArguments, Format};
use crate::destination::{Directory, File};
use crate::failure::Failure;
use crate::interrupt::{Interrupts, Watched};
use crate::progress::Progress;
use crate::show;

/// Where standard output is meant.
pub(crate) const STDOUT: &str = "-";

/// More than this, browsers have trouble with.
const LARGE_TRACE_BYTES: f64 = 1e9;

/// What is being exported, and the watch over it.
struct Export<'e> {
    format: ExportFormat,
    measurement: &'e Measurement,
    metrics: &'e Metrics,
    interrupts: &'e Interrupts,
    progress: Progress,
}

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), Failure> {
    let format = format(arguments)?;
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
    if let ExportFormat::Trace(window) = format {
        check_window(window, &measurement)?;
        warn_of_size(window, &measurement)?;
    }
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

/// The format, with the part of the run that a trace shows.
fn format(arguments: &ExportArguments) -> Result<ExportFormat, Failure> {
    let window = match (arguments.from, arguments.until) {
        (None, None) => Window::ALL,
        (from, until) => Window { from_ns: ns(from.unwrap_or(0.0)), until_ns: until.map(ns) },
    };
    if window.until_ns.is_some_and(|until| until <= window.from_ns) {
        return Err(Failure::usage(
            "nothing lies between --from and --until".to_owned(),
            "both count seconds from the start of the run; --until is the later one".to_owned(),
        ));
    }
    match arguments.format {
        Format::Trace => Ok(ExportFormat::Trace(window)),
        _ if window != Window::ALL => Err(Failure::usage(
            "--from and --until choose the part of a run that a trace shows".to_owned(),
            "use them with --format trace; the other formats have the whole run".to_owned(),
        )),
        Format::Json => Ok(ExportFormat::Json),
        Format::Csv => Ok(ExportFormat::Csv),
        Format::Parquet => Ok(ExportFormat::Parquet),
    }
}

fn ns(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}

/// Refuses a window that lies behind the end of the run.
fn check_window(window: Window, measurement: &Measurement) -> Result<(), Failure> {
    let wall_secs = measurement.header.wall_secs;
    if window.from_ns as f64 >= wall_secs * 1e9 && window != Window::ALL {
        return Err(Failure::usage(
            format!("the run ended after {wall_secs:.1} seconds, before --from"),
            "--from counts seconds from the start of the run".to_owned(),
        ));
    }
    Ok(())
}

/// Says beforehand that a trace gets larger than its viewers can open.
fn warn_of_size(window: Window, measurement: &Measurement) -> anyhow::Result<()> {
    let bytes = trace_bytes(measurement, window);
    if bytes > LARGE_TRACE_BYTES {
        let note = format!(
            "note: the trace takes about {:.1} GB, and ui.perfetto.dev opens about 1 GB at most; \
             choose a part of the run with --from and --until, in seconds from its start\n",
            bytes / 1e9
        );
        anstream::stderr()
            .write_all(note.as_bytes())
            .context("could not write to standard error")?;
    }
    Ok(())
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
