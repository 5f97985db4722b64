//! Threads that were ready to run while others had the cores.
//!
//! Who had the cores is not known. If it was the run itself, the seconds waited
//! would be free for others with as many threads as cores, and the run would take
//! as long, since the cores were busy anyway: that is the gain given here. If it
//! was another program, the run gains as much as that one leaves it.

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, words};

const THRESHOLD: f64 = 0.1;

/// Seconds in which chunks waited for a core, of all their seconds.
fn waiting_share(evidence: &Evidence<'_>) -> Option<f64> {
    let waited = evidence.queue_secs;
    let busy: f64 = evidence.chunks.iter().map(|chunk| chunk.secs()).sum();
    (busy > 0.0).then(|| (waited / busy).min(1.0))
}

/// Whether more threads would only wait for the same cores: cores are waited for,
/// and it is on them that chunks spend most of their time, not on other waits.
pub(super) fn cores_are_short(evidence: &Evidence<'_>) -> bool {
    let busy: f64 = evidence.chunks.iter().map(|chunk| chunk.secs()).sum();
    let wanted = evidence.cpu_secs + evidence.queue_secs;
    waiting_share(evidence).is_some_and(|share| share >= THRESHOLD) && wanted >= 0.5 * busy
}

pub(super) fn cores_shared(evidence: &Evidence<'_>, _: Option<&Plan>) -> Option<Advice> {
    let share = waiting_share(evidence).filter(|share| *share >= THRESHOLD)?;
    let (waited, on_cpu) = (evidence.queue_secs, evidence.cpu_secs);
    let gain = Gain::new(waited.min(evidence.core_secs?), evidence.wall_secs, evidence.wall_secs);
    if !gain.is_worth(evidence) {
        return None;
    }
    let threads = evidence.threads()?;
    // So many threads would have kept the same cores busy.
    let enough = (threads as f64 * on_cpu / (on_cpu + waited)).round().max(1.0);
    let fewer = (enough as usize) < threads;
    let action = if fewer {
        format!(
            "move away what else runs on these hosts; if nothing does, run about {} instead of {}: \
             the threads only take the cores from each other, and the run takes as long with fewer.",
            words::several(enough as usize, "task thread", "task threads"),
            words::count(threads as f64)
        )
    } else {
        "move away what else runs on these hosts: something other than this run has the cores."
            .to_owned()
    };
    Some(Advice {
        rule: "cpu-contention",
        headline: format!(
            "Chunks spent {} of their time waiting for a core that another thread or program had.",
            words::percent(share)
        ),
        action,
        change: "free the hosts of other programs, or run fewer threads".to_owned(),
        evidence: vec![
            ("waiting for a core", words::core_seconds(waited)),
            ("on a CPU", words::core_seconds(on_cpu)),
            ("task threads", words::count(threads as f64)),
        ],
        threshold: "a tenth of the chunks' time is spent ready to run, waiting for a core",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}
