//! Rows on the metrics of the catalog: those made of chunks have the noise of
//! chunks, those of the wall clock have it with allowances for what is outside of
//! chunks, and of the others no noise is known.

use roast_model::{Better, CATALOG, MetricDef, Unit};

use super::bootstrap::{Amounts, Estimate};
use super::evidence::{PROCESS, WHOLE_CHUNK, pick};
use super::judge::{Draft, Noise};
use super::part_rows::{estimate, noise_of};
use super::{Basis, Material, Part};

/// Metrics of the wall clock.
const OF_WALL: [&str; 11] = [
    "wall_time",
    "data_rate_gbps",
    "data_rate_mb_per_s",
    "event_rate_wall_khz",
    "event_rate_core_hz",
    "event_rate_core_khz",
    "cpu_efficiency",
    "cpu_efficiency_fine",
    "speedup_factor",
    "efficiency_ratio_percent",
    "parallel_efficiency_percent",
];
/// Sums over a run: of no use where the runs have different events.
const TOTALS: [&str; 18] = [
    "wall_time",
    "total_cpu_time",
    "disk_read_bytes",
    "disk_write_bytes",
    "cpu_time_seconds",
    "io_time_seconds",
    "processor_cpu_time_seconds",
    "processor_noncpu_time_seconds",
    "overhead_cpu_time_seconds",
    "overhead_noncpu_time_seconds",
    "compression_time_seconds",
    "decompression_time_seconds",
    "total_compression_overhead_seconds",
    "serialization_time_seconds",
    "deserialization_time_seconds",
    "total_serialization_overhead_seconds",
    "failed_time_seconds",
    "monitoring_overhead_seconds",
];
/// Depend on the size of a chunk.
const OF_CHUNK: [&str; 10] = [
    "avg_cpu_time_per_chunk",
    "chunk_duration_mean",
    "chunk_duration_max",
    "chunk_duration_std",
    "chunk_duration_p50",
    "chunk_duration_p95",
    "chunk_duration_p99",
    "chunk_mem_delta_mean_mb",
    "chunk_mem_delta_max_mb",
    "chunk_peak_memory_max_mb",
];
/// Counts more apart than this are different.
const SAME_COUNT: f64 = 0.01;
/// Chunk metrics cover whole runs; fewer chunks than this say nothing about them.
const WHOLE_RUN: f64 = 0.95;
/// Chunks beyond a quantile without which it is an accident.
const FEWEST_BEYOND: f64 = 5.0;
/// A spread that is so many times what it is without that many chunks is made by
/// them, and an accident, too.
const MADE_BY_FEW: f64 = 1.5;
/// What may come and go around the chunks of a run: starting, connecting, ending.
const AROUND_SECS: f64 = 1.0;
const AROUND_SHARE: f64 = 0.25;

/// The noise of the metrics, by what they are made of.
struct Noises {
    /// Processing time per event.
    process: Noise,
    /// Processing time per chunk.
    per_chunk: Noise,
    /// Mean over chunks of the processing time per event.
    per_event: Noise,
    wall: Noise,
    /// Median, 95 % and 99 %, and spread of the processing time.
    distribution: [Noise; 4],
    /// Spread of the processing time per event.
    per_event_spread: Noise,
}

pub(crate) fn drafts(material: &Material<'_>) -> Vec<Draft> {
    let noises = Noises::of(material);
    CATALOG
        .iter()
        .filter(|metric| metric.unit != Unit::Table)
        .filter_map(|metric| {
            let [base, new] = material.runs.map(|run| run.metrics.number(metric.key));
            (base.is_some() || new.is_some()).then(|| Draft {
                part: Part::Metric,
                name: metric.key.to_owned(),
                label: metric.label.to_owned(),
                unit: metric.unit,
                better: metric.better,
                base,
                new,
                noise: noises.of_metric(metric),
                incomparable: incomparable(metric, material),
            })
        })
        .collect()
}

fn incomparable(metric: &MetricDef, material: &Material<'_>) -> Option<String> {
    if metric.better == Better::Neither {
        return None;
    }
    let differs = |keys: &[&str]| {
        let [base, new] =
            material.runs.map(|run| keys.iter().find_map(|key| run.metrics.number(key)));
        base.zip(new).is_some_and(|(base, new)| (new - base).abs() > SAME_COUNT * base.abs())
    };
    if TOTALS.contains(&metric.key) && differs(&["total_events", "total_events_from_chunks"]) {
        return Some("the runs have different numbers of events".to_owned());
    }
    if OF_CHUNK.contains(&metric.key) && differs(&["chunk_events_mean"]) {
        return Some("the runs have chunks of different sizes".to_owned());
    }
    None
}

impl Noises {
    fn of(material: &Material<'_>) -> Self {
        let whole_run = material.sample.covered >= WHOLE_RUN;
        let known = |estimate: Option<Estimate>| match estimate.filter(|_| whole_run) {
            Some(estimate) => noise_of(material, &estimate),
            None => Noise::Unknown,
        };
        let process = estimate(material, Part::Phase, PROCESS);
        let per_chunk = process_over(material, |_| 1.0, |_| 1.0);
        let per_event = process_over(material, |events| events, |_| 1.0);
        let mut noises = Self {
            process: known(process),
            per_chunk: known(per_chunk),
            per_event: known(per_event),
            wall: if whole_run { wall(material) } else { Noise::Unknown },
            distribution: [Noise::Unknown; 4],
            per_event_spread: Noise::Unknown,
        };
        if let (Some(mean), true) = (per_chunk, whole_run) {
            noises.distribution = distribution(material, &mean);
        }
        if let (Some(mean), true) = (per_event, whole_run) {
            noises.per_event_spread = spread_per_event(material, &mean);
        }
        noises
    }

    fn of_metric(&self, metric: &MetricDef) -> Noise {
        let [p50, p95, p99, std] = self.distribution;
        match metric.key {
            "total_cpu_time" | "event_rate_agg_khz" => turned(self.process, metric.better),
            "avg_cpu_time_per_chunk" | "chunk_duration_mean" => self.per_chunk,
            "time_per_event_mean_us" => self.per_event,
            "chunk_duration_p50" => p50,
            "chunk_duration_p95" => p95,
            "chunk_duration_p99" => p99,
            "chunk_duration_std" => std,
            "time_per_event_std_us" => self.per_event_spread,
            key if OF_WALL.contains(&key) => turned(self.wall, metric.better),
            _ => Noise::Unknown,
        }
    }
}

/// A rate goes the other way than the time behind it.
fn turned(noise: Noise, better: Better) -> Noise {
    match (noise, better) {
        (Noise::Known { basis, error, freedom, machine, allowance }, Better::Higher) => {
            let machine = (-machine.1, -machine.0);
            Noise::Known { basis, error, freedom, machine, allowance }
        }
        (noise, _) => noise,
    }
}

/// Time in `process()` of each chunk over something of its events, over the sum of
/// something else.
fn process_over(
    material: &Material<'_>,
    divisor: fn(f64) -> f64,
    per: fn(f64) -> f64,
) -> Option<Estimate> {
    let mut both = Vec::new();
    for (run, side) in material.evidence.into_iter().zip(material.sample.sides()) {
        let series = run.series(Part::Phase, PROCESS)?;
        let divided = |numbers: &[f64]| -> Vec<f64> {
            pick(numbers, &side.chunks)
                .into_iter()
                .zip(&side.events)
                .map(|(number, events)| number / divisor(*events))
                .collect()
        };
        both.push(Amounts {
            raw: divided(&series.wall),
            net: divided(&series.net),
            cpu: divided(&series.cpu),
            per: side.events.iter().map(|events| per(*events)).collect(),
        });
    }
    material.ratio(&both.try_into().ok()?)
}

/// The wall time follows the time of the chunks, give or take the last of them and
/// what is around them.
fn wall(material: &Material<'_>) -> Noise {
    let Some(chunks) = estimate(material, Part::Phase, WHOLE_CHUNK) else { return Noise::Unknown };
    let mut allowance: f64 = 0.0;
    for (run, evidence) in material.runs.into_iter().zip(material.evidence) {
        let number = |key| run.metrics.number(key).filter(|number| *number > 0.0);
        let (Some(wall), Some(cores)) = (number("wall_time"), number("total_cores")) else {
            return Noise::Unknown;
        };
        let around = (wall - evidence.attempts_secs / cores).max(0.0);
        let loose = evidence.longest_secs + AROUND_SECS.max(AROUND_SHARE * around);
        allowance = allowance.max((loose / wall).ln_1p());
    }
    match noise_of(material, &chunks) {
        Noise::Known { error, freedom, machine, .. } => {
            Noise::Known { basis: Basis::ChunkSpread, error, freedom, machine, allowance }
        }
        other => other,
    }
}

fn distribution(material: &Material<'_>, mean: &Estimate) -> [Noise; 4] {
    let [Some(base), Some(new)] = process_secs(material, |_| 1.0) else {
        return [Noise::Unknown; 4];
    };
    let fewest = base.len().min(new.len()) as f64;
    let by_few = made_by_few(&base) || made_by_few(&new);
    let errors = material.draws.map_or([None; 4], |draws| {
        draws.of_distribution(&[base, new], |chunks| {
            Some([
                quantile(chunks, 0.5)?,
                quantile(chunks, 0.95)?,
                quantile(chunks, 0.99)?,
                spread(chunks)?,
            ])
        })
    });
    let beyond = [0.5, 0.05, 0.01, if by_few { 0.0 } else { 1.0 }];
    let mut noises = [Noise::Unknown; 4];
    for ((noise, error), beyond) in noises.iter_mut().zip(errors).zip(beyond) {
        if let Some(error) = error
            && fewest * beyond >= FEWEST_BEYOND
        {
            *noise = with_error(material, mean, error);
        }
    }
    noises
}

fn spread_per_event(material: &Material<'_>, mean: &Estimate) -> Noise {
    let [Some(base), Some(new)] = process_secs(material, |events| events) else {
        return Noise::Unknown;
    };
    if made_by_few(&base) || made_by_few(&new) {
        return Noise::Unknown;
    }
    let errors = material.draws.map_or([None], |draws| {
        draws.of_distribution(&[base, new], |chunks| Some([spread(chunks)?]))
    });
    errors[0].map_or(Noise::Unknown, |error| with_error(material, mean, error))
}

/// The machine does to a quantile or spread what it does to the mean. What waiting
/// did to it is not taken out of the values, so chance has to make up for it.
fn with_error(material: &Material<'_>, mean: &Estimate, error: f64) -> Noise {
    noise_of(material, &Estimate { error: error.max(mean.error), ..*mean })
}

fn process_secs(material: &Material<'_>, divisor: fn(f64) -> f64) -> [Option<Vec<f64>>; 2] {
    let [base, new] = material.sample.sides();
    let [of_base, of_new] = material.evidence;
    [(of_base, base), (of_new, new)].map(|(run, side)| {
        let secs = pick(&run.series(Part::Phase, PROCESS)?.wall, &side.chunks);
        Some(
            secs.into_iter()
                .zip(&side.events)
                .map(|(secs, events)| secs / divisor(*events))
                .collect(),
        )
    })
}

/// The value below which that fraction of the chunks lies, each as often as it
/// counts; the values are in order.
fn quantile(chunks: &[(f64, f64)], fraction: f64) -> Option<f64> {
    let total: f64 = chunks.iter().map(|(_, count)| count).sum();
    let place = (total - 1.0).max(0.0) * fraction;
    let mut passed = 0.0;
    for (value, count) in chunks {
        passed += count;
        if passed > place {
            return Some(*value);
        }
    }
    chunks.last().map(|(value, _)| *value)
}

/// Whether a few chunks make most of the spread: those of one hiccup of the machine
/// would, and drawing from the chunks does not tell how often that happens.
fn made_by_few(secs: &[f64]) -> bool {
    let spread_of = |secs: &[f64]| {
        spread(&secs.iter().map(|secs| (*secs, 1.0)).collect::<Vec<_>>()).unwrap_or(0.0)
    };
    let mean = secs.iter().sum::<f64>() / secs.len().max(1) as f64;
    let mut nearest_first = secs.to_vec();
    nearest_first.sort_unstable_by(|a, b| (a - mean).abs().total_cmp(&(b - mean).abs()));
    nearest_first.truncate(secs.len().saturating_sub(FEWEST_BEYOND as usize));
    spread_of(secs) > MADE_BY_FEW * spread_of(&nearest_first)
}

fn spread(chunks: &[(f64, f64)]) -> Option<f64> {
    let total: f64 = chunks.iter().map(|(_, count)| count).sum();
    let mean = chunks.iter().map(|(value, count)| value * count).sum::<f64>() / total;
    let squares: f64 = chunks.iter().map(|(value, count)| count * (value - mean).powi(2)).sum();
    (total > 1.0).then(|| (squares / (total - 1.0)).sqrt()).filter(|spread| *spread > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_of_a_few_chunks_is_an_accident() {
        let usual: Vec<f64> = (0..100).map(|n| 1.0 + 0.01 * f64::from(n % 10)).collect();
        assert!(!made_by_few(&usual));
        let with_hiccup = |chunks: usize| -> Vec<f64> {
            usual.iter().enumerate().map(|(n, s)| s + f64::from(u8::from(n < chunks))).collect()
        };
        assert!(made_by_few(&with_hiccup(1)) && made_by_few(&with_hiccup(5)));
        assert!(!made_by_few(&with_hiccup(20)));
        assert!(!made_by_few(&[]) && !made_by_few(&[1.0; 50]));
    }
}
