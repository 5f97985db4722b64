//! Adding up the outputs of chunks.
//!
//! With `treereduction=t` every output is unpacked and added once, and every sum
//! of `t` again, and so on: `1 + 1/(t − 1)` times in all. So a small `t` wastes
//! time, and from about 20 on only fewer or smaller outputs help. The `t` of a run
//! is taken from its number of reductions: `(chunks + reductions − 1) / reductions`.

use roast_model::{Frame, Table};

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, words};

const THRESHOLD: f64 = 0.1;
const ROWS: [&str; 2] = ["reduction", "transfer"];
/// coffea's own default.
const USUAL: f64 = 20.0;
/// Below this, more at a time is worth while.
const SMALL: f64 = 8.0;

pub(super) fn costly(evidence: &Evidence<'_>, _: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&ROWS).filter(|share| *share >= THRESHOLD)?;
    let (secs, chunks) = (evidence.rows_secs(&ROWS)?, evidence.chunks.len() as f64);
    let reductions = reductions(evidence).filter(|count| *count > 0.0);
    let at_once = reductions.map(|count| (chunks + count - 1.0) / count).filter(|t| *t >= 2.0);
    let small = at_once.filter(|at_once| *at_once < SMALL);
    let gain = small.and_then(|at_once| {
        let passes = |at_once: f64| 1.0 + 1.0 / (at_once - 1.0);
        let saved = secs * (1.0 - passes(USUAL) / passes(at_once));
        Some(Gain::new(saved, evidence.wall_secs, evidence.wall_without(saved)?))
    });
    let (action, change) = match gain {
        Some(gain) => (
            format!("use `treereduction=20` (coffea's default): {}.", gain.sentence()),
            "`treereduction=20`".to_owned(),
        ),
        None => (
            "return less from process() (fewer histograms, coarser or sparse axes), or make fewer \
             outputs by a larger `chunksize`; a smaller `treereduction` spreads the same work over \
             more workers."
                .to_owned(),
            "return less from process()".to_owned(),
        ),
    };
    let mut facts = vec![
        ("reducing", words::core_seconds(evidence.row("reduction")?)),
        ("transfers", words::core_seconds(evidence.row("transfer")?)),
        ("outputs", words::count(chunks)),
    ];
    facts.extend(reductions.map(|count| ("reductions", words::count(count))));
    facts.extend(at_once.map(|at_once| ("outputs at a time", format!("about {at_once:.0}"))));
    Some(Advice {
        rule: "reduction-cost",
        headline: format!(
            "{} of the core time went into adding up the outputs of {} chunks.",
            words::percent(share),
            words::count(chunks)
        ),
        action,
        change,
        evidence: facts,
        threshold: "a tenth of the core time goes into reductions and transfers",
        gain,
        snippet: gain.map(|_| {
            "executor = processor.DaskExecutor(client=client, treereduction=20)".to_owned()
        }),
        is_urgent: false,
    })
}

fn reductions(evidence: &Evidence<'_>) -> Option<f64> {
    let tasks = evidence.measurement.table(Table::Tasks).map(Frame::new)?;
    let count = tasks
        .names("prefix")
        .zip(tasks.names("action"))
        .filter(|(prefix, action)| {
            *action == Some("compute")
                && prefix.is_some_and(|prefix| prefix.trim_matches('_') == crate::ledger::REDUCE)
        })
        .count();
    Some(count as f64)
}
