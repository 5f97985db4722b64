//! What can go wrong with a measurement directory, in words that say what to do
//! next.

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::Shortage;

/// A measurement could not be saved or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is nothing at the path.
    #[error("there is nothing to read here; check the path: {}", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is something, but it is not a measurement.
    #[error("not a measurement but {found}; give the directory of one measurement: {}", path.display())]
    NotAMeasurement {
        /// What is there instead.
        found: String,
        /// Where.
        path: PathBuf,
    },
    /// A later roastcoffea wrote it, in a format this one cannot read.
    #[error(
        "written in format {found_major}.{found_minor}, but this roastcoffea reads up to \
         {known_major}.x; upgrade roastcoffea to read it: {}", path.display()
    )]
    NewerMajor {
        /// The major version found.
        found_major: u64,
        /// The minor version found.
        found_minor: u64,
        /// The newest major version that can be read.
        known_major: u64,
        /// The file that says so.
        path: PathBuf,
    },
    /// A part of the measurement is missing or has changed since it was saved.
    #[error("{part} is damaged ({why}); restore it from a copy or measure again: {}", path.display())]
    Damaged {
        /// The table or file.
        part: String,
        /// What is wrong with it.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// The name is taken.
    #[error("there is a measurement of that name already; choose another name or pass overwrite: {}", path.display())]
    Exists {
        /// The directory that is in the way.
        path: PathBuf,
    },
    /// Overwriting would destroy something that roastcoffea did not write.
    #[error("not overwritten, because there is {found}; move it away or choose another name: {}", path.display())]
    WouldDestroy {
        /// What is there.
        found: String,
        /// Where.
        path: PathBuf,
    },
    /// The name cannot be the name of a directory.
    #[error(
        "{name:?} cannot name a measurement because it {why}; use 1 to 200 bytes without path \
         separators or control characters, not starting with a dot"
    )]
    BadName {
        /// The name as given.
        name: String,
        /// Which rule it breaks.
        why: &'static str,
    },
    /// The measurement itself holds something that could not be read back.
    #[error("{part} cannot be saved because {why}")]
    Unstorable {
        /// The table or header field.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// Reading it would need more memory than there is.
    #[error(
        "{part} is too large: {shortage}; read fewer tables or rows at a time, for example with \
         DuckDB or polars: {}", path.display()
    )]
    TooLarge {
        /// The table, or all of them.
        part: String,
        /// How much is lacking.
        shortage: Shortage,
        /// Where it is.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{doing} failed: {source}; check permissions and free space: {}", path.display())]
    Io {
        /// What was being done.
        doing: String,
        /// To which file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl StoreError {
    /// For `map_err` on a call to the operating system.
    pub(crate) fn io(doing: impl Into<String>, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let (doing, path) = (doing.into(), path.to_owned());
        move |source| Self::Io { doing, path, source }
    }

    pub(crate) fn damaged(part: impl Into<String>, why: impl Into<String>, path: &Path) -> Self {
        Self::Damaged { part: part.into(), why: why.into(), path: path.to_owned() }
    }
}
