//! A comparison for people: the verdict in words, what differs, and the rows that
//! changed. What stayed the same is folded away unless asked for.

use roast_analyze::{ComparedRow, Comparison, Difference, Part, Told, Verdict};
use roast_model::{Better, Unit};

use crate::data_table::{CellKind, DataColumn, DataTable};
use crate::findings::{Findings, Mood};
use crate::units::{self, show};

/// Changes of unknown noise that are worth a line of their own.
const WORTH_A_LINE: f64 = 0.05;
/// Rows of a table before the rest is counted.
const MOST_ROWS: usize = 20;

/// Headings of the tables, in the order in which they are shown.
const TABLES: [(Part, &str); 5] = [
    (Part::Section, "Sections of process(), per event"),
    (Part::Phase, "Phases of a chunk, per event"),
    (Part::Dataset, "Datasets, chunk time per event"),
    (Part::Branch, "Branches, per event"),
    (Part::Metric, "Metrics"),
];

/// Puts a comparison into words; with `all`, rows that stayed the same too.
pub fn comparison_findings(comparison: &Comparison, all: bool) -> Findings {
    let mut tables = Vec::new();
    if !comparison.differences.is_empty() {
        tables.push(differences(&comparison.differences));
    }
    let mut folded = 0;
    for (part, title) in TABLES {
        let of_part: Vec<&ComparedRow> =
            comparison.rows.iter().filter(|row| row.part == part).collect();
        let mut rows: Vec<&ComparedRow> =
            of_part.iter().copied().filter(|row| all || is_shown(row)).collect();
        folded += of_part.len() - rows.len();
        if rows.is_empty() {
            continue;
        }
        if !all {
            let size = |row: &ComparedRow| row.change.unwrap_or(0.0).abs();
            rows.sort_by(|a, b| {
                rank(a.verdict).cmp(&rank(b.verdict)).then(size(b).total_cmp(&size(a)))
            });
        }
        tables.push(table(title, &rows, all));
    }
    let mut notes = Vec::new();
    if folded > 0 {
        notes.push(format!("{folded} rows without a change worth telling are left out."));
    }
    if !comparison.differences.is_empty() {
        notes.push("The runs are not alike: what differs may be behind any change.".to_owned());
    }
    notes.extend(comparison.notes.iter().cloned());
    let has = |verdict| comparison.rows.iter().any(|row| row.verdict == verdict);
    let mood = match (has(Verdict::Worse), has(Verdict::Better)) {
        (true, _) => Mood::Bad,
        (false, true) => Mood::Good,
        (false, false) => Mood::Plain,
    };
    Findings {
        title: format!("{} compared with {}", comparison.new.name, comparison.base.name),
        verdict: comparison_verdict(comparison),
        mood,
        tables,
        notes,
    }
}

/// The comparison in one sentence.
pub fn comparison_verdict(comparison: &Comparison) -> String {
    let row = |index: &usize| comparison.rows.get(*index);
    let headline = &comparison.headline;
    let overall = headline.overall.as_ref().and_then(row);
    let culprits: Vec<&ComparedRow> = headline.culprits.iter().filter_map(row).collect();
    let gains: Vec<&ComparedRow> = headline.gains.iter().filter_map(row).collect();
    let new = &comparison.new.name;
    let verdict = overall.map_or(Verdict::Missing, |row| row.verdict);
    let percent = overall.and_then(|row| row.change).map_or(String::new(), percent);
    let named = |rows: &[&ComparedRow]| {
        rows.iter().map(|row| mover(row, comparison.new.events)).collect::<Vec<_>>().join(", ")
    };
    match (verdict, culprits.is_empty(), gains.is_empty()) {
        (Verdict::Worse, false, _) => {
            format!("{new} is {percent} slower per event: {}", named(&culprits))
        }
        (Verdict::Worse, true, _) => {
            format!("{new} is {percent} slower per event, and no single part stands out")
        }
        (Verdict::Better, false, _) => {
            format!("{new} is {percent} faster per event, but worse in {}", named(&culprits))
        }
        (Verdict::Better, true, false) => {
            format!("{new} is {percent} faster per event: {}", named(&gains))
        }
        (Verdict::Better, true, true) => {
            format!("{new} is {percent} faster per event, and no single part stands out")
        }
        (Verdict::Same, false, _) => {
            format!("{new} is as fast overall within noise, but worse in {}", named(&culprits))
        }
        (Verdict::Same, true, false) => {
            format!("{new} is as fast overall within noise, and better in {}", named(&gains))
        }
        (_, false, _) => format!("{new} is worse in {}", named(&culprits)),
        (_, true, false) => format!("{new} is better in {}", named(&gains)),
        (Verdict::Same, true, true) => {
            let limit = overall.and_then(|row| row.noise).map_or(String::new(), |(_, high)| {
                format!("; more than {} slower per event would have shown", self::percent(high))
            });
            format!("{new} is the same within noise{limit}")
        }
        _ => unknown(comparison),
    }
}

/// Without noise there is only what the clock says.
fn unknown(comparison: &Comparison) -> String {
    let new = &comparison.new.name;
    let wall = comparison.rows.iter().find(|row| row.name == "wall_time" && row.change.is_some());
    match wall.and_then(|row| row.change) {
        Some(change) if wall.is_some_and(|row| row.verdict == Verdict::NotComparable) => format!(
            "{new} cannot be judged: its noise is not known, and the runs differ in their events \
             (wall time {})",
            signed(change)
        ),
        Some(change) => {
            format!("{new} cannot be judged: its noise is not known (wall time {})", signed(change))
        }
        None => format!("{new} cannot be judged: its noise is not known"),
    }
}

/// `section jets +0.8 s per 100,000 events (+10 %)`.
fn mover(row: &ComparedRow, events: Option<f64>) -> String {
    let change = row.change.map_or(String::new(), signed);
    let what = match row.part {
        Part::Metric => return format!("{} ({change})", row.label),
        Part::Phase => row.label.clone(),
        part => format!("{} {}", part.name(), row.name),
    };
    let scale = 10_f64.powf(events.unwrap_or(1e5).log10().floor().clamp(3.0, 9.0));
    let added = row.base.zip(row.new).map(|(base, new)| (new - base) * 1e-6 * scale);
    match added {
        Some(secs) => {
            let sign = if secs >= 0.0 { "+" } else { "−" };
            let secs = show(secs.abs(), Unit::Seconds);
            format!("{what} {sign}{secs} per {} events ({change})", units::count(scale))
        }
        None => format!("{what} ({change})"),
    }
}

fn is_shown(row: &ComparedRow) -> bool {
    match row.verdict {
        Verdict::Worse | Verdict::Better => true,
        Verdict::Changed => row.change.is_none_or(|change| change.abs() >= WORTH_A_LINE),
        Verdict::Missing => row.part != Part::Metric || row.better != Better::Neither,
        Verdict::NotComparable | Verdict::Same | Verdict::Informational => false,
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Worse => 0,
        Verdict::Better => 1,
        Verdict::Missing => 2,
        Verdict::Changed => 3,
        Verdict::Same => 4,
        Verdict::NotComparable => 5,
        Verdict::Informational => 6,
    }
}

fn table(title: &str, rows: &[&ComparedRow], all: bool) -> DataTable {
    let column = |title, kind| DataColumn { title, kind };
    let shown = if all { rows.len() } else { rows.len().min(MOST_ROWS) };
    DataTable {
        title: title.to_owned(),
        columns: vec![
            column("", CellKind::Name),
            column("base", CellKind::Number),
            column("new", CellKind::Number),
            column("change", CellKind::Number),
            column("verdict", CellKind::Words),
            column("noise", CellKind::Number),
        ],
        rows: rows.iter().take(shown).map(|row| cells(row)).collect(),
        text_rows: shown,
        left_out: rows.len() - shown,
    }
}

fn cells(row: &ComparedRow) -> Vec<Option<String>> {
    let value = |number: Option<f64>| number.map(|number| show(number, row.unit));
    vec![
        Some(row.label.clone()),
        value(row.base),
        value(row.new),
        row.change.map(signed),
        Some(word(row)),
        row.noise.map(|(low, high)| match row.basis {
            roast_analyze::Basis::Exact => "none".to_owned(),
            _ => format!("{} to {}", signed(low), signed(high)),
        }),
    ]
}

fn word(row: &ComparedRow) -> String {
    match row.verdict {
        Verdict::Worse => "worse".to_owned(),
        Verdict::Better => "better".to_owned(),
        Verdict::Same => "same".to_owned(),
        Verdict::Changed => "changed, noise not known".to_owned(),
        Verdict::Informational => String::new(),
        Verdict::NotComparable => format!("not comparable: {}", row.note),
        Verdict::Missing if row.base.is_some() => "only in base".to_owned(),
        Verdict::Missing => "only in new".to_owned(),
    }
}

fn differences(differences: &[Difference]) -> DataTable {
    let column = |title, kind| DataColumn { title, kind };
    let told = |told: &Told| match told {
        Told::Number(number, unit) => Some(show(*number, *unit)),
        Told::Words(words) => Some(words.clone()),
        Told::Nothing => None,
    };
    DataTable {
        title: "What is not the same in the two runs".to_owned(),
        columns: vec![
            column("", CellKind::Words),
            column("base", CellKind::Name),
            column("new", CellKind::Name),
        ],
        rows: differences
            .iter()
            .map(|entry| vec![Some(entry.what.clone()), told(&entry.base), told(&entry.new)])
            .collect(),
        text_rows: differences.len(),
        left_out: 0,
    }
}

/// A change with its sign: `+12.3 %`; multiples beyond ten times.
fn signed(change: f64) -> String {
    if change >= 9.0 {
        return units::times(change + 1.0);
    }
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(change))
}

fn percent(change: f64) -> String {
    let size = change.abs() * 100.0;
    if size >= 1000.0 {
        return units::show(size, Unit::Percent);
    }
    if size >= 10.0 { format!("{size:.0} %") } else { format!("{size:.1} %") }
}
