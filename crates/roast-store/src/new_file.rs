//! A file that people asked for, such as a report: written beside its place and
//! renamed when it is complete, never over something without leave, and never
//! into a measurement.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::import_original::ORIGINAL_FILES;
use crate::manifest::MANIFEST_FILE;

const PREFIX: &str = ".roastcoffea-";

/// A file could not be written where it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewFileError {
    /// The name is taken by a directory.
    #[error("{} is a directory", path.display())]
    Directory {
        /// Where.
        path: PathBuf,
    },
    /// The name is taken.
    #[error("{} exists already", path.display())]
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// A measurement's directory holds the measurement and nothing else.
    #[error("{} would be inside of a measurement, which holds nothing else", path.display())]
    InMeasurement {
        /// Where.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// A file being written; dropped before [`NewFile::finish`], it leaves nothing.
#[derive(Debug)]
pub struct NewFile {
    temporary: NamedTempFile,
    path: PathBuf,
    overwrite: bool,
}

impl NewFile {
    /// Makes sure that the file can be written, and begins it.
    pub fn begin(path: &Path, overwrite: bool) -> Result<Self, NewFileError> {
        let path = path.to_owned();
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => return Err(NewFileError::Directory { path }),
            Ok(_) if !overwrite => return Err(NewFileError::Exists { path }),
            _ => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let has = |file: &str| parent.join(file).is_file();
        if has(MANIFEST_FILE) || (has(ORIGINAL_FILES[0]) && has(ORIGINAL_FILES[1])) {
            return Err(NewFileError::InMeasurement { path });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // What the user's umask leaves of this, as for anything new.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        match builder.tempfile_in(parent) {
            Ok(temporary) => Ok(Self { temporary, path, overwrite }),
            Err(source) => Err(NewFileError::Io { doing: "write beside", path, source }),
        }
    }

    /// What to write to.
    pub fn writer(&self) -> &fs::File {
        self.temporary.as_file()
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), NewFileError> {
        let Self { temporary, path, overwrite } = self;
        let placed = temporary.as_file().sync_all().and_then(|()| {
            let placed = if overwrite {
                temporary.persist(&path)
            } else {
                temporary.persist_noclobber(&path)
            };
            placed.map(drop).map_err(|error| error.error)
        });
        placed.map_err(|source| NewFileError::Io { doing: "finish", path, source })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn entries(directory: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.html");
        let begun = NewFile::begin(&path, false).unwrap();
        begun.writer().write_all(b"half").unwrap();
        drop(begun);
        assert!(entries(folder.path()).is_empty());
        let file = NewFile::begin(&path, false).unwrap();
        file.writer().write_all(b"whole").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert!(matches!(NewFile::begin(&path, false), Err(NewFileError::Exists { .. })));
        NewFile::begin(&path, true).unwrap().finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
        assert_eq!(entries(folder.path()), ["run.html"]);
    }

    #[test]
    fn a_measurement_and_a_directory_are_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("run.html");
        assert!(matches!(NewFile::begin(folder.path(), true), Err(NewFileError::Directory { .. })));
        fs::write(folder.path().join(MANIFEST_FILE), "{}").unwrap();
        assert!(matches!(NewFile::begin(&inside, true), Err(NewFileError::InMeasurement { .. })));
        let nowhere = folder.path().join("no/such/run.html");
        let error = NewFile::begin(&nowhere, false).unwrap_err();
        assert!(matches!(error, NewFileError::Io { .. }), "{error}");
    }
}
