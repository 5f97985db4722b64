//! The `roastcoffea` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(roast_cli::run(std::env::args_os()))
}
