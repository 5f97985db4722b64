//! What the worker threads did, from the activities of Dask's span. A span that
//! exists reports every activity that took place, so an activity it does not
//! name took no time; without a span nothing is known.

use roast_model::Value;

use crate::number::ratio;
use crate::sheet::Sheet;

/// One entry of a span.
#[derive(Clone, Copy, Debug)]
struct Activity<'a> {
    prefix: &'a str,
    name: &'a str,
    unit: &'a str,
    amount: f64,
}

/// The activities of task execution, read from a span's raw metrics.
#[derive(Clone, Debug)]
pub(crate) struct Spans<'a> {
    activities: Vec<Activity<'a>>,
}

impl<'a> Spans<'a> {
    /// Reads keys of the form `("execute", prefix, activity, unit)` and leaves out
    /// all others; nothing if there is no such key.
    pub(crate) fn read(spans: &'a Value) -> Option<Self> {
        let mut activities: Vec<_> = spans
            .pairs()
            .iter()
            .filter_map(|(key, amount)| {
                let [context, prefix, name, unit] = key.items()? else { return None };
                (context.as_str()? == "execute").then_some(())?;
                Some(Activity {
                    prefix: prefix.as_str()?,
                    name: name.as_str()?,
                    unit: unit.as_str()?,
                    amount: amount.as_f64()?,
                })
            })
            .collect();
        // The order of the sum, and with it the last digit, must not hang on the map's.
        activities.sort_by(|a, b| {
            (a.prefix, a.name, a.unit)
                .cmp(&(b.prefix, b.name, b.unit))
                .then(a.amount.total_cmp(&b.amount))
        });
        (!activities.is_empty()).then_some(Self { activities })
    }

    /// The amount of an activity over all tasks.
    pub(crate) fn total(&self, name: &str, unit: &str) -> f64 {
        self.sum(name, unit, |_| true)
    }

    fn sum(&self, name: &str, unit: &str, wanted: impl Fn(&str) -> bool) -> f64 {
        self.activities
            .iter()
            .filter(|entry| entry.name == name && entry.unit == unit && wanted(entry.prefix))
            .map(|entry| entry.amount)
            // Not `sum()`, whose empty sum is -0.0.
            .fold(0.0, |total, amount| total + amount)
    }
}

/// Without known prefixes the processor cannot be told from the rest: its
/// metrics then cover all tasks, and those of the rest are missing.
pub(crate) fn fill(sheet: &mut Sheet, spans: &Spans<'_>, processor_prefixes: &[String]) {
    let known = !processor_prefixes.is_empty();
    let is_processor = |prefix: &str| !known || processor_prefixes.iter().any(|p| p == prefix);
    let seconds = |name| Some(spans.total(name, "seconds"));
    let processor = |name| Some(spans.sum(name, "seconds", is_processor));
    let others = |name| known.then(|| spans.sum(name, "seconds", |prefix| !is_processor(prefix)));

    sheet.real("cpu_time_seconds", seconds("thread-cpu"));
    sheet.real("io_time_seconds", seconds("thread-noncpu"));

    let (cpu, noncpu) = (processor("thread-cpu"), processor("thread-noncpu"));
    let both = cpu.zip(noncpu).map(|(cpu, noncpu)| cpu + noncpu);
    sheet.real("processor_cpu_time_seconds", cpu);
    sheet.real("processor_noncpu_time_seconds", noncpu);
    sheet.real("processor_cpu_percentage", ratio(cpu, both).map(|share| share * 100.0));
    sheet.real("processor_noncpu_percentage", ratio(noncpu, both).map(|share| share * 100.0));
    sheet.real("overhead_cpu_time_seconds", others("thread-cpu"));
    sheet.real("overhead_noncpu_time_seconds", others("thread-noncpu"));

    let (compress, decompress) = (seconds("compress"), seconds("decompress"));
    sheet.real("compression_time_seconds", compress);
    sheet.real("decompression_time_seconds", decompress);
    sheet.real("total_compression_overhead_seconds", sum(compress, decompress));
    let (serialize, deserialize) = (seconds("serialize"), seconds("deserialize"));
    sheet.real("serialization_time_seconds", serialize);
    sheet.real("deserialization_time_seconds", deserialize);
    sheet.real("total_serialization_overhead_seconds", sum(serialize, deserialize));
    sheet.real("failed_time_seconds", seconds("failed"));
}

fn sum(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? + b?)
}
