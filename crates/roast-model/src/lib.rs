//! What a measurement *is*: the values it holds, the tables it consists of and
//! the catalog of metrics that are derived from it.
//!
//! Nothing here touches files, Python or clocks; the other crates do.

mod at_once;
mod both;
mod catalog;
mod cells;
mod chunk_rows;
mod columns;
mod documented;
mod first_seen;
mod frame;
mod measurement;
mod table;
mod table_builder;
mod time;
mod tracking;
mod value;

pub use at_once::at_once;
pub use both::{ROWS_WORTH_A_THREAD, both};
pub use catalog::{Better, CATALOG, Group, MetricDef, Unit, canonical_key, metric_def};
pub use cells::{FloatCells, IntCells, NameCells};
pub use chunk_rows::{ShownSection, chunk_row, chunk_rows};
pub use columns::{Column, FloatColumn, IntColumn, KeyColumn, NameColumn, TextColumn, split_key};
pub use documented::{documented, documented_batches};
pub use first_seen::FirstSeen;
pub use frame::Frame;
pub use measurement::{Header, Measurement, Phase};
pub use table::{ColumnDef, ColumnKind, Table};
pub use table_builder::{ColumnData, TableBuilder, TableError};
pub use time::{TimeError, UtcNs};
pub use tracking::{TrackingTables, WORKER_COUNTS, WORKER_SERIES, tracking_tables};
pub use value::{Value, ValueError};
