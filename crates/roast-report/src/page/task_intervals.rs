//! Dask's tasks as intervals, without those that ran a chunk of which there is a
//! row: that row tells more.

use roast_model::Frame;

use super::lanes::{Interval, Roster, What};
use super::run::Run;

/// The prefix of tasks that add up outputs.
const REDUCE: &str = "reduce";
/// Clocks of a worker and the scheduler agree to this much even on busy machines.
/// A chunk has a task nearly always, so a wide reach does no harm.
const SKEW_SECS: f64 = 1.0;
/// Tasks on either side that are looked at for the one that ran a chunk.
const NEIGHBOURS: usize = 32;

/// Reads the tasks; `middles` are those of the chunk rows of each lane, in order.
pub(crate) fn read(
    run: &Run<'_>,
    roster: &Roster<'_>,
    middles: &[Vec<f64>],
    tasks: Frame<'_>,
) -> Vec<Interval> {
    let listed = &run.header().processor_prefixes;
    let mut prefixes = tasks.names("prefix");
    let mut actions = tasks.names("action");
    let mut outcomes = tasks.names("outcome");
    let (mut starts, mut stops) = (tasks.times("start"), tasks.times("stop"));
    let mut found = Vec::new();
    // Tasks that may have run a chunk, by lane.
    let mut candidates: Vec<Vec<Interval>> = vec![Vec::new(); roster.names.len()];
    for worker in tasks.names("worker") {
        let prefix = prefixes.next().flatten().unwrap_or_default();
        let action = actions.next().flatten().unwrap_or_default();
        let erred = outcomes.next().flatten() == Some("erred");
        let span = starts.next().flatten().zip(stops.next().flatten());
        let Some((start, stop)) = span.map(|(start, stop)| (run.secs(start), run.secs(stop)))
        else {
            continue;
        };
        let Some(lane) = roster.lane(worker).filter(|_| start < stop) else { continue };
        let is_processor = listed.iter().any(|listed| listed == prefix);
        let is_reduction = !is_processor && prefix.trim_matches('_') == REDUCE;
        let what = match action {
            "transfer" => What::Transfer,
            "compute" if is_reduction => What::Reduce,
            "compute" if erred => What::Failed,
            "compute" if is_processor => What::Chunk,
            _ => What::Other,
        };
        let task = Interval { lane, start, stop, what, chunk: None };
        let may_be_chunk = action == "compute" && !is_reduction;
        match candidates.get_mut(lane) {
            Some(lane) if may_be_chunk && (is_processor || listed.is_empty()) => lane.push(task),
            _ => found.push(task),
        }
    }
    for (tasks, middles) in candidates.into_iter().zip(middles) {
        found.extend(without_chunks(tasks, middles));
    }
    let end = run.end_secs();
    for task in &mut found {
        (task.start, task.stop) = (task.start.clamp(0.0, end), task.stop.clamp(0.0, end));
    }
    found
}

/// The tasks of one lane that ran none of the chunks. Each chunk is that of the
/// task whose middle is nearest to its own, among those that no other one has.
fn without_chunks(mut tasks: Vec<Interval>, middles: &[f64]) -> Vec<Interval> {
    let middle = |task: &Interval| f64::midpoint(task.start, task.stop);
    tasks.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    let mut claimed = vec![false; tasks.len()];
    for chunk in middles {
        let after = tasks.partition_point(|task| middle(task) < *chunk);
        let near = after.saturating_sub(NEIGHBOURS)..(after + NEIGHBOURS).min(tasks.len());
        let nearest = near
            .filter(|index| claimed.get(*index) == Some(&false))
            .filter_map(|index| Some((index, tasks.get(index)?)))
            .filter(|(_, task)| task.start - SKEW_SECS <= *chunk && *chunk <= task.stop + SKEW_SECS)
            .map(|(index, task)| ((middle(task) - chunk).abs(), index))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(claimed) = nearest.and_then(|(_, index)| claimed.get_mut(index)) {
            *claimed = true;
        }
    }
    let mut claimed = claimed.into_iter();
    tasks.retain(|_| claimed.next() != Some(true));
    tasks
}
