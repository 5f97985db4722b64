//! Attempts that failed: which files, why, and what they cost.
//!
//! Where all were repeated with success, the run would save their core time, spread
//! over all threads. Chunks without a result would need that time, and more.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, words};
use crate::chunk_identity;
use crate::chunk_rows::{Outcome, attempt_secs};
use crate::datasets::UNKNOWN;

/// Files listed in the snippet.
const LISTED: usize = 20;

#[derive(Default)]
struct Bad<'a> {
    attempts: usize,
    secs: f64,
    errors: BTreeMap<&'a str, usize>,
    lost_chunks: usize,
}

pub(super) fn failing_files(evidence: &Evidence<'_>, _: Option<&Plan>) -> Option<Advice> {
    let (rows, outcomes) = evidence.rows?;
    if !outcomes.contains(&Outcome::Failed) {
        return None;
    }
    let chunks = chunk_identity::identify(rows, outcomes);
    let mut files: BTreeMap<&str, Bad<'_>> = BTreeMap::new();
    let mut lost_chunks = 0;
    let names = rows.names("file").zip(rows.names("error"));
    for (row, ((names, secs), outcome)) in names.zip(attempt_secs(rows)).zip(outcomes).enumerate() {
        if *outcome != Outcome::Failed {
            continue;
        }
        let bad = files.entry(names.0.unwrap_or(UNKNOWN)).or_default();
        bad.attempts += 1;
        bad.secs += secs.unwrap_or(0.0);
        *bad.errors.entry(names.1.unwrap_or(UNKNOWN)).or_default() += 1;
        if chunks.is_first_of_lost(row) {
            bad.lost_chunks += 1;
            lost_chunks += 1;
        }
    }
    let mut files: Vec<(&str, Bad<'_>)> = files.into_iter().collect();
    // Those that lost chunks first, then by cost.
    files.sort_by(|a, b| b.1.lost_chunks.cmp(&a.1.lost_chunks).then(b.1.secs.total_cmp(&a.1.secs)));
    let attempts: usize = files.iter().map(|(_, bad)| bad.attempts).sum();
    let secs: f64 = files.iter().map(|(_, bad)| bad.secs).sum();
    // No more than the ledger has of it, so that the two agree.
    let secs = evidence.row("failed_work").map_or(secs, |row| secs.min(row));
    let (worst, bad) = files.first()?;
    let class = bad.errors.iter().max_by_key(|(_, count)| **count).map_or(UNKNOWN, |e| e.0);
    let cost = match evidence.core_secs {
        Some(all) if secs > 0.0 => {
            format!(" and cost {} of the core time", words::percent(secs / all))
        }
        _ => String::new(),
    };
    let lost = match lost_chunks {
        0 => String::new(),
        lost => format!("; {} never succeeded", words::several(lost, "chunk", "chunks")),
    };
    let gain = evidence
        .core_secs
        .filter(|all| lost_chunks == 0 && secs > 0.0 && secs <= *all)
        .and_then(|_| Some(Gain::new(secs, evidence.wall_secs, evidence.wall_without(secs)?)));
    let mut facts = vec![
        ("failed attempts", words::count(attempts as f64)),
        ("files", words::count(files.len() as f64)),
        ("chunks without a result", words::count(lost_chunks as f64)),
        ("time in failed attempts", words::core_seconds(secs)),
    ];
    facts.extend(files.iter().take(3).map(|(file, bad)| {
        let errors: Vec<_> = bad
            .errors
            .iter()
            .map(|(class, count)| format!("{count} × {}", words::name(class)))
            .collect();
        ("file", format!("{}: {}", words::name(file), errors.join(", ")))
    }));
    let listed: Vec<&str> = files.iter().take(LISTED).map(|(file, _)| *file).collect();
    let action = if lost_chunks > 0 {
        "open these files by hand and replace them, or leave them out (`skipbadfiles=True` skips \
         what cannot be read): their events are not in the result."
    } else {
        "look at why these files fail at first: every attempt was repeated with success, so the \
         result is whole, but the time is lost."
    };
    Some(Advice {
        rule: "failing-files",
        headline: format!(
            "{} failed in {}{cost}{lost}; most in {} ({}).",
            words::several(attempts, "attempt", "attempts"),
            words::several(files.len(), "file", "files"),
            words::name(worst),
            words::name(class)
        ),
        action: action.to_owned(),
        change: format!("mend {} that failed", words::several(files.len(), "file", "files")),
        evidence: facts,
        threshold: "any attempt fails",
        gain,
        snippet: Some(format!("failing_files = {}", words::python_list(&listed))),
        is_urgent: lost_chunks > 0,
    })
}
