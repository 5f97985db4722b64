//! The report: what there is to say about a run, in the order in which people
//! ask, free of any format. Renderers decide only how it looks.

use std::collections::BTreeSet;

use roast_analyze::Metrics;
use roast_model::{CATALOG, Group, Header, Value, canonical_key, metric_def};

use crate::advice_view::{self, AdviceView};
use crate::data_table::{self, DataTable};
use crate::ledger_view::{self, LedgerView};
use crate::missing::{self, Source};
use crate::{layout, provenance, units};

/// What people ask first: key and a label short enough for a column.
const HEADLINE: [(&str, &str); 6] = [
    ("wall_time", "Wall time"),
    ("total_events", "Events"),
    ("data_rate_gbps", "Data rate"),
    ("event_rate_wall_khz", "Event rate"),
    ("total_cores", "Cores"),
    ("cpu_efficiency", "Core efficiency"),
];

/// What there is to say about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the user calls the run.
    pub name: String,
    /// When, with what and where it was made.
    pub provenance: Vec<String>,
    /// The exception that ended the run, if one did.
    pub error: Option<String>,
    /// The numbers that people ask for first.
    pub headline: Vec<Fact>,
    /// What bounds the run and the change worth most, if that is known.
    pub verdict: Option<String>,
    /// What to change, that worth most first.
    pub advice: Vec<AdviceView>,
    /// Where the core time went, if that is known.
    pub ledger: Option<LedgerView>,
    /// Datasets, sections, slow chunks, branches and failures, where there are any.
    pub tables: Vec<DataTable>,
    /// The metrics by family.
    pub sections: Vec<Section>,
    /// What is missing or limited, and why.
    pub notes: Vec<String>,
}

/// One number of the headline.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name.
    pub label: String,
    /// Its value; `None` if it is missing.
    pub value: Option<String>,
}

/// A family of metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// The metrics that could be measured.
    pub rows: Vec<Row>,
    /// Sentences on what could not, and how to get it.
    pub absent: Vec<String>,
}

/// One metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Its value with unit; `None` if it is missing.
    pub value: Option<String>,
    /// What keeps it from being misread, or why it is missing.
    pub note: String,
}

impl Report {
    /// Puts the report together. Metrics in the header that are not in the catalog
    /// are the user's own and get a section of their own.
    pub fn new(header: &Header, metrics: &Metrics) -> Self {
        let absent = missing::absent_sources(header, metrics);
        let mut explained = Vec::new();
        let mut sections: Vec<Section> = Group::ALL
            .into_iter()
            .filter_map(|group| match group {
                Group::Chunks | Group::Files | Group::Ledger | Group::Monitoring => {
                    known_section(group, metrics)
                }
                _ => Some(section(group, metrics, &absent, &mut explained)),
            })
            .collect();
        sections.extend(user_section(&header.metrics));
        Self {
            name: header.name.clone(),
            provenance: provenance::pieces(header),
            error: header.error.clone(),
            headline: headline(metrics),
            verdict: advice_view::verdict(metrics),
            advice: advice_view::all(metrics),
            ledger: ledger_view::view(metrics),
            tables: data_table::tables(metrics),
            sections,
            notes: header.notes.clone(),
        }
    }
}

fn headline(metrics: &Metrics) -> Vec<Fact> {
    HEADLINE
        .iter()
        .filter_map(|(key, label)| Some((metric_def(key)?, label)))
        .map(|(metric, label)| {
            let value = match metric.key {
                // Without the second unit that the table gives.
                "data_rate_gbps" => {
                    metrics.number(metric.key).map(|rate| units::show(rate, metric.unit))
                }
                _ => layout::value(metric, metrics),
            };
            Fact { label: (*label).to_owned(), value }
        })
        .collect()
}

/// One row per metric whose sources are there. For each source that is not, one
/// sentence; how to get it is said where it is first missed.
fn section(
    group: Group,
    metrics: &Metrics,
    absent: &[Source],
    explained: &mut Vec<Source>,
) -> Section {
    let mut section =
        Section { title: group.title().to_owned(), rows: Vec::new(), absent: Vec::new() };
    let mut blocking: Vec<Source> = Vec::new();
    for metric in CATALOG.iter().filter(|metric| metric.group == group && layout::has_row(metric)) {
        let value = layout::value(metric, metrics);
        if value.is_none()
            && let Some(source) = missing::blocked_by(metric, absent)
        {
            if !blocking.contains(&source) {
                blocking.push(source);
            }
            continue;
        }
        let note = match value {
            Some(_) => layout::note(metric, metrics),
            None => missing::reason(metric, metrics).to_owned(),
        };
        section.rows.push(Row { label: layout::label(metric).to_owned(), value, note });
    }
    let quantity = if section.rows.is_empty() { "Not measured" } else { "Not all measured" };
    let (known, new): (Vec<Source>, Vec<Source>) =
        blocking.into_iter().partition(|source| explained.contains(source));
    if !known.is_empty() {
        let absences: Vec<_> = known.into_iter().map(Source::absence).collect();
        section.absent.push(format!("{quantity}: {} (see above).", absences.join(", ")));
    }
    for source in new {
        section.absent.push(format!("{quantity}: {}; {}.", source.absence(), source.remedy()));
        explained.push(source);
    }
    section
}

/// Only what is known, for families that not every run records: what is missing
/// there was not asked for, or cannot be.
fn known_section(group: Group, metrics: &Metrics) -> Option<Section> {
    let rows: Vec<Row> = CATALOG
        .iter()
        .filter(|metric| metric.group == group && layout::has_row(metric))
        .filter(|metric| !ledger_view::shows(metric.key, metrics))
        // Few runs have a checkpoint to take anything from.
        .filter(|metric| {
            metric.key != "num_replayed_chunks" || metrics.number(metric.key) != Some(0.0)
        })
        .filter_map(|metric| {
            let value = Some(layout::value(metric, metrics)?);
            let label = layout::label(metric).to_owned();
            Some(Row { label, value, note: layout::note(metric, metrics) })
        })
        .collect();
    let title = group.title().to_owned();
    (!rows.is_empty()).then_some(Section { title, rows, absent: Vec::new() })
}

/// The user's own metrics; nothing if there are none.
fn user_section(stored: &Value) -> Option<Section> {
    let mut seen = BTreeSet::new();
    let rows: Vec<Row> = stored
        .pairs()
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
        .filter(|(key, _)| canonical_key(key).is_none() && seen.insert(*key))
        .map(|(key, value)| {
            let shown = user_value(value);
            let note = if shown.is_none() { "missing".to_owned() } else { String::new() };
            Row { label: key.to_owned(), value: shown, note }
        })
        .collect();
    (!rows.is_empty()).then(|| Section {
        title: "Other metrics".to_owned(),
        rows,
        absent: Vec::new(),
    })
}

fn user_value(value: &Value) -> Option<String> {
    let entries = |count: usize| {
        format!("{} {}", units::count(count as f64), if count == 1 { "entry" } else { "entries" })
    };
    Some(match value {
        Value::None => return None,
        Value::Bool(truth) => if *truth { "yes" } else { "no" }.to_owned(),
        Value::Int(number) => units::grouped(&number.to_string()),
        Value::BigInt(digits) => units::grouped(digits),
        Value::Float(number) if number.is_finite() => units::count(*number),
        Value::Float(number) => number.to_string(),
        Value::Str(text) => text.clone(),
        Value::Time(moment) => moment.to_string(),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) => entries(items.len()),
        Value::Map(pairs) => entries(pairs.len()),
    })
}
