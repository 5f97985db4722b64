//! Workers close to their memory limit: Dask spills, pauses and at last kills
//! them.
//!
//! A chunk of `n` events takes `n · per_event` bytes on top of what the process
//! has anyway; `per_event` is what nine of ten chunks stay below. A chunk fits if
//! as many of them as the worker has threads leave four tenths of the limit free:
//! Dask begins to spill at six tenths.

use super::chunk_size::round_sizes;
use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, words};
use crate::statistics::{median, quantile_of};

const THRESHOLD: f64 = 0.8;
/// Dask begins to spill here.
const COMFORTABLE: f64 = 0.6;

pub(super) fn pressure(evidence: &Evidence<'_>, _: Option<&Plan>) -> Option<Advice> {
    let (used, limit) = evidence
        .workers
        .iter()
        .filter_map(|row| Some((row.memory_bytes? as f64, row.memory_limit_bytes? as f64)))
        .max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)))?;
    let spilled = evidence.sheet.get("peak_spilled_bytes").filter(|bytes| *bytes > 0.0);
    let share = used / limit;
    if share < THRESHOLD && spilled.is_none() {
        return None;
    }
    let need = Need::of(evidence);
    let largest = need.as_ref().and_then(|need| need.largest_chunk(evidence));
    let fits = round_sizes()
        .take_while(|size| largest.is_some_and(|largest| *size <= largest))
        .last()
        .filter(|size| evidence.mean_events().is_some_and(|events| *size < events));
    let mut facts = vec![("most used", words::bytes(used)), ("limit", words::bytes(limit))];
    if let Some(spilled) = spilled {
        facts.push(("spilled at most", words::bytes(spilled)));
    }
    if let Some(need) = need {
        facts.push(("a process before a chunk", words::bytes(need.base_bytes)));
        facts.push(("per event", words::bytes(need.bytes_per_event)));
    }
    let spilling = if spilled.is_some() { " and spilled to disk" } else { "" };
    let (action, change) = match fits {
        Some(size) => {
            let size = words::python_int(size);
            (
                format!(
                    "use `chunksize={size}`: chunks of that size leave about {} of the limit free.",
                    words::percent(1.0 - COMFORTABLE)
                ),
                format!("`chunksize={size}` to fit the memory"),
            )
        }
        None => (
            "give each worker more memory or fewer threads: smaller chunks would not help, since \
             most of the memory is not the chunks'."
                .to_owned(),
            "give each worker more memory".to_owned(),
        ),
    };
    Some(Advice {
        rule: "memory-pressure",
        headline: format!(
            "A worker used {} of its memory limit of {}{spilling}.",
            words::percent(share),
            words::bytes(limit)
        ),
        action,
        snippet: fits.map(|size| {
            let size = words::python_int(size);
            format!("runner = processor.Runner(executor, chunksize={size}, ...)")
        }),
        change,
        evidence: facts,
        threshold: "a worker uses four fifths of its memory limit, or spills",
        gain: None,
        is_urgent: false,
    })
}

struct Need {
    base_bytes: f64,
    bytes_per_event: f64,
}

impl Need {
    fn of(evidence: &Evidence<'_>) -> Option<Self> {
        let chunks = || evidence.memory().filter(|(events, ..)| *events > 0.0);
        let mut numbers: Vec<f64> = chunks()
            .filter_map(|(events, start, peak)| {
                let grown = peak? - start?;
                (grown >= 0.0).then_some(grown / events).filter(|bytes| bytes.is_finite())
            })
            .collect();
        let bytes_per_event = quantile_of(&mut numbers, 0.9).filter(|bytes| *bytes > 0.0)?;
        numbers.clear();
        numbers.extend(chunks().filter_map(|(_, start, _)| start));
        Some(Self { base_bytes: median(&mut numbers)?, bytes_per_event })
    }

    fn largest_chunk(&self, evidence: &Evidence<'_>) -> Option<f64> {
        let limit = evidence.workers.iter().filter_map(|row| row.memory_limit_bytes).min()? as f64;
        let threads = evidence.sheet.get("cores_per_worker")?.max(1.0);
        let free = (COMFORTABLE * limit - self.base_bytes).max(0.0);
        Some(free / threads / self.bytes_per_event)
    }
}

/// Events in the largest chunk that fits; missing if that is not known.
pub(super) fn largest_chunk(evidence: &Evidence<'_>) -> Option<f64> {
    Need::of(evidence)?.largest_chunk(evidence)
}
