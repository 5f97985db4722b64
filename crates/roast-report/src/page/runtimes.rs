//! How long chunks took in `process()`, as a histogram by dataset.

use roast_analyze::{Metrics, Outcome};
use serde::Serialize;

use super::axis::cell_of;
use super::panel::{Panel, no_chunks};
use super::run::{Run, shown_name};

/// Bins at most; fewer where there are few chunks.
const MOST_BINS: usize = 60;
const LEAST_BINS: usize = 10;
/// Datasets with a colour of their own.
const MOST_DATASETS: usize = 20;

/// The histogram.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Runtimes {
    edges_secs: Vec<f64>,
    datasets: Vec<Counts>,
    p50_secs: Option<f64>,
    p95_secs: Option<f64>,
    p99_secs: Option<f64>,
    failed: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Counts {
    name: String,
    counts: Vec<u64>,
}

pub(crate) fn panel(run: &Run<'_>, metrics: &Metrics) -> Panel<Runtimes> {
    let timed: Vec<(usize, f64)> = run
        .chunks
        .iter()
        .filter(|chunk| chunk.is_ok())
        .filter_map(|chunk| Some((chunk.dataset, chunk.duration_secs?)))
        .collect();
    let failed = run.chunks.iter().filter(|chunk| chunk.outcome == Outcome::Failed).count();
    if timed.is_empty() {
        return Panel::missing(if run.chunks.is_empty() {
            no_chunks()
        } else {
            "No chunk with a known duration gave a result.".to_owned()
        });
    }
    let edges_secs = edges(&timed);
    let bins = edges_secs.len().saturating_sub(1);
    let own = run.datasets.len().min(MOST_DATASETS);
    let mut datasets: Vec<Counts> = run
        .datasets
        .iter()
        .take(own)
        .map(|name| Counts { name: shown_name(*name), counts: vec![0; bins] })
        .collect();
    let rest = run.datasets.len() - own;
    if rest > 0 {
        let name = format!("{rest} other datasets");
        datasets.push(Counts { name, counts: vec![0; bins] });
    }
    for (dataset, secs) in timed {
        let place = datasets.get_mut(dataset.min(own)).map(|dataset| &mut dataset.counts);
        if let Some(count) = place.and_then(|counts| counts.get_mut(cell_of(&edges_secs, secs))) {
            *count += 1;
        }
    }
    Panel::Data(Runtimes {
        edges_secs,
        datasets,
        p50_secs: metrics.number("chunk_duration_p50"),
        p95_secs: metrics.number("chunk_duration_p95"),
        p99_secs: metrics.number("chunk_duration_p99"),
        failed,
    })
}

/// Bins of one round width that hold every duration, from the one with the least.
fn edges(timed: &[(usize, f64)]) -> Vec<f64> {
    let least = timed.iter().map(|(_, secs)| *secs).fold(f64::INFINITY, f64::min);
    let most = timed.iter().map(|(_, secs)| *secs).fold(0.0, f64::max);
    let wanted = ((timed.len() as f64).sqrt() * 2.0) as usize;
    let wanted = wanted.clamp(LEAST_BINS, MOST_BINS) as f64;
    let range = if most > least { most - least } else { most.max(1e-3) };
    let width = round_up(range / wanted);
    let first = (least / width).floor();
    let count = ((most / width).floor() - first).max(0.0) as usize + 1;
    (0..=count).map(|edge| (first + edge as f64) * width).collect()
}

/// The next number that is 1, 2 or 5 times a power of ten.
fn round_up(number: f64) -> f64 {
    let power = 10.0_f64.powf(number.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= number);
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_duration_has_a_bin() {
        for numbers in
            [vec![0.0], vec![1.0], vec![0.3, 0.3], vec![0.1, 7.77, 12.0, 1e4], vec![1e-9]]
        {
            let timed: Vec<_> = numbers.iter().map(|secs| (0, *secs)).collect();
            let edges = edges(&timed);
            assert!(edges.len() >= 2 && edges.len() <= MOST_BINS + 2, "{numbers:?} {edges:?}");
            for secs in numbers {
                assert!(edges[0] <= secs && secs <= edges[edges.len() - 1], "{secs} {edges:?}");
            }
        }
        let widths = [(0.11, 0.2), (0.2, 0.2), (7.0, 10.0), (30.0, 50.0)];
        assert!(widths.iter().all(|(number, round)| (round_up(*number) - round).abs() < 1e-9));
    }
}
