//! Where the core time went: the rows of the ledger with their shares.

use roast_analyze::{LEDGER, Metrics};
use roast_model::Value;
use serde::Serialize;

use super::number::short;
use super::panel::{Panel, no_chunks, no_tracking};
use super::run::Run;

/// The rows in the order in which the ledger lists them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ledger {
    pub(crate) total_core_secs: f64,
    pub(crate) rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    key: &'static str,
    pub(crate) label: &'static str,
    note: &'static str,
    family: &'static str,
    pub(crate) core_secs: f64,
    pub(crate) share: f64,
}

pub(crate) fn panel(metrics: &Metrics, run: &Run<'_>) -> Panel<Ledger> {
    let total = metrics.number("ledger_available_core_seconds").filter(|secs| *secs > 0.0);
    let ledger = metrics.get("ledger").filter(|ledger| matches!(ledger, Value::Map(_)));
    let (Some(total), Some(ledger)) = (total, ledger) else {
        return Panel::Missing(if run.workers.is_empty() {
            no_tracking()
        } else if run.chunks.is_empty() {
            no_chunks()
        } else {
            "Who was busy when is not known for every worker: let roastcoffea record the chunks, \
             with worker tracking on."
                .to_owned()
        });
    };
    let rows = LEDGER
        .iter()
        .filter_map(|row| {
            let core_secs = ledger.get(row.key)?.as_f64()?;
            Some(Row {
                key: row.key,
                label: row.label,
                note: row.meaning,
                family: family(row.key),
                core_secs: short(core_secs),
                share: core_secs / total,
            })
        })
        .collect();
    Panel::Data(Ledger { total_core_secs: total, rows })
}

/// The hue of a row.
fn family(key: &str) -> &'static str {
    match key {
        "user_cpu" | "user_wait" | "user_run_queue_wait" => "user",
        "column_read" | "decompress" | "interpret" => "columns",
        "file_open" | "tree_metadata" | "events_form" => "setup",
        "serialize_output" | "reduction" | "transfer" => "output",
        "failed_work" => "waste",
        "overhead" => "overhead",
        "unexplained" => "unexplained",
        _ => "idle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_hue() {
        for row in LEDGER {
            assert_eq!(family(row.key) == "idle", row.key.starts_with("idle_"), "{}", row.key);
        }
    }
}
