//! A part of the page, or a sentence on why it is not there and how to get it.

use serde::Serialize;

use crate::missing::Source;

/// A part of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Panel<T> {
    Data(T),
    Missing(String),
}

impl<T> Panel<T> {
    pub(crate) fn missing(sentence: impl Into<String>) -> Self {
        Self::Missing(sentence.into())
    }
}

/// No chunk was recorded.
pub(crate) fn no_chunks() -> String {
    "No chunks were recorded: pass the Runner or its executor to MetricsCollector, or decorate \
     process() with @track_metrics and pass processor_instance."
        .to_owned()
}

/// Chunks were recorded without the times of their attempts.
pub(crate) fn no_times() -> String {
    "The chunk rows do not say when they ran: let roastcoffea record them, or give them start and \
     stop times."
        .to_owned()
}

/// Workers were not tracked.
pub(crate) fn no_tracking() -> String {
    let source = Source::Tracking;
    sentence(source.absence(), source.remedy())
}

/// `absence: remedy.`, as a sentence.
pub(crate) fn sentence(absence: &str, remedy: &str) -> String {
    let mut letters = absence.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}: {remedy}.", letters.as_str())
}
