//! The metrics of one run, in the catalog's order and under its keys.

use arrow_array::RecordBatch;
use roast_model::{CATALOG, Header, Measurement, MetricDef, Table, Unit, Value, metric_def};

use crate::analyze;
use crate::files::{FILE_METRICS, FILES_LISTED, file_metrics};

/// Cover all tasks unless the processor's can be told apart; then what the other
/// tasks did is known too.
const PROCESSOR: [&str; 4] = [
    "processor_cpu_time_seconds",
    "processor_noncpu_time_seconds",
    "processor_cpu_percentage",
    "processor_noncpu_percentage",
];
const OTHER_TASKS: &str = "overhead_cpu_time_seconds";

/// Every metric of the catalog with its value; a missing one is [`Value::None`].
#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    values: Vec<(&'static str, Value)>,
}

impl Metrics {
    /// Takes the values from `lookup`, key by key in the catalog's order.
    pub(crate) fn collect(mut lookup: impl FnMut(&'static str) -> Value) -> Self {
        Self { values: CATALOG.iter().map(|metric| (metric.key, lookup(metric.key))).collect() }
    }

    /// The metrics that a measurement was saved with.
    pub fn stored(stored: &Value) -> Self {
        Self::collect(|_| Value::None).or_stored(stored)
    }

    /// The metrics that a measurement was saved with where this version computed them,
    /// for the same would come out again; computed otherwise.
    pub fn of(measurement: &Measurement) -> Self {
        if is_of_this_version(&measurement.header) {
            Self::stored(&measurement.header.metrics)
        } else {
            Self::computed(measurement)
        }
    }

    /// The metrics, computed now. What was saved without the data behind it is kept.
    pub fn computed(measurement: &Measurement) -> Self {
        analyze(measurement).or_stored(&measurement.header.metrics)
    }

    /// The value under a key or an alias; `None` if the catalog has no such name.
    pub fn get(&self, key_or_alias: &str) -> Option<&Value> {
        let key = metric_def(key_or_alias)?.key;
        self.values.iter().find(|(candidate, _)| *candidate == key).map(|(_, value)| value)
    }

    /// The number under a key or an alias, if it is known.
    pub fn number(&self, key_or_alias: &str) -> Option<f64> {
        self.get(key_or_alias).and_then(Value::as_f64)
    }

    /// Keys and values, in the catalog's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }

    /// The same as a map from key to value.
    pub fn into_value(self) -> Value {
        Value::map(self.values)
    }

    /// The same with every file listed, where there are too many to list them always.
    #[must_use]
    pub fn with_files(mut self, measurement: &Measurement) -> Self {
        let files = measurement.table(Table::Files).map_or(0, RecordBatch::num_rows);
        if files > FILES_LISTED {
            for (key, list) in FILE_METRICS.into_iter().zip(file_metrics(measurement)) {
                let slot = self.values.iter_mut().find(|(of, value)| *of == key && value.is_none());
                if let Some((_, slot)) = slot {
                    *slot = list;
                }
            }
        }
        self
    }

    /// Fills what is missing here with finite numbers, and with maps and lists where
    /// the catalog has some, that are stored under the same key or one of its aliases.
    /// An imported measurement may know a result without having kept the data behind
    /// it. Where only the stored metrics tell the processor's tasks from others, theirs
    /// stand, so that no task is counted in both.
    #[must_use]
    pub fn or_stored(mut self, stored: &Value) -> Self {
        let known: Vec<(&'static str, &Value)> = stored
            .pairs()
            .iter()
            .filter_map(|(key, value)| Some((metric_def(key.as_str()?)?, value)))
            .filter(|(metric, value)| fits(metric, value))
            .map(|(metric, value)| (metric.key, value))
            .collect();
        let split_is_stored =
            self.number(OTHER_TASKS).is_none() && known.iter().any(|(key, _)| *key == OTHER_TASKS);
        for (key, value) in known {
            let stands = split_is_stored && PROCESSOR.contains(&key);
            if let Some((_, slot)) = self.values.iter_mut().find(|(candidate, _)| *candidate == key)
                && (slot.is_none() || stands)
            {
                *slot = value.clone();
            }
        }
        self
    }
}

/// Whether this version computed the metrics of the header, all but those that are
/// left out where there are many files.
fn is_of_this_version(header: &Header) -> bool {
    let versions = header.provenance.get("versions");
    let version = versions.and_then(|versions| versions.get("roastcoffea")).and_then(Value::as_str);
    let has = |metric: &MetricDef| {
        FILE_METRICS.contains(&metric.key) || header.metrics.get(metric.key).is_some()
    };
    version == Some(env!("CARGO_PKG_VERSION")) && CATALOG.iter().all(has)
}

/// Whether a stored value can be that metric's.
fn fits(metric: &MetricDef, value: &Value) -> bool {
    match metric.unit {
        Unit::Table => matches!(value, Value::Map(_) | Value::List(_) | Value::Tuple(_)),
        Unit::Text => value.as_str().is_some(),
        _ => value.as_f64().is_some_and(f64::is_finite),
    }
}
