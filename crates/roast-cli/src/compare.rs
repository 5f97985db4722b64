//! `roastcoffea compare`: what changed from one run to others.

use std::path::PathBuf;

use roast_analyze::{ComparedRow, Comparison, Run, Verdict};
use roast_model::Better;
use roast_report::{FindingsFormat, comparison_findings, comparisons_json};

use crate::arguments::{CompareArguments, FindingsOutput};
use crate::fail_on::FailOn;
use crate::failure::Failure;
use crate::{findings, show};

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Failure> {
    let limits = FailOn::parse(&arguments.fail_on)?;
    let mut directories: Vec<PathBuf> = vec![arguments.base.clone()];
    directories.extend(arguments.new.iter().cloned());
    findings::refuse_twice(&directories)?;
    let target = findings::Target::begin(&arguments.output)?;
    let (base, of_base) = show::load_computed(&arguments.base)?;
    let base = Run { measurement: &base, metrics: &of_base };
    let mut comparisons: Vec<Comparison> = Vec::new();
    for directory in &arguments.new {
        let (new, of_new) = show::load_computed(directory)?;
        let new = Run { measurement: &new, metrics: &of_new };
        comparisons.push(roast_analyze::compare(base, new, arguments.seed));
    }
    let render = |format: FindingsFormat| {
        let findings: Vec<_> =
            comparisons.iter().map(|found| comparison_findings(found, arguments.all)).collect();
        format.render(&findings)
    };
    target.write(&arguments.output, render, || comparisons_json(&comparisons))?;
    over_limit(&comparisons, &limits)
}

/// Fails where a row is worse than the user allows, and says which.
fn over_limit(comparisons: &[Comparison], limits: &[FailOn]) -> Result<(), Failure> {
    let mut over: Vec<String> = Vec::new();
    for comparison in comparisons {
        let rows =
            comparison.rows.iter().filter(|row| limits.iter().any(|limit| limit.is_broken(row)));
        over.extend(rows.map(|row| told(comparison, row)));
    }
    if over.is_empty() { Ok(()) } else { Err(Failure::worse(over.join("\n  "))) }
}

fn told(comparison: &Comparison, row: &ComparedRow) -> String {
    let change = match row.change {
        Some(change) => format!("{:+.1} %", change * 100.0),
        None => "from 0".to_owned(),
    };
    format!("{}: {} {} {change}", comparison.new.name, row.part.name(), row.name)
}

impl FailOn {
    /// Whether a row is worse by more than allowed. A metric asked for by name
    /// counts even where its noise is not known.
    fn is_broken(&self, row: &ComparedRow) -> bool {
        let asked_for = match &self.metric {
            Some(key) => row.part == roast_analyze::Part::Metric && row.name == *key,
            None => true,
        };
        let worse = match row.verdict {
            Verdict::Worse => true,
            Verdict::Changed => self.metric.is_some() && is_for_the_worse(row),
            _ => false,
        };
        asked_for && worse && row.change.is_none_or(|change| change.abs() > self.allowed)
    }
}

fn is_for_the_worse(row: &ComparedRow) -> bool {
    let grew = row.base.zip(row.new).is_some_and(|(base, new)| new > base);
    match row.better {
        Better::Lower => grew,
        Better::Higher => !grew,
        Better::Neither => false,
    }
}

impl FindingsOutput {
    /// Whether the text goes to a terminal or a pipe.
    pub(crate) fn to_stdout(&self) -> bool {
        self.output.as_deref().is_none_or(|path| path.as_os_str() == "-")
    }
}
