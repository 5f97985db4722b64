//! What each worker did when: every interval of a small run, a raster of a large
//! one. Chunk rows come first; Dask's tasks tell of the rest.

use std::collections::HashMap;

use roast_analyze::{ByName, Outcome};
use roast_model::{Frame, Table};
use serde::Serialize;

use super::number::moment;
use super::panel::{Panel, no_chunks, no_times};
use super::raster::{self, RasterLanes};
use super::run::{Run, shown_name};
use super::task_intervals;

/// More intervals than this become a raster.
const MOST_INTERVALS: usize = 20_000;
/// More workers than this become a raster.
const MOST_LANES: usize = 400;
/// Times of Dask's tasks are off by milliseconds: neighbours that overlap by less
/// ran one after the other.
const TOLERANCE_SECS: f64 = 0.01;

/// What each worker did when.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Lanes {
    Intervals(Box<IntervalLanes>),
    Raster(RasterLanes),
}

/// Every interval, in columns of equal length.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct IntervalLanes {
    end_secs: f64,
    workers: Vec<LaneWorker>,
    datasets: Vec<String>,
    files: Vec<String>,
    lane: Vec<usize>,
    thread: Vec<usize>,
    start_secs: Vec<f64>,
    duration_secs: Vec<f64>,
    what: Vec<What>,
    dataset: Vec<Option<usize>>,
    file: Vec<Option<usize>>,
    events: Vec<Option<i64>>,
    entry_start: Vec<Option<i64>>,
}

#[derive(Clone, Debug, Serialize)]
struct LaneWorker {
    name: String,
    host: Option<String>,
    threads: usize,
}

/// What an interval was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    Chunk,
    Failed,
    Reduce,
    Transfer,
    Other,
}

/// A stretch in which a worker did something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) lane: usize,
    pub(crate) start: f64,
    pub(crate) stop: f64,
    pub(crate) what: What,
    /// Into [`Run::chunks`].
    pub(crate) chunk: Option<usize>,
}

/// The workers in the order in which they are shown: by host, then by name.
#[derive(Debug)]
pub(crate) struct Roster<'a> {
    pub(crate) names: Vec<Option<&'a str>>,
    hosts: Vec<Option<&'a str>>,
    threads: Vec<usize>,
    lanes: HashMap<Option<&'a str>, usize>,
}

impl<'a> Roster<'a> {
    fn of(run: &Run<'a>) -> Self {
        let mut seen: ByName<'a, (Option<&'a str>, usize)> = ByName::default();
        for row in &run.workers {
            let known = row.threads.and_then(|threads| usize::try_from(threads).ok());
            seen.update(row.worker, |(host, threads)| {
                *host = host.or(row.host);
                *threads = (*threads).max(known.unwrap_or(0));
            });
        }
        let tracked = seen.names().len();
        let tasks = run.measurement.table(Table::Tasks).map(Frame::new);
        let of_tasks = tasks.into_iter().flat_map(|tasks| tasks.names("worker"));
        // Where there is one worker, it is that one, whatever a chunk calls it.
        let of_chunks = run.chunk_workers.iter().copied().filter(|_| tracked != 1);
        for worker in of_tasks.chain(of_chunks) {
            seen.update(worker, |_| {});
        }
        let mut ordered = seen.into_sorted();
        ordered.sort_by_key(|(name, (host, _))| (*host, *name));
        let lanes = ordered.iter().enumerate().map(|(lane, (name, _))| (*name, lane)).collect();
        Self {
            names: ordered.iter().map(|(name, _)| *name).collect(),
            hosts: ordered.iter().map(|(_, (host, _))| *host).collect(),
            threads: ordered.iter().map(|(_, (_, threads))| (*threads).max(1)).collect(),
            lanes,
        }
    }

    pub(crate) fn lane(&self, worker: Option<&str>) -> Option<usize> {
        let only = (self.names.len() == 1).then_some(0);
        self.lanes.get(&worker).copied().or(only)
    }
}

pub(crate) fn panel(run: &Run<'_>) -> Panel<Lanes> {
    let roster = Roster::of(run);
    let mut intervals = intervals(run, &roster);
    if intervals.is_empty() {
        let ran = run.chunks.iter().any(|chunk| chunk.outcome != Outcome::Replayed);
        return Panel::missing(if ran { no_times() } else { no_chunks() });
    }
    if intervals.len() > MOST_INTERVALS || roster.names.len() > MOST_LANES {
        return Panel::Data(Lanes::Raster(raster::of(run, &roster, &intervals, MOST_LANES)));
    }
    intervals.sort_by(|a, b| {
        let (first, second) = ((a.lane, a.what, a.chunk), (b.lane, b.what, b.chunk));
        a.lane
            .cmp(&b.lane)
            .then(a.start.total_cmp(&b.start))
            .then(a.stop.total_cmp(&b.stop))
            .then(first.cmp(&second))
    });
    Panel::Data(Lanes::Intervals(Box::new(columns(run, &roster, &intervals))))
}

/// Everything that is known to have been done, cut to the length of the run.
fn intervals(run: &Run<'_>, roster: &Roster<'_>) -> Vec<Interval> {
    let end = run.end_secs();
    let mut found = Vec::with_capacity(run.chunks.len());
    // The middles of chunk rows by lane: the task around one of them is that chunk.
    let mut middles: Vec<Vec<f64>> = vec![Vec::new(); roster.names.len()];
    for (index, chunk) in run.chunks.iter().enumerate() {
        let worker = run.chunk_workers.get(chunk.worker).copied().flatten();
        let (Some((start, stop)), Some(lane)) = (chunk.span, roster.lane(worker)) else { continue };
        if chunk.outcome == Outcome::Replayed {
            continue;
        }
        if let Some(middles) = middles.get_mut(lane) {
            middles.push(f64::midpoint(start, stop));
        }
        found.push(Interval {
            lane,
            start: start.clamp(0.0, end),
            stop: stop.clamp(0.0, end),
            what: if chunk.is_wasted() { What::Failed } else { What::Chunk },
            chunk: Some(index),
        });
    }
    middles.iter_mut().for_each(|middles| middles.sort_unstable_by(f64::total_cmp));
    if let Some(tasks) = run.measurement.table(Table::Tasks) {
        found.extend(task_intervals::read(run, roster, &middles, Frame::new(tasks)));
    }
    found
}

/// Gives each interval the first thread of its worker that is free. The intervals
/// are in the order of lanes and starts.
fn columns(run: &Run<'_>, roster: &Roster<'_>, intervals: &[Interval]) -> IntervalLanes {
    let mut names = UsedNames::default();
    let mut out = IntervalLanes { end_secs: moment(run.end_secs()), ..IntervalLanes::default() };
    // Until when each thread of each worker is busy.
    let mut busy: Vec<Vec<f64>> = roster.threads.iter().map(|count| vec![0.0; *count]).collect();
    for interval in intervals {
        let Some(threads) = busy.get_mut(interval.lane) else { continue };
        let free = threads.iter().position(|until| *until <= interval.start + TOLERANCE_SECS);
        let thread = free.unwrap_or(threads.len());
        if free.is_none() {
            threads.push(0.0);
        }
        let Some(until) = threads.get_mut(thread) else { continue };
        let start = interval.start.max(*until).min(interval.stop);
        *until = until.max(interval.stop);
        let chunk = interval.chunk.and_then(|index| run.chunks.get(index));
        out.lane.push(interval.lane);
        out.thread.push(thread);
        out.start_secs.push(moment(start));
        out.duration_secs.push(moment(interval.stop - start));
        out.what.push(interval.what);
        out.dataset.push(chunk.map(|chunk| chunk.dataset));
        out.file.push(chunk.map(|chunk| names.file(chunk.file)));
        out.events.push(chunk.and_then(|chunk| chunk.events));
        out.entry_start.push(chunk.and_then(|chunk| chunk.entry_start));
    }
    out.workers = roster
        .names
        .iter()
        .zip(&roster.hosts)
        .zip(&busy)
        .map(|((name, host), threads)| LaneWorker {
            name: shown_name(*name),
            host: host.map(super::text::name),
            threads: threads.len(),
        })
        .collect();
    out.datasets = super::run::shown(&run.datasets);
    out.files = names.shown(run);
    out
}

/// The files that are referred to, so that no other name takes space in the page.
#[derive(Debug, Default)]
pub(crate) struct UsedNames {
    places: HashMap<usize, usize>,
    codes: Vec<usize>,
}

impl UsedNames {
    pub(crate) fn file(&mut self, code: usize) -> usize {
        let fresh = self.codes.len();
        let place = *self.places.entry(code).or_insert(fresh);
        if place == fresh {
            self.codes.push(code);
        }
        place
    }

    pub(crate) fn shown(&self, run: &Run<'_>) -> Vec<String> {
        self.codes.iter().map(|code| shown_name(run.files.get(*code).copied().flatten())).collect()
    }
}
