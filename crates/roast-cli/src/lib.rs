//! The `roastcoffea` program: thin commands over the other crates. The same
//! [`run`] serves the binary and the entry point of the Python package.

mod arguments;
mod compare;
mod destination;
mod export;
mod fail_on;
mod failure;
mod findings;
mod hint;
mod interrupt;
mod metrics;
mod progress;
mod recover;
mod report;
mod scaling;
mod show;
mod simulate;
mod tables;
mod terminal;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

/// Runs the program with its arguments, its own name first, and returns the exit
/// code: 0 if all went well, 1 if something could not be read or written, 2 for
/// wrong usage, 3 if a comparison is worse than allowed, 130 if interrupted.
pub fn run(arguments: impl Iterator<Item = OsString>) -> u8 {
    let done = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => dispatch(&arguments.command),
        Err(message) => {
            // Help and version come this way too; clap knows which stream is theirs.
            return match message.print() {
                Err(error) if !failure::is_broken_pipe(&error) => failure::UNDONE,
                _ => u8::try_from(message.exit_code()).unwrap_or(failure::USAGE),
            };
        }
    };
    let code = match done {
        Ok(()) => 0,
        Err(failure) => failure.tell(),
    };
    match std::io::stdout().flush() {
        Err(error) if code == 0 && !failure::is_broken_pipe(&error) => {
            Failure::from(anyhow::Error::new(error).context("could not write to standard output"))
                .tell()
        }
        _ => code,
    }
}

fn dispatch(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show(arguments) => show::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Export(arguments) => export::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Scaling(arguments) => scaling::run(arguments),
        Command::Metrics(arguments) => metrics::run(arguments),
        Command::Tables(arguments) => tables::run(arguments),
        Command::Recover(arguments) => recover::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
    }
}
