//! The verdict: one sentence on what takes most of the core time, and the one
//! change that is worth most.

use super::evidence::Evidence;
use super::{Advice, words};

/// What can bound a run, and the rows of the ledger that belong to it.
const BOUNDS: [(&str, &[&str]); 9] = [
    ("User code takes", &["user_cpu"]),
    ("User code that waits takes", &["user_wait"]),
    ("Waiting for a core takes", &["user_run_queue_wait"]),
    ("Setting up chunks (files, tree metadata, events) takes", &super::chunk_size::SETUP),
    ("Reading columns takes", &["column_read", "interpret"]),
    ("Decompression takes", &["decompress"]),
    (
        "Handling tasks and their output takes",
        &["serialize_output", "reduction", "transfer", "overhead"],
    ),
    ("Work that failed takes", &["failed_work"]),
    ("Idling takes", &["idle_ramp_up", "idle_starved", "idle_tail", "idle_client"]),
];

/// Missing where there is neither a ledger nor anything to advise.
pub(super) fn sentence(evidence: &Evidence<'_>, advice: &[Advice]) -> Option<String> {
    let bound = BOUNDS
        .iter()
        .chain([&("What no record accounts for takes", &["unexplained"] as &[&str])])
        .filter_map(|(label, rows)| Some((*label, evidence.share(rows)?)))
        // The first of equals.
        .rev()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(label, share)| format!("{label} {} of the core time", words::percent(share)));
    let change = advice.first().map(|advice| match advice.gain {
        Some(gain) if gain.wall_secs_then < 0.97 * gain.wall_secs_now => format!(
            "{} would make it about {} instead of {}",
            advice.change,
            words::duration(gain.wall_secs_then),
            words::duration(gain.wall_secs_now)
        ),
        _ => format!("worth most: {}", advice.change),
    });
    match (bound, change) {
        (Some(bound), Some(change)) => Some(format!("{bound}; {change}.")),
        (Some(bound), None) => Some(format!("{bound}; nothing obvious to change.")),
        (None, Some(change)) => Some(format!("Where the core time went is not known; {change}.")),
        (None, None) => None,
    }
}
