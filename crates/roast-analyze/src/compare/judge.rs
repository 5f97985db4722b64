//! From numbers and their noise to verdicts, and to what is said first.

use roast_model::{Better, Unit};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::evidence::WHOLE_CHUNK;
use super::{Basis, ComparedRow, Part, Verdict};

/// Comparisons of the same thing in which some row may raise a false alarm.
const FALSE_ALARMS: f64 = 0.05;
/// Smaller changes are of no interest, however certain.
const SMALLEST_CHANGE: f64 = 0.01;
/// Culprits add at least this share of what the largest one adds.
const CULPRIT_SHARE: f64 = 0.5;

/// How far a number may move by itself. All are logarithms of new / base.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// As found from chunks.
    Known {
        basis: Basis,
        /// Standard error by chance.
        error: f64,
        /// Degrees of freedom behind it.
        freedom: f64,
        /// What the machine took away and added, the former not above 0.
        machine: (f64, f64),
        /// Both ways, on top of the floor.
        allowance: f64,
    },
    /// A count that is the same in every run of the same thing.
    Exact,
    /// Nothing is known.
    Unknown,
}

/// A row before its verdict.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) part: Part,
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) unit: Unit,
    pub(crate) better: Better,
    pub(crate) base: Option<f64>,
    pub(crate) new: Option<f64>,
    pub(crate) noise: Noise,
    /// Why the runs cannot be compared in this, if they cannot.
    pub(crate) incomparable: Option<String>,
}

/// What to say first.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The row of the time per event over whole chunks; missing without chunks.
    pub overall: Option<usize>,
    /// Rows that account for most of what got worse, the largest first.
    pub culprits: Vec<usize>,
    /// Rows that account for most of what got better, the largest first.
    pub gains: Vec<usize>,
}

/// Gives each row its verdict. All rows with known noise share the false alarms.
pub(crate) fn rows(drafts: Vec<Draft>, floor: f64) -> Vec<ComparedRow> {
    let judged =
        drafts.iter().filter(|draft| matches!(draft.noise, Noise::Known { .. })).count().max(1);
    drafts.into_iter().map(|draft| row(draft, floor, judged)).collect()
}

fn row(draft: Draft, floor: f64, judged: usize) -> ComparedRow {
    let change = draft
        .base
        .zip(draft.new)
        .filter(|(base, _)| *base != 0.0)
        .map(|(base, new)| (new - base) / base.abs());
    let (noise, basis) = match draft.noise {
        Noise::Known { basis, error, freedom, machine, allowance } => {
            let bound = quantile(freedom, judged) * error + floor + allowance;
            let band =
                ((machine.0.min(0.0) - bound).exp_m1(), (machine.1.max(0.0) + bound).exp_m1());
            (Some(band), basis)
        }
        Noise::Exact => (Some((0.0, 0.0)), Basis::Exact),
        Noise::Unknown => (None, Basis::Unknown),
    };
    let verdict = match (draft.base, draft.new, draft.better) {
        (None, None, _) | (None, _, _) | (_, None, _) => Verdict::Missing,
        _ if draft.incomparable.is_some() => Verdict::NotComparable,
        (_, _, Better::Neither) => Verdict::Informational,
        (Some(base), Some(new), _) if base == new => Verdict::Same,
        (_, _, better) => judged_change(change, noise, better),
    };
    ComparedRow {
        part: draft.part,
        name: draft.name,
        label: draft.label,
        unit: draft.unit,
        better: draft.better,
        base: draft.base,
        new: draft.new,
        change,
        noise,
        basis,
        verdict,
        note: draft.incomparable.unwrap_or_default(),
    }
}

fn judged_change(change: Option<f64>, noise: Option<(f64, f64)>, better: Better) -> Verdict {
    let Some(change) = change else { return Verdict::Changed };
    if change.abs() < SMALLEST_CHANGE {
        return Verdict::Same;
    }
    match noise {
        None => Verdict::Changed,
        Some((low, high)) if (low..=high).contains(&change) => Verdict::Same,
        Some(_) if (change > 0.0) == (better == Better::Higher) => Verdict::Better,
        Some(_) => Verdict::Worse,
    }
}

/// Errors that a row may be off by chance before it counts.
fn quantile(freedom: f64, judged: usize) -> f64 {
    let tail = FALSE_ALARMS / 2.0 / judged as f64;
    StudentsT::new(0.0, 1.0, freedom.max(1.0))
        .map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(1.0 - tail))
}

/// Finds what to say first.
pub(crate) fn headline(rows: &[ComparedRow]) -> Headline {
    let overall = rows.iter().position(|row| row.part == Part::Phase && row.name == WHOLE_CHUNK);
    Headline {
        overall,
        culprits: movers(rows, Verdict::Worse),
        gains: movers(rows, Verdict::Better),
    }
}

/// Rows of that verdict that tell the most: the user's own sections before phases,
/// branches, datasets and the run as a whole, and of these the largest. What holds
/// a smaller part that moved as much is left to that part.
fn movers(rows: &[ComparedRow], verdict: Verdict) -> Vec<usize> {
    const ORDER: [Part; 5] =
        [Part::Section, Part::Phase, Part::Branch, Part::Dataset, Part::Metric];
    let added =
        |row: &ComparedRow| row.base.zip(row.new).map_or(0.0, |(base, new)| (new - base).abs());
    for part in ORDER {
        let mut found: Vec<(usize, &ComparedRow)> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.part == part && row.verdict == verdict)
            .filter(|(_, row)| row.part == Part::Metric || row.unit == Unit::Microseconds)
            .filter(|(_, row)| row.name != WHOLE_CHUNK)
            .collect();
        if found.is_empty() {
            continue;
        }
        if part == Part::Metric {
            // Metrics have no common unit: the order of the catalog decides.
            return found.into_iter().map(|(index, _)| index).take(1).collect();
        }
        let most = found.iter().map(|(_, row)| added(row)).fold(0.0, f64::max);
        found.retain(|(_, row)| added(row) >= CULPRIT_SHARE * most);
        let relative = |row: &ComparedRow| row.change.unwrap_or(0.0).abs();
        found.sort_by(|a, b| relative(b.1).total_cmp(&relative(a.1)).then(a.0.cmp(&b.0)));
        return found.into_iter().map(|(index, _)| index).take(3).collect();
    }
    Vec::new()
}
