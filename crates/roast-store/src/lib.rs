//! A measurement directory: `measurement.json` beside one Parquet file per
//! recorded table. Written whole or not at all, verified when read, and able to
//! take in the directories of the original tool.
//!
//! ```text
//! save  ── name, staging ──► manifest + table_file ──► <output_dir>/<name>/
//! load  ◄─ stored ◄───────── manifest + table_file, or import_original
//! ```
//!
//! A run that goes on gathers its tables in [`GrowingTable`]s.

mod error;
mod growing_table;
mod import_chunks;
mod import_json;
mod import_original;
mod import_rows;
mod import_tracking;
mod local_time;
mod manifest;
mod memory;
mod name;
mod new_file;
mod occupant;
mod python_literal;
mod save;
mod staging;
mod stored;
mod table_file;

pub use error::StoreError;
pub use growing_table::{GrowingTable, GrowthError};
pub use manifest::{FORMAT_MAJOR, FORMAT_MINOR};
pub use memory::{Shortage, check_memory};
pub use name::{file_stem, validate_name};
pub use new_file::{NewFile, NewFileError};
pub use save::{SaveOptions, check_writable, save};
pub use stored::{Stored, load, read_header};
