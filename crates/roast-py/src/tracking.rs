//! Workers over time, in the layout that users read.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use roast_model::{ColumnKind, Frame, Table, UtcNs, Value, WORKER_COUNTS, WORKER_SERIES};
use roast_store::check_memory;

use crate::arrow_stream::{ArrowTable, float_bytes};
use crate::convert::{to_datetime, to_python, to_value};
use crate::errors::too_large;
use crate::table_builder::TableBuilder;

/// A sample in a list: a tuple, its value and its place.
const SAMPLE_BYTES: f64 = 100.0;

/// Worker samples: counts by time, and series by worker.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct WorkerTracking {
    ticks: Option<Arc<RecordBatch>>,
    workers: Option<Arc<RecordBatch>>,
}

/// Tracking data of a custom backend as tables, and what is in another layout.
#[pyfunction]
pub(crate) fn tracking_tables<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
) -> PyResult<(Option<TableBuilder>, Option<TableBuilder>, Bound<'py, PyAny>)> {
    let tables = roast_model::tracking_tables(&to_value(data)?)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let rest = to_python(py, &tables.rest)?;
    Ok((tables.ticks.map(TableBuilder::wrap), tables.workers.map(TableBuilder::wrap), rest))
}

#[pymethods]
impl WorkerTracking {
    /// Looks at tables that are complete.
    #[staticmethod]
    #[pyo3(signature = (ticks, workers))]
    fn of(
        ticks: Option<Bound<'_, TableBuilder>>,
        workers: Option<Bound<'_, TableBuilder>>,
    ) -> PyResult<Self> {
        let build = |table: Option<Bound<'_, TableBuilder>>| {
            table
                .map(|table| table.get().lock().build().map(Arc::new))
                .transpose()
                .map_err(|error| PyValueError::new_err(error.to_string()))
        };
        Ok(Self::new(build(ticks)?, build(workers)?))
    }

    /// The series there are, `worker_counts` first.
    fn keys(&self) -> Vec<&'static str> {
        let counts = self.ticks.is_some().then_some(WORKER_COUNTS);
        let workers = self.workers.as_deref().map(Frame::new);
        let filled = WORKER_SERIES
            .iter()
            .filter(|(_, column)| workers.is_some_and(|frame| is_filled(frame, column)))
            .map(|(key, _)| *key);
        counts.into_iter().chain(filled).collect()
    }

    /// One series: `{time: count}` for the counts, otherwise
    /// `{worker: [(time, value), ...]}` with a value for every sample.
    fn series<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyDict>> {
        let missing = || PyKeyError::new_err(key.to_owned());
        if key == WORKER_COUNTS {
            return self.counts(py, self.ticks.as_deref().ok_or_else(missing)?);
        }
        let (_, column) =
            WORKER_SERIES.iter().find(|(known, _)| *known == key).ok_or_else(missing)?;
        let frame = Frame::new(self.workers.as_deref().ok_or_else(missing)?);
        if !is_filled(frame, column) {
            return Err(missing());
        }
        self.by_worker(py, frame, column)
    }

    /// The cluster as a whole, one row per sample; `None` if it was not sampled.
    #[getter]
    fn ticks(&self) -> Option<ArrowTable> {
        self.ticks.clone().map(ArrowTable::wrap)
    }

    /// Several series laid out sample by sample: the workers by name, and for each
    /// sample its worker (int32), its time in seconds since the epoch and its value in
    /// each series (float64, NaN is missing). A series without any value is `None`.
    fn samples<'py>(&self, py: Python<'py>, keys: Vec<String>) -> PyResult<WorkerSamples<'py>> {
        let columns: Vec<&str> = keys
            .iter()
            .map(|key| {
                WORKER_SERIES
                    .iter()
                    .find_map(|(known, column)| (known == key).then_some(*column))
                    .ok_or_else(|| PyKeyError::new_err(key.clone()))
            })
            .collect::<PyResult<_>>()?;
        let Some(batch) = self.workers.as_deref() else {
            let empty = || PyBytes::new(py, &[]);
            return Ok((Vec::new(), empty(), empty(), vec![None; columns.len()]));
        };
        let layout = self.layout(Frame::new(batch));
        let values = columns
            .into_iter()
            .map(|column| {
                let cells: Vec<Option<f64>> =
                    cells(Frame::new(batch), column).iter().map(Value::as_f64).collect();
                cells.iter().any(Option::is_some).then(|| {
                    let laid_out = layout.rows.iter().map(|row| cells.get(*row).copied().flatten());
                    PyBytes::new(py, &float_bytes(laid_out))
                })
            })
            .collect();
        let codes: Vec<u8> = layout.workers.iter().flat_map(|code| code.to_ne_bytes()).collect();
        let times = float_bytes(layout.times.iter().map(|time| Some(time.epoch_secs())));
        Ok((layout.names, PyBytes::new(py, &codes), PyBytes::new(py, &times), values))
    }
}

type WorkerSamples<'py> =
    (Vec<String>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<Option<Bound<'py, PyBytes>>>);

/// Rows of the table of workers as samples: by worker, then by time.
#[derive(Default)]
struct Layout {
    names: Vec<String>,
    workers: Vec<i32>,
    times: Vec<UtcNs>,
    rows: Vec<usize>,
}

impl WorkerTracking {
    pub(crate) fn new(ticks: Option<Arc<RecordBatch>>, workers: Option<Arc<RecordBatch>>) -> Self {
        Self { ticks, workers }
    }

    fn counts<'py>(&self, py: Python<'py>, ticks: &RecordBatch) -> PyResult<Bound<'py, PyDict>> {
        let frame = Frame::new(ticks);
        let counts = PyDict::new(py);
        for (time, count) in frame.times("time").zip(frame.ints("worker_count")) {
            if let Some(time) = time {
                counts.set_item(to_datetime(py, time)?, count)?;
            }
        }
        Ok(counts)
    }

    fn by_worker<'py>(
        &self,
        py: Python<'py>,
        frame: Frame<'_>,
        column: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let samples: f64 = frame.ints("samples").map(|rows| rows.unwrap_or(1).max(0) as f64).sum();
        check_memory(samples * SAMPLE_BYTES).map_err(|shortage| {
            too_large(
                format_args!("a series of {samples:.0} samples of workers"),
                shortage,
                "use the table `workers`, which has a row for each stretch of time",
            )
        })?;
        let cells: Vec<Bound<'py, PyAny>> =
            cells(frame, column).iter().map(|cell| to_python(py, cell)).collect::<PyResult<_>>()?;
        let ticks = self.tick_times();
        // Samples of one moment share one datetime.
        let mut times: BTreeMap<UtcNs, Bound<'py, PyAny>> = BTreeMap::new();
        let series = PyDict::new(py);
        for (worker, stretches) in stretches(frame) {
            let list = PyList::empty(py);
            for (time, until, row) in stretches {
                for moment in moments(&ticks, time, until) {
                    let time = match times.get(&moment) {
                        Some(time) => time.clone(),
                        None => {
                            let time = to_datetime(py, moment)?;
                            times.insert(moment, time.clone());
                            time
                        }
                    };
                    list.append((time, cells.get(row)))?;
                }
            }
            series.set_item(worker, list)?;
        }
        Ok(series)
    }

    fn layout(&self, frame: Frame<'_>) -> Layout {
        let ticks = self.tick_times();
        let mut layout = Layout::default();
        for (code, (worker, stretches)) in (0_i32..).zip(stretches(frame)) {
            layout.names.push(worker.to_owned());
            for (time, until, row) in stretches {
                for moment in moments(&ticks, time, until) {
                    layout.workers.push(code);
                    layout.times.push(moment);
                    layout.rows.push(row);
                }
            }
        }
        layout
    }

    fn tick_times(&self) -> Vec<UtcNs> {
        let mut times: Vec<UtcNs> = self
            .ticks
            .as_deref()
            .map(|ticks| Frame::new(ticks).times("time").flatten().collect())
            .unwrap_or_default();
        times.sort_unstable();
        times
    }
}

/// First sample, last sample and row of each stretch, by worker and in order of time.
fn stretches(frame: Frame<'_>) -> BTreeMap<&str, Vec<(UtcNs, UtcNs, usize)>> {
    let mut by_worker: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    let rows = frame.names("worker").zip(frame.times("time")).zip(frame.times("until"));
    for (row, ((worker, time), until)) in rows.enumerate() {
        if let (Some(worker), Some(time)) = (worker, time) {
            by_worker.entry(worker).or_default().push((time, until.unwrap_or(time), row));
        }
    }
    for stretches in by_worker.values_mut() {
        stretches.sort_unstable();
    }
    by_worker
}

/// The samples from `time` to `until`.
fn moments(ticks: &[UtcNs], time: UtcNs, until: UtcNs) -> Vec<UtcNs> {
    let first = ticks.partition_point(|tick| *tick < time);
    let last = ticks.partition_point(|tick| *tick <= until);
    match ticks.get(first..last) {
        Some(covered) if !covered.is_empty() => covered.to_vec(),
        _ if time == until => vec![time],
        _ => vec![time, until],
    }
}

fn is_filled(frame: Frame<'_>, column: &str) -> bool {
    cells(frame, column).iter().any(|cell| !cell.is_none())
}

fn cells(frame: Frame<'_>, column: &str) -> Vec<Value> {
    let kind = Table::Workers.columns().iter().find(|def| def.name == column).map(|def| def.kind);
    match kind {
        Some(ColumnKind::Int) => frame.ints(column).map(Value::from).collect(),
        Some(ColumnKind::Float) => frame.floats(column).map(Value::from).collect(),
        Some(ColumnKind::Time) => {
            frame.times(column).map(|time| time.map(UtcNs::epoch_secs).into()).collect()
        }
        _ => frame.names(column).map(Value::from).collect(),
    }
}
