//! Standard output as it is: how wide, and whether colours arrive.

use std::io::Stdout;

use anstream::{AutoStream, ColorChoice};
use terminal_size::{Width, terminal_size_of};

use crate::arguments::When;

/// Columns to fill when standard output is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// The terminal's width, or a readable one for pipes and files.
pub(crate) fn width() -> usize {
    match terminal_size_of(std::io::stdout()) {
        Some((Width(columns), _)) if columns > 0 => usize::from(columns),
        _ => DEFAULT_WIDTH,
    }
}

/// Standard output that takes colours out unless they are wanted.
pub(crate) fn output(when: When) -> AutoStream<Stdout> {
    let choice = match when {
        When::Auto => AutoStream::choice(&std::io::stdout()),
        When::Always => ColorChoice::Always,
        When::Never => ColorChoice::Never,
    };
    AutoStream::new(std::io::stdout(), choice)
}
