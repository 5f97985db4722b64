//! What the measuring itself took: recording in the chunks, and the sampler.

use arrow_array::RecordBatch;
use roast_model::Frame;

use crate::chunk_rows::Outcome;
use crate::number::{ratio, usable};
use crate::sheet::Sheet;

pub(crate) fn fill(
    sheet: &mut Sheet,
    chunks: Option<(Frame<'_>, &[Outcome])>,
    ticks: Option<&RecordBatch>,
) {
    // What a replayed chunk cost was paid for in an earlier run.
    let recorded = chunks.and_then(|(rows, outcomes)| {
        let ran = rows.floats("recorder_secs").zip(outcomes);
        sum(ran.filter(|(_, outcome)| **outcome != Outcome::Replayed).filter_map(|(secs, _)| secs))
    });
    let sampled = ticks.and_then(|ticks| sum(Frame::new(ticks).floats("tick_secs").flatten()));
    let total = crate::datasets::plus(recorded, sampled, |a, b| a + b);
    sheet.real("monitoring_overhead_seconds", total);
    let available = sheet.get("ledger_available_core_seconds");
    let share = ratio(total.map(|secs| secs * 100.0), available);
    sheet.real("monitoring_overhead_percent", share);
}

/// Missing if there is nothing to add up.
fn sum(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    numbers.filter_map(usable).fold(None, |total, secs| Some(total.unwrap_or(0.0) + secs))
}
