//! What the machine did differently in two runs, so that it is not put down to the
//! analysis: how long threads waited for a core, and how fast the cores were. For
//! the latter, parsing the same trees with the same libraries is a benchmark that
//! every run carries with it.

use roast_model::{Measurement, Value};

use super::Part;
use super::bootstrap::{Amounts, Draws, Movement};
use super::evidence::{Evidence, PROCESS, TREE, WHOLE_CHUNK, pick};
use super::sample::Sample;

/// Two runs of the same thing on a quiet machine differ by about this much.
const FLOOR: f64 = 0.02;
/// The same where nothing tells how fast the cores were.
const FLOOR_UNCHECKED: f64 = 0.05;
/// Packages that have a say in how long a tree takes.
const LIBRARIES: [&str; 4] = ["python", "uproot", "coffea", "numpy"];
/// A benchmark shorter than this share of a chunk says nothing about the rest.
const SMALLEST_BENCHMARK: f64 = 0.005;

/// What the machine did differently.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// ln of how much longer the same trees took to parse, if that is known.
    pub(crate) slowdown: Option<f64>,
    /// How that came about.
    pub(crate) benchmark: Option<Movement>,
    /// Share of the time in `process()` that threads waited for a core.
    pub(crate) waiting: [Option<f64>; 2],
}

impl Machine {
    pub(crate) fn between(
        runs: [&Measurement; 2],
        evidence: [&Evidence<'_>; 2],
        sample: &Sample,
        draws: Option<&Draws<'_>>,
    ) -> Self {
        let comparable = sample.paired && same_libraries(runs);
        let found =
            draws.filter(|_| comparable).and_then(|draws| benchmark(evidence, sample, draws));
        let (slowdown, benchmark) = found.unzip();
        Self { slowdown, benchmark, waiting: evidence.map(waiting) }
    }

    /// The difference, as a logarithm, that is never put down to the analysis.
    pub(crate) fn floor(&self) -> f64 {
        if self.slowdown.is_some() { FLOOR } else { FLOOR_UNCHECKED }
    }
}

fn benchmark(
    evidence: [&Evidence<'_>; 2],
    sample: &Sample,
    draws: &Draws<'_>,
) -> Option<(f64, Movement)> {
    let mut amounts = Vec::new();
    for (run, side) in evidence.into_iter().zip(sample.sides()) {
        let cpu = pick(&run.series(Part::Phase, TREE)?.cpu, &side.chunks);
        let whole = pick(&run.series(Part::Phase, WHOLE_CHUNK)?.net, &side.chunks);
        let sum = |numbers: &[f64]| numbers.iter().filter(|secs| !secs.is_nan()).sum::<f64>();
        if sum(&cpu) < SMALLEST_BENCHMARK * sum(&whole) {
            return None;
        }
        let per = side.events.clone();
        amounts.push(Amounts { raw: cpu.clone(), net: cpu.clone(), cpu, per });
    }
    let (estimate, movement) = draws.ratio(&amounts.try_into().ok()?, None)?;
    Some(((estimate.new / estimate.base).ln(), movement))
}

fn waiting(run: &Evidence<'_>) -> Option<f64> {
    let process = run.series(Part::Phase, PROCESS)?;
    let (mut waited, mut total) = (0.0, 0.0);
    for (wall, net) in process.wall.iter().zip(&process.net).filter(|(wall, _)| !wall.is_nan()) {
        waited += wall - net;
        total += wall;
    }
    // Where waiting was not measured, both are the same throughout.
    (waited > 0.0).then(|| waited / total)
}

fn same_libraries(runs: [&Measurement; 2]) -> bool {
    let versions = runs.map(|run| run.header.provenance.get("versions"));
    LIBRARIES.iter().all(|library| {
        let [base, new] = versions
            .map(|known| known.and_then(|known| known.get(library)).and_then(Value::as_str));
        base == new
    })
}
