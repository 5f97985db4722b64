//! What is not the same in two runs, and may be behind any change: what was
//! processed, with what, and on what.

use std::collections::BTreeSet;

use roast_model::{Frame, Table, Unit, Value};

use super::{Material, Run};

/// Numbers closer than this are the same.
const SAME: f64 = 0.001;
/// Cores come and go: closer than this they are the same.
const SAME_CORES: f64 = 0.05;
/// Shares of waiting further apart than this are worth telling.
const WAITING: f64 = 0.05;
/// Machines whose speed differs by less are the same.
const SAME_SPEED: f64 = 0.05;
/// Names listed before the rest is counted.
const NAMES: usize = 3;

/// Something that is not the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What it is.
    pub what: String,
    /// In the base run.
    pub base: Told,
    /// In the new run.
    pub new: Told,
}

/// One run's side of a difference.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A number.
    Number(f64, Unit),
    /// Words.
    Words(String),
    /// Nothing is known.
    Nothing,
}

/// What is told of a run, and how close two numbers are the same.
type Number = (&'static str, &'static str, Unit, f64);

const NUMBERS: [Number; 8] = [
    ("events", "total_events", Unit::Count, SAME),
    ("events per chunk", "chunk_events_mean", Unit::Count, 0.01),
    ("chunks", "num_chunks", Unit::Count, SAME),
    ("chunks that never succeeded", "num_failed_chunks", Unit::Count, SAME),
    ("chunks that were tried again", "num_retried_chunks", Unit::Count, SAME),
    ("chunks taken from a checkpoint", "num_replayed_chunks", Unit::Count, SAME),
    ("workers", "avg_workers", Unit::Count, SAME_CORES),
    ("cores", "total_cores", Unit::Count, SAME_CORES),
];

pub(crate) fn find(material: &Material<'_>) -> Vec<Difference> {
    let [base, new] = material.runs;
    let mut found = Vec::new();
    let mut words = |what: &str, base: Option<String>, new: Option<String>| {
        if base != new {
            let told = |text: Option<String>| text.map_or(Told::Nothing, Told::Words);
            found.push(Difference { what: what.to_owned(), base: told(base), new: told(new) });
        }
    };
    let header = |run: Run<'_>| run.measurement.header.clone();
    let ended = |run| Some(header(run).error.unwrap_or_else(|| "no error".to_owned()));
    words("ended by", ended(base), ended(new));
    let (only_base, only_new) = apart(datasets(material, 0), datasets(material, 1));
    words("datasets only there", listed(&only_base), listed(&only_new));
    let files = [base, new].map(|run| {
        run.measurement
            .table(Table::Files)
            .map(|files| Frame::new(files).names("file").flatten().collect::<BTreeSet<&str>>())
    });
    if let [Some(base), Some(new)] = files
        && !base.is_empty()
        && !new.is_empty()
    {
        let (only_base, only_new) = apart(base, new);
        words("files only there", counted(&only_base), counted(&only_new));
    }
    words("backend", Some(header(base).backend), Some(header(new).backend));
    for key in ["executor", "host", "platform", "program"] {
        let text = |run| header(run).provenance.get(key).and_then(Value::as_str).map(str::to_owned);
        words(key, text(base), text(new));
    }
    let versions = |run| header(run).provenance.get("versions").cloned().unwrap_or_default();
    let (of_base, of_new) = (versions(base), versions(new));
    let packages: BTreeSet<&str> = [&of_base, &of_new]
        .into_iter()
        .flat_map(|known| known.pairs())
        .filter_map(|(package, _)| package.as_str())
        .collect();
    for package in packages {
        let version = |known: &Value| known.get(package).and_then(Value::as_str).map(str::to_owned);
        words(package, version(&of_base), version(&of_new));
    }
    for (what, key, unit, same) in NUMBERS {
        found.extend(number(what, [base, new].map(|run| run.metrics.number(key)), unit, same));
    }
    found.extend(of_machine(material));
    found
}

fn number(what: &str, [base, new]: [Option<f64>; 2], unit: Unit, same: f64) -> Option<Difference> {
    let differs = match (base, new) {
        (Some(base), Some(new)) => (new - base).abs() > same * base.abs().max(new.abs()),
        (base, new) => base.is_some() != new.is_some(),
    };
    let told =
        |number: Option<f64>| number.map_or(Told::Nothing, |number| Told::Number(number, unit));
    differs.then(|| Difference { what: what.to_owned(), base: told(base), new: told(new) })
}

fn of_machine(material: &Material<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let [base, new] = material.machine.waiting;
    if let (Some(base), Some(new)) = (base, new)
        && (new - base).abs() > WAITING
    {
        let told = |share: f64| Told::Number(share * 100.0, Unit::Percent);
        let what = "of process(), waiting for a core".to_owned();
        found.push(Difference { what, base: told(base), new: told(new) });
    }
    if let Some(slowdown) = material.machine.slowdown
        && slowdown.abs() > SAME_SPEED
    {
        found.push(Difference {
            what: "parsing the same trees".to_owned(),
            base: Told::Number(100.0, Unit::Percent),
            new: Told::Number(slowdown.exp() * 100.0, Unit::Percent),
        });
    }
    found
}

fn datasets<'a>(material: &Material<'a>, index: usize) -> BTreeSet<&'a str> {
    material
        .evidence
        .get(index)
        .map(|run| run.datasets.iter().copied().collect())
        .unwrap_or_default()
}

/// What only the first and only the second has.
fn apart<'a>(base: BTreeSet<&'a str>, new: BTreeSet<&'a str>) -> (Vec<&'a str>, Vec<&'a str>) {
    (base.difference(&new).copied().collect(), new.difference(&base).copied().collect())
}

fn listed(names: &[&str]) -> Option<String> {
    let mut text = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    (!names.is_empty()).then_some(text)
}

fn counted(names: &[&str]) -> Option<String> {
    (!names.is_empty()).then(|| names.len().to_string())
}
