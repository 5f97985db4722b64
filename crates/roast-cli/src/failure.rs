//! How commands end when they cannot do what was asked: the message on standard
//! error with its causes and a hint, and the exit code.

use std::error::Error;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use roast_report::ExportError;

use crate::interrupt::Interrupted;

/// Something asked for could not be read or written.
pub(crate) const UNDONE: u8 = 1;
/// Wrong usage.
pub(crate) const USAGE: u8 = 2;
/// A comparison is worse than allowed.
const WORSE: u8 = 3;
/// Interrupted, as shells have it: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: anyhow::Error,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// The arguments make no sense.
    pub(crate) fn usage(message: String, hint: String) -> Self {
        Self { error: anyhow::Error::msg(message), hint: Some(hint), code: USAGE }
    }

    /// What was compared is worse than allowed, in these ways.
    pub(crate) fn worse(rows: String) -> Self {
        let error = anyhow::anyhow!("worse than allowed\n  {rows}");
        Self { error, hint: None, code: WORSE }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Tells the user, and gives the exit code. A reader that has gone away wants
    /// no message: it has what it wanted.
    pub(crate) fn tell(&self) -> u8 {
        let mut causes = self.error.chain();
        if causes.any(|cause| io_error(cause).is_some_and(is_broken_pipe)) {
            return 0;
        }
        let interrupted = self.error.chain().any(|cause| {
            cause.is::<Interrupted>()
                || io_error(cause)
                    .and_then(io::Error::get_ref)
                    .is_some_and(|inner| inner.is::<Interrupted>())
        });
        // With nowhere to tell it, the exit code has to do.
        let _ = if interrupted {
            writeln!(anstream::stderr(), "{ERROR}interrupted{ERROR:#} before it was complete")
        } else {
            self.write(&mut anstream::stderr())
        };
        if interrupted { INTERRUPTED } else { self.code }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut said = self.error.to_string();
        writeln!(out, "{ERROR}error{ERROR:#}: {said}")?;
        for cause in self.error.chain().skip(1) {
            let text = cause.to_string();
            // Some messages include their cause already.
            if !said.contains(&text) {
                writeln!(out, "  because: {text}")?;
                said = text;
            }
        }
        if let Some(hint) = &self.hint {
            writeln!(out, "{HINT}hint{HINT:#}: {hint}")?;
        }
        Ok(())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self { error, hint: None, code: UNDONE }
    }
}

pub(crate) fn is_broken_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// The I/O error that a cause is or wraps.
fn io_error<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    match cause.downcast_ref::<ExportError>() {
        Some(ExportError::Write(error)) => Some(error),
        _ => cause.downcast_ref(),
    }
}
