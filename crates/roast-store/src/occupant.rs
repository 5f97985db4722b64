//! What is at a path: described for messages, and judged before it is replaced.
//! Nothing that roastcoffea did not write is ever overwritten.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use roast_model::Table;
use serde_json::Value as Json;

use crate::error::StoreError;
use crate::import_original::ORIGINAL_FILES;
use crate::manifest::MANIFEST_FILE;
use crate::table_file;

const NAMES_SHOWN: usize = 3;

/// Whether `destination` is free (`true`) or may be replaced (`false`).
pub(crate) fn check_destination(destination: &Path, overwrite: bool) -> Result<bool, StoreError> {
    match fs::symlink_metadata(destination) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::io("looking at the destination", destination)(error)),
        Ok(_) if !overwrite => Err(StoreError::Exists { path: destination.to_owned() }),
        Ok(_) => match what_would_be_lost(destination)? {
            None => Ok(false),
            Some(found) => Err(StoreError::WouldDestroy { found, path: destination.to_owned() }),
        },
    }
}

/// Something at `destination` that is not part of a measurement.
fn what_would_be_lost(destination: &Path) -> Result<Option<String>, StoreError> {
    let doing = || StoreError::io("looking at the destination", destination);
    if !fs::symlink_metadata(destination).map_err(doing())?.is_dir() {
        return Ok(Some("something that is not a directory".into()));
    }
    let names = entry_names(destination).map_err(doing())?;
    let own = if names.contains(MANIFEST_FILE) {
        own_files(destination)
    } else if names.contains(ORIGINAL_FILES[0]) && names.contains(ORIGINAL_FILES[1]) {
        ORIGINAL_FILES.into_iter().map(str::to_owned).collect()
    } else {
        return Ok(Some(format!("{} that is not a measurement", describe_names(&names))));
    };
    let foreign: BTreeSet<String> = names.difference(&own).cloned().collect();
    Ok((!foreign.is_empty()).then(|| format!("{} in it besides the measurement", list(&foreign))))
}

/// The files that belong to the measurement, a damaged or later one included.
fn own_files(directory: &Path) -> BTreeSet<String> {
    let mut own: BTreeSet<String> = Table::ALL.into_iter().map(table_file::file_name).collect();
    own.insert(MANIFEST_FILE.into());
    // An unreadable manifest names no further files; those of the known tables
    // are listed above.
    let manifest = fs::read(directory.join(MANIFEST_FILE)).unwrap_or_default();
    let json: Json = serde_json::from_slice(&manifest).unwrap_or_default();
    let listed = json.get("tables").and_then(Json::as_object);
    own.extend(
        listed
            .into_iter()
            .flat_map(|tables| tables.values())
            .filter_map(|entry| Some(entry.get("file")?.as_str()?.to_owned())),
    );
    own
}

/// What a directory holds, for a message.
pub(crate) fn describe(directory: &Path) -> io::Result<String> {
    let names = entry_names(directory)?;
    let measurements: BTreeSet<String> = names
        .iter()
        .filter(|name| directory.join(name).join(MANIFEST_FILE).is_file())
        .cloned()
        .collect();
    if measurements.is_empty() {
        return Ok(describe_names(&names));
    }
    Ok(format!("a directory of measurements ({})", list(&measurements)))
}

pub(crate) fn entry_names(directory: &Path) -> io::Result<BTreeSet<String>> {
    fs::read_dir(directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

fn describe_names(names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return "an empty directory".into();
    }
    format!("a directory with {}", list(names))
}

fn list(names: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SHOWN).map(String::as_str).collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
