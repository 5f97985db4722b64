//! A line on standard error that shows how far reading or writing is; only on a
//! terminal, and only once it takes long enough for someone to wonder.

use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_secs(1);
const TURN: Duration = Duration::from_millis(200);

/// How far something is.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Of writing files.
    pub(crate) fn start() -> Self {
        Self::with_template("{spinner} writing {msg} {bytes}")
    }

    /// Of reading tables and making sense of them.
    pub(crate) fn reading() -> Self {
        Self::with_template("{spinner} {msg}")
    }

    fn with_template(template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        // A step may take long without a sign of life, so the line lives by itself.
        let waiting = bar.clone();
        thread::spawn(move || {
            thread::sleep(PATIENCE);
            if !waiting.is_finished() {
                // Stays hidden if standard error is not a terminal.
                waiting.set_draw_target(ProgressDrawTarget::stderr());
                waiting.enable_steady_tick(TURN);
            }
        });
        Self { bar }
    }

    /// A new file or step has begun.
    pub(crate) fn file(&self, name: &str) {
        self.bar.set_message(name.to_owned());
    }

    /// More bytes have been written.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.bar.inc(bytes as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
