//! The user's sections by name, over the chunks that succeeded. A section inside
//! another counts under its own name, whatever is around it.

use std::collections::{BTreeMap, HashSet};

use roast_model::{Frame, Value};

use crate::chunk_rows::{ByName, Names, Outcome, slot};
use crate::datasets::{UNKNOWN, plus};
use crate::number::{ratio, usable};

const BYTES_PER_MB: f64 = 1_048_576.0;

#[derive(Clone, Copy)]
enum Kind {
    Time,
    Memory,
    Bytes,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    timed: Timed,
    cpu_secs: Option<f64>,
    memory_count: i64,
    growth_bytes: Option<f64>,
    max_growth_bytes: Option<f64>,
    bytes: Option<i64>,
    per_dataset: Vec<Timed>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    count: i64,
    secs: Option<f64>,
}

impl Timed {
    fn add(&mut self, count: i64, secs: Option<f64>) {
        self.count = self.count.saturating_add(count);
        self.secs = plus(self.secs, secs, |a, b| a + b);
    }

    fn mean(self) -> Option<f64> {
        ratio(self.secs, Some(self.count as f64))
    }
}

/// `sections`, the longest first; nothing if no section was entered.
pub(crate) fn by_name(sections: Frame<'_>, chunks: Frame<'_>, outcomes: &[Outcome]) -> Value {
    // Sections of attempts that do not count: few, so these are the ones kept.
    let left_out: HashSet<i64> = chunks
        .ints("chunk_id")
        .zip(outcomes)
        .filter(|(_, outcome)| **outcome != Outcome::Ok)
        .filter_map(|(id, _)| id)
        .collect();
    let processing_secs: f64 = chunks
        .floats("duration_secs")
        .zip(outcomes)
        .filter(|(_, outcome)| **outcome == Outcome::Ok)
        .filter_map(|(secs, _)| secs.and_then(usable))
        .sum();

    let (mut names, mut datasets) = (Names::default(), Names::default());
    let mut tallies: Vec<Tally> = Vec::new();
    let mut ids = sections.ints("chunk_id");
    let mut of_dataset = ByName::new(sections.name_cells("dataset"));
    let mut of_kind = ByName::new(sections.name_cells("kind"));
    let mut of_name = ByName::new(sections.name_cells("section"));
    let mut counts = sections.ints("count");
    let mut walls = sections.floats("wall_secs");
    let mut cpus = sections.floats("cpu_secs");
    let mut before = sections.ints("rss_start_bytes");
    let mut after = sections.ints("rss_end_bytes");
    let mut bytes = sections.ints("bytes");
    for row in 0..sections.len() {
        let id = ids.next().flatten();
        let count = counts.next().flatten().unwrap_or(1).max(0);
        let wall_secs = walls.next().flatten().and_then(usable);
        let cpu_secs = cpus.next().flatten().and_then(usable);
        let growth = before.next().flatten().zip(after.next().flatten());
        let bytes = bytes.next().flatten();
        if !left_out.is_empty() && id.is_some_and(|id| left_out.contains(&id)) {
            continue;
        }
        let code = of_name.get(row, |name| name.map(|name| names.code(Some(name))));
        let Some(code) = code else { continue };
        let dataset = of_dataset.get(row, |name| datasets.code(name.or(Some(UNKNOWN))));
        let kind = of_kind.get(row, |kind| match kind {
            Some("memory") => Kind::Memory,
            Some("bytes") => Kind::Bytes,
            _ => Kind::Time,
        });
        let Some(tally) = slot(&mut tallies, code) else { continue };
        match kind {
            Kind::Memory => {
                let growth = growth.map(|(start, end)| end as f64 - start as f64);
                if growth.is_some() {
                    tally.memory_count = tally.memory_count.saturating_add(count);
                }
                tally.growth_bytes = plus(tally.growth_bytes, growth, |a, b| a + b);
                tally.max_growth_bytes = plus(tally.max_growth_bytes, growth, f64::max);
            }
            Kind::Bytes => tally.bytes = plus(tally.bytes, bytes, i64::saturating_add),
            Kind::Time => {
                tally.timed.add(count, wall_secs);
                tally.cpu_secs = plus(tally.cpu_secs, cpu_secs, |a, b| a + b);
                if let Some(part) = slot(&mut tally.per_dataset, dataset) {
                    part.add(count, wall_secs);
                }
            }
        }
    }
    if tallies.is_empty() {
        return Value::None;
    }
    let mut ordered: Vec<(&str, &Tally)> =
        names.names().iter().flatten().copied().zip(&tallies).collect();
    let secs = |tally: &Tally| tally.timed.secs.unwrap_or(-1.0);
    ordered.sort_by(|a, b| secs(b.1).total_cmp(&secs(a.1)).then(a.0.cmp(b.0)));
    Value::map(
        ordered.into_iter().map(|(name, tally)| (name, tally.to_value(processing_secs, &datasets))),
    )
}

impl Tally {
    fn to_value(&self, processing_secs: f64, datasets: &Names<'_>) -> Value {
        let share = ratio(self.timed.secs.map(|secs| secs * 100.0), Some(processing_secs));
        let growths = (self.memory_count > 0).then_some(self.memory_count);
        let megabytes = |bytes: f64| bytes / BYTES_PER_MB;
        let per_dataset: BTreeMap<&str, &Timed> = datasets
            .names()
            .iter()
            .flatten()
            .copied()
            .zip(&self.per_dataset)
            .filter(|(_, part)| part.count > 0)
            .collect();
        Value::map([
            ("count", Value::Int(self.timed.count)),
            ("total_seconds", self.timed.secs.into()),
            ("mean_seconds", self.timed.mean().into()),
            ("share_of_processing_percent", share.into()),
            ("cpu_seconds", self.cpu_secs.into()),
            ("memory_count", Value::Int(self.memory_count)),
            (
                "memory_delta_mean_mb",
                self.growth_bytes
                    .zip(growths)
                    .map(|(bytes, count)| megabytes(bytes / count as f64))
                    .into(),
            ),
            ("memory_delta_max_mb", self.max_growth_bytes.map(megabytes).into()),
            ("bytes", self.bytes.into()),
            (
                "per_dataset",
                Value::map(per_dataset.into_iter().map(|(name, part)| {
                    let entry = Value::map([
                        ("count", Value::Int(part.count)),
                        ("total_seconds", part.secs.into()),
                        ("mean_seconds", part.mean().into()),
                    ]);
                    (name, entry)
                })),
            ),
        ])
    }
}
