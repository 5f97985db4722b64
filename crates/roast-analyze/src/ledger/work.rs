//! Busy time as stretches per worker: the intervals of Dask's tasks, and the
//! chunk rows inside of them or, where no task is known, on their own.

use std::collections::BTreeMap;

use roast_model::{Frame, Phase};

use super::Sources;
use super::matching;
use super::presence::Presence;
use super::rows::Entry;
use crate::chunk_rows::{ByName, Names, Outcome, slot};

/// The prefix of tasks that add up outputs.
pub(crate) const REDUCE: &str = "reduce";

/// From one moment to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) stop: i64,
}

impl Span {
    fn new(start: Option<i64>, stop: Option<i64>) -> Option<Self> {
        let (start, stop) = start.zip(stop)?;
        (start < stop).then_some(Self { start, stop })
    }

    pub(super) fn length(self) -> i64 {
        self.stop.saturating_sub(self.start)
    }
}

/// A task that computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Task {
    pub(super) span: Span,
    prefix: u32,
    erred: bool,
}

/// A stretch in which one thread was busy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) span: Span,
    /// Chunks are processed in it, as far as is known.
    pub(super) is_processor: bool,
    /// What the time is that no chunk row covers.
    pub(super) rest: Entry,
    /// Length of the chunk rows in it.
    pub(super) rows_ns: i64,
}

/// A chunk row and the stretch it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRow {
    pub(super) row: u32,
    pub(super) stretch: u32,
    pub(super) length_ns: i64,
}

/// What one worker did.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) stretches: Vec<Stretch>,
    pub(super) rows: Vec<PlacedRow>,
    pub(super) transfers: Vec<Span>,
    /// Other things that Dask timed: reading spilled data, unpacking tasks.
    pub(super) others: Vec<Span>,
}

/// What all workers did.
#[derive(Debug, Default)]
pub(super) struct Work<'a> {
    loads: BTreeMap<Option<&'a str>, Load>,
    nothing: Load,
    /// Rows of `process()` alone do not cover all that a thread does; tasks do,
    /// and so do rows that begin with the opening of the file.
    is_complete: bool,
}

impl<'a> Work<'a> {
    /// Whether all work can be told from idling: some of it was seen, from the
    /// opening of files on, and none of it on a worker that is not named.
    pub(super) fn is_known(&self, presence: &Presence<'_>) -> bool {
        let busy = |load: &Load| !load.stretches.is_empty();
        let placed = self.loads.iter().any(|(worker, load)| busy(load) && presence.has(*worker));
        let nameless = !presence.has(None) && self.loads.get(&None).is_some_and(busy);
        placed && !nameless && self.is_complete
    }

    pub(super) fn of_worker(&self, worker: Option<&'a str>) -> &Load {
        self.loads.get(&worker).unwrap_or(&self.nothing)
    }

    /// From the first to the last moment in which chunks were processed.
    pub(super) fn processing(&self) -> Option<Span> {
        let processing = || {
            let all = self.loads.values().flat_map(|load| &load.stretches);
            all.filter(|stretch| stretch.is_processor).map(|stretch| stretch.span)
        };
        Span::new(
            processing().map(|span| span.start).min(),
            processing().map(|span| span.stop).max(),
        )
    }
}

/// A chunk row that ran, before it has found its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ChunkRow {
    span: Span,
    row: u32,
}

#[derive(Debug, Default)]
struct Seen {
    tasks: Vec<Task>,
    rows: Vec<ChunkRow>,
    transfers: Vec<Span>,
    others: Vec<Span>,
}

pub(super) fn read<'a>(sources: &Sources<'a>, presence: &Presence<'a>) -> Work<'a> {
    let (mut workers, mut prefixes) = (Names::default(), Names::default());
    let mut seen: Vec<Seen> = Vec::new();
    if let Some(tasks) = sources.tasks {
        read_tasks(Frame::new(tasks), &mut workers, &mut prefixes, &mut seen);
    }
    let mut opening_seen = Vec::new();
    if let Some((rows, outcomes)) = sources.chunks {
        read_rows(rows, outcomes, presence, &mut workers, &mut seen);
        opening_seen = seen_to_open(rows);
    }
    let listed = &sources.header.processor_prefixes;
    let is_listed: Vec<bool> = prefixes
        .names()
        .iter()
        .map(|prefix| prefix.is_some_and(|prefix| listed.iter().any(|listed| listed == prefix)))
        .collect();
    let is_reduction: Vec<bool> = prefixes
        .names()
        .iter()
        .zip(&is_listed)
        .map(|(prefix, listed)| {
            !listed && prefix.is_some_and(|prefix| prefix.trim_matches('_') == REDUCE)
        })
        .collect();
    let flag = |flags: &[bool], prefix: u32| flags.get(prefix as usize).copied().unwrap_or(false);

    // Without listed prefixes the processor's tasks are those with chunk rows in
    // them, and their like.
    let guess = listed.is_empty();
    let mut places: Vec<Vec<Option<u32>>> = Vec::with_capacity(seen.len());
    let mut has_rows = vec![false; prefixes.len()];
    let mut any_row = false;
    for seen in &mut seen {
        seen.tasks.sort_unstable();
        seen.rows.sort_unstable();
        any_row |= !seen.rows.is_empty();
        let candidates: Vec<u32> = (0..)
            .zip(&seen.tasks)
            .filter(|(_, task)| {
                if guess {
                    !flag(&is_reduction, task.prefix)
                } else {
                    flag(&is_listed, task.prefix)
                }
            })
            .map(|(index, _)| index)
            .collect();
        let tasks: Vec<Task> = candidates
            .iter()
            .filter_map(|index| seen.tasks.get(*index as usize).copied())
            .collect();
        let spans: Vec<Span> = seen.rows.iter().map(|row| row.span).collect();
        let place: Vec<Option<u32>> = matching::assign(&tasks, &spans)
            .into_iter()
            .map(|task| candidates.get(task?).copied())
            .collect();
        for task in place.iter().flatten().filter_map(|index| seen.tasks.get(*index as usize)) {
            if let Some(flag) = has_rows.get_mut(task.prefix as usize) {
                *flag = true;
            }
        }
        places.push(place);
    }
    let kinds = Kinds {
        is_processor: (0..)
            .zip(prefixes.names())
            .map(|(prefix, _)| {
                if !guess {
                    flag(&is_listed, prefix)
                } else if any_row {
                    flag(&has_rows, prefix)
                } else {
                    // Nothing tells the processor's tasks from others.
                    !flag(&is_reduction, prefix)
                }
            })
            .collect(),
        is_reduction,
        phases: &sources.header.phases,
    };
    let any_task = seen.iter().any(|seen| !seen.tasks.is_empty());
    let mut work =
        Work { is_complete: any_task || opening_seen.contains(&true), ..Work::default() };
    for ((worker, seen), place) in workers.names().iter().zip(seen).zip(places) {
        work.loads.insert(*worker, kinds.load(seen, &place, &opening_seen));
    }
    work
}

/// What kind of task a prefix stands for.
struct Kinds<'a> {
    is_processor: Vec<bool>,
    is_reduction: Vec<bool>,
    phases: &'a [Phase],
}

impl Kinds<'_> {
    fn load(&self, seen: Seen, place: &[Option<u32>], opening_seen: &[bool]) -> Load {
        let mut stretches: Vec<Stretch> =
            seen.tasks.iter().map(|task| self.stretch(task)).collect();
        let mut rows = Vec::with_capacity(seen.rows.len());
        for (chunk, place) in seen.rows.iter().zip(place) {
            let length_ns = chunk.span.length();
            let fresh = || u32::try_from(stretches.len()).unwrap_or(u32::MAX);
            let stretch = place.unwrap_or_else(fresh);
            match stretches.get_mut(stretch as usize) {
                Some(stretch) => {
                    stretch.rows_ns = stretch.rows_ns.saturating_add(length_ns);
                    stretch.is_processor = true;
                    // What lies around a chunk whose opening was watched is the
                    // handling of the task; else it has the opening in it too.
                    let opening_seen =
                        opening_seen.get(chunk.row as usize).copied().unwrap_or(false);
                    if stretch.rest == Entry::Unexplained && opening_seen {
                        stretch.rest = Entry::Overhead;
                    }
                }
                // No task: a local executor, or an attempt of which Dask does not
                // tell because it was retried.
                None => stretches.push(Stretch {
                    span: chunk.span,
                    is_processor: true,
                    rest: Entry::Overhead,
                    rows_ns: length_ns,
                }),
            }
            rows.push(PlacedRow { row: chunk.row, stretch, length_ns });
        }
        Load { stretches, rows, transfers: seen.transfers, others: seen.others }
    }

    fn stretch(&self, task: &Task) -> Stretch {
        let flag = |flags: &[bool]| flags.get(task.prefix as usize).copied().unwrap_or(false);
        // Preprocessing may share its prefix with the processor.
        let is_processor =
            flag(&self.is_processor) && !is_preprocessing(self.phases, task.span.start);
        let rest = if task.erred {
            Entry::FailedWork
        } else if is_processor {
            Entry::Unexplained
        } else if flag(&self.is_reduction) {
            Entry::Reduction
        } else {
            Entry::Overhead
        };
        Stretch { span: task.span, is_processor, rest, rows_ns: 0 }
    }
}

/// Whether nothing but preprocessing went on at this moment.
pub(crate) fn is_preprocessing(phases: &[Phase], moment: i64) -> bool {
    let within = |phase: &Phase| phase.start.0 <= moment && moment < phase.stop.0;
    let mut now = phases.iter().filter(|phase| within(phase)).peekable();
    now.peek().is_some() && now.all(|phase| phase.name == "preprocess")
}

/// What a worker did in an interval.
#[derive(Clone, Copy)]
enum Action {
    Compute,
    Transfer,
    Other,
}

impl Action {
    fn of(name: Option<&str>) -> Self {
        match name {
            Some("compute") => Self::Compute,
            Some("transfer") => Self::Transfer,
            _ => Self::Other,
        }
    }
}

fn read_tasks<'a>(
    tasks: Frame<'a>,
    workers: &mut Names<'a>,
    prefixes: &mut Names<'a>,
    seen: &mut Vec<Seen>,
) {
    let mut of_prefix = ByName::new(tasks.name_cells("prefix"));
    let mut of_action = ByName::new(tasks.name_cells("action"));
    let mut of_outcome = ByName::new(tasks.name_cells("outcome"));
    let mut of_worker = ByName::new(tasks.name_cells("worker"));
    let codes = spans(tasks).map(|(row, _)| of_worker.get(row, |worker| workers.code(worker)));
    for (seen, count) in counted(seen, codes) {
        seen.tasks.reserve_exact(count);
    }
    for (row, span) in spans(tasks) {
        let worker = of_worker.get(row, |worker| workers.code(worker));
        let Some(seen) = slot(seen, worker) else { continue };
        match of_action.get(row, Action::of) {
            Action::Compute => {
                let prefix = of_prefix
                    .get(row, |prefix| u32::try_from(prefixes.code(prefix)).unwrap_or(u32::MAX));
                let erred = of_outcome.get(row, |outcome| outcome == Some("erred"));
                seen.tasks.push(Task { span, prefix, erred });
            }
            Action::Transfer => seen.transfers.push(span),
            Action::Other => seen.others.push(span),
        }
    }
}

fn read_rows<'a>(
    rows: Frame<'a>,
    outcomes: &[Outcome],
    presence: &Presence<'a>,
    workers: &mut Names<'a>,
    seen: &mut Vec<Seen>,
) {
    let mut of_worker = ByName::new(rows.name_cells("worker"));
    let mut code_of = |row: usize| {
        of_worker.get(row, |worker| {
            // Where there is one worker, it is that one, whatever it is called.
            let known = presence.has(worker) || workers.known(worker).is_some();
            workers.code(if known { worker } else { presence.only().unwrap_or(worker) })
        })
    };
    // What a replayed row tells of happened in an earlier run.
    let is_of_this_run =
        |(row, _): &(usize, Span)| outcomes.get(*row).is_some_and(|it| *it != Outcome::Replayed);
    let codes = spans(rows).filter(is_of_this_run).map(|(row, _)| code_of(row));
    for (seen, count) in counted(seen, codes) {
        seen.rows.reserve_exact(count);
    }
    for (row, span) in spans(rows).filter(is_of_this_run) {
        if let (Some(seen), Ok(number)) = (slot(seen, code_of(row)), u32::try_from(row)) {
            seen.rows.push(ChunkRow { span, row: number });
        }
    }
}

/// The rows that lasted some time, and when.
fn spans<'a>(frame: Frame<'a>) -> impl Iterator<Item = (usize, Span)> + 'a {
    let times = frame.times("start").zip(frame.times("stop"));
    times.enumerate().filter_map(|(row, (start, stop))| {
        Some((row, Span::new(start.map(|time| time.0), stop.map(|time| time.0))?))
    })
}

/// What each worker will have at most, so that no list has to grow.
fn counted(
    seen: &mut Vec<Seen>,
    workers: impl Iterator<Item = usize>,
) -> impl Iterator<Item = (&mut Seen, usize)> {
    let mut counts: Vec<usize> = Vec::new();
    for worker in workers {
        if let Some(count) = slot(&mut counts, worker) {
            *count += 1;
        }
    }
    seen.resize_with(seen.len().max(counts.len()), Seen::default);
    seen.iter_mut().zip(counts)
}

/// Whether a row covers the opening of its file, or only `process()`.
fn seen_to_open(rows: Frame<'_>) -> Vec<bool> {
    rows.floats("open_secs")
        .zip(rows.floats("tree_secs"))
        .zip(rows.floats("events_secs"))
        .map(|((open, tree), events)| open.or(tree).or(events).is_some())
        .collect()
}
