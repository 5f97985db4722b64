//! The local sampler as Python starts and stops it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use roast_record::{ProcessSampler as Sampler, Scope};

use crate::table_builder::TableBuilder;

/// Samples the processes of a local run until it is stopped.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct ProcessSampler {
    inner: Mutex<Option<Sampler>>,
}

#[pymethods]
impl ProcessSampler {
    /// `threads` is the number of threads of this process that run chunks;
    /// `None` means that child processes are the workers, all of them or only
    /// those that are yet to start.
    #[new]
    #[pyo3(signature = (interval, *, threads=None, new_only=false))]
    fn new(interval: f64, threads: Option<i64>, new_only: bool) -> PyResult<Self> {
        let interval = Duration::try_from_secs_f64(interval)
            .ok()
            .filter(|interval| !interval.is_zero())
            .ok_or_else(|| PyValueError::new_err("the interval must be a positive number"))?;
        let scope = match threads {
            Some(threads) => Scope::ThisProcess { threads },
            None => Scope::Children { new_only },
        };
        let sampler = Sampler::start(interval, scope)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { inner: Mutex::new(Some(sampler)) })
    }

    /// Ends sampling: the ticks, the workers, and how many samples failed.
    fn stop(&self, py: Python<'_>) -> PyResult<(TableBuilder, TableBuilder, u64)> {
        let sampler = self
            .inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .ok_or_else(|| PyRuntimeError::new_err("the sampler was stopped before"))?;
        let tables = py
            .detach(|| sampler.stop())
            .ok_or_else(|| PyRuntimeError::new_err("the sampling thread was lost"))?
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok((TableBuilder::wrap(tables.ticks), TableBuilder::wrap(tables.workers), tables.missed))
    }
}
