//! Rows on what chunks do: phases, datasets, sections and branches, each per event.

use std::collections::{BTreeMap, BTreeSet};

use roast_model::{Better, Unit, Value};

use super::bootstrap::{Amounts, Estimate};
use super::evidence::{BYTES, Evidence, READ, SMALL_SHARE, Series, WHOLE_CHUNK, pick};
use super::judge::{Draft, Noise};
use super::{Basis, Material, Part};

const MICROSECONDS: f64 = 1e6;
/// Branch costs cover whole runs; they say nothing about fewer chunks than this.
const WHOLE_RUN: f64 = 0.95;

/// Phases by key, for people.
const PHASES: [(&str, &str); 11] = [
    (WHOLE_CHUNK, "chunk, from start to end"),
    ("unpack", "unpacking the processor"),
    ("open", "opening files"),
    ("tree", "reading tree metadata"),
    ("events", "building events"),
    ("process", "process()"),
    (READ, "reading columns"),
    ("decompress", "decompressing"),
    ("interpret", "interpreting"),
    ("serialize", "packing output"),
    (BYTES, "bytes asked for"),
];

pub(crate) fn drafts(material: &Material<'_>) -> Vec<Draft> {
    let mut drafts = phases(material);
    drafts.extend(datasets(material));
    drafts.extend(sections(material));
    drafts.extend(branches(material));
    drafts
}

/// Time per event of a part over the chunks that are compared.
pub(crate) fn estimate(material: &Material<'_>, part: Part, name: &str) -> Option<Estimate> {
    let [base, new] = material.evidence;
    of_series(material, [base.series(part, name)?, new.series(part, name)?], |_, _| true)
}

fn of_series(
    material: &Material<'_>,
    series: [&Series; 2],
    keep: impl Fn(&Evidence<'_>, usize) -> bool,
) -> Option<Estimate> {
    let mut both = Vec::new();
    for ((series, side), run) in
        series.into_iter().zip(material.sample.sides()).zip(material.evidence)
    {
        let masked = |numbers: &[f64]| -> Vec<f64> {
            pick(numbers, &side.chunks)
                .into_iter()
                .zip(&side.chunks)
                .map(|(number, chunk)| if keep(run, *chunk) { number } else { f64::NAN })
                .collect()
        };
        both.push(Amounts {
            raw: masked(&series.wall),
            net: masked(&series.net),
            cpu: masked(&series.cpu),
            per: side.events.clone(),
        });
    }
    material.ratio(&both.try_into().ok()?)
}

/// The noise of an estimate, with what the machine did to it.
pub(crate) fn noise_of(material: &Material<'_>, estimate: &Estimate) -> Noise {
    let slowdown = material.machine.slowdown.unwrap_or(0.0) * estimate.cpu_share;
    let machine = (
        estimate.waiting.min(0.0) + slowdown.min(0.0),
        estimate.waiting.max(0.0) + slowdown.max(0.0),
    );
    let basis = if material.sample.paired { Basis::PairedChunks } else { Basis::Chunks };
    let (error, freedom) = (estimate.error, estimate.freedom);
    Noise::Known { basis, error, freedom, machine, allowance: 0.0 }
}

fn phases(material: &Material<'_>) -> Vec<Draft> {
    PHASES
        .into_iter()
        .filter_map(|(key, label)| {
            if key == BYTES {
                return Some(bytes(material, label)?);
            }
            row_of(material, Part::Phase, key, label)
        })
        .collect()
}

fn bytes(material: &Material<'_>, label: &str) -> Option<Draft> {
    let [base, new] = material
        .evidence
        .map(|run| run.series(Part::Phase, BYTES).and_then(|series| mean(run, series)));
    (base.is_some() || new.is_some()).then(|| {
        let estimate = estimate(material, Part::Phase, BYTES);
        let noise = match &estimate {
            Some(estimate) if material.sample.paired && estimate.error == 0.0 => Noise::Exact,
            Some(estimate) => noise_of(material, estimate),
            None => Noise::Unknown,
        };
        Draft {
            part: Part::Phase,
            name: BYTES.to_owned(),
            label: label.to_owned(),
            unit: Unit::Bytes,
            better: Better::Lower,
            base: estimate.map_or(base, |estimate| Some(estimate.base)),
            new: estimate.map_or(new, |estimate| Some(estimate.new)),
            noise,
            incomparable: None,
        }
    })
}

/// A row of time per event; nothing where neither run has it, or where it is too
/// short in both to matter.
fn row_of(material: &Material<'_>, part: Part, name: &str, label: &str) -> Option<Draft> {
    let shares = material.evidence.map(|run| {
        let whole = run.series(Part::Phase, WHOLE_CHUNK).and_then(|whole| mean(run, whole))?;
        Some(run.series(part, name).and_then(|series| mean(run, series))? / whole)
    });
    if !shares.iter().flatten().any(|share| *share >= SMALL_SHARE) {
        return None;
    }
    let [base, new] = material.evidence;
    let series = [base.series(part, name), new.series(part, name)];
    Some(draft(material, (part, name, label), series, |_, _| true))
}

fn draft(
    material: &Material<'_>,
    (part, name, label): (Part, &str, &str),
    series: [Option<&Series>; 2],
    keep: impl Fn(&Evidence<'_>, usize) -> bool + Copy,
) -> Draft {
    let found = match series {
        [Some(base), Some(new)] => of_series(material, [base, new], keep),
        _ => None,
    };
    let [base, new] = match found {
        Some(estimate) => [Some(estimate.base), Some(estimate.new)],
        None => {
            let [base, new] = material.evidence;
            [(base, series[0]), (new, series[1])].map(|(run, series)| mean_of(run, series?, keep))
        }
    };
    Draft {
        part,
        name: name.to_owned(),
        label: label.to_owned(),
        unit: Unit::Microseconds,
        better: Better::Lower,
        base: base.map(|secs| secs * MICROSECONDS),
        new: new.map(|secs| secs * MICROSECONDS),
        noise: found.map_or(Noise::Unknown, |estimate| noise_of(material, &estimate)),
        incomparable: None,
    }
}

fn datasets(material: &Material<'_>) -> Vec<Draft> {
    let [base, new] = material.evidence;
    let series = [base, new].map(|run| run.series(Part::Phase, WHOLE_CHUNK));
    let mut seconds: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    let mut totals = [0.0; 2];
    for (index, (run, series)) in [base, new].into_iter().zip(series).enumerate() {
        let Some(series) = series else { continue };
        for (name, secs) in run.datasets.iter().zip(&series.wall).filter(|(_, secs)| !secs.is_nan())
        {
            if let Some(sum) = seconds.entry(name).or_default().get_mut(index) {
                *sum += secs;
            }
            if let Some(total) = totals.get_mut(index) {
                *total += secs;
            }
        }
    }
    seconds
        .into_iter()
        .filter(|(_, sums)| {
            sums.iter()
                .zip(&totals)
                .any(|(secs, total)| *secs > 0.0 && *secs >= SMALL_SHARE * total)
        })
        .map(|(name, _)| {
            draft(material, (Part::Dataset, name, name), series, |run, chunk| {
                run.datasets.get(chunk).copied() == Some(name)
            })
        })
        .collect()
}

fn sections(material: &Material<'_>) -> Vec<Draft> {
    let names: BTreeSet<&str> = material
        .evidence
        .iter()
        .flat_map(|run| &run.parts)
        .filter(|(part, _, _)| *part == Part::Section)
        .map(|(_, name, _)| name.as_str())
        .collect();
    names.into_iter().filter_map(|name| row_of(material, Part::Section, name, name)).collect()
}

/// What branches took, per event of the whole run. No chunk knows its branches one
/// by one, so their noise is that of reading as a whole, larger for a branch that
/// is a smaller part of it.
fn branches(material: &Material<'_>) -> Vec<Draft> {
    let [base, new] = material.runs.map(|run| run.metrics.get("branches").unwrap_or(&Value::None));
    let events = material.runs.map(|run| {
        let known = |key| run.metrics.number(key).filter(|events| *events > 0.0);
        known("total_events_from_chunks").or_else(|| known("total_events"))
    });
    let names: BTreeSet<&str> = [base, new]
        .into_iter()
        .flat_map(Value::pairs)
        .filter_map(|(name, _)| name.as_str())
        .collect();
    let cost = |run: &Value, name: &str, key: &str| {
        run.get(name).and_then(|costs| costs.get(key)).and_then(Value::as_f64)
    };
    let total = |run: &Value, key: &str| -> f64 {
        run.pairs().iter().filter_map(|(_, costs)| costs.get(key)?.as_f64()).sum()
    };
    let whole = material.evidence.map(|run| run.attempts_secs);
    let bytes = [base, new].map(|run| total(run, "bytes"));
    let reading = [base, new].map(|run| total(run, "seconds"));
    let read = estimate(material, Part::Phase, READ)
        .filter(|_| material.sample.covered >= WHOLE_RUN)
        .map(|estimate| noise_of(material, &estimate));
    let mut drafts = Vec::new();
    for name in names {
        for (key, unit, label, of) in
            [("seconds", Unit::Microseconds, "time", whole), ("bytes", Unit::Bytes, "bytes", bytes)]
        {
            let costs = [cost(base, name, key), cost(new, name, key)];
            let matters = costs
                .iter()
                .zip(&of)
                .any(|(cost, of)| cost.is_some_and(|cost| cost > 0.0 && cost >= SMALL_SHARE * of));
            if !matters {
                continue;
            }
            let scale = if key == "seconds" { MICROSECONDS } else { 1.0 };
            let per_event = |index: usize| -> Option<f64> {
                Some(costs.get(index).copied()?? / events.get(index).copied()?? * scale)
            };
            let noise = match (key, read) {
                ("bytes", Some(_)) => Noise::Exact,
                ("seconds", Some(noise)) => {
                    let share =
                        costs.iter().zip(&reading).filter_map(|(cost, all)| Some((*cost)? / all));
                    of_smaller_part(noise, share.fold(1.0, f64::min))
                }
                _ => Noise::Unknown,
            };
            drafts.push(Draft {
                part: Part::Branch,
                name: name.to_owned(),
                label: format!("{name} ({label})"),
                unit,
                better: Better::Lower,
                base: per_event(0),
                new: per_event(1),
                noise,
                incomparable: None,
            });
        }
    }
    drafts
}

fn of_smaller_part(noise: Noise, share: f64) -> Noise {
    match noise {
        Noise::Known { error, freedom, machine, allowance, .. } => Noise::Known {
            basis: Basis::ChunkSpread,
            error: error / share.max(1e-6).sqrt(),
            freedom,
            machine,
            allowance,
        },
        other => other,
    }
}

fn mean(run: &Evidence<'_>, series: &Series) -> Option<f64> {
    mean_of(run, series, |_, _| true)
}

/// The amount per event over all chunks of a run in which it is known.
fn mean_of(
    run: &Evidence<'_>,
    series: &Series,
    keep: impl Fn(&Evidence<'_>, usize) -> bool,
) -> Option<f64> {
    let (mut amount, mut events) = (0.0, 0.0);
    for (chunk, (wall, count)) in series.wall.iter().zip(&run.events).enumerate() {
        if !wall.is_nan() && keep(run, chunk) {
            amount += wall;
            events += count;
        }
    }
    (events > 0.0).then(|| amount / events)
}
