//! What to change, as the analysis has put it into the metrics, and the verdict.
//! Measurements made before there was advice get a verdict from their ledger.

use roast_analyze::Metrics;
use roast_model::{Unit, Value};
use serde::Serialize;

use super::ledger::Ledger;
use super::panel::Panel;
use super::text::{name, passage};
use crate::units;

/// A piece of advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Advice {
    rule: String,
    headline: String,
    action: String,
    evidence: Vec<Evidence>,
    threshold: String,
    gain: Option<Gain>,
    snippet: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Evidence {
    label: String,
    value: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Gain {
    core_secs: Option<f64>,
    wall_secs_now: Option<f64>,
    wall_secs_then: Option<f64>,
}

/// The advice in the metrics, in its order.
pub(crate) fn advice(metrics: &Metrics) -> Vec<Advice> {
    metrics.get("advice").map(read).unwrap_or_default()
}

fn read(list: &Value) -> Vec<Advice> {
    list.items().unwrap_or_default().iter().filter_map(read_one).collect()
}

fn read_one(given: &Value) -> Option<Advice> {
    let text = |key: &str| given.get(key).and_then(Value::as_str).map(passage);
    Some(Advice {
        rule: text("rule")?,
        headline: text("headline")?,
        action: text("action").unwrap_or_default(),
        evidence: given
            .get("evidence")
            .and_then(Value::items)
            .unwrap_or_default()
            .iter()
            .filter_map(|one| {
                let label = name(one.get("label")?.as_str()?);
                let value = match one.get("value")? {
                    Value::Str(text) => passage(text),
                    other => units::count(other.as_f64()?),
                };
                Some(Evidence { label, value })
            })
            .collect(),
        threshold: text("threshold").unwrap_or_default(),
        gain: given.get("gain").filter(|gain| !gain.is_none()).map(|gain| {
            let secs = |key: &str| gain.get(key).and_then(Value::as_f64);
            Gain {
                core_secs: secs("core_seconds"),
                wall_secs_now: secs("wall_seconds_now"),
                wall_secs_then: secs("wall_seconds_then"),
            }
        }),
        // Whole, however long: code that is cut does not run.
        snippet: given.get("snippet").and_then(Value::as_str).map(str::to_owned),
    })
}

/// One sentence on what bounds the run.
pub(crate) fn verdict(metrics: &Metrics, ledger: &Panel<Ledger>) -> String {
    if let Some(verdict) = metrics.get("verdict").and_then(Value::as_str) {
        return passage(verdict);
    }
    let ledger = match ledger {
        Panel::Missing(why) => return format!("Where the core time went is not known. {why}"),
        Panel::Data(ledger) => ledger,
    };
    let mut rows: Vec<_> = ledger.rows.iter().filter(|row| row.core_secs > 0.0).collect();
    rows.sort_by(|a, b| b.share.total_cmp(&a.share));
    let largest: Vec<String> = rows
        .iter()
        .take(3)
        .map(|row| format!("{} ({})", row.label, units::share(row.share)))
        .collect();
    let total = units::show(ledger.total_core_secs, Unit::Ratio);
    format!("Most of the {total} core-seconds went into {}.", largest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_read_as_the_analysis_writes_it() {
        let gain = Value::map([
            ("core_seconds", Value::Float(10.0)),
            ("wall_seconds_now", Value::Float(30.0)),
            ("wall_seconds_then", Value::Int(20)),
        ]);
        let evidence = Value::List(vec![
            Value::map([("label", Value::from("setup")), ("value", Value::from("70 %"))]),
            Value::map([("label", Value::from("chunks")), ("value", Value::Int(1234))]),
        ]);
        let full = Value::map([
            ("rule", Value::from("setup")),
            ("headline", Value::from("too small")),
            ("action", Value::from("use more")),
            ("evidence", evidence),
            ("threshold", Value::from("above 30 %")),
            ("gain", gain),
            ("snippet", Value::Str("x".repeat(9000))),
        ]);
        let sparse = Value::map([
            ("rule", Value::from("tail")),
            ("headline", Value::from("idle")),
            ("gain", Value::None),
            ("snippet", Value::None),
        ]);
        let read = read(&Value::List(vec![full, sparse, Value::from("no advice at all")]));
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].evidence[1].value, "1,234");
        assert_eq!(read[0].gain.as_ref().unwrap().wall_secs_then, Some(20.0));
        assert_eq!(read[0].snippet.as_ref().unwrap().len(), 9000);
        assert_eq!((&read[1].gain, &read[1].snippet), (&None, &None));
    }
}
