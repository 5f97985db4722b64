//! Import of the directories that the original Python tool saved: `metadata.json`,
//! `metrics.json` and `start_end_time.txt`. What it recorded takes its place in
//! the header and the tables; what it did not record is missing, and the notes
//! say what had to be assumed.

use std::collections::BTreeMap;
use std::path::Path;

use roast_model::{Frame, Header, Measurement, Table, TableError, UtcNs, Value, canonical_key};
use serde_json::{Map as JsonMap, Value as Json};

use crate::error::StoreError;
use crate::import_json::{self, plain_value};
use crate::import_tracking::{self, Tracking};
use crate::local_time::LocalClock;
use crate::stored::read_if_there;
use crate::{import_chunks, python_literal};

/// The files of such a directory; the first two are always there.
pub(crate) const ORIGINAL_FILES: [&str; 3] = [METADATA_FILE, METRICS_FILE, CLOCK_FILE];
const METADATA_FILE: &str = "metadata.json";
const METRICS_FILE: &str = "metrics.json";
const CLOCK_FILE: &str = "start_end_time.txt";
const FORMAT: &str = "roastcoffea_measurement_v1";

/// Held in tables and spans, or no more than another view of the chunks.
const RAW_KEYS: [&str; 4] =
    ["tracking_data", "raw_chunk_metrics", "raw_span_metrics", "chunk_info"];

const REPORT_KEYS: [(&str, &str); 4] = [
    ("bytesread", "total_bytes_read"),
    ("entries", "total_events"),
    ("processtime", "total_cpu_time"),
    ("chunks", "num_chunks"),
];

/// An imported measurement, whole.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) measurement: Measurement,
    pub(crate) start_end: Option<(f64, f64)>,
}

/// Imports the directory; `None` if it is not one of the original tool's.
pub(crate) fn import(directory: &Path) -> Result<Option<Imported>, StoreError> {
    let Some((metadata, _)) = read_object(directory, METADATA_FILE)? else { return Ok(None) };
    if metadata.get("format").and_then(Json::as_str) != Some(FORMAT) {
        return Ok(None);
    }
    let (metrics, crc32) = read_object(directory, METRICS_FILE)?.ok_or_else(|| {
        StoreError::damaged(METRICS_FILE, "it is missing", &directory.join(METRICS_FILE))
    })?;
    let start_end = read_start_end(directory)?;
    let sources = Sources { directory, metadata: &metadata, metrics: &metrics, crc32, start_end };
    Ok(Some(Imported { measurement: sources.measurement()?, start_end }))
}

type Object = JsonMap<String, Json>;

struct Sources<'a> {
    directory: &'a Path,
    metadata: &'a Object,
    metrics: &'a Object,
    crc32: u32,
    start_end: Option<(f64, f64)>,
}

impl Sources<'_> {
    fn measurement(&self) -> Result<Measurement, StoreError> {
        let damaged = |error: TableError| {
            StoreError::damaged(METRICS_FILE, error.to_string(), &self.directory.join(METRICS_FILE))
        };
        let no_tracking = Object::new();
        let tracking = self.metrics.get("tracking_data").and_then(Json::as_object);
        let tracking = tracking.unwrap_or(&no_tracking);
        let clock = LocalClock::from_pairs(import_tracking::clock_pairs(tracking));
        let Tracking { mut tables, extra, left_out, first } =
            import_tracking::import(tracking, &clock).map_err(damaged)?;
        if let Some(list) = self.metrics.get("raw_chunk_metrics").and_then(Json::as_array) {
            tables.insert(Table::Chunks, import_chunks::chunks(list).map_err(damaged)?);
        }
        if let Some(by_file) = self.metrics.get("file_metadata").and_then(Json::as_object) {
            tables.insert(Table::Files, import_chunks::files(by_file).map_err(damaged)?);
        }
        let mut notes = vec![
            "Imported from the original tool's format, which holds no task intervals and no \
             completeness of the spans."
                .to_owned(),
            clock.note().to_owned(),
        ];
        if left_out > 0 {
            notes.push(format!(
                "{left_out} tracking samples had no readable time and are left out."
            ));
        }
        let wall_secs = self.wall_secs()?;
        let started = self.started(&clock, wall_secs, first, &tables, &mut notes)?;
        let spans = self.spans(&mut notes);
        let header = Header {
            id: format!("original-{}-{:08x}", started.0, self.crc32),
            name: self.name(),
            started,
            wall_secs,
            backend: "dask".into(),
            error: None,
            provenance: self.provenance(),
            report: self.report(),
            custom_metrics: self.metrics.get("custom_metrics").map_or(Value::None, plain_value),
            spans,
            span_completeness: None,
            processor_prefixes: Vec::new(),
            phases: Vec::new(),
            tracking_extra: extra,
            notes,
            metrics: self.kept_metrics(),
        };
        Ok(Measurement { header, tables })
    }

    fn name(&self) -> String {
        // A path such as `.` has no last part until it is resolved.
        let resolved = self.directory.canonicalize().unwrap_or_else(|_| self.directory.to_owned());
        resolved.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn wall_secs(&self) -> Result<f64, StoreError> {
        let saved = self.metadata.get("elapsed_time_seconds").and_then(Json::as_f64);
        saved
            .or_else(|| self.metrics.get("elapsed_time_seconds").and_then(Json::as_f64))
            .or_else(|| self.start_end.map(|(start, end)| end - start))
            .ok_or_else(|| self.bad_metadata("it has no elapsed_time_seconds"))
    }

    /// The time of saving less the time that had elapsed, or the first thing that
    /// was seen to happen if that was earlier: saving may have come late.
    fn started(
        &self,
        clock: &LocalClock,
        wall_secs: f64,
        first_tick: Option<UtcNs>,
        tables: &BTreeMap<Table, arrow_array::RecordBatch>,
        notes: &mut Vec<String>,
    ) -> Result<UtcNs, StoreError> {
        let saved = self.metadata.get("timestamp").and_then(Json::as_str);
        let saved = saved.and_then(|text| clock.to_utc(text));
        let chunks = tables.get(&Table::Chunks).map(Frame::new);
        let first_chunk = chunks.and_then(|frame| frame.times("start").flatten().min());
        let at_latest = saved.map(|moment| moment.after_secs(-wall_secs));
        let started = [at_latest, first_tick, first_chunk].into_iter().flatten().min();
        let started = started.ok_or_else(|| self.bad_metadata("it has no readable timestamp"))?;
        notes.push(match at_latest {
            Some(moment) if moment == started => {
                "The start is the time of saving less the elapsed time; it is too late by what \
                 passed between the end of the run and saving."
                    .to_owned()
            }
            _ => "The start is the first sample or chunk; the format does not hold it.".to_owned(),
        });
        Ok(started)
    }

    fn bad_metadata(&self, why: &str) -> StoreError {
        StoreError::damaged(METADATA_FILE, why, &self.directory.join(METADATA_FILE))
    }

    fn provenance(&self) -> Value {
        let timestamp = self.metadata.get("timestamp").map_or(Value::None, plain_value);
        Value::map([("imported_from", Value::from(FORMAT)), ("saved_local_time", timestamp)])
    }

    fn report(&self) -> Value {
        Value::map(REPORT_KEYS.into_iter().filter_map(|(key, metric)| {
            self.metrics
                .get(metric)
                .filter(|json| json.is_number())
                .map(|json| (key, plain_value(json)))
        }))
    }

    fn spans(&self, notes: &mut Vec<String>) -> Value {
        let Some(spans) = self.metrics.get("raw_span_metrics").and_then(Json::as_object) else {
            return Value::None;
        };
        let mut unread = 0;
        let pairs = spans.iter().map(|(key, value)| {
            let key = python_literal::parse(key).unwrap_or_else(|| {
                unread += 1;
                Value::Str(key.clone())
            });
            (key, plain_value(value))
        });
        let pairs = Value::Map(pairs.collect());
        if unread > 0 {
            notes.push(format!("{unread} span keys are not Python literals and are kept as text."));
        }
        pairs
    }

    fn kept_metrics(&self) -> Value {
        let mut kept: Vec<(&str, Value)> = Vec::new();
        for (key, json) in self.metrics.iter().filter(|(key, _)| !RAW_KEYS.contains(&key.as_str()))
        {
            let canonical = canonical_key(key).unwrap_or(key);
            // The metric's own name goes before its aliases.
            if canonical == key || !self.metrics.contains_key(canonical) {
                kept.retain(|(earlier, _)| *earlier != canonical);
                kept.push((canonical, plain_value(json)));
            }
        }
        Value::map(kept)
    }
}

/// The object in a file and the checksum of its text; `None` if there is no file.
fn read_object(directory: &Path, file: &str) -> Result<Option<(Object, u32)>, StoreError> {
    let path = directory.join(file);
    let Some(bytes) = read_if_there(&path)? else { return Ok(None) };
    match import_json::parse(&bytes) {
        Ok(Json::Object(object)) => Ok(Some((object, crc32fast::hash(&bytes)))),
        Ok(_) => Err(StoreError::damaged(file, "it is not a JSON object", &path)),
        Err(error) => Err(StoreError::damaged(file, error.to_string(), &path)),
    }
}

fn read_start_end(directory: &Path) -> Result<Option<(f64, f64)>, StoreError> {
    let path = directory.join(CLOCK_FILE);
    let Some(bytes) = read_if_there(&path)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    let number = |part: &str| part.trim().parse().ok().filter(|secs: &f64| secs.is_finite());
    text.split_once(',')
        .and_then(|(start, end)| Some((number(start)?, number(end)?)))
        .map(Some)
        .ok_or_else(|| StoreError::damaged(CLOCK_FILE, "it is not two numbers", &path))
}
