//! Threads with nothing to do: at the end, when the last chunks run alone, and in
//! the middle, while tasks wait for the scheduler.

use super::chunk_size::round_sizes;
use super::evidence::Evidence;
use super::plan::{Outlook, Plan};
use super::{Advice, Gain, tail_of_slow, words};

const TAIL_THRESHOLD: f64 = 0.1;
const STARVED_THRESHOLD: f64 = 0.1;
/// Smaller than this, chunks are not cut any further.
const MIN_EVENTS: f64 = 100.0;

/// The last chunks keep few threads busy: because all are long, or because a few
/// are that should not be.
pub(super) fn tail(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&["idle_tail"]).filter(|share| *share >= TAIL_THRESHOLD)?;
    let tail = Tail { share, secs: evidence.row("idle_tail")? };
    long_chunks(evidence, plan?, tail).or_else(|| tail_of_slow::advice(evidence, plan?, tail))
}

/// What was idle at the end.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    /// Of the core time.
    pub(super) share: f64,
    /// Core-seconds.
    pub(super) secs: f64,
}

/// Smaller chunks end closer together: the estimate is [`Plan`]'s for the best
/// smaller size.
fn long_chunks(evidence: &Evidence<'_>, plan: &Plan, tail: Tail) -> Option<Advice> {
    let Tail { share, secs: tail_secs } = tail;
    let events = evidence.mean_events()?;
    let per_thread = evidence.chunks.len() as f64 / plan.threads() as f64;
    let longest = plan.actual_secs.iter().copied().fold(0.0, f64::max);
    let (size, outlook) = smaller(plan, events)?;
    // The tail in core-seconds, less what more chunks pay for their setup.
    let core_secs = tail_secs.min((evidence.wall_secs - outlook.wall_secs) * plan.threads() as f64);
    let gain = Gain::new(core_secs, evidence.wall_secs, outlook.wall_secs);
    if gain.wall_secs_then >= gain.wall_secs_now || !gain.is_worth(evidence) {
        return None;
    }
    let size = words::python_int(size);
    Some(Advice {
        rule: "idle-tail",
        headline: format!(
            "{} of the core time was idle at the end, while the last chunks of up to {} ran.",
            words::percent(share),
            words::duration(longest)
        ),
        action: format!(
            "use `chunksize={size}`, so that the last chunks end closer together: {}.",
            gain.sentence()
        ),
        change: format!("`chunksize={size}` against the idle tail"),
        evidence: vec![
            ("idle at the end", words::core_seconds(tail_secs)),
            ("chunks per thread", format!("{per_thread:.1}")),
            ("events per chunk", words::count(events)),
            ("longest chunk", words::duration(longest)),
            ("chunks then", words::count(outlook.chunks)),
        ],
        threshold: "a tenth of the core time is idle after a worker's last chunk, and smaller \
                    chunks would shorten the run",
        gain: Some(gain),
        snippet: Some(format!("runner = processor.Runner(executor, chunksize={size}, ...)")),
        is_urgent: false,
    })
}

/// The round size below today's with the shortest run; the largest of equals.
fn smaller(plan: &Plan, events: f64) -> Option<(f64, Outlook)> {
    round_sizes()
        .filter(|size| (MIN_EVENTS..0.8 * events).contains(size))
        .map(|size| (size, plan.with_chunk_size(size)))
        .filter(|(_, outlook)| outlook.chunks > plan.actual_secs.len() as f64)
        .min_by(|a, b| a.1.wall_secs.total_cmp(&b.1.wall_secs).then(b.0.total_cmp(&a.0)))
}

/// Threads wait for a task although there are some: the scheduler, or what it
/// waits for, is too slow. At best they would not wait at all.
pub(super) fn starved(evidence: &Evidence<'_>, _: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&["idle_starved"]).filter(|share| *share >= STARVED_THRESHOLD)?;
    let starved = evidence.row("idle_starved")?;
    let chunks = evidence.chunks.len();
    if chunks == 0 {
        return None;
    }
    let per_task = starved / chunks as f64;
    let mean: f64 = evidence.chunks.iter().map(|chunk| chunk.secs()).sum::<f64>() / chunks as f64;
    let gain = Gain::new(starved, evidence.wall_secs, evidence.wall_without(starved)?);
    let short = mean < 1.0;
    let action = if short {
        format!(
            "give the scheduler fewer and longer tasks by a larger `chunksize`: a chunk takes only \
             {}, and without the waiting {} at best.",
            words::duration(mean),
            gain.sentence()
        )
    } else {
        format!(
            "look at the load of the scheduler and of the client, and at workers that come and go: \
             without the waiting {} at best.",
            gain.sentence()
        )
    };
    Some(Advice {
        rule: "starved-workers",
        headline: format!(
            "{} of the core time was idle between tasks, {} for each chunk of {}.",
            words::percent(share),
            words::duration(per_task),
            words::duration(mean)
        ),
        action,
        change: if short {
            "fewer and longer tasks".to_owned()
        } else {
            "find what keeps the scheduler".to_owned()
        },
        evidence: vec![
            ("idle between tasks", words::core_seconds(starved)),
            ("chunks", words::count(chunks as f64)),
            ("idle per chunk", words::duration(per_task)),
            ("time of a chunk", words::duration(mean)),
        ],
        threshold: "a tenth of the core time is idle between a worker's first and last task",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}
