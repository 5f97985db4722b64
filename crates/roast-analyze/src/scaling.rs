//! How throughput grows with cores over several runs: efficiency against the
//! smallest run, the serial fraction by Amdahl's law, and where the core time of
//! the largest run went that the smallest did not need.

mod amdahl;

use roast_model::Value;

use crate::compare::Run;
use crate::ledger::LEDGER;

pub use amdahl::{Fit, NoFit};

/// Sizes closer than this are the same.
const SAME_SIZE: f64 = 0.05;

/// Why runs cannot be put in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScalingError {
    /// There is nothing to compare with.
    OneRun,
    /// The same run is there twice, by name.
    Twice(String),
    /// A run lacks events or a wall time, by name.
    NoEvents(String),
    /// A run does not know its cores, by name.
    NoCores(String),
}

impl std::error::Error for ScalingError {}

impl std::fmt::Display for ScalingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OneRun => f.write_str("scaling takes two runs or more, of different sizes"),
            Self::Twice(name) => write!(f, "the run {name:?} is given twice; name each run once"),
            Self::NoEvents(name) => write!(
                f,
                "the run {name:?} has no number of events, so it has no throughput; \
                 give the collector coffea's report (savemetrics=True)"
            ),
            Self::NoCores(name) => write!(
                f,
                "the run {name:?} does not know its cores; measure with track_workers=True"
            ),
        }
    }
}

/// One run among others.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingPoint {
    /// What the user calls it.
    pub name: String,
    /// Workers on average, if they are known.
    pub workers: Option<f64>,
    /// Task threads on average.
    pub cores: f64,
    /// Events.
    pub events: f64,
    /// Wall time.
    pub wall_secs: f64,
    /// Events per second of wall time.
    pub events_per_sec: f64,
    /// Throughput over that of the smallest run.
    pub speedup: f64,
    /// Throughput per core over that of the smallest run.
    pub efficiency: f64,
    /// Throughput that the fit expects, if there is one.
    pub fitted_events_per_sec: Option<f64>,
}

/// Core time that the largest run spent on something, against the smallest.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopper {
    /// The key in the ledger.
    pub key: &'static str,
    /// What people read.
    pub label: &'static str,
    /// Share of the core time in the smallest run.
    pub share_smallest: f64,
    /// Share of the core time in the largest run.
    pub share_largest: f64,
    /// Core-seconds per event that the largest run spent more.
    pub added_core_secs_per_event: f64,
    /// The part of everything that was added which that is.
    pub share_of_added: Option<f64>,
}

/// Several runs by size.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The runs, the smallest first.
    pub points: Vec<ScalingPoint>,
    /// The serial fraction, or why there is none.
    pub fit: Result<Fit, NoFit>,
    /// What grew in the ledger, the largest first; `None` where a ledger is missing.
    pub stoppers: Option<Vec<Stopper>>,
    /// Sentences on what to keep in mind.
    pub notes: Vec<String>,
}

/// Puts runs in a row by their cores.
pub fn scaling(runs: &[Run<'_>]) -> Result<Scaling, ScalingError> {
    if runs.len() < 2 {
        return Err(ScalingError::OneRun);
    }
    for (index, run) in runs.iter().enumerate() {
        let header = &run.measurement.header;
        if runs.iter().skip(index + 1).any(|other| other.measurement.header.id == header.id) {
            return Err(ScalingError::Twice(header.name.clone()));
        }
    }
    let mut points: Vec<(ScalingPoint, &Run<'_>)> =
        runs.iter().map(|run| Ok((point(run)?, run))).collect::<Result<_, ScalingError>>()?;
    points.sort_by(|a, b| a.0.cores.total_cmp(&b.0.cores).then_with(|| a.0.name.cmp(&b.0.name)));
    let stoppers = match (points.first(), points.last()) {
        (Some(first), Some(last)) => stoppers(first, last),
        _ => None,
    };
    let mut points: Vec<ScalingPoint> = points.into_iter().map(|(point, _)| point).collect();
    if let Some(first) = points.first().cloned() {
        for point in &mut points {
            point.speedup = point.events_per_sec / first.events_per_sec;
            point.efficiency = point.speedup / (point.cores / first.cores);
        }
    }
    let sizes: Vec<(f64, f64)> =
        points.iter().map(|point| (point.cores, 1.0 / point.events_per_sec)).collect();
    let fit = amdahl::fit(&sizes);
    if let Ok(fit) = &fit {
        for point in &mut points {
            point.fitted_events_per_sec = Some(1.0 / fit.secs_per_event(point.cores));
        }
    }
    let notes = notes(&points);
    Ok(Scaling { points, fit, stoppers, notes })
}

fn point(run: &Run<'_>) -> Result<ScalingPoint, ScalingError> {
    let name = run.measurement.header.name.clone();
    let number = |key| run.metrics.number(key).filter(|number| *number > 0.0);
    let events = number("total_events").or_else(|| number("total_events_from_chunks"));
    let (Some(events), Some(wall_secs)) = (events, number("wall_time")) else {
        return Err(ScalingError::NoEvents(name));
    };
    let Some(cores) = number("total_cores") else { return Err(ScalingError::NoCores(name)) };
    // The rate leaves out what came from a checkpoint.
    let events_per_sec =
        number("event_rate_wall_khz").map_or(events / wall_secs, |khz| khz * 1000.0);
    Ok(ScalingPoint {
        name,
        workers: number("avg_workers"),
        cores,
        events,
        wall_secs,
        events_per_sec,
        speedup: 1.0,
        efficiency: 1.0,
        fitted_events_per_sec: None,
    })
}

/// The rows of the ledger that took more core time per event in the largest run.
fn stoppers(
    (smallest, first): &(ScalingPoint, &Run<'_>),
    (largest, last): &(ScalingPoint, &Run<'_>),
) -> Option<Vec<Stopper>> {
    let ledger = |run: &Run<'_>| run.metrics.get("ledger").filter(|rows| !rows.is_none()).cloned();
    let total = |run: &Run<'_>| {
        run.metrics.number("ledger_available_core_seconds").filter(|secs| *secs > 0.0)
    };
    let (small, large) = (ledger(first)?, ledger(last)?);
    let (in_small, in_large) = (total(first)?, total(last)?);
    let all_added = in_large / largest.events - in_small / smallest.events;
    let mut found: Vec<Stopper> = LEDGER
        .iter()
        .filter_map(|row| {
            let secs = |ledger: &Value| ledger.get(row.key).and_then(Value::as_f64);
            let (before, after) = (secs(&small)?, secs(&large)?);
            let added = after / largest.events - before / smallest.events;
            Some(Stopper {
                key: row.key,
                label: row.label,
                share_smallest: before / in_small,
                share_largest: after / in_large,
                added_core_secs_per_event: added,
                share_of_added: (all_added > 0.0).then(|| added / all_added),
            })
        })
        .filter(|row| row.added_core_secs_per_event > 0.0 && row.share_largest > row.share_smallest)
        .collect();
    found.sort_by(|a, b| b.added_core_secs_per_event.total_cmp(&a.added_core_secs_per_event));
    Some(found)
}

fn notes(points: &[ScalingPoint]) -> Vec<String> {
    let mut notes = Vec::new();
    let range = |get: fn(&ScalingPoint) -> f64| {
        let low = points.iter().map(get).fold(f64::INFINITY, f64::min);
        (low, points.iter().map(get).fold(0.0, f64::max))
    };
    let (fewest, most) = range(|point| point.events);
    if most > fewest * 1.01 {
        notes.push(
            "The runs have different numbers of events; what takes the same time whatever the \
             size weighs less in the longer ones."
                .to_owned(),
        );
    }
    let (smallest, largest) = range(|point| point.cores);
    if largest <= smallest * (1.0 + SAME_SIZE) {
        notes.push("All runs have the same number of cores: nothing was scaled.".to_owned());
    }
    notes
}
