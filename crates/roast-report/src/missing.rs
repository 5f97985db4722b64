//! Why something is missing and how to get it next time, said once per source.

use roast_analyze::Metrics;
use roast_model::{CATALOG, Header, MetricDef, Value};

/// Where numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Report,
    Tracking,
    Spans,
}

impl Source {
    const ALL: [Self; 3] = [Self::Report, Self::Tracking, Self::Spans];

    /// The name that the catalog gives it.
    fn catalog_name(self) -> &'static str {
        match self {
            Self::Report => "coffea report",
            Self::Tracking => "worker tracking",
            Self::Spans => "Dask span",
        }
    }

    /// What is not there, in a few words.
    pub(crate) fn absence(self) -> &'static str {
        match self {
            Self::Report => "no coffea report",
            Self::Tracking => "no worker tracking",
            Self::Spans => "no task activity from Dask",
        }
    }

    /// What to do about it.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Report => {
                "pass the Runner to MetricsCollector, or create it with savemetrics=True and \
                 call set_coffea_report(report)"
            }
            Self::Tracking => {
                "leave track_workers=True, and let the run last longer than \
                 worker_tracking_interval"
            }
            Self::Spans => {
                "needs a Dask client, and tasks that are submitted inside the with block"
            }
        }
    }
}

/// The sources a metric needs.
fn sources(metric: &MetricDef) -> impl Iterator<Item = Source> {
    Source::ALL.into_iter().filter(|source| metric.source.contains(source.catalog_name()))
}

/// The sources of which a run has nothing at all.
pub(crate) fn absent_sources(header: &Header, metrics: &Metrics) -> Vec<Source> {
    Source::ALL
        .into_iter()
        .filter(|source| {
            let recorded = match source {
                Source::Report => matches!(&header.report, Value::Map(pairs) if !pairs.is_empty()),
                Source::Tracking | Source::Spans => false,
            };
            let used = CATALOG
                .iter()
                .filter(|metric| metric.source == source.catalog_name())
                .any(|metric| metrics.number(metric.key).is_some());
            !recorded && !used
        })
        .collect()
}

/// The first of the absent sources that a metric cannot do without.
pub(crate) fn blocked_by(metric: &MetricDef, absent: &[Source]) -> Option<Source> {
    sources(metric).find(|source| absent.contains(source))
}

/// Why one value is missing although its sources are there.
pub(crate) fn reason(metric: &MetricDef, metrics: &Metrics) -> &'static str {
    let known = |key| metrics.number(key).is_some();
    match metric.key {
        "data_rate_gbps" | "total_bytes_read_coffea" if !known("total_bytes_read_coffea") => {
            "missing: coffea counts bytes of ROOT input only"
        }
        "memory_utilization_mean_percent" if known("peak_memory_bytes") => {
            "missing: workers without a memory limit"
        }
        "overhead_cpu_time_seconds" | "overhead_noncpu_time_seconds" => {
            "missing: pass processor_instance to tell tasks apart"
        }
        _ => "missing",
    }
}
