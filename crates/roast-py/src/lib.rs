//! The Python extension module `roastcoffea._core`: conversion only. What it
//! converts lives in the other crates.

mod arrow_stream;
mod chunk_log;
mod column_reader;
mod comparison;
mod convert;
mod errors;
mod measurement;
mod program;
mod recorder;
mod sampler;
mod sections;
mod table_builder;
mod tracking;

use pyo3::prelude::*;

/// The compiled core of roastcoffea.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::arrow_stream::ArrowTable;
    #[pymodule_export]
    use super::chunk_log::ChunkLog;
    #[pymodule_export]
    use super::column_reader::{ColumnReader, TimedExecutor};
    #[pymodule_export]
    use super::comparison::{CoreComparison, CoreScaling, compare, scaling};
    #[pymodule_export]
    use super::errors::MeasurementError;
    #[pymodule_export]
    use super::measurement::{
        CoreMeasurement, canonical_key, check_name, check_writable, efficiency_metrics,
        ledger_rows, metric_keys,
    };
    #[pymodule_export]
    use super::program::{build_profile, run_program};
    #[pymodule_export]
    use super::recorder::{ChunkRecorder, current_chunk};
    #[pymodule_export]
    use super::sampler::ProcessSampler;
    #[pymodule_export]
    use super::sections::{Section, track_time};
    #[pymodule_export]
    use super::table_builder::TableBuilder;
    #[pymodule_export]
    use super::tracking::{WorkerTracking, tracking_tables};
}
