//! Which metrics make one row for people, and the few words beside it. What the
//! catalog lists twice in different units is one row here.

use roast_analyze::Metrics;
use roast_model::{MetricDef, Unit};

use crate::units::{self, show};

/// Metrics that do not get a row of their own: they stand in another one's, or
/// mislead beside it.
const FOLDED: &[&str] = &[
    "data_rate_mb_per_s",
    "event_rate_core_khz",
    "memory_utilization_min_percent",
    "memory_utilization_max_percent",
    "cpu_utilization_min_percent",
    "cpu_utilization_max_percent",
    "efficiency_ratio_percent",
    "chunk_duration_min",
    "chunk_duration_max",
    "chunk_duration_std",
    "chunk_duration_p95",
    "chunk_duration_p99",
    "chunk_mem_delta_min_mb",
    "chunk_mem_delta_max_mb",
    "chunk_mem_delta_std_mb",
    "chunk_events_min",
    "chunk_events_max",
    "time_per_event_std_us",
    "memory_per_event_std_bytes",
];

/// Several values make a table of their own, never a row; words stand apart.
pub(crate) fn has_row(metric: &MetricDef) -> bool {
    !matches!(metric.unit, Unit::Table | Unit::Text) && !FOLDED.contains(&metric.key)
}

/// What people read in the row, where that is not the catalog's label.
pub(crate) fn label(metric: &MetricDef) -> &'static str {
    match metric.key {
        "memory_utilization_mean_percent" => "Memory use of limit (mean)",
        "cpu_utilization_mean_percent" => "CPU use of a worker (mean)",
        _ => metric.label,
    }
}

/// The metric's value for people; `None` if it is missing.
pub(crate) fn value(metric: &MetricDef, metrics: &Metrics) -> Option<String> {
    let number = metrics.number(metric.key)?;
    let text = match metric.key {
        "cpu_efficiency" | "cpu_efficiency_fine" => units::share(number),
        "speedup_factor" => units::times(number),
        _ => show(number, metric.unit),
    };
    Some(match metric.key {
        "data_rate_gbps" => match metrics.number("data_rate_mb_per_s") {
            Some(rate) => format!("{text} ({})", show(rate, Unit::MegabytesPerSec)),
            None => text,
        },
        _ => text,
    })
}

/// A few words that keep the row from being misread.
pub(crate) fn note(metric: &MetricDef, metrics: &Metrics) -> String {
    let shown = |key: &str, unit| Some(show(metrics.number(key)?, unit));
    let range = |least: &str, most: &str, unit| {
        Some(format!("{} to {}", shown(least, unit)?, shown(most, unit)?))
    };
    let percents = |family: &str| {
        range(&format!("{family}_min_percent"), &format!("{family}_max_percent"), Unit::Percent)
    };
    let spread = |key, unit| shown(key, unit).map(|spread| format!("± {spread}"));
    let both = |a: Option<String>, b: Option<String>| {
        a.into_iter().chain(b).collect::<Vec<_>>().join(", ")
    };
    match metric.key {
        "memory_utilization_mean_percent" => percents("memory_utilization").unwrap_or_default(),
        "cpu_utilization_mean_percent" => match percents("cpu_utilization") {
            Some(range) => format!("{range}; 100 % is one core"),
            None => "100 % is one core".to_owned(),
        },
        "chunk_duration_mean" => both(
            spread("chunk_duration_std", Unit::Seconds),
            range("chunk_duration_min", "chunk_duration_max", Unit::Seconds),
        ),
        "chunk_duration_p50" => both(
            shown("chunk_duration_p95", Unit::Seconds).map(|most| format!("95 % below {most}")),
            shown("chunk_duration_p99", Unit::Seconds).map(|most| format!("99 % below {most}")),
        ),
        "chunk_mem_delta_mean_mb" => both(
            spread("chunk_mem_delta_std_mb", Unit::Mebibytes),
            range("chunk_mem_delta_min_mb", "chunk_mem_delta_max_mb", Unit::Mebibytes),
        ),
        "chunk_events_mean" => {
            range("chunk_events_min", "chunk_events_max", Unit::Count).unwrap_or_default()
        }
        "time_per_event_mean_us" => {
            spread("time_per_event_std_us", Unit::Microseconds).unwrap_or_default()
        }
        "memory_per_event_mean_bytes" => {
            spread("memory_per_event_std_bytes", Unit::Bytes).unwrap_or_default()
        }
        key => fixed_note(key).to_owned(),
    }
}

fn fixed_note(key: &str) -> &'static str {
    match key {
        "data_rate_gbps" => "byte ranges asked for, over wall time",
        "event_rate_agg_khz" => "inside process() only",
        "total_bytes_read_coffea" => "compressed, tree metadata included",
        "total_bytes_memory_read_dask" => "task inputs, not ROOT files",
        "disk_read_bytes" | "disk_write_bytes" => "task results, not ROOT files",
        "total_cpu_time" => "time inside process(), not CPU time",
        "num_chunks" => "planned, skipped ones included",
        "total_cores" => "task threads there on average",
        "peak_memory_bytes" => "as sampled",
        "host_net_read_bytes_per_s_mean" | "host_disk_read_bytes_per_s_mean" => {
            "all programs on the hosts"
        }
        "io_time_seconds" => "reading, waiting, interpreter lock",
        "processor_cpu_time_seconds" => "opening files included",
        "overhead_cpu_time_seconds" => "reduction, preprocessing",
        "total_compression_overhead_seconds" => "Dask's transfers, not ROOT's",
        "cpu_efficiency" => "of all core time, inside process()",
        "cpu_efficiency_fine" => "of all core time, on a CPU",
        "speedup_factor" => "against one core",
        "io_overhead_percent" => "over all threads: may exceed 100 %",
        "parallel_efficiency_percent" => "100 %: every core in process() always",
        "num_replayed_chunks" => "left out of rates and efficiencies",
        "runtime_events_correlation" => "1: the number of events sets the time",
        "avg_compression_ratio" => "compressed over uncompressed size",
        "avg_branches_read_percent" => "of all branches in the file",
        "avg_bytes_read_percent" => "of the compressed tree",
        _ => "",
    }
}
