//! What the program understands, and the help that teaches it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
  roastcoffea compare measurements/old measurements/new
  roastcoffea metrics cpu_efficiency               what a number means
  roastcoffea recover measurements                 what a killed run left behind
  roastcoffea simulate -o measurements             a run that never was, to try things on

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
    /// Write a measurement as one HTML page
    Report(ReportArguments),
    /// Write a measurement in a format for other programs
    Export(ExportArguments),
    /// Tell what changed from one run to others, and whether it is more than noise
    Compare(CompareArguments),
    /// Tell how throughput grows with cores, and what stops it
    Scaling(ScalingArguments),
    /// Explain the metrics
    Metrics(MetricsArguments),
    /// Explain the tables of a measurement
    Tables(TablesArguments),
    /// Make a measurement of what a killed run left behind
    Recover(RecoverArguments),
    /// Make a measurement of a run that never was, of any size
    Simulate(SimulateArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea tables                     every column in one line
  roastcoffea tables chunks              those of one table
  roastcoffea tables --format markdown   the reference page")]
pub(crate) struct TablesArguments {
    /// Name of the table to explain
    #[arg(value_name = "TABLE")]
    pub(crate) table: Option<String>,
    /// How to print the list of all tables
    #[arg(long, value_enum, conflicts_with = "table")]
    pub(crate) format: Option<ListFormat>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  roastcoffea simulate -o measurements                          a small, healthy run
  roastcoffea simulate -o measurements --preset failing --name trouble
  roastcoffea simulate -o measurements --workers 2000 --chunks 1000000 --hours 4 --name large
  roastcoffea simulate -o measurements --events 5000000 --chunksize 50000 --stragglers 2%

The same options and the same seed give the same measurement. It says in its notes and its
provenance that it is simulated.")]
pub(crate) struct SimulateArguments {
    /// Directory in which the measurement is made
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// What the measurement is called
    #[arg(long, default_value = "simulated")]
    pub(crate) name: String,
    /// What kind of run it is; the other options change it
    #[arg(long, value_enum, default_value = "healthy")]
    pub(crate) preset: Character,
    /// Workers that are there at the same time
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<u32>,
    /// Task threads of each worker
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Chunks to process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) chunks: Option<u64>,
    /// Events to process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) events: Option<u64>,
    /// Events of a chunk; not together with both --chunks and --events
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) chunksize: Option<u64>,
    /// Datasets
    #[arg(long, value_name = "N")]
    pub(crate) datasets: Option<u32>,
    /// Sections of the user's code in each chunk
    #[arg(long, value_name = "N")]
    pub(crate) sections: Option<u32>,
    /// About how long chunks are processed; changes what an event costs
    #[arg(long, value_name = "HOURS")]
    pub(crate) hours: Option<f64>,
    /// Seconds until the last worker has joined
    #[arg(long, value_name = "SECONDS")]
    pub(crate) ramp_up: Option<f64>,
    /// Mean seconds after which a worker is killed and replaced
    #[arg(long, value_name = "SECONDS")]
    pub(crate) worker_lifetime: Option<f64>,
    /// Attempts that fail, as 0.01 or 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) failures: Option<f64>,
    /// Attempts that take much longer, as 0.02 or 2%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) stragglers: Option<f64>,
    /// Chooses among runs that the model gives
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Replace an earlier measurement of this name
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Character {
    /// Nothing to complain about
    Healthy,
    /// Small chunks of wide trees: most time goes into opening them
    SetupDominated,
    /// Columns come slowly
    IoBound,
    /// A few chunks take so long that all wait for them at the end
    TailHeavy,
    /// Attempts on a few files fail, and workers are killed
    Failing,
}

/// A time from the start of a run, in seconds.
fn moment(text: &str) -> Result<f64, String> {
    let secs = text.parse::<f64>().map_err(|_| "write it in seconds, as 90 or 0.5".to_owned())?;
    if (0.0..=1e9).contains(&secs) { Ok(secs) } else { Err("it is a time in the run".to_owned()) }
}

/// A share, as a number from 0 to 1 or in percent.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let share = number.parse::<f64>().map_err(|_| "write it as 0.01 or as 1%".to_owned())? / unit;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("it is a share of all".to_owned()) }
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
  roastcoffea export measurements/ttbar -f trace                writes ttbar-trace.json
  roastcoffea export measurements/ttbar -f trace --from 600 --until 660

A trace opens in https://ui.perfetto.dev (which keeps it on your machine) or chrome://tracing.
Nothing that exists is replaced without --force, and then only an earlier export. An export that
fails or is interrupted leaves nothing behind.")]
pub(crate) struct ExportArguments {
    /// Directory of the measurement, as save_measurement() returned it
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// What to write
    #[arg(long, short, value_enum)]
    pub(crate) format: Format,
    /// Where to write: a file for json and trace (- is standard output), a directory for
    /// the others
    #[arg(long, short, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Where the trace begins, in seconds from the start of the run
    #[arg(long, value_name = "SECONDS", value_parser = moment, allow_negative_numbers = true)]
    pub(crate) from: Option<f64>,
    /// Where the trace ends, in seconds from the start of the run
    #[arg(long, value_name = "SECONDS", value_parser = moment, allow_negative_numbers = true)]
    pub(crate) until: Option<f64>,
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
    /// A timeline of every worker thread, to open in https://ui.perfetto.dev
    Trace,
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
