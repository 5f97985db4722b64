//! The advice for people: what is worth most, in order, as the metrics hold it.

use roast_analyze::Metrics;
use roast_model::{Unit, Value};

use crate::units;

/// So many are shown; the metrics hold all.
pub(crate) const SHOWN: usize = 3;

/// One thing to change.
#[derive(Clone, Debug, PartialEq)]
pub struct AdviceView {
    /// What is the matter.
    pub headline: String,
    /// What to do.
    pub action: String,
    /// What it saves, if that could be estimated.
    pub gain: Option<String>,
    /// Code to paste.
    pub snippet: Option<String>,
}

/// What bounds the run, if that is known.
pub(crate) fn verdict(metrics: &Metrics) -> Option<String> {
    metrics.get("verdict")?.as_str().map(str::to_owned)
}

/// Every piece of advice, that worth most first.
pub(crate) fn all(metrics: &Metrics) -> Vec<AdviceView> {
    let advice = metrics.get("advice").and_then(Value::items).unwrap_or_default();
    advice.iter().filter_map(one).collect()
}

fn one(advice: &Value) -> Option<AdviceView> {
    let text = |key| advice.get(key).and_then(Value::as_str).map(str::to_owned);
    let saved = advice.get("gain").and_then(|gain| gain.get("core_seconds")?.as_f64());
    Some(AdviceView {
        headline: text("headline")?,
        action: text("action")?,
        gain: saved
            .filter(|secs| *secs > 0.0)
            .map(|secs| format!("saves about {}", units::show(secs, Unit::CoreSeconds))),
        snippet: text("snippet"),
    })
}

/// How many are not shown, in words.
pub(crate) fn left_out(advice: &[AdviceView]) -> Option<String> {
    let more = advice.len().checked_sub(SHOWN).filter(|more| *more > 0)?;
    Some(format!("and {more} more in metrics[\"advice\"]"))
}
