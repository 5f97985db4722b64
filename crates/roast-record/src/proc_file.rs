//! A file under `/proc` that is kept open and read again from its start, which
//! costs a fraction of opening it each time.

use std::fs::File;

/// One file of `/proc`; without it every number is missing.
#[derive(Debug)]
pub(crate) struct ProcFile {
    file: Option<File>,
    pid: u32,
}

impl ProcFile {
    /// Opens the file, if there is one.
    pub(crate) fn open(path: &str) -> Self {
        Self { file: File::open(path).ok(), pid: std::process::id() }
    }

    /// It was opened by the process this one was forked from, and tells of it.
    pub(crate) fn is_inherited(&self) -> bool {
        self.pid != std::process::id()
    }

    /// The number at that position among the words of the first line.
    pub(crate) fn number(&self, position: usize) -> Option<u64> {
        let mut buffer = [0_u8; 128];
        let length = read_start(self.file.as_ref()?, &mut buffer)?;
        let text = std::str::from_utf8(buffer.get(..length)?).ok()?;
        text.split_ascii_whitespace().nth(position)?.parse().ok()
    }
}

#[cfg(unix)]
fn read_start(file: &File, buffer: &mut [u8]) -> Option<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, 0).ok()
}

#[cfg(not(unix))]
fn read_start(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}
