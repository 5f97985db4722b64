//! A run that waits at its end for a few chunks which take far longer than others
//! of their size, each for a reason of its own. Smaller chunks need not help then;
//! the estimate is for the same chunks at the speed of the others, dealt out again
//! by [`Plan`].

use super::evidence::Evidence;
use super::idle::Tail;
use super::plan::Plan;
use super::{Advice, Gain, words};
use crate::statistics::median;

/// So many times slower than the others.
const SLOWER: f64 = 2.0;
/// And by so many of the others' own deviations.
const DEVIATIONS: f64 = 5.0 * 1.4826;
/// If more of the chunks are slow, that is what chunks are like.
const FEW: f64 = 0.1;

pub(super) fn advice(evidence: &Evidence<'_>, plan: &Plan, tail: Tail) -> Option<Advice> {
    let ratios: Vec<f64> =
        plan.actual_secs.iter().zip(&plan.now_secs).map(|(actual, model)| actual / model).collect();
    let mut ordered: Vec<f64> = ratios.iter().copied().filter(|ratio| ratio.is_finite()).collect();
    let usual = median(&mut ordered)?;
    let mut deviations: Vec<f64> = ordered.iter().map(|ratio| (ratio - usual).abs()).collect();
    let limit = (SLOWER * usual).max(usual + DEVIATIONS * median(&mut deviations)?);
    let is_slow = |chunk: usize| ratios.get(chunk).is_some_and(|ratio| *ratio > limit);
    let slow = (0..ratios.len()).filter(|chunk| is_slow(*chunk)).count();
    if slow == 0 || slow as f64 > FEW * ratios.len() as f64 {
        return None;
    }
    let usual_secs = |chunk: usize| plan.now_secs.get(chunk).map_or(0.0, |model| model * usual);
    let outlook =
        plan.with_chunk_secs(
            |chunk, secs| {
                if is_slow(chunk) { secs.min(usual_secs(chunk)) } else { secs }
            },
        );
    let excess_secs: f64 = plan
        .actual_secs
        .iter()
        .enumerate()
        .filter(|(chunk, _)| is_slow(*chunk))
        .map(|(chunk, secs)| (secs - usual_secs(chunk)).max(0.0))
        .sum();
    let saved_secs = (evidence.wall_secs - outlook.wall_secs) * plan.threads() as f64;
    let core_secs = saved_secs.min(tail.secs + excess_secs);
    let gain = Gain::new(core_secs, evidence.wall_secs, outlook.wall_secs);
    if gain.wall_secs_then >= gain.wall_secs_now || !gain.is_worth(evidence) {
        return None;
    }
    let (longest, secs) = evidence
        .chunks
        .iter()
        .enumerate()
        .filter(|(chunk, _)| is_slow(*chunk))
        .map(|(index, chunk)| (index, chunk.secs()))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let file = evidence.chunks.get(longest).map(|chunk| chunk.file());
    let file = file.and_then(|file| evidence.chunks.files.name(file));
    Some(Advice {
        rule: "idle-tail",
        headline: format!(
            "{} of the core time was idle at the end; {} of {} chunks take far longer than others \
             of their size.",
            words::percent(tail.share),
            words::count(slow as f64),
            words::count(ratios.len() as f64),
        ),
        action: format!(
            "look at these chunks (`metrics[\"slowest_chunks\"]` tells what was slow in each), and \
             make them smaller if it is their events: at the speed of the others {}.",
            gain.sentence()
        ),
        change: "look at the slow chunks at the end".to_owned(),
        evidence: vec![
            ("idle at the end", words::core_seconds(tail.secs)),
            ("slow chunks", words::count(slow as f64)),
            ("chunks", words::count(ratios.len() as f64)),
            ("longest chunk", words::duration(secs)),
            ("usual for its size", words::duration(usual_secs(longest))),
            ("its file", words::name(file.unwrap_or(crate::datasets::UNKNOWN))),
        ],
        threshold: "a tenth of the core time is idle after a worker's last chunk, and a few chunks \
                    take twice as long as others of their size and by more than five times what \
                    those differ",
        gain: Some(gain),
        snippet: None,
        is_urgent: false,
    })
}
