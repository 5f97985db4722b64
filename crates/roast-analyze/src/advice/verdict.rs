//! The verdict: one sentence on what takes most of the core time, and the one
//! change that is worth most.

use super::evidence::Evidence;
use super::{Advice, words};

/// What can bound a run, and the rows of the ledger that belong to it.
const BOUNDS: [(&str, &[&str]); 10] = [
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
    (IDLE, &["idle_ramp_up", "idle_starved", "idle_tail", "idle_client"]),
    ("What no record accounts for takes", &["unexplained"]),
];

const IDLE: &str = "Idling takes";

/// Missing where there is neither a ledger nor anything to advise.
pub(super) fn sentence(evidence: &Evidence<'_>, advice: &[Advice]) -> Option<String> {
    let bound = BOUNDS
        .iter()
        .filter_map(|(label, rows)| Some((*label, evidence.share(rows)?)))
        // The first of equals.
        .rev()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(label, share)| {
            let when = if label == IDLE { idle_when(evidence) } else { String::new() };
            format!("{label} {} of the core time{when}", words::percent(share))
        });
    let worth_most = advice
        .iter()
        .find(|advice| advice.is_urgent || advice.gain.is_none_or(|gain| gain.is_worth(evidence)));
    let change = worth_most.map(|advice| match advice.gain {
        Some(gain) if gain.wall_secs_then < 0.97 * gain.wall_secs_now => format!(
            "worth most: {} (about {} instead of {})",
            advice.change,
            words::duration(gain.wall_secs_then),
            words::duration(gain.wall_secs_now)
        ),
        _ => format!("worth most: {}", advice.change),
    });
    match (bound, change) {
        (Some(bound), Some(change)) => Some(format!("{bound}; {change}.")),
        (Some(bound), None) if evidence.measurement.header.error.is_some() => {
            Some(format!("{bound}, up to where an error ended the run."))
        }
        (Some(bound), None) => Some(format!("{bound}; nothing obvious to change.")),
        (None, Some(change)) => Some(format!("Where the core time went is not known; {change}.")),
        (None, None) => None,
    }
}

/// When threads were idle for the most part.
fn idle_when(evidence: &Evidence<'_>) -> String {
    let kinds = [
        ("idle_ramp_up", "before a worker's first chunk"),
        ("idle_starved", "between tasks"),
        ("idle_tail", "at the end"),
        ("idle_client", "outside of processing, while the client worked"),
    ];
    kinds
        .into_iter()
        .filter_map(|(row, when)| Some((evidence.row(row)?, when)))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(String::new, |(_, when)| format!(", most of it {when}"))
}
