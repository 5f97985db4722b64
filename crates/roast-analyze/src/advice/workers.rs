//! More workers than the chunks can keep busy, or so few that all are busy to the
//! end. The estimates deal the same chunks out to another number of threads.

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, contention, words};

const IDLE: [&str; 3] = ["idle_ramp_up", "idle_starved", "idle_tail"];
/// Idle threads are too many from here on.
const MANY_THRESHOLD: f64 = 0.3;
/// Fewer threads are as good if the run takes at most so many times as long.
const AS_GOOD: f64 = 1.05;
/// No more than this may be idle, for more threads to be of use.
const FEW_IDLE: f64 = 0.1;
/// Chunks per thread from which on there is enough for twice as many.
const FEW_ROUNDS: f64 = 8.0;

pub(super) fn too_many(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&IDLE).filter(|share| *share >= MANY_THRESHOLD)?;
    let plan = plan?;
    let threads = plan.threads();
    // The wall time falls with the threads: the first that is good enough is enough.
    let (mut low, mut high) = (1, threads);
    while low < high {
        let middle = low.midpoint(high);
        if plan.with_threads(middle).wall_secs <= AS_GOOD * evidence.wall_secs {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let enough = low;
    if enough as f64 > 0.7 * threads as f64 {
        return None;
    }
    let saved = evidence.core_secs? * (1.0 - enough as f64 / threads as f64);
    let gain = Gain::new(saved, evidence.wall_secs, evidence.wall_secs);
    Some(Advice {
        rule: "too-many-workers",
        headline: format!(
            "{} of the core time was idle: {} are too few to keep {} busy.",
            words::percent(share),
            words::several(evidence.chunks.len(), "chunk", "chunks"),
            words::several(threads, "thread", "threads")
        ),
        action: format!(
            "use about {} instead of {}: the run takes as long.",
            words::several(enough, "thread", "threads"),
            words::count(threads as f64)
        ),
        change: format!("fewer workers ({} would do)", words::several(enough, "thread", "threads")),
        evidence: vec![
            ("threads", words::count(threads as f64)),
            ("chunks", words::count(evidence.chunks.len() as f64)),
            ("idle while chunks were processed", words::core_seconds(evidence.rows_secs(&IDLE)?)),
        ],
        threshold: "three tenths of the core time are idle while chunks are processed, and seven \
                    tenths of the threads would do",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}

pub(super) fn too_few(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let idle = evidence.share(&IDLE).filter(|share| *share <= FEW_IDLE)?;
    let plan = plan?;
    let threads = plan.threads();
    let rounds = evidence.chunks.len() as f64 / threads as f64;
    if rounds < FEW_ROUNDS {
        return None;
    }
    // More threads on cores that are taken would only wait.
    if contention::cores_are_short(evidence) {
        return None;
    }
    let outlook = plan.with_threads(2 * threads);
    let gain = Gain::new(0.0, evidence.wall_secs, outlook.wall_secs);
    if !gain.is_worth(evidence) {
        return None;
    }
    Some(Advice {
        rule: "too-few-workers",
        headline: format!(
            "{} had {rounds:.0} chunks each and were idle for {} of the time.",
            words::several(threads, "thread", "threads"),
            words::percent(idle)
        ),
        action: format!(
            "use more workers, if there are cores for them: with {} {}.",
            words::several(2 * threads, "thread", "threads"),
            gain.sentence()
        ),
        change: format!(
            "{} instead of {}",
            words::count(2.0 * threads as f64),
            words::several(threads, "thread", "threads")
        ),
        evidence: vec![
            ("threads", words::count(threads as f64)),
            ("chunks per thread", format!("{rounds:.1}")),
            ("idle while chunks were processed", words::core_seconds(evidence.rows_secs(&IDLE)?)),
        ],
        threshold: "every thread has eight chunks or more and is idle for a tenth of the time at \
                    most, and cores are not waited for",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}
