//! The numbers that people ask for first, and the families of metrics.

use roast_analyze::Metrics;
use roast_model::metric_def;
use serde::Serialize;

use super::text;
use crate::report::Report;
use crate::{layout, units};

/// Key, label and note of what stands at the top.
const HEADLINE: [(&str, &str, &str); 7] = [
    ("wall_time", "Wall time", "from entering to leaving the with block"),
    ("total_events", "Events", "as coffea counted them"),
    ("event_rate_wall_khz", "Event rate", "events over wall time"),
    ("data_rate_gbps", "Data rate", "byte ranges asked for, over wall time"),
    ("cpu_efficiency", "Core efficiency", "of all core time, inside process()"),
    ("peak_memory_bytes", "Peak memory", "of any one worker, as sampled"),
    ("num_failed_chunks", "Failed chunks", "that never succeeded"),
];

/// One number of the headline.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fact {
    key: &'static str,
    label: &'static str,
    value: Option<String>,
    note: String,
}

/// Metrics that belong together.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MetricFamily {
    title: String,
    rows: Vec<MetricRow>,
    absent: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct MetricRow {
    label: String,
    value: Option<String>,
    note: String,
}

pub(crate) fn headline(metrics: &Metrics) -> Vec<Fact> {
    HEADLINE
        .into_iter()
        .filter_map(|(key, label, note)| Some((metric_def(key)?, label, note)))
        .map(|(metric, label, note)| {
            let value = match metric.key {
                // Without the second unit that the table gives.
                "data_rate_gbps" => {
                    metrics.number(metric.key).map(|rate| units::show(rate, metric.unit))
                }
                _ => layout::value(metric, metrics),
            };
            let retried = metrics.number("num_retried_chunks").filter(|count| *count > 0.0);
            let note = match (metric.key, retried) {
                ("num_failed_chunks", Some(count)) => {
                    format!("that never succeeded; {} tried again", units::count(count))
                }
                _ => note.to_owned(),
            };
            Fact { key: metric.key, label, value, note }
        })
        .collect()
}

/// The families as the summary shows them.
pub(crate) fn families(report: &Report) -> Vec<MetricFamily> {
    report
        .sections
        .iter()
        .map(|section| MetricFamily {
            title: section.title.clone(),
            rows: section
                .rows
                .iter()
                .map(|row| MetricRow {
                    label: text::name(&row.label),
                    value: row.value.as_deref().map(text::passage),
                    note: row.note.clone(),
                })
                .collect(),
            absent: section.absent.clone(),
        })
        .collect()
}
