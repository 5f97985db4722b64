//! Chunks so small that what every chunk pays once (opening the file, its tree,
//! the events' form) takes a large part of the run.
//!
//! The estimate is [`Plan`]'s: the same files in larger chunks, each file in at
//! least one, on the same threads.

use super::evidence::Evidence;
use super::plan::{Outlook, Plan};
use super::{Advice, Gain, memory, words};

/// What a chunk pays before `process()` begins.
pub(super) const SETUP: [&str; 3] = ["file_open", "tree_metadata", "events_form"];
const THRESHOLD: f64 = 0.2;
/// A smaller size is as good if it is within this of the best.
const AS_GOOD: f64 = 1.03;

pub(super) fn setup_dominated(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&SETUP).filter(|share| *share >= THRESHOLD)?;
    let (plan, events) = (plan?, evidence.mean_events()?);
    let found = best(evidence, plan, events)
        .map(|(size, outlook)| {
            let gain = Gain::new(
                plan.busy_secs() - outlook.busy_secs,
                evidence.wall_secs,
                outlook.wall_secs,
            );
            (size, outlook, gain)
        })
        .filter(|(_, _, gain)| gain.is_worth(evidence) && gain.wall_secs_then < gain.wall_secs_now);
    let headline = |why: String| {
        format!(
            "{} of the core time went into opening files, tree metadata and building events, \
             because {why}.",
            words::percent(share)
        )
    };
    let mut facts = vec![
        ("chunks", words::count(evidence.chunks.len() as f64)),
        ("events per chunk", words::count(events)),
        ("longest file", format!("{} events", words::count(plan.longest_file()))),
    ];
    for (key, label) in SETUP.into_iter().zip(["opening files", "tree metadata", "building events"])
    {
        facts.push((label, words::core_seconds(evidence.row(key)?)));
    }
    let threshold = "a fifth of the core time goes into opening files, tree metadata and events";
    let Some((size, outlook, gain)) = found else {
        // Files that are one chunk already can only be merged.
        let whole = events * 1.3 >= plan.longest_file();
        return whole.then(|| Advice {
            rule: "setup-dominated",
            headline: headline(format!("files have only {} events", words::count(events))),
            action: "merge the files into larger ones, for example with hadd: every file is one \
                     chunk already, so a larger chunksize changes nothing."
                .to_owned(),
            change: "merge the files into larger ones".to_owned(),
            evidence: facts,
            threshold,
            gain: None,
            snippet: None,
            is_urgent: false,
        });
    };
    facts.push(("chunks then", words::count(outlook.chunks)));
    if !plan.fixed_part_is_known {
        facts.push((
            "assumed",
            "all of the user code's time grows with the events; if not, the run gets faster still"
                .to_owned(),
        ));
    }
    let size = words::python_int(size);
    Some(Advice {
        rule: "setup-dominated",
        headline: headline(format!("chunks have {} events", words::count(events))),
        action: format!("use `chunksize={size}`: {}.", gain.sentence()),
        change: format!("`chunksize={size}`"),
        evidence: facts,
        threshold,
        gain: Some(gain),
        snippet: Some(format!("runner = processor.Runner(executor, chunksize={size}, ...)")),
        is_urgent: false,
    })
}

/// The smallest round size that is as good as the best, among those that are
/// larger than today's and fit into the workers' memory.
fn best(evidence: &Evidence<'_>, plan: &Plan, events: f64) -> Option<(f64, Outlook)> {
    let fits = memory::largest_chunk(evidence).unwrap_or(f64::INFINITY);
    let sizes: Vec<f64> =
        round_sizes().filter(|size| *size > 1.3 * events && *size <= fits).collect();
    let longest = plan.longest_file();
    let enough = sizes.partition_point(|size| *size < longest) + 1;
    let outlooks: Vec<_> =
        sizes.into_iter().take(enough).map(|size| (size, plan.with_chunk_size(size))).collect();
    let shortest = outlooks.iter().map(|(_, outlook)| outlook.wall_secs).min_by(f64::total_cmp)?;
    outlooks.into_iter().find(|(_, outlook)| outlook.wall_secs <= AS_GOOD * shortest)
}

/// 1, 2 and 5 times every power of ten.
pub(super) fn round_sizes() -> impl Iterator<Item = f64> {
    (1..9).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
}
