//! What the program understands, and the help that teaches it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use roast_report::ExportFormat;

/// Shows where the time of a coffea run went.
#[derive(Debug, Parser)]
#[command(
    name = "roastcoffea",
    version,
    about = "Read, explain and export measurements of coffea runs",
    after_help = "\
Examples:
  roastcoffea show measurements/ttbar              the summary of a run
  roastcoffea report measurements/ttbar            the same as a page to look at: ttbar.html
  roastcoffea export measurements/ttbar -f csv     its tables, for a spreadsheet
  roastcoffea metrics cpu_efficiency               what a number means
  roastcoffea recover measurements                 what a killed run left behind

Exit codes:
  0    all went well
  1    something asked for could not be read or written (missing, damaged, in the way)
  2    wrong usage
  130  interrupted"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the summary of a measurement
    Show(ShowArguments),
    /// Write a measurement as one HTML page
    Report(ReportArguments),
    /// Write a measurement in a format for other programs
    Export(ExportArguments),
    /// Explain the metrics
    Metrics(MetricsArguments),
    /// Make a measurement of what a killed run left behind
    Recover(RecoverArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea recover measurements                 every killed run of that directory
  roastcoffea recover measurements/.ttbar.spool    one of them

A collector with an output directory writes chunk rows to a spool as they arrive. The spool is
removed once its rows are in a measurement.")]
pub(crate) struct RecoverArguments {
    /// Output directory of the run, or the spool itself
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea show measurements/ttbar
  roastcoffea show measurements/ttbar --json | jq .cpu_efficiency
  roastcoffea show measurements/ttbar --color always | less -R")]
pub(crate) struct ShowArguments {
    /// Directory of the measurement, as save_measurement() returned it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print the metrics as JSON instead
    #[arg(long)]
    pub(crate) json: bool,
    /// Columns to fill, from 40 to 200; the terminal's if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(40..=200))]
    pub(crate) width: Option<u16>,
    /// When to use colours; auto means on a terminal and without NO_COLOR set
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea report measurements/ttbar                 writes ttbar.html
  roastcoffea report measurements/ttbar -o talk.html
  roastcoffea report measurements/ttbar -o - | gzip > ttbar.html.gz

The page is one file that loads nothing from elsewhere. Nothing that exists is replaced without
--force, and a report that fails or is interrupted leaves nothing behind.")]
pub(crate) struct ReportArguments {
    /// Directory of the measurement, as save_measurement() returned it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Where to write, outside of the measurement's own directory (- is standard output)
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace what is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea export measurements/ttbar -f json                 writes ttbar.json
  roastcoffea export measurements/ttbar -f json -o - | jq keys  to another program
  roastcoffea export measurements/ttbar -f csv                  writes the directory ttbar-csv
  roastcoffea export measurements/ttbar -f parquet -o tables

Nothing that exists is replaced without --force, and then only an earlier export. An export that
fails or is interrupted leaves nothing behind.")]
pub(crate) struct ExportArguments {
    /// Directory of the measurement, as save_measurement() returned it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// What to write
    #[arg(long, short, value_enum)]
    pub(crate) format: Format,
    /// Where to write: a file for json (- is standard output), a directory for the others
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an earlier export
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Everything in one document, in the layout of the original tool
    Json,
    /// One file per table, and metrics.csv
    Csv,
    /// One file per table
    Parquet,
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Json => Self::Json,
            Format::Csv => Self::Csv,
            Format::Parquet => Self::Parquet,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea metrics                    every metric in one line
  roastcoffea metrics core_efficiency    one metric, by key or alias
  roastcoffea metrics --format markdown  the reference page")]
pub(crate) struct MetricsArguments {
    /// Key or alias of the metric to explain
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// How to print the list of all metrics
    #[arg(long, value_enum, conflicts_with = "key")]
    pub(crate) format: Option<ListFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For a terminal
    Text,
    /// The page of reference
    Markdown,
}
