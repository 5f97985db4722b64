//! Two runs side by side: what changed, and whether chance or the machine could
//! have done it.
//!
//! ```text
//! evidence    chunk rows of a run, part by part
//! sample      the chunks that are compared: pair by pair where both runs have them
//! bootstrap   how far chance carries two numbers apart
//! machine     how far the machine does
//! part_rows   phases, datasets, sections and branches  ┐
//! metric_rows the metrics of the catalog               ├─► drafts ─► judge ─► rows
//! differences what else is not the same in the two runs┘
//! ```
//!
//! A number is better or worse only if its change lies outside a band: the error
//! by chance, at a level at which all rows of a comparison together raise a false
//! alarm in one of twenty comparisons, plus what the machine accounts for, plus a
//! floor of 2 % between runs (5 % where nothing tells how fast the machine was).

mod bootstrap;
mod differences;
mod evidence;
mod judge;
mod machine;
mod metric_rows;
mod part_rows;
mod sample;

use roast_model::{Better, Measurement, Unit};

use crate::metrics::Metrics;
use bootstrap::{Amounts, Draws, Estimate};
pub use differences::{Difference, Told};
use evidence::Evidence;
pub use judge::Headline;
use machine::Machine;
use sample::Sample;

/// A measurement and its metrics.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// What was measured.
    pub measurement: &'a Measurement,
    /// What follows from it.
    pub metrics: &'a Metrics,
}

/// What a row of a comparison is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A metric of the catalog.
    Metric,
    /// A phase that every chunk goes through, per event.
    Phase,
    /// The chunks of one dataset, per event.
    Dataset,
    /// A section of the user's code, per event.
    Section,
    /// Reading one branch, per event.
    Branch,
}

impl Part {
    /// The word for it in tables of other programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metric => "metric",
            Self::Phase => "phase",
            Self::Dataset => "dataset",
            Self::Section => "section",
            Self::Branch => "branch",
        }
    }
}

/// What became of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Worse, beyond what chance and the machine account for.
    Worse,
    /// Better, beyond what chance and the machine account for.
    Better,
    /// The same within noise.
    Same,
    /// It changed, and how much of that is noise is not known.
    Changed,
    /// Neither way is better.
    Informational,
    /// The runs differ in a way in which the number cannot be compared.
    NotComparable,
    /// Only one of the runs has it.
    Missing,
}

impl Verdict {
    /// The word for it in tables of other programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Informational => "informational",
            Self::NotComparable => "not_comparable",
            Self::Missing => "missing",
        }
    }
}

/// What the noise of a row is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The same chunks in both runs, pair by pair.
    PairedChunks,
    /// All chunks of both runs, dataset by dataset.
    Chunks,
    /// The spread of the chunks, and allowances for what is outside of them.
    ChunkSpread,
    /// It is counted and has no noise.
    Exact,
    /// Nothing.
    Unknown,
}

impl Basis {
    /// The word for it in tables of other programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::PairedChunks => "paired_chunks",
            Self::Chunks => "chunks",
            Self::ChunkSpread => "chunk_spread",
            Self::Exact => "exact",
            Self::Unknown => "unknown",
        }
    }
}

/// One number in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRow {
    /// What it is about.
    pub part: Part,
    /// Key of the metric or phase, or name of the dataset, section or branch.
    pub name: String,
    /// What people read.
    pub label: String,
    /// The unit of both values.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// The value in the base run.
    pub base: Option<f64>,
    /// The value in the new run.
    pub new: Option<f64>,
    /// (new − base) / base; missing where there is nothing to divide by.
    pub change: Option<f64>,
    /// The changes that chance and the machine account for, from and to; missing
    /// where they are not known.
    pub noise: Option<(f64, f64)>,
    /// What the noise is known from.
    pub basis: Basis,
    /// What became of it.
    pub verdict: Verdict,
    /// Why it cannot be compared, or what to keep in mind.
    pub note: String,
}

/// What the reader needs to know of a run to tell it from the other.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFacts {
    /// Unique for every run.
    pub id: String,
    /// What the user calls it.
    pub name: String,
    /// Events, if they are known.
    pub events: Option<f64>,
}

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The run compared with.
    pub base: RunFacts,
    /// The run in question.
    pub new: RunFacts,
    /// What to say first.
    pub headline: Headline,
    /// What is not the same in the two runs, and may be behind any change.
    pub differences: Vec<Difference>,
    /// Every number, by part and in a fixed order.
    pub rows: Vec<ComparedRow>,
    /// Chunks that both runs have, if they were compared pair by pair.
    pub paired_chunks: Option<usize>,
    /// The seed of the draws.
    pub seed: u64,
    /// Sentences on how it was compared.
    pub notes: Vec<String>,
}

/// Everything that the rows are made from.
struct Material<'a> {
    runs: [Run<'a>; 2],
    evidence: [&'a Evidence<'a>; 2],
    sample: &'a Sample,
    draws: Option<&'a Draws<'a>>,
    machine: Machine,
}

impl Material<'_> {
    /// A sum over chunks divided by another, if there are chunks to know it from.
    fn ratio(&self, amounts: &[Amounts; 2]) -> Option<Estimate> {
        let found = self.draws?.ratio(amounts, self.machine.benchmark.as_ref());
        found.map(|(estimate, _)| estimate)
    }
}

/// Compares a run with a base. The seed makes the draws, and so the result,
/// repeatable.
pub fn compare(base: Run<'_>, new: Run<'_>, seed: u64) -> Comparison {
    let (mut wanted, small) = evidence::large_sections(base.measurement);
    let (more, more_small) = evidence::large_sections(new.measurement);
    wanted.extend(more);
    let of_base = Evidence::read(base.measurement, &wanted);
    let of_new = Evidence::read(new.measurement, &wanted);
    let sample = Sample::of(&of_base, &of_new);
    let draws = Draws::of(&sample, seed);
    let evidence = [&of_base, &of_new];
    let machine =
        Machine::between([base.measurement, new.measurement], evidence, &sample, draws.as_ref());
    let material =
        Material { runs: [base, new], evidence, sample: &sample, draws: draws.as_ref(), machine };
    let mut drafts = metric_rows::drafts(&material);
    drafts.extend(part_rows::drafts(&material));
    let rows = judge::rows(drafts, material.machine.floor());
    Comparison {
        base: facts(base),
        new: facts(new),
        headline: judge::headline(&rows),
        differences: differences::find(&material),
        rows,
        paired_chunks: (sample.paired && draws.is_some()).then_some(sample.base.len()),
        seed,
        notes: notes(&material, small.min(more_small)),
    }
}

fn facts(run: Run<'_>) -> RunFacts {
    let header = &run.measurement.header;
    let events = run
        .metrics
        .number("total_events")
        .or_else(|| run.metrics.number("total_events_from_chunks"));
    RunFacts { id: header.id.clone(), name: header.name.clone(), events }
}

fn notes(material: &Material<'_>, small_sections: usize) -> Vec<String> {
    let mut notes = Vec::new();
    let [base, new] = material.evidence.map(Evidence::len);
    if material.draws.is_none() {
        notes.push(if base == 0 || new == 0 {
            "Noise is not known: a run has no chunks that succeeded.".to_owned()
        } else if material.sample.base.len() == 0 {
            "Noise is not known: the runs have no dataset in common.".to_owned()
        } else {
            "Noise is not known: there are too few chunks to tell.".to_owned()
        });
        return notes;
    }
    let entered = material.sample.sides().map(sample::Side::len);
    notes.push(if material.sample.paired {
        format!("Chunks were compared pair by pair: {} that both runs have.", entered[0])
    } else {
        format!(
            "The runs do not have the same chunks: {} were compared with {}, dataset by dataset.",
            entered[0], entered[1]
        )
    });
    if material.sample.covered < 1.0 {
        notes.push(format!(
            "Phases, datasets and sections are about these chunks only: {} of {base} and {} of {new}.",
            entered[0], entered[1]
        ));
    }
    if small_sections > 0 {
        notes.push(format!("{small_sections} sections below 1 % of the chunk time are left out."));
    }
    notes
}
