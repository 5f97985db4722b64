//! A measurement as Python holds it: built by a collector or loaded from disk,
//! with tables read when they are first asked for.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use roast_analyze::{FILE_METRICS, FILES_LISTED, Metrics, analyze, file_metrics};
use roast_model::{CATALOG, Header, Measurement, Phase, Table, UtcNs, Value, chunk_rows};
use roast_report::{PageData, Renderer, Report, render_page};
use roast_store::{NewFile, SaveOptions, Stored, check_memory};

use crate::arrow_stream::ArrowTable;
use crate::convert::{to_datetime, to_python, to_value};
use crate::errors::{MeasurementError, new_file_error, os_error, store_error, too_large};
use crate::table_builder::{TableBuilder, table_named};
use crate::tracking::WorkerTracking;

/// A chunk's dict, with those inside of it.
const CHUNK_ROW_BYTES: f64 = 9_000.0;
/// Rows that are held twice while they become dicts.
const ROWS_AT_ONCE: usize = 65_536;

/// A measurement: a header and tables.
#[pyclass(frozen, name = "Measurement", module = "roastcoffea._core")]
pub(crate) struct CoreMeasurement {
    header: Header,
    stored: Option<Stored>,
    /// Tables seen so far; `None` for one that was not recorded.
    tables: Mutex<BTreeMap<Table, Option<Arc<RecordBatch>>>>,
}

/// The key for a metric's key or alias.
#[pyfunction]
pub(crate) fn canonical_key(name: &str) -> Option<&'static str> {
    roast_model::canonical_key(name)
}

/// Every key of the catalog (or of one group) with its aliases, in order.
#[pyfunction]
#[pyo3(signature = (group=None))]
pub(crate) fn metric_keys(group: Option<&str>) -> Vec<(&'static str, Vec<&'static str>)> {
    CATALOG
        .iter()
        .filter(|metric| group.is_none_or(|group| metric.group.title() == group))
        .map(|metric| (metric.key, metric.aliases.to_vec()))
        .collect()
}

/// Key, label and family of every row of the ledger, in order.
#[pyfunction]
pub(crate) fn ledger_rows() -> Vec<(&'static str, &'static str, String)> {
    roast_analyze::LEDGER
        .iter()
        .map(|row| (row.key, row.label, format!("{:?}", row.family).to_lowercase()))
        .collect()
}

/// The efficiency metrics that follow from metrics already known.
#[pyfunction]
pub(crate) fn efficiency_metrics<'py>(
    py: Python<'py>,
    known: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &roast_analyze::efficiency_metrics(&to_value(known)?))
}

/// Raises `ValueError` for a name that cannot be a measurement's.
#[pyfunction]
pub(crate) fn check_name(name: &str) -> PyResult<()> {
    roast_store::validate_name(name).map_err(store_error)
}

/// Raises what saving there would raise, as far as it can be known beforehand.
#[pyfunction]
#[pyo3(signature = (output_dir, name=None))]
pub(crate) fn check_writable(output_dir: PathBuf, name: Option<&str>) -> PyResult<()> {
    roast_store::check_writable(&output_dir, name, false).map_err(store_error)
}

#[pymethods]
impl CoreMeasurement {
    /// Puts a measurement together from a header and tables.
    #[staticmethod]
    fn make(
        py: Python<'_>,
        header: &Bound<'_, PyDict>,
        tables: Vec<Bound<'_, TableBuilder>>,
    ) -> PyResult<Self> {
        let header = header_from(&to_value(header)?)?;
        let builders: Vec<&TableBuilder> = tables.iter().map(Bound::get).collect();
        let built: Vec<_> = py.detach(|| {
            let build = |builder: &&TableBuilder| {
                let mut builder = builder.lock();
                (builder.table(), builder.build())
            };
            builders.iter().map(build).collect()
        });
        let mut all: BTreeMap<Table, Option<Arc<RecordBatch>>> =
            Table::ALL.iter().map(|&table| (table, None)).collect();
        for (table, batch) in built {
            all.insert(table, Some(batch.map_err(unfit)?));
        }
        Ok(Self { header, stored: None, tables: Mutex::new(all) })
    }

    /// Reads a measurement directory; tables follow when they are asked for.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let stored = py.detach(|| roast_store::read_header(&path)).map_err(store_error)?;
        let imported = stored.is_imported();
        let mut loaded = Self {
            header: stored.header.clone(),
            stored: Some(stored),
            tables: Mutex::new(BTreeMap::new()),
        };
        if imported {
            // Theirs where they have it; what they did not compute, we can.
            let ours = py.detach(|| loaded.whole().map(|whole| analyze(&whole).into_value()))?;
            loaded.header.metrics = with_missing(&loaded.header.metrics, &ours);
        }
        Ok(loaded)
    }

    /// The header as a dict.
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let header = &self.header;
        let dict = PyDict::new(py);
        dict.set_item("id", &header.id)?;
        dict.set_item("name", &header.name)?;
        dict.set_item("started", to_datetime(py, header.started)?)?;
        dict.set_item("ended", to_datetime(py, header.ended())?)?;
        dict.set_item("started_epoch_secs", header.started.epoch_secs())?;
        dict.set_item("wall_secs", header.wall_secs)?;
        dict.set_item("backend", &header.backend)?;
        dict.set_item("error", &header.error)?;
        dict.set_item("provenance", to_python(py, &header.provenance)?)?;
        dict.set_item("report", to_python(py, &header.report)?)?;
        dict.set_item("custom_metrics", to_python(py, &header.custom_metrics)?)?;
        dict.set_item("spans", to_python(py, &header.spans)?)?;
        dict.set_item("span_completeness", header.span_completeness)?;
        dict.set_item("processor_prefixes", &header.processor_prefixes)?;
        dict.set_item("tracking_extra", to_python(py, &header.tracking_extra)?)?;
        dict.set_item("notes", &header.notes)?;
        dict.set_item("metrics", to_python(py, &header.metrics)?)?;
        Ok(dict.into_any())
    }

    /// The original tool's own start and end, for its measurements only.
    #[getter]
    fn start_end(&self) -> Option<(f64, f64)> {
        self.stored.as_ref().and_then(|stored| stored.start_end)
    }

    /// The metrics of the catalog, computed now.
    fn compute_metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let metrics = py
            .detach(|| -> PyResult<Value> { Ok(Metrics::computed(&self.whole()?).into_value()) })?;
        to_python(py, &metrics)
    }

    /// Metrics too long to be kept with the others: `file_metric` computes them.
    fn deferred_metrics(&self) -> PyResult<Vec<&'static str>> {
        let rows = match &self.stored {
            Some(stored) => stored.row_count(Table::Files),
            None => self.read_table(Table::Files)?.map(|files| files.num_rows() as u64),
        };
        let too_many = rows.is_some_and(|rows| rows > FILES_LISTED as u64);
        Ok(if too_many { FILE_METRICS.to_vec() } else { Vec::new() })
    }

    /// A metric that has an entry for each file, computed now.
    fn file_metric<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let lists = py.detach(|| -> PyResult<[Value; 2]> {
            let mut tables = BTreeMap::new();
            for table in [Table::Chunks, Table::Files] {
                if let Some(batch) = self.read_table(table)? {
                    tables.insert(table, (*batch).clone());
                }
            }
            Ok(file_metrics(&Measurement { header: self.header.clone(), tables }))
        })?;
        let list = FILE_METRICS.into_iter().zip(lists).find(|(of, _)| *of == key);
        match list {
            Some((_, list)) => to_python(py, &list),
            None => Err(PyValueError::new_err(format!("{key:?} is not a metric by file"))),
        }
    }

    /// Sentences on what this kind of input does not tell.
    fn limits(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| Ok(roast_analyze::limits(&self.whole()?)))
    }

    /// The same measurement with these metrics and notes.
    fn with_metrics(&self, metrics: &Bound<'_, PyAny>, notes: Vec<String>) -> PyResult<Self> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let header = Header { metrics: to_value(metrics)?, notes, ..self.header.clone() };
        Ok(Self { header, stored: None, tables: Mutex::new(tables) })
    }

    /// Names of the tables that were recorded.
    fn table_names(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        let mut names = Vec::new();
        for table in Table::ALL {
            let recorded = match &self.stored {
                Some(stored) => stored.table_names().contains(&table.name()),
                None => self.table_batch(py, table)?.is_some(),
            };
            if recorded {
                names.push(table.name());
            }
        }
        Ok(names)
    }

    /// One table; an empty one if it was not recorded.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<ArrowTable> {
        let table = table_named(name)?;
        let batch = self
            .table_batch(py, table)?
            .unwrap_or_else(|| Arc::new(RecordBatch::new_empty(table.schema())));
        Ok(ArrowTable::wrap(table, batch))
    }

    /// Chunk rows as dicts.
    fn chunk_rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Some(batch) = self.table_batch(py, Table::Chunks)? else { return Ok(Vec::new()) };
        let sections = self.table_batch(py, Table::Sections)?;
        let branch_sets = self.table_batch(py, Table::BranchSets)?;
        let count = batch.num_rows();
        check_memory(count as f64 * CHUNK_ROW_BYTES).map_err(|shortage| {
            let instead = "use the table `chunks`, for example with pyarrow or polars";
            too_large(format_args!("a dict for each of {count} chunks"), shortage, instead)
        })?;
        let mut rows = Vec::with_capacity(count);
        for start in (0..count).step_by(ROWS_AT_ONCE) {
            let some = batch.slice(start, ROWS_AT_ONCE.min(count - start));
            let some = py.detach(|| chunk_rows(&some, sections.as_deref(), branch_sets.as_deref()));
            for row in &some {
                rows.push(to_python(py, row)?);
            }
        }
        Ok(rows)
    }

    /// Workers over time; `None` if they were not tracked.
    fn tracking(&self, py: Python<'_>) -> PyResult<Option<WorkerTracking>> {
        let ticks = self.table_batch(py, Table::Ticks)?;
        let workers = self.table_batch(py, Table::Workers)?;
        Ok((ticks.is_some() || workers.is_some()).then(|| WorkerTracking::new(ticks, workers)))
    }

    /// Saves to `output_dir/name` and returns the path.
    #[pyo3(signature = (output_dir, name, *, overwrite=false))]
    fn save(
        &self,
        py: Python<'_>,
        output_dir: PathBuf,
        name: &str,
        overwrite: bool,
    ) -> PyResult<PathBuf> {
        py.detach(|| {
            let mut whole = self.whole()?;
            whole.header.name = name.to_owned();
            roast_store::save(&whole, &output_dir, name, SaveOptions { overwrite })
                .map_err(store_error)
        })
    }

    /// Writes the report page to `path`, or to `<name>.html` here, and returns the path.
    #[pyo3(signature = (path=None, *, overwrite=false))]
    fn write_report(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        overwrite: bool,
    ) -> PyResult<PathBuf> {
        py.detach(|| {
            let path = path.unwrap_or_else(|| {
                PathBuf::from(format!("{}.html", roast_store::file_stem(&self.header.name)))
            });
            // Begun before the work, which may take a while, so that it is not in vain.
            let file = NewFile::begin(&path, overwrite).map_err(new_file_error)?;
            let page = PageData::new(&self.whole()?, &Metrics::stored(&self.header.metrics));
            file.writer().write_all(render_page(&page).as_bytes()).map_err(|error| {
                os_error(&error, format!("could not write {}: {error}", path.display()))
            })?;
            file.finish().map_err(new_file_error)?;
            Ok(path)
        })
    }

    /// The summary for a terminal.
    fn summary_text(&self, width: usize, color: bool) -> String {
        Renderer::Text { width, color }.render(&self.report())
    }

    /// The summary for a notebook.
    fn summary_html(&self) -> String {
        Renderer::Html.render(&self.report())
    }
}

impl CoreMeasurement {
    fn report(&self) -> Report {
        Report::new(&self.header, &Metrics::stored(&self.header.metrics))
    }

    fn table_batch(&self, py: Python<'_>, table: Table) -> PyResult<Option<Arc<RecordBatch>>> {
        py.detach(|| self.read_table(table))
    }

    fn read_table(&self, table: Table) -> PyResult<Option<Arc<RecordBatch>>> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables.get(&table) {
            return Ok(known.clone());
        }
        let read = match &self.stored {
            Some(stored) => stored.read_table(table).map_err(store_error)?.map(Arc::new),
            None => None,
        };
        tables.insert(table, read.clone());
        Ok(read)
    }

    /// Header and every table.
    pub(crate) fn whole(&self) -> PyResult<Measurement> {
        let mut tables = BTreeMap::new();
        for table in Table::ALL {
            if let Some(batch) = self.read_table(table)? {
                tables.insert(table, (*batch).clone());
            }
        }
        Ok(Measurement { header: self.header.clone(), tables })
    }
}

/// `first`, and of `second` what `first` lacks.
fn with_missing(first: &Value, second: &Value) -> Value {
    let known = first.pairs();
    let mut pairs = known.to_vec();
    pairs.extend(
        second
            .pairs()
            .iter()
            .filter(|(key, _)| !known.iter().any(|(have, _)| have == key))
            .cloned(),
    );
    Value::Map(pairs)
}

fn unfit(error: roast_store::GrowthError) -> PyErr {
    MeasurementError::new_err(error.to_string())
}

fn header_from(given: &Value) -> PyResult<Header> {
    let missing = |key: &str| PyValueError::new_err(format!("the header lacks {key:?}"));
    let text = |key: &str| {
        given.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| missing(key))
    };
    let any = |key: &str| given.get(key).cloned().unwrap_or_default();
    let texts = |key: &str| -> Vec<String> {
        given
            .get(key)
            .and_then(Value::items)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    Ok(Header {
        id: text("id")?,
        name: text("name")?,
        started: UtcNs(
            given.get("started_ns").and_then(Value::as_i64).ok_or_else(|| missing("started_ns"))?,
        ),
        wall_secs: given
            .get("wall_secs")
            .and_then(Value::as_f64)
            .ok_or_else(|| missing("wall_secs"))?,
        backend: text("backend")?,
        error: given.get("error").and_then(Value::as_str).map(str::to_owned),
        provenance: any("provenance"),
        report: any("report"),
        custom_metrics: any("custom_metrics"),
        spans: any("spans"),
        span_completeness: given.get("span_completeness").and_then(Value::as_f64),
        processor_prefixes: texts("processor_prefixes"),
        phases: given
            .get("phases")
            .and_then(Value::items)
            .unwrap_or_default()
            .iter()
            .filter_map(phase_from)
            .collect(),
        tracking_extra: any("tracking_extra"),
        notes: texts("notes"),
        metrics: any("metrics"),
    })
}

fn phase_from(given: &Value) -> Option<Phase> {
    Some(Phase {
        name: given.get("name")?.as_str()?.to_owned(),
        start: UtcNs(given.get("start_ns")?.as_i64()?),
        stop: UtcNs(given.get("stop_ns")?.as_i64()?),
        items: given.get("items")?.as_i64()?,
    })
}
