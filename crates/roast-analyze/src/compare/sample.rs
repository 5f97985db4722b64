//! Which chunks of two runs are compared: the same chunks with each other where
//! both runs have them, otherwise all chunks of the datasets that both have.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::evidence::Evidence;

/// Fewer pairs than this, or a smaller share of the smaller run, and the runs are
/// compared as a whole.
const FEWEST_PAIRS: usize = 5;
const SMALLEST_SHARE: f64 = 0.5;

/// The chunks of one run that enter, each with what it shares with others.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Places in the run's evidence.
    pub(crate) chunks: Vec<usize>,
    /// The cell of each: chunks of one dataset, drawn from and weighed together.
    pub(crate) cells: Vec<usize>,
    pub(crate) events: Vec<f64>,
    pub(crate) workers: Vec<usize>,
    /// Stretches of time, about as many as each has chunks.
    pub(crate) stretches: Vec<usize>,
}

/// The chunks that are compared.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) base: Side,
    pub(crate) new: Side,
    /// Whether chunk by chunk.
    pub(crate) paired: bool,
    pub(crate) cells: usize,
    /// Share of either run's chunks that enters, the smaller one.
    pub(crate) covered: f64,
}

impl Sample {
    pub(crate) fn of(base: &Evidence<'_>, new: &Evidence<'_>) -> Self {
        let (mut of_base, mut of_new) = pairs(base, new);
        let smaller = base.len().min(new.len());
        let paired = of_base.len() >= FEWEST_PAIRS
            && of_base.len() as f64 >= SMALLEST_SHARE * smaller as f64;
        if !paired {
            let common = |run: &Evidence<'_>, other: &Evidence<'_>| -> Vec<usize> {
                let known: std::collections::HashSet<&str> =
                    other.datasets.iter().copied().collect();
                (0..run.len())
                    .filter(|chunk| {
                        run.datasets.get(*chunk).is_some_and(|name| known.contains(name))
                    })
                    .collect()
            };
            of_base = common(base, new);
            of_new = common(new, base);
        }
        let cell_of = cells(&[(base, &of_base), (new, &of_new)]);
        let share = |picked: usize, all: usize| picked as f64 / all.max(1) as f64;
        Self {
            covered: share(of_base.len(), base.len()).min(share(of_new.len(), new.len())),
            cells: cell_of.values().copied().max().map_or(0, |last| last + 1),
            base: Side::of(base, of_base, &cell_of),
            new: Side::of(new, of_new, &cell_of),
            paired,
        }
    }

    /// Both runs in one picture: base, then new.
    pub(crate) fn sides(&self) -> [&Side; 2] {
        [&self.base, &self.new]
    }
}

impl Side {
    fn of(run: &Evidence<'_>, chunks: Vec<usize>, cell_of: &BTreeMap<&str, usize>) -> Self {
        let cells = chunks
            .iter()
            .filter_map(|chunk| cell_of.get(run.datasets.get(*chunk)?).copied())
            .collect();
        let events = super::evidence::pick(&run.events, &chunks);
        let workers =
            chunks.iter().map(|chunk| run.workers.get(*chunk).copied().unwrap_or(0)).collect();
        let mut by_time: Vec<(i64, usize)> = chunks
            .iter()
            .enumerate()
            .map(|(unit, chunk)| (run.starts.get(*chunk).copied().unwrap_or(0), unit))
            .collect();
        by_time.sort_unstable();
        let count = (chunks.len() as f64).sqrt().ceil() as usize;
        let mut stretches = vec![0; chunks.len()];
        for (rank, (_, unit)) in by_time.into_iter().enumerate() {
            if let Some(stretch) = stretches.get_mut(unit) {
                *stretch = rank * count / chunks.len().max(1);
            }
        }
        Self { chunks, cells, events, workers, stretches }
    }

    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }
}

/// Chunks of the same dataset, file, tree and entries.
fn pairs(base: &Evidence<'_>, new: &Evidence<'_>) -> (Vec<usize>, Vec<usize>) {
    let known: HashMap<_, usize, RandomState> =
        base.keys.iter().enumerate().filter_map(|(chunk, key)| Some(((*key)?, chunk))).collect();
    let mut pairs: Vec<(usize, usize)> = new
        .keys
        .iter()
        .enumerate()
        .filter_map(|(chunk, key)| Some((*known.get(&(*key)?)?, chunk)))
        .collect();
    pairs.sort_unstable();
    // A chunk that came twice in one run pairs once.
    pairs.dedup_by_key(|pair| pair.0);
    pairs.into_iter().unzip()
}

/// A cell per dataset; those with a single chunk in either run share one, since
/// nothing can be drawn from a single chunk.
fn cells<'a>(sides: &[(&Evidence<'a>, &Vec<usize>)]) -> BTreeMap<&'a str, usize> {
    let mut fewest: BTreeMap<&str, usize> = BTreeMap::new();
    for (run, chunks) in sides {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for chunk in *chunks {
            if let Some(name) = run.datasets.get(*chunk) {
                *counts.entry(name).or_default() += 1;
            }
        }
        for (name, count) in counts {
            let known = fewest.entry(name).or_insert(count);
            *known = (*known).min(count);
        }
    }
    let mut next = 0;
    let mut shared = None;
    fewest
        .into_iter()
        .map(|(name, count)| {
            let mut fresh = || {
                next += 1;
                next - 1
            };
            let cell = if count > 1 { fresh() } else { *shared.get_or_insert_with(fresh) };
            (name, cell)
        })
        .collect()
}
