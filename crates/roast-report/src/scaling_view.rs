//! Scaling over several runs for people.

use roast_analyze::{NoFit, Scaling, ScalingPoint, Stopper};
use roast_model::Unit;

use crate::data_table::{CellKind, DataColumn, DataTable};
use crate::findings::{Findings, Mood};
use crate::units::{self, share, show};

/// Less of what was added is not what stopped the scaling.
const STOPS: f64 = 0.1;

/// Puts several runs into words.
pub fn scaling_findings(scaling: &Scaling) -> Findings {
    let mut tables = vec![points(&scaling.points)];
    let mut notes = Vec::new();
    match &scaling.fit {
        Ok(fit) => {
            notes.push(format!(
                "The serial fraction is that of Amdahl's law, fitted to the time per event: \
                 {} ± {}.",
                share(fit.serial_fraction),
                share(fit.error)
            ));
            if fit.at_limit {
                notes.push(
                    "It lies at its limit: the runs scale better than the law allows.".into(),
                );
            }
        }
        Err(reason) => {
            notes.push(format!("The serial fraction cannot be fitted: {}.", no_fit(*reason)))
        }
    }
    match &scaling.stoppers {
        Some(rows) if rows.is_empty() => {
            notes.push("No row of the ledger grew from the smallest run to the largest.".into());
        }
        Some(rows) => tables.push(stoppers(rows)),
        None => notes.push(
            "What stopped the scaling is not known: the smallest or the largest run has no ledger \
             (it needs worker tracking and chunk rows)."
                .into(),
        ),
    }
    notes.extend(scaling.notes.iter().cloned());
    Findings {
        title: format!("Scaling over {} runs", scaling.points.len()),
        verdict: scaling_verdict(scaling),
        mood: Mood::Plain,
        tables,
        notes,
    }
}

/// The scaling in one sentence.
pub fn scaling_verdict(scaling: &Scaling) -> String {
    let (Some(first), Some(last)) = (scaling.points.first(), scaling.points.last()) else {
        return "there is no run".to_owned();
    };
    let mut sentence = format!(
        "{} cores give {} of the throughput of {}, an efficiency of {}",
        cores(last.cores),
        units::times(last.speedup),
        cores(first.cores),
        share(last.efficiency)
    );
    if let Ok(fit) = &scaling.fit {
        sentence.push_str(&format!("; serial fraction {}", share(fit.serial_fraction)));
    }
    let grown = scaling.stoppers.as_deref().unwrap_or_default();
    if let Some(top) = grown.first()
        && let Some(part) =
            top.share_of_added.filter(|part| *part >= STOPS && last.efficiency < 1.0)
    {
        let part = part.min(1.0);
        sentence.push_str(&format!("; {} of the core time added: {}", share(part), top.label));
    }
    sentence
}

/// Why there is no serial fraction, in words.
pub(crate) fn no_fit(reason: NoFit) -> &'static str {
    match reason {
        NoFit::TooFew => "it takes three runs or more",
        NoFit::SameSizes => "the runs have the same number of cores",
        NoFit::Slower => "the time per event does not fall with the number of cores",
    }
}

fn cores(number: f64) -> String {
    // Averages over a run are a little off a whole number.
    let whole = number.round();
    if whole > 0.0 && (number - whole).abs() < 0.05 * whole {
        units::count(whole)
    } else {
        units::count(number)
    }
}

fn points(points: &[ScalingPoint]) -> DataTable {
    let rate = |events_per_sec: f64| show(events_per_sec / 1000.0, Unit::Kilohertz);
    let rows: Vec<Vec<Option<String>>> = points
        .iter()
        .map(|point| {
            vec![
                Some(point.name.clone()),
                point.workers.map(|workers| show(workers, Unit::Count)),
                Some(show(point.cores, Unit::Count)),
                Some(rate(point.events_per_sec)),
                Some(units::times(point.speedup)),
                Some(share(point.efficiency)),
                Some(show(point.wall_secs, Unit::Seconds)),
                Some(show(point.events, Unit::Count)),
                point.fitted_events_per_sec.map(rate),
            ]
        })
        .collect();
    table(
        "Runs, by size",
        &[
            "run",
            "workers",
            "cores",
            "throughput",
            "speed-up",
            "efficiency",
            "wall",
            "events",
            "fitted",
        ],
        rows,
    )
}

fn stoppers(stoppers: &[Stopper]) -> DataTable {
    let rows = stoppers
        .iter()
        .map(|row| {
            vec![
                Some(row.label.to_owned()),
                Some(share(row.share_smallest)),
                Some(share(row.share_largest)),
                Some(show(row.added_core_secs_per_event, Unit::Seconds)),
                row.share_of_added.map(share),
            ]
        })
        .collect();
    table(
        "What grew from the smallest run to the largest",
        &["core time", "smallest", "largest", "added per event", "of all added"],
        rows,
    )
}

fn table(title: &str, titles: &[&'static str], rows: Vec<Vec<Option<String>>>) -> DataTable {
    let columns = titles
        .iter()
        .enumerate()
        .map(|(index, title)| DataColumn {
            title,
            kind: if index == 0 { CellKind::Name } else { CellKind::Number },
        })
        .collect();
    DataTable { title: title.to_owned(), columns, text_rows: rows.len(), rows, left_out: 0 }
}
