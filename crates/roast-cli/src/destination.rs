//! Where an export goes: a temporary sibling first, renamed when it is complete.
//! What is in the way is refused, or replaced if it is an earlier export and the
//! user says so.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use roast_model::Table;
use roast_store::{NewFile, NewFileError};
use tempfile::TempDir;

use crate::failure::Failure;

const PREFIX: &str = ".roastcoffea-";
const EXISTS_HINT: &str = "pass --force to replace it, or choose another place with -o";

/// A file being written.
#[derive(Debug)]
pub(crate) struct File {
    new: NewFile,
}

impl File {
    pub(crate) fn begin(path: &Path, force: bool) -> Result<Self, Failure> {
        NewFile::begin(path, force).map(|new| Self { new }).map_err(|error| {
            let hint = match &error {
                NewFileError::Directory { .. } => Some("name a file with -o"),
                NewFileError::Exists { .. } => Some(EXISTS_HINT),
                NewFileError::InMeasurement { .. } => Some("choose another place with -o"),
                _ => None,
            };
            Failure::from(anyhow::Error::new(error)).hint(hint.map(str::to_owned))
        })
    }

    pub(crate) fn writer(&self) -> &fs::File {
        self.new.writer()
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.new.finish().map_err(|error| Failure::from(anyhow::Error::new(error)))
    }
}

/// A directory being written.
#[derive(Debug)]
pub(crate) struct Directory {
    temporary: TempDir,
    path: PathBuf,
    replaces: bool,
}

impl Directory {
    /// Begins a directory of files that end in `extension`.
    pub(crate) fn begin(path: &Path, extension: &str, force: bool) -> Result<Self, Failure> {
        let replaces = match fs::symlink_metadata(path) {
            Err(_) => false,
            Ok(_) if !force => return Err(exists(path)),
            Ok(there) if !there.is_dir() => {
                return Err(refused(path, "is not a directory", "name a directory with -o"));
            }
            Ok(_) => {
                if let Some(stranger) = stranger_in(path, extension)? {
                    return Err(refused(
                        path,
                        &format!("holds more than an earlier export: {stranger}"),
                        "name another directory with -o, or remove this one yourself",
                    ));
                }
                true
            }
        };
        let temporary = builder(0o777)
            .tempdir_in(parent(path))
            .with_context(|| format!("could not write beside {}", path.display()))?;
        Ok(Self { temporary, path: path.to_owned(), replaces })
    }

    pub(crate) fn create(&self, name: &str) -> anyhow::Result<fs::File> {
        fs::File::create_new(self.temporary.path().join(name))
            .with_context(|| format!("could not create {name}"))
    }

    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { temporary, path, replaces } = self;
        let doing = || format!("could not finish {}", path.display());
        // Kept as a temporary directory, so that it goes away with it.
        let old = if replaces {
            let old = builder(0o700).tempdir_in(parent(&path)).with_context(doing)?;
            fs::rename(&path, old.path().join("old")).with_context(doing)?;
            Some(old)
        } else {
            None
        };
        let placed = fs::rename(temporary.path(), &path);
        if let (Err(_), Some(old)) = (&placed, &old) {
            fs::rename(old.path().join("old"), &path)
                .with_context(|| format!("could not put back {}", path.display()))?;
        }
        placed.with_context(doing)?;
        // It is no longer where it was made; nothing is left to clear away.
        let _ = temporary.keep();
        if let Some(old) = old {
            old.close().context("could not remove the earlier export")?;
        }
        Ok(())
    }
}

/// A file in the directory that no export of this kind would have written.
fn stranger_in(path: &Path, extension: &str) -> anyhow::Result<Option<String>> {
    let listing = || format!("could not list {}", path.display());
    let stems = Table::ALL.into_iter().map(Table::name).chain(["metrics"]);
    let ours: Vec<String> = stems.map(|stem| format!("{stem}.{extension}")).collect();
    for entry in fs::read_dir(path).with_context(listing)? {
        let entry = entry.with_context(listing)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_file = entry.file_type().with_context(listing)?.is_file();
        if !is_file || !ours.contains(&name) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Temporary names beside the destination, with the permissions that the user's
/// umask gives to anything new.
fn builder(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exists(path: &Path) -> Failure {
    refused(path, "exists already", EXISTS_HINT)
}

fn refused(path: &Path, why: &str, hint: &str) -> Failure {
    Failure::from(anyhow::anyhow!("{} {why}", path.display())).hint(Some(hint.to_owned()))
}
