//! Reading a measurement: the header first, each table when asked for, and each
//! verified against what the header says of it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use roast_model::{Header, Measurement, Table};

use crate::error::StoreError;
use crate::import_original::{self, ORIGINAL_FILES};
use crate::manifest::{self, MANIFEST_FILE, TableEntry};
use crate::memory::check_memory;
use crate::{occupant, table_file};

/// Texts take so many times the bytes of a file, about.
const UNPACKED: f64 = 1.0;

/// A measurement on disk, of which the header has been read.
#[derive(Clone, Debug)]
pub struct Stored {
    /// What is known once per run.
    pub header: Header,
    /// The measurement's directory.
    pub path: PathBuf,
    /// The two readings of the monotonic clock that the original tool saved;
    /// missing for measurements in this format.
    pub start_end: Option<(f64, f64)>,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    OnDisk(BTreeMap<Table, TableEntry>),
    Imported(BTreeMap<Table, RecordBatch>),
}

/// Reads and checks the header of the measurement at `path`: its directory or
/// the JSON file in it. The original tool's directories are imported.
pub fn read_header(path: &Path) -> Result<Stored, StoreError> {
    let directory = measurement_directory(path)?;
    let manifest_path = directory.join(MANIFEST_FILE);
    if let Some(bytes) = read_if_there(&manifest_path)? {
        let manifest = manifest::decode(&bytes, &manifest_path)?;
        return Ok(Stored {
            header: manifest.header,
            path: directory,
            start_end: None,
            tables: Tables::OnDisk(manifest.tables),
        });
    }
    if let Some(imported) = import_original::import(&directory)? {
        return Ok(Stored {
            header: imported.measurement.header,
            path: directory,
            start_end: imported.start_end,
            tables: Tables::Imported(imported.measurement.tables),
        });
    }
    let doing = || StoreError::io("listing the directory", &directory);
    let names = occupant::entry_names(&directory).map_err(doing())?;
    if Table::ALL.into_iter().any(|table| names.contains(&table_file::file_name(table))) {
        let why = "it is missing, though there are tables";
        return Err(StoreError::damaged(MANIFEST_FILE, why, &manifest_path));
    }
    let found = occupant::describe(&directory).map_err(doing())?;
    Err(StoreError::NotAMeasurement { found, path: directory })
}

/// Reads the measurement at `path` with all of its tables.
pub fn load(path: &Path) -> Result<Measurement, StoreError> {
    let stored = read_header(path)?;
    let tables = match stored.tables {
        Tables::Imported(tables) => tables,
        Tables::OnDisk(entries) => entries
            .iter()
            .map(|(&table, entry)| Ok((table, read_entry(table, entry, &stored.path)?)))
            .collect::<Result<_, StoreError>>()?,
    };
    Ok(Measurement { header: stored.header, tables })
}

impl Stored {
    /// The names of the tables that were recorded.
    pub fn table_names(&self) -> Vec<&'static str> {
        match &self.tables {
            Tables::OnDisk(entries) => entries.keys().map(|table| table.name()).collect(),
            Tables::Imported(tables) => tables.keys().map(|table| table.name()).collect(),
        }
    }

    /// The rows of a table, if it was recorded; does not read it.
    pub fn row_count(&self, table: Table) -> Option<u64> {
        match &self.tables {
            Tables::OnDisk(entries) => entries.get(&table).map(|entry| entry.rows),
            Tables::Imported(tables) => tables.get(&table).map(|batch| batch.num_rows() as u64),
        }
    }

    /// Refuses to go on if all tables together would not fit in memory, with
    /// `room` times as much for whoever works on them.
    pub fn check_memory(&self, room: f64) -> Result<(), StoreError> {
        let Tables::OnDisk(entries) = &self.tables else { return Ok(()) };
        let tables: f64 = entries.iter().map(|(&table, entry)| memory_bytes(table, entry)).sum();
        check_memory(tables * (1.0 + room)).map_err(|shortage| StoreError::TooLarge {
            part: "the measurement".to_owned(),
            shortage,
            path: self.path.clone(),
        })
    }

    /// Reads and verifies one table, if it was recorded; touches no other.
    pub fn read_table(&self, table: Table) -> Result<Option<RecordBatch>, StoreError> {
        match &self.tables {
            Tables::OnDisk(entries) => {
                entries.get(&table).map(|entry| read_entry(table, entry, &self.path)).transpose()
            }
            Tables::Imported(tables) => Ok(tables.get(&table).cloned()),
        }
    }

    /// `true` if the original tool wrote it.
    pub fn is_imported(&self) -> bool {
        matches!(self.tables, Tables::Imported(_))
    }
}

fn measurement_directory(path: &Path) -> Result<PathBuf, StoreError> {
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            StoreError::NotFound { path: path.to_owned() }
        }
        _ => StoreError::io("looking for the measurement", path)(error),
    })?;
    if metadata.is_dir() {
        return Ok(path.to_owned());
    }
    let is_entry_point = path.file_name().is_some_and(|name| {
        name == MANIFEST_FILE || ORIGINAL_FILES.iter().any(|original| name == *original)
    });
    match path.parent() {
        Some(parent) if is_entry_point && parent.as_os_str().is_empty() => Ok(".".into()),
        Some(parent) if is_entry_point => Ok(parent.to_owned()),
        _ => Err(StoreError::NotAMeasurement {
            found: "a single file".into(),
            path: path.to_owned(),
        }),
    }
}

/// The file's content; `None` if there is no such file.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
    let doing = || StoreError::io("reading", path);
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(doing()(error)),
        // A pipe or device would block or never end.
        Ok(metadata) if !metadata.is_file() => Err(StoreError::damaged(
            path.file_name().unwrap_or_default().to_string_lossy(),
            "it is not a regular file",
            path,
        )),
        Ok(_) => fs::read(path).map(Some).map_err(doing()),
    }
}

/// The columns, the texts, which are packed on disk, and the file itself.
fn memory_bytes(table: Table, entry: &TableEntry) -> f64 {
    entry.rows as f64 * table.row_bytes() + entry.bytes as f64 * (1.0 + UNPACKED)
}

fn read_entry(
    table: Table,
    entry: &TableEntry,
    directory: &Path,
) -> Result<RecordBatch, StoreError> {
    let path = directory.join(&entry.file);
    let damaged = |why: String| StoreError::damaged(format!("table {table}"), why, &path);
    check_memory(memory_bytes(table, entry)).map_err(|shortage| StoreError::TooLarge {
        part: format!("table {table}"),
        shortage,
        path: path.clone(),
    })?;
    let bytes = read_if_there(&path)?.ok_or_else(|| damaged("its file is missing".into()))?;
    if bytes.len() as u64 != entry.bytes {
        return Err(damaged(format!("it has {} bytes instead of {}", bytes.len(), entry.bytes)));
    }
    if manifest::crc32_hex(&bytes) != entry.crc32 {
        return Err(damaged("its checksum differs".into()));
    }
    table_file::decode(table, bytes, entry.rows, &path)
}
