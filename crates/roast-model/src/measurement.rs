//! A measurement: a header with what is known once per run, and the tables.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};

use crate::table::Table;
use crate::time::UtcNs;
use crate::value::Value;

/// What is known once per run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Unique for every run.
    pub id: String,
    /// What the user calls it.
    pub name: String,
    /// When the context was entered.
    pub started: UtcNs,
    /// From entering to leaving the context, on the monotonic clock.
    pub wall_secs: f64,
    /// `dask`, `local` or the name of a registered backend.
    pub backend: String,
    /// `Class: message` of the exception that ended the run, if one did.
    #[serde(default)]
    pub error: Option<String>,
    /// Versions, host, command and the like.
    #[serde(default)]
    pub provenance: Value,
    /// coffea's own report.
    #[serde(default)]
    pub report: Value,
    /// The user's metrics per dataset, as given with the report.
    #[serde(default)]
    pub custom_metrics: Value,
    /// Activity seconds, bytes and counts by Dask span key.
    #[serde(default)]
    pub spans: Value,
    /// Fraction of the workers whose activity is complete in `spans`.
    #[serde(default)]
    pub span_completeness: Option<f64>,
    /// Task prefixes that are the processor's; empty when not known.
    #[serde(default)]
    pub processor_prefixes: Vec<String>,
    /// Stretches of the run as the client saw them.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// Tracking data of a custom backend that has no place in the tables.
    #[serde(default)]
    pub tracking_extra: Value,
    /// Plain sentences on what is missing or limited, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The metrics as they were computed when the measurement was made.
    #[serde(default)]
    pub metrics: Value,
}

/// A stretch of the run as the client saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `preprocess` or `process`.
    pub name: String,
    /// Start.
    pub start: UtcNs,
    /// End.
    pub stop: UtcNs,
    /// Items handed to the executor.
    pub items: i64,
}

/// A measurement with all of its tables in memory. A table that was not
/// recorded is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What is known once per run.
    pub header: Header,
    /// The tables that were recorded.
    pub tables: BTreeMap<Table, RecordBatch>,
}

impl Header {
    /// A run of which nothing more is known.
    pub fn new(id: &str, name: &str, backend: &str, started: UtcNs, wall_secs: f64) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            started,
            wall_secs,
            backend: backend.to_owned(),
            error: None,
            provenance: Value::None,
            report: Value::None,
            custom_metrics: Value::None,
            spans: Value::None,
            span_completeness: None,
            processor_prefixes: Vec::new(),
            phases: Vec::new(),
            tracking_extra: Value::None,
            notes: Vec::new(),
            metrics: Value::None,
        }
    }

    /// When the context was left.
    pub fn ended(&self) -> UtcNs {
        self.started.after_secs(self.wall_secs)
    }
}

impl Measurement {
    /// The table, if it was recorded.
    pub fn table(&self, table: Table) -> Option<&RecordBatch> {
        self.tables.get(&table)
    }
}
