//! Formats for other programs. A measurement becomes one or several parts, each
//! with a file name; whoever opens the files writes the parts into them.

use std::io::{self, Write};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use roast_analyze::Metrics;
use roast_model::{Measurement, Table};

use crate::{csv, json, parquet_table, trace};

pub use crate::trace::{Window, trace_bytes};

/// A format for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Everything in one document, in the layout of the original tool.
    Json,
    /// One file per table, and one for the metrics.
    Csv,
    /// One file per table.
    Parquet,
    /// One timeline for Perfetto or chrome://tracing, of all or a part of the run.
    Trace(Window),
}

/// One file of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole measurement.
    Whole,
    /// The metrics.
    Metrics,
    /// One table.
    Table(Table),
}

/// A part could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// What was written into refused.
    #[error("writing failed")]
    Write(#[source] io::Error),
    /// The table cannot be put into the format.
    #[error("a table could not be converted")]
    Convert(#[source] ArrowError),
    /// The table cannot be put into Parquet.
    #[error("a table could not be written as Parquet")]
    Parquet(#[source] ParquetError),
}

impl ExportFormat {
    /// The ending of its files' names.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Json | Self::Trace(_) => "json",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// The parts of a measurement in this format; tables that were not recorded
    /// are left out.
    pub fn parts(self, measurement: &Measurement) -> Vec<Part> {
        let tables = measurement.tables.keys().copied().map(Part::Table);
        match self {
            Self::Json | Self::Trace(_) => vec![Part::Whole],
            Self::Csv => std::iter::once(Part::Metrics).chain(tables).collect(),
            Self::Parquet => tables.collect(),
        }
    }

    /// The name of a part's file.
    pub fn file_name(self, part: Part) -> String {
        let stem = match part {
            Part::Whole if matches!(self, Self::Trace(_)) => "trace",
            Part::Whole => "measurement",
            Part::Metrics => "metrics",
            Part::Table(table) => table.name(),
        };
        format!("{stem}.{}", self.extension())
    }

    /// Writes a part. A table that was not recorded gives no bytes.
    pub fn write(
        self,
        part: Part,
        measurement: &Measurement,
        metrics: &Metrics,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        match (part, self) {
            (_, Self::Trace(window)) => trace::write(measurement, window, out),
            (Part::Whole, _) | (Part::Metrics, Self::Json) => {
                json::write_full(measurement, metrics, out)
            }
            (Part::Metrics, _) => csv::write_metrics(metrics, &measurement.header.metrics, out),
            (Part::Table(table), format) => match measurement.table(table) {
                Some(batch) if format == Self::Parquet => {
                    parquet_table::write_table(table, batch, out)
                }
                Some(batch) => csv::write_table(table, batch, out),
                None => Ok(()),
            },
        }
    }
}
