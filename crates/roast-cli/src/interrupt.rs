//! Ctrl-C while something is being written: noticed between writes, so that
//! what was begun can be cleared away. A second one ends the program at once.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use crate::progress::Progress;

/// The user or the system asked to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Listens for signals until dropped.
#[derive(Debug)]
pub(crate) struct Interrupts {
    flag: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Interrupts {
    pub(crate) fn listen() -> io::Result<Self> {
        let mut listening = Self { flag: Arc::default(), registered: Vec::new() };
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set by the first.
            let second = flag::register_conditional_default(signal, Arc::clone(&listening.flag))?;
            listening.registered.push(second);
            let first = flag::register(signal, Arc::clone(&listening.flag))?;
            listening.registered.push(first);
        }
        Ok(listening)
    }

    /// An error once a signal has come.
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        if self.flag.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}

/// A writer that stops once a signal has come, and shows that it goes on.
pub(crate) struct Watched<'w, W> {
    pub(crate) inner: W,
    pub(crate) interrupts: &'w Interrupts,
    pub(crate) progress: &'w Progress,
}

impl<W: Write> Write for Watched<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not of the kind `Interrupted`, which writers take as "try again".
        self.interrupts.check().map_err(io::Error::other)?;
        let written = self.inner.write(bytes)?;
        self.progress.wrote(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
