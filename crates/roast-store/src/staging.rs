//! A hidden directory beside the destination, in which a measurement is written
//! before it appears under its name. Whatever ends the writing early, the hidden
//! directory goes away with it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::StoreError;

/// A directory that nobody sees yet.
pub(crate) struct Staging {
    directory: TempDir,
    output_dir: PathBuf,
}

impl Staging {
    /// Creates it inside `output_dir`, which is created if need be.
    pub(crate) fn new(output_dir: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(output_dir)
            .map_err(StoreError::io("creating the output directory", output_dir))?;
        let directory = hidden(output_dir)?;
        Ok(Self { directory, output_dir: output_dir.to_owned() })
    }

    /// Writes one file through to the disk.
    pub(crate) fn write(&self, file_name: &str, content: &[u8]) -> Result<(), StoreError> {
        let path = self.directory.path().join(file_name);
        let write = || {
            let mut file = File::create_new(&path)?;
            file.write_all(content)?;
            file.sync_all()
        };
        write().map_err(StoreError::io(format!("writing {file_name}"), &self.output_dir))
    }

    /// Gives it its name, which must be free.
    pub(crate) fn publish(self, destination: &Path) -> Result<(), StoreError> {
        self.sync()?;
        rename_to_free_name(self.directory.path(), destination).map_err(|error| {
            match error.kind() {
                io::ErrorKind::AlreadyExists
                | io::ErrorKind::DirectoryNotEmpty
                | io::ErrorKind::NotADirectory => {
                    StoreError::Exists { path: destination.to_owned() }
                }
                _ => StoreError::io("moving the measurement into place", destination)(error),
            }
        })?;
        // It has moved: there is nothing left to remove under the hidden name.
        let _moved_away = self.directory.keep();
        sync_directory(&self.output_dir)
    }

    /// Puts it in the place of the measurement at `destination`, which is removed
    /// afterwards.
    pub(crate) fn replace(self, destination: &Path) -> Result<(), StoreError> {
        self.sync()?;
        let old = match exchange(self.directory.path(), destination) {
            Ok(()) => self.directory,
            Err(error) if is_unsupported(&error) => {
                let aside = hidden(&self.output_dir)?;
                let old = rename_aside(self.directory.path(), destination, aside)?;
                let _moved_away = self.directory.keep();
                old
            }
            Err(error) => {
                return Err(StoreError::io("moving the measurement into place", destination)(
                    error,
                ));
            }
        };
        sync_directory(&self.output_dir)?;
        let leftover = old.path().to_owned();
        old.close().map_err(StoreError::io(
            "the new measurement is saved, but removing the old one",
            &leftover,
        ))
    }

    /// Removes it, and says so if that fails.
    pub(crate) fn discard(self) -> Result<(), StoreError> {
        let path = self.directory.path().to_owned();
        self.directory.close().map_err(StoreError::io("removing a temporary directory", &path))
    }

    fn sync(&self) -> Result<(), StoreError> {
        sync_directory(self.directory.path())
    }
}

fn hidden(output_dir: &Path) -> Result<TempDir, StoreError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".roastcoffea-saving-");
    builder
        .tempdir_in(output_dir)
        .map_err(StoreError::io("creating a temporary directory", output_dir))
}

/// Makes the names in a directory survive a power cut.
fn sync_directory(path: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(path)
            .and_then(|directory| directory.sync_all())
            .map_err(StoreError::io("syncing the directory", path))?;
    }
    Ok(())
}

/// Some file systems (NFS among them) know neither of the two special renames.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported)
}

fn rename_to_free_name(from: &Path, to: &Path) -> io::Result<()> {
    match special_rename::to_free_name(from, to) {
        Err(error) if is_unsupported(&error) => {
            // A plain rename would silently take the place of an empty directory.
            match fs::symlink_metadata(to) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
                Err(error) => Err(error),
            }
        }
        result => result,
    }
}

/// Replaces without an exchange. There is a moment in which neither has the name;
/// the old measurement is then whole, under a hidden name.
fn rename_aside(new: &Path, destination: &Path, aside: TempDir) -> Result<TempDir, StoreError> {
    let moving = || StoreError::io("moving the measurement into place", destination);
    fs::rename(destination, aside.path()).map_err(moving())?;
    let Err(error) = fs::rename(new, destination) else { return Ok(aside) };
    // What lies aside is the only copy: it must not go away with its directory.
    let old = aside.keep();
    fs::rename(&old, destination)
        .map_err(StoreError::io("moving the old measurement back", &old))?;
    Err(moving()(error))
}

fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    special_rename::exchange(a, b)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod special_rename {
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    pub(super) fn to_free_name(from: &Path, to: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
    }

    pub(super) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
        Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod special_rename {
    use std::io;
    use std::path::Path;

    pub(super) fn to_free_name(_from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn exchange(_a: &Path, _b: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_with(parent: &Path, name: &str, content: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file"), content).unwrap();
        path
    }

    #[test]
    fn without_an_exchange_the_old_one_is_put_aside() {
        let parent = tempfile::tempdir().unwrap();
        let destination = directory_with(parent.path(), "run", "old");
        let new = directory_with(parent.path(), ".new", "new");
        let old = rename_aside(&new, &destination, hidden(parent.path()).unwrap()).unwrap();
        assert_eq!(fs::read_to_string(destination.join("file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(old.path().join("file")).unwrap(), "old");
    }

    #[test]
    fn without_an_exchange_the_old_one_comes_back_if_the_new_one_cannot_move() {
        let parent = tempfile::tempdir().unwrap();
        let destination = directory_with(parent.path(), "run", "old");
        let gone = parent.path().join(".gone");
        rename_aside(&gone, &destination, hidden(parent.path()).unwrap()).unwrap_err();
        assert_eq!(fs::read_to_string(destination.join("file")).unwrap(), "old");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_plain_rename_takes_no_name_that_is_in_use() {
        let parent = tempfile::tempdir().unwrap();
        let staging = Staging::new(parent.path()).unwrap();
        let taken = parent.path().join("taken");
        fs::create_dir(&taken).unwrap();
        let error = staging.publish(&taken).unwrap_err();
        assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
    }
}
