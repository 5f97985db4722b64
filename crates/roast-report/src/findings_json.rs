//! Comparisons and scaling as strict JSON for other programs: every row, whatever
//! people are shown of it.

use roast_analyze::{ComparedRow, Comparison, Difference, RunFacts, Scaling, Told};
use roast_model::Better;
use serde_json::{Value as Json, json};

use crate::comparison_view::comparison_verdict;
use crate::plain_json::float;
use crate::scaling_view::{no_fit, scaling_verdict};

/// Comparisons with the same base.
pub fn comparisons_json(comparisons: &[Comparison]) -> Json {
    json!({
        "base": comparisons.first().map(|comparison| run(&comparison.base)),
        "comparisons": comparisons.iter().map(comparison_json).collect::<Vec<_>>(),
    })
}

fn comparison_json(comparison: &Comparison) -> Json {
    let names = |rows: &[usize]| -> Vec<Json> {
        let rows = rows.iter().filter_map(|index| comparison.rows.get(*index));
        rows.map(|row| json!({"part": row.part.name(), "name": row.name})).collect()
    };
    json!({
        "new": run(&comparison.new),
        "verdict": comparison_verdict(comparison),
        "culprits": names(&comparison.headline.culprits),
        "gains": names(&comparison.headline.gains),
        "differences": comparison.differences.iter().map(difference).collect::<Vec<_>>(),
        "rows": comparison.rows.iter().map(row).collect::<Vec<_>>(),
        "paired_chunks": comparison.paired_chunks,
        "seed": comparison.seed,
        "notes": comparison.notes,
    })
}

fn run(run: &RunFacts) -> Json {
    json!({"id": run.id, "name": run.name, "events": number(run.events)})
}

fn difference(difference: &Difference) -> Json {
    let told = |told: &Told| match told {
        Told::Number(number, _) => float(*number),
        Told::Words(words) => Json::from(words.as_str()),
        Told::Nothing => Json::Null,
    };
    let unit = [&difference.base, &difference.new].into_iter().find_map(|told| match told {
        Told::Number(_, unit) => Some(unit.name()),
        _ => None,
    });
    json!({
        "what": difference.what,
        "base": told(&difference.base),
        "new": told(&difference.new),
        "unit": unit,
    })
}

/// One row of a comparison.
fn row(row: &ComparedRow) -> Json {
    json!({
        "part": row.part.name(),
        "name": row.name,
        "label": row.label,
        "unit": row.unit.name(),
        "better": match row.better {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        },
        "base": number(row.base),
        "new": number(row.new),
        "change": number(row.change),
        "noise_low": number(row.noise.map(|noise| noise.0)),
        "noise_high": number(row.noise.map(|noise| noise.1)),
        "noise_from": row.basis.name(),
        "verdict": row.verdict.name(),
        "note": (!row.note.is_empty()).then_some(row.note.as_str()),
    })
}

/// Scaling over several runs.
pub fn scaling_json(scaling: &Scaling) -> Json {
    json!({
        "verdict": scaling_verdict(scaling),
        "points": scaling.points.iter().map(|point| json!({
            "name": point.name,
            "workers": number(point.workers),
            "cores": float(point.cores),
            "events": float(point.events),
            "wall_seconds": float(point.wall_secs),
            "events_per_second": float(point.events_per_sec),
            "speedup": float(point.speedup),
            "efficiency": float(point.efficiency),
            "fitted_events_per_second": number(point.fitted_events_per_sec),
        })).collect::<Vec<_>>(),
        "serial_fraction": scaling.fit.as_ref().ok().map(|fit| float(fit.serial_fraction)),
        "serial_fraction_error": scaling.fit.as_ref().ok().map(|fit| float(fit.error)),
        "no_fit": scaling.fit.as_ref().err().map(|reason| no_fit(*reason)),
        "stoppers": scaling.stoppers.as_ref().map(|rows| rows.iter().map(|row| json!({
            "key": row.key,
            "label": row.label,
            "share_smallest": float(row.share_smallest),
            "share_largest": float(row.share_largest),
            "added_core_seconds_per_event": float(row.added_core_secs_per_event),
            "share_of_added": number(row.share_of_added),
        })).collect::<Vec<_>>()),
        "notes": scaling.notes,
    })
}

fn number(number: Option<f64>) -> Json {
    number.map_or(Json::Null, float)
}
