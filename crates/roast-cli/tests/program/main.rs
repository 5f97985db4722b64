//! The built program on measurements saved by the store: output, exit codes and
//! what is left on disk.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod compare;
mod export;
mod help;
mod metrics;
mod report;
mod saved;
mod show;
mod simulate;
mod tables;
