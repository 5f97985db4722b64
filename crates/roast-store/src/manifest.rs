//! `measurement.json`: the format's version, the header, and what each table's
//! file must look like. Its last entry is a checksum of everything before it, so
//! that a changed digit is noticed as surely as a changed byte in a table.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use roast_model::{Header, Table};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::error::StoreError;

/// The file's name.
pub(crate) const MANIFEST_FILE: &str = "measurement.json";
const FORMAT_NAME: &str = "roastcoffea-measurement";
/// Grows when an older roastcoffea could no longer read the format.
pub const FORMAT_MAJOR: u64 = 1;
/// Grows when fields, columns or tables are added.
pub const FORMAT_MINOR: u64 = 0;
const CHECKSUM_KEY: &str = "crc32";

/// What a table's file must look like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableEntry {
    pub(crate) file: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) crc32: String,
}

#[derive(Serialize, Deserialize)]
struct Format {
    name: String,
    major: u64,
    minor: u64,
}

#[derive(Serialize)]
struct Written<'a> {
    format: Format,
    #[serde(flatten)]
    header: &'a Header,
    tables: BTreeMap<&'static str, &'a TableEntry>,
}

/// What the file says.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) header: Header,
    pub(crate) tables: BTreeMap<Table, TableEntry>,
}

/// A checksum as it is written.
pub(crate) fn crc32_hex(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// The file's content.
pub(crate) fn encode(
    header: &Header,
    tables: &BTreeMap<Table, TableEntry>,
) -> Result<Vec<u8>, StoreError> {
    let unstorable = |part: &str, why: String| StoreError::Unstorable { part: part.into(), why };
    let reals =
        [("wall_secs", Some(header.wall_secs)), ("span_completeness", header.span_completeness)];
    for (part, number) in reals {
        if let Some(number) = number.filter(|number| !number.is_finite()) {
            return Err(unstorable(part, format!("it is {number}")));
        }
    }
    let written = Written {
        format: Format { name: FORMAT_NAME.into(), major: FORMAT_MAJOR, minor: FORMAT_MINOR },
        header,
        tables: tables.iter().map(|(table, entry)| (table.name(), entry)).collect(),
    };
    let json = serde_json::to_string_pretty(&written)
        .map_err(|error| unstorable("the header", error.to_string()))?;
    // JSON readers limit how deep values may nest; better to refuse now than to
    // write what cannot be read.
    serde_json::from_str::<Header>(&json)
        .map_err(|error| unstorable("the header", format!("it would not read back: {error}")))?;
    let Some(body) = json.strip_suffix("\n}") else {
        return Err(unstorable("the header", "it is not a JSON object".into()));
    };
    let mut text = format!("{body},\n  ");
    let checksum = crc32_hex(text.as_bytes());
    text.push_str(&format!("\"{CHECKSUM_KEY}\": \"{checksum}\"\n}}\n"));
    Ok(text.into_bytes())
}

/// Reads the file's content; `path` is for messages.
pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Manifest, StoreError> {
    let damaged = |why: String| StoreError::damaged(MANIFEST_FILE, why, path);
    let json: Json = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    check_format(&json, path)?;
    check_checksum(bytes, &json).map_err(damaged)?;
    let header = Header::deserialize(&json).map_err(|error| damaged(error.to_string()))?;
    let listed = json.get("tables").ok_or_else(|| damaged("it lists no tables".into()))?;
    let listed = BTreeMap::<String, TableEntry>::deserialize(listed)
        .map_err(|error| damaged(format!("in its list of tables: {error}")))?;
    let mut tables = BTreeMap::new();
    for (name, entry) in listed {
        if !is_plain_file_name(&entry.file) {
            return Err(damaged(format!("table {name} is said to be in {:?}", entry.file)));
        }
        // A later minor version may have tables that are not known here.
        if let Some(table) = Table::from_name(&name) {
            tables.insert(table, entry);
        }
    }
    Ok(Manifest { header, tables })
}

fn check_format(json: &Json, path: &Path) -> Result<(), StoreError> {
    let format = json.get("format").and_then(|format| Format::deserialize(format).ok());
    let Some(format) = format.filter(|format| format.name == FORMAT_NAME) else {
        return Err(StoreError::NotAMeasurement {
            found: format!("a {MANIFEST_FILE} that does not name {FORMAT_NAME} as its format"),
            path: path.to_owned(),
        });
    };
    if format.major > FORMAT_MAJOR {
        return Err(StoreError::NewerMajor {
            found_major: format.major,
            found_minor: format.minor,
            known_major: FORMAT_MAJOR,
            path: path.to_owned(),
        });
    }
    if format.major < FORMAT_MAJOR {
        let why = format!("there never was a format {}.{}", format.major, format.minor);
        return Err(StoreError::damaged(MANIFEST_FILE, why, path));
    }
    Ok(())
}

fn check_checksum(bytes: &[u8], json: &Json) -> Result<(), String> {
    let expected = json.get(CHECKSUM_KEY).and_then(Json::as_str);
    let expected = expected.ok_or_else(|| "its checksum is missing".to_owned())?;
    let key = format!("\"{CHECKSUM_KEY}\"");
    let covered = bytes.windows(key.len()).rposition(|window| window == key.as_bytes());
    let covered = covered.and_then(|end| bytes.get(..end)).unwrap_or(bytes);
    if crc32_hex(covered) == expected {
        Ok(())
    } else {
        Err("it was changed after it was saved: its checksum differs".into())
    }
}

/// Nothing but a file in the same directory.
fn is_plain_file_name(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == file)
}
