//! Chunks whose results came from a checkpoint. coffea adds what they reported
//! when they ran to the report of this run; rates and efficiencies are about
//! this run, so those amounts are taken out again.

use roast_model::{Frame, Value};

use crate::chunk_rows::Outcome;
use crate::number::{reported, usable};

/// What replayed chunks contributed to coffea's report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Replayed {
    bytes: f64,
    events: f64,
    processing_secs: f64,
}

impl Replayed {
    /// Adds up what the replayed rows carry.
    pub(crate) fn read(rows: Frame<'_>, outcomes: &[Outcome]) -> Self {
        let mut total = Self::default();
        if !outcomes.contains(&Outcome::Replayed) {
            return total;
        }
        for (extra, _) in
            rows.names("extra").zip(outcomes).filter(|(_, outcome)| **outcome == Outcome::Replayed)
        {
            // Whatever else the user may have put there is none of this business.
            let fields = extra.and_then(|text| serde_json::from_str::<Value>(text).ok());
            let Some(report) = fields.as_ref().and_then(|extra| extra.get("replayed_report"))
            else {
                continue;
            };
            let amount = |key| reported(report, key).unwrap_or(0.0);
            total.bytes += amount("bytesread");
            total.events += amount("entries");
            total.processing_secs += amount("processtime");
        }
        total
    }

    /// Bytes that this run read.
    pub(crate) fn bytes_of_run(self, reported: Option<f64>) -> Option<f64> {
        rest(reported, self.bytes)
    }

    /// Events that this run processed.
    pub(crate) fn events_of_run(self, reported: Option<f64>) -> Option<f64> {
        rest(reported, self.events)
    }

    /// Time that this run spent in `process()`.
    pub(crate) fn processing_of_run(self, reported: Option<f64>) -> Option<f64> {
        rest(reported, self.processing_secs)
    }
}

fn rest(reported: Option<f64>, replayed: f64) -> Option<f64> {
    usable((reported? - replayed).max(0.0))
}
