//! `roastcoffea metrics`: what each number means.

use std::io::Write;

use anyhow::Context;
use roast_model::metric_def;
use roast_report::{markdown_reference, text_entry, text_reference};

use crate::arguments::{ListFormat, MetricsArguments};
use crate::failure::Failure;
use crate::{hint, terminal};

pub(crate) fn run(arguments: &MetricsArguments) -> Result<(), Failure> {
    let width = terminal::width();
    let text = match (&arguments.key, arguments.format) {
        (Some(key), _) => match metric_def(key) {
            Some(metric) => text_entry(metric, width),
            None => return Err(unknown(key)),
        },
        (None, Some(ListFormat::Markdown)) => markdown_reference(),
        (None, Some(ListFormat::Text) | None) => text_reference(width),
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("could not print the metrics")
        .map_err(Failure::from)
}

fn unknown(key: &str) -> Failure {
    let hint = match hint::for_metric(key) {
        Some(close) => format!("did you mean {close}?"),
        None => "roastcoffea metrics lists them all".to_owned(),
    };
    Failure::usage(format!("there is no metric {key:?}"), hint)
}
