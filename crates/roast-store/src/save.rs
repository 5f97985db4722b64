//! Writing a measurement: everything into a hidden directory first, then one
//! rename. A crash leaves the old measurement or the new one, never a half.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use roast_model::{Measurement, Table, at_once};

use crate::error::StoreError;
use crate::manifest::{self, MANIFEST_FILE, TableEntry};
use crate::name::validate_name;
use crate::occupant::check_destination;
use crate::staging::Staging;
use crate::table_file;

/// How to save.
#[derive(Clone, Copy, Debug, Default)]
pub struct SaveOptions {
    /// Replace a measurement of the same name instead of refusing.
    pub overwrite: bool,
}

/// Saves a measurement as the directory `<output_dir>/<name>` and returns its
/// path.
pub fn save(
    measurement: &Measurement,
    output_dir: &Path,
    name: &str,
    options: SaveOptions,
) -> Result<PathBuf, StoreError> {
    validate_name(name)?;
    let destination = output_dir.join(name);
    check_destination(&destination, options.overwrite)?;
    let staging = Staging::new(output_dir)?;
    let mut tables: Vec<_> = measurement.tables.iter().collect();
    tables.sort_by_key(|(_, batch)| Reverse(batch.num_rows() * batch.num_columns()));
    let written = at_once(tables.len(), |number| {
        let (&table, batch) = *tables.get(number)?;
        Some(write_table(&staging, table, batch).map(|entry| (table, entry)))
    });
    let entries = written.into_iter().flatten().collect::<Result<_, _>>()?;
    staging.write(MANIFEST_FILE, &manifest::encode(&measurement.header, &entries)?)?;
    // Asked again, because writing took time in which another run may have
    // finished under the same name.
    if check_destination(&destination, options.overwrite)? {
        staging.publish(&destination)?;
    } else {
        staging.replace(&destination)?;
    }
    Ok(destination)
}

fn write_table(
    staging: &Staging,
    table: Table,
    batch: &RecordBatch,
) -> Result<TableEntry, StoreError> {
    let content = table_file::encode(table, batch)?;
    let file = table_file::file_name(table);
    staging.write(&file, &content)?;
    Ok(TableEntry {
        file,
        rows: batch.num_rows() as u64,
        bytes: content.len() as u64,
        crc32: manifest::crc32_hex(&content),
    })
}

/// Finds out, before a run starts, whether its measurement could be saved: the
/// directory is created, written to, and the name is valid and free.
pub fn check_writable(
    output_dir: &Path,
    name: Option<&str>,
    overwrite: bool,
) -> Result<(), StoreError> {
    if let Some(name) = name {
        validate_name(name)?;
        check_destination(&output_dir.join(name), overwrite)?;
    }
    let staging = Staging::new(output_dir)?;
    staging.write(MANIFEST_FILE, b"{}\n")?;
    staging.discard()
}
