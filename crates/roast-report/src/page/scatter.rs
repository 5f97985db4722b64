//! Chunks as points: time in `process()` against events. Where there are more than
//! a screen can show, the extremes are kept and the rest is thinned out evenly.

use std::collections::BTreeSet;

use serde::Serialize;

use super::lanes::UsedNames;
use super::number::short;
use super::panel::{Panel, no_chunks};
use super::run::{ChunkRow, Run, shown};

/// Points at most.
const MOST_POINTS: usize = 5000;
/// Points kept of each kind of extreme.
const EXTREMES: usize = 100;
/// Failed attempts kept, the longest first.
const MOST_FAILED: usize = 1000;
/// Lines of constant rate at most.
const MOST_GUIDES: usize = 4;

/// Chunks as points, in columns of equal length.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Scatter {
    total: usize,
    datasets: Vec<String>,
    files: Vec<String>,
    events: Vec<i64>,
    duration_secs: Vec<f64>,
    dataset: Vec<usize>,
    file: Vec<usize>,
    entry_start: Vec<Option<i64>>,
    worker: Vec<String>,
    worker_index: Vec<Option<usize>>,
    failed: Vec<bool>,
    guide_rates_khz: Vec<f64>,
}

/// A chunk of which both numbers are known.
#[derive(Clone, Copy)]
struct Point<'r> {
    chunk: &'r ChunkRow,
    events: i64,
    secs: f64,
}

impl Point<'_> {
    fn rate_khz(&self) -> f64 {
        if self.secs > 0.0 { self.events as f64 / self.secs / 1e3 } else { 0.0 }
    }
}

pub(crate) fn panel(run: &Run<'_>) -> Panel<Scatter> {
    let points: Vec<Point<'_>> = run
        .chunks
        .iter()
        .filter(|chunk| chunk.is_ok() || chunk.is_wasted())
        .filter_map(|chunk| {
            // An attempt that failed may not have come to the end of process().
            let secs = chunk.duration_secs.or(chunk.attempt_secs.filter(|_| chunk.is_wasted()))?;
            Some(Point { chunk, events: chunk.events?, secs })
        })
        .collect();
    if points.is_empty() {
        return Panel::missing(if run.chunks.is_empty() {
            no_chunks()
        } else {
            "No chunk says both how long it took and how many events it had.".to_owned()
        });
    }
    let kept = thinned(&points);
    let mut scatter = Scatter {
        total: points.len(),
        datasets: shown(&run.datasets),
        guide_rates_khz: guides(&points),
        worker: shown(&run.chunk_workers),
        ..Scatter::default()
    };
    let mut files = UsedNames::default();
    for point in kept {
        let chunk = point.chunk;
        let worker = run.chunk_workers.get(chunk.worker).copied().flatten();
        scatter.events.push(point.events);
        scatter.duration_secs.push(short(point.secs));
        scatter.dataset.push(chunk.dataset);
        scatter.file.push(files.file(chunk.file));
        scatter.entry_start.push(chunk.entry_start);
        scatter.worker_index.push(worker.map(|_| chunk.worker));
        scatter.failed.push(chunk.is_wasted());
    }
    scatter.files = files.shown(run);
    Panel::Data(scatter)
}

/// The points to show, in their order.
fn thinned<'p, 'r>(points: &'p [Point<'r>]) -> Vec<&'p Point<'r>> {
    if points.len() <= MOST_POINTS {
        return points.iter().collect();
    }
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    let all = || 0..points.len();
    let of = |index: usize, get: fn(&Point<'_>) -> f64| points.get(index).map_or(0.0, get);
    keep(&mut kept, all(), EXTREMES, |index| of(index, |point| point.secs));
    keep(&mut kept, all(), EXTREMES, |index| of(index, |point| -point.secs));
    keep(&mut kept, all(), EXTREMES, |index| of(index, |point| point.rate_khz()));
    keep(&mut kept, all(), EXTREMES, |index| of(index, |point| -point.rate_khz()));
    keep(&mut kept, all(), EXTREMES, |index| of(index, |point| point.events as f64));
    let failed = all().filter(|index| points.get(*index).is_some_and(|p| p.chunk.is_wasted()));
    keep(&mut kept, failed, MOST_FAILED, |index| of(index, |point| point.secs));
    let room = MOST_POINTS - kept.len().min(MOST_POINTS);
    let rest: Vec<usize> = all().filter(|index| !kept.contains(index)).collect();
    kept.extend((0..room).filter_map(|place| rest.get(place * rest.len() / room)));
    kept.into_iter().filter_map(|index| points.get(index)).collect()
}

/// Adds those for which the number is largest; of equal ones, the first.
fn keep(
    kept: &mut BTreeSet<usize>,
    from: impl Iterator<Item = usize>,
    count: usize,
    number: impl Fn(usize) -> f64,
) {
    let mut ranked: Vec<(f64, usize)> = from.map(|index| (number(index), index)).collect();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if ranked.len() > count {
        ranked.select_nth_unstable_by(count, order);
        ranked.truncate(count);
    }
    kept.extend(ranked.into_iter().map(|(_, index)| index));
}

/// Round rates around the usual one that lie among the points.
fn guides(points: &[Point<'_>]) -> Vec<f64> {
    let mut rates: Vec<f64> =
        points.iter().map(Point::rate_khz).filter(|rate| *rate > 0.0 && rate.is_finite()).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let at = |part: usize| rates.get(rates.len() * part / 100).copied();
    let (Some(low), Some(middle), Some(high)) = (at(2), at(50), at(98)) else {
        return Vec::new();
    };
    let mut guides: Vec<f64> = (-9..=9)
        .flat_map(|power| [1.0, 2.5, 5.0].map(|factor| factor * 10.0_f64.powi(power)))
        .filter(|rate| *rate >= low / 2.0 && *rate <= high * 2.0)
        .collect();
    guides.sort_by(|a, b| (a / middle).ln().abs().total_cmp(&(b / middle).ln().abs()));
    guides.truncate(MOST_GUIDES);
    guides.sort_unstable_by(f64::total_cmp);
    guides.into_iter().map(short).collect()
}
