//! The `roastcoffea` program, started from its Python entry point.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the program with the given words (its own name first) and returns its
/// exit code.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| roast_cli::run(words.into_iter()))
}

/// `release` or `debug`: a measurement of speed says which build it measured.
#[pyfunction]
pub(crate) fn build_profile() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}
