//! Tables that the analysis has already made: datasets and branches.

use std::collections::BTreeSet;

use roast_analyze::Metrics;
use roast_model::Value;

use super::panel::no_chunks;
use super::run::Run;
use super::table::{Cell, Column, Table, column, heaviest, share};
use super::text;

const DATASETS: &[Column] = &[
    column("dataset", "dataset", "text", ""),
    column("chunks", "chunks", "count", "chunks that gave a result"),
    column("events", "events", "count", ""),
    column("process_secs", "in process()", "seconds", "summed over chunks"),
    column("share", "share", "share", "of the time in process() of all datasets"),
    column("mean_secs", "per chunk", "seconds", "mean time in process()"),
    column("rate_khz", "rate per thread", "khz", "events over the time in process()"),
    column("bytes_read", "read", "bytes", "byte ranges asked for"),
    column("failed_chunks", "failed chunks", "count", "chunks that never succeeded"),
];

/// One row per dataset.
pub(crate) fn datasets(metrics: &Metrics) -> Table {
    let entries = entries(metrics, "per_dataset");
    let secs = |row: &Value| real(row, "total_duration");
    let total: f64 = entries.iter().filter_map(|(_, row)| secs(row)).sum();
    let weights: Vec<f64> = entries.iter().map(|(_, row)| secs(row).unwrap_or(-1.0)).collect();
    let rows = heaviest(&weights)
        .into_iter()
        .filter_map(|index| entries.get(index))
        .map(|(name, row)| {
            let rate = real(row, "total_events").zip(secs(row).filter(|secs| *secs > 0.0));
            vec![
                text::name(name).into(),
                whole(row, "num_chunks"),
                whole(row, "total_events"),
                secs(row).into(),
                share(secs(row), Some(total)),
                real(row, "mean_duration").into(),
                rate.map(|(events, secs)| events / secs / 1e3).into(),
                whole(row, "bytes_read"),
                whole(row, "failed_chunks"),
            ]
        })
        .collect();
    Table::new(("datasets", "Datasets"), DATASETS, rows, entries.len(), no_chunks)
}

const BRANCHES: &[Column] = &[
    column("branch", "branch", "text", ""),
    column("secs", "time", "seconds", "of its reads, decompression and interpretation included"),
    column("share", "share", "share", "of the time of all column reads"),
    column("bytes", "read", "bytes", "byte ranges asked for"),
    column("bytes_share", "share of bytes", "share", "of what all branches asked for"),
    column("files", "from files", "count", "input files in which it was read"),
    column("chunks", "chunks", "count", "chunks that read it"),
    column("reads", "reads", "count", "over every attempt"),
    column("requests", "requests", "count", "made to the files"),
    column("cpu_secs", "CPU", "seconds", "of the reading thread"),
    column("decompress_secs", "decompress", "seconds", ""),
    column("interpret_secs", "interpret", "seconds", "turning baskets into arrays"),
];

/// One row per branch.
pub(crate) fn branches(metrics: &Metrics, run: &Run<'_>) -> Table {
    let entries = entries(metrics, "branches");
    let total = |key: &str| Some(entries.iter().filter_map(|(_, row)| real(row, key)).sum::<f64>());
    let (all_secs, all_bytes) = (total("seconds"), total("bytes"));
    let weights: Vec<f64> =
        entries.iter().map(|(_, row)| real(row, "seconds").unwrap_or(-1.0)).collect();
    let rows = heaviest(&weights)
        .into_iter()
        .filter_map(|index| entries.get(index))
        .map(|(name, row)| {
            vec![
                text::name(name).into(),
                real(row, "seconds").into(),
                share(real(row, "seconds"), all_secs),
                whole(row, "bytes"),
                share(real(row, "bytes"), all_bytes),
                whole(row, "files"),
                whole(row, "chunks"),
                whole(row, "reads"),
                whole(row, "requests"),
                real(row, "cpu_seconds").into(),
                real(row, "decompress_seconds").into(),
                real(row, "interpret_seconds").into(),
            ]
        })
        .collect();
    let files: BTreeSet<&str> = run.files.iter().copied().flatten().collect();
    let note = match files.len() {
        0 => String::new(),
        1 => "The run read 1 file.".to_owned(),
        count => format!("The run read {} files.", crate::units::count(count as f64)),
    };
    Table::new(("branches", "Branches"), BRANCHES, rows, entries.len(), || {
        if run.chunks.is_empty() {
            no_chunks()
        } else {
            "Column reads were not seen: they are recorded for NanoEvents of ROOT files, not for \
             chunk rows from elsewhere."
                .to_owned()
        }
    })
    .note(note)
}

/// The rows of a metric that is a map of maps.
fn entries<'m>(metrics: &'m Metrics, key: &str) -> Vec<(&'m str, &'m Value)> {
    let pairs = metrics.get(key).map(Value::pairs).unwrap_or_default();
    pairs.iter().filter_map(|(name, row)| Some((name.as_str()?, row))).collect()
}

fn real(row: &Value, key: &str) -> Option<f64> {
    row.get(key).and_then(Value::as_f64)
}

fn whole(row: &Value, key: &str) -> Cell {
    row.get(key).and_then(Value::as_i64).into()
}
