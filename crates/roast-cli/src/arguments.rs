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
  roastcoffea export measurements/ttbar -f csv     its tables, for a spreadsheet
  roastcoffea compare measurements/old measurements/new
  roastcoffea metrics cpu_efficiency               what a number means
  roastcoffea recover measurements                 what a killed run left behind

Exit codes:
  0    all went well
  1    something asked for could not be read or written (missing, damaged, in the way)
  2    wrong usage
  3    compare --fail-on: something is worse than allowed
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
    /// Write a measurement in a format for other programs
    Export(ExportArguments),
    /// Tell what changed from one run to others, and whether it is more than noise
    Compare(CompareArguments),
    /// Tell how throughput grows with cores, and what stops it
    Scaling(ScalingArguments),
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
  roastcoffea compare measurements/old measurements/new
  roastcoffea compare measurements/old measurements/new --fail-on worse:5%
  roastcoffea compare measurements/old measurements/new -f markdown -o changes.md

A number is better or worse only beyond its noise: what chance does to chunks (drawn again and
again, seeded), and what the machine does (waiting for cores, and the time that parsing the same
trees took). Chunks that both runs have are compared pair by pair.

With --fail-on, the exit code is 3 if something is worse than allowed.")]
pub(crate) struct CompareArguments {
    /// Directory of the measurement to compare with
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,
    /// Directories of the measurements in question
    #[arg(value_name = "NEW", required = true)]
    pub(crate) new: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FindingsOutput,
    /// Show what stayed the same, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Fail if anything is worse beyond noise (worse), by more than a limit (worse:5%), or if one
    /// metric is (wall_time:5%), then even where its noise is not known; may be repeated
    #[arg(long, value_name = "LIMIT")]
    pub(crate) fail_on: Vec<String>,
    /// Seed of the draws; the same seed gives the same result
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea scaling measurements/cores-*
  roastcoffea scaling measurements/cores-* -f json | jq .serial_fraction")]
pub(crate) struct ScalingArguments {
    /// Directories of two or more measurements of different sizes
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: FindingsOutput,
}

/// How and where findings are written.
#[derive(Debug, Args)]
pub(crate) struct FindingsOutput {
    /// What to write
    #[arg(long, short, value_enum, default_value = "text")]
    pub(crate) format: FindingsKind,
    /// File to write to (- is standard output)
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsKind {
    /// For a terminal
    Text,
    /// For a comment on a change, or a page
    Markdown,
    /// Every row, for other programs
    Json,
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
