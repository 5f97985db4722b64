//! How much a difference between two runs would vary by chance: chunks are drawn
//! again and again, dataset by dataset, and the spread of the result is its error.
//!
//! What is drawn is how often each chunk counts, once for all numbers; beyond a
//! thousand chunks, whole groups of chunks picked at random are drawn instead, so
//! that the work grows with the number of chunks and no faster. Chunks that ran in
//! the same stretch of time or on the same worker may share their luck: where they
//! are more alike than chance has it, the error grows accordingly, unless a
//! benchmark that ran in the same chunks shared that luck, too.

use fastrand::Rng;

use super::sample::{Sample, Side};

/// Times that chunks are drawn.
const DRAWS: usize = 400;
/// More chunks than this are drawn in groups.
const MOST_GROUPS: usize = 1024;

/// How often each group of chunks counts, draw by draw.
#[derive(Debug)]
struct Drawn {
    group_of: Vec<usize>,
    cell_of_group: Vec<usize>,
    counts: Vec<Vec<f64>>,
}

/// The draws from both runs.
#[derive(Debug)]
pub(crate) struct Draws<'s> {
    sample: &'s Sample,
    base: Drawn,
    /// `None` where chunks are paired: then both runs are drawn alike.
    new: Option<Drawn>,
}

/// What one run's chunks spent on something, and what that is divided by.
#[derive(Clone, Debug)]
pub(crate) struct Amounts {
    pub(crate) raw: Vec<f64>,
    /// Without waiting for a core.
    pub(crate) net: Vec<f64>,
    pub(crate) cpu: Vec<f64>,
    pub(crate) per: Vec<f64>,
}

/// How a number moved, draw by draw and chunk by chunk: what two numbers of the
/// same chunks have in common can be taken out.
#[derive(Clone, Debug)]
pub(crate) struct Movement {
    /// ln(new / base) of each draw, where it has one.
    logs: Vec<Option<f64>>,
    /// How much each chunk pulls on the logarithm of its run's number.
    pulls: [Vec<f64>; 2],
}

/// A number in both runs, and how far chance may carry them apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) base: f64,
    pub(crate) new: f64,
    /// Part of ln(new / base) that is waiting for a core.
    pub(crate) waiting: f64,
    /// Standard error of ln(new / base).
    pub(crate) error: f64,
    /// Degrees of freedom behind the error.
    pub(crate) freedom: f64,
    /// Share of it that is computing; the rest does not follow the machine's speed.
    pub(crate) cpu_share: f64,
}

impl<'s> Draws<'s> {
    /// Draws; nothing where there are too few chunks to know any spread.
    pub(crate) fn of(sample: &'s Sample, seed: u64) -> Option<Self> {
        if sample.sides().iter().any(|side| side.len() <= sample.cells) {
            return None;
        }
        let mut random = Rng::with_seed(seed);
        let base = Drawn::of(&sample.base, sample.cells, &mut random);
        let new = (!sample.paired).then(|| Drawn::of(&sample.new, sample.cells, &mut random));
        Some(Self { sample, base, new })
    }

    fn drawn(&self) -> [&Drawn; 2] {
        [&self.base, self.new.as_ref().unwrap_or(&self.base)]
    }

    fn freedom(&self) -> f64 {
        let groups =
            self.drawn().map(|drawn| drawn.cell_of_group.len().saturating_sub(self.sample.cells));
        groups.into_iter().min().unwrap_or(0) as f64
    }

    /// What a draw from few chunks lacks in spread.
    fn small_sample(&self) -> f64 {
        let groups = self.freedom() + self.sample.cells as f64;
        (groups / self.freedom().max(1.0)).sqrt()
    }

    /// A sum over chunks divided by another, each dataset with its weight in the
    /// base run. Nothing where either run has none of it. The error is the smaller
    /// one of two: of the number itself, and beside the benchmark.
    pub(crate) fn ratio(
        &self,
        amounts: &[Amounts; 2],
        benchmark: Option<&Movement>,
    ) -> Option<(Estimate, Movement)> {
        let cells = self.sample.cells;
        let weights = cell_sums(&self.sample.base.cells, &amounts[0].known_per(), cells);
        let value = |index: usize, numbers: &[f64]| -> Option<f64> {
            let side = self.sample.sides()[index];
            let amounts = &amounts[index];
            let tops = cell_sums(&side.cells, numbers, cells);
            let bottoms = cell_sums(&side.cells, &amounts.known_per(), cells);
            weighted(&tops, &bottoms, &weights).filter(|value| *value > 0.0)
        };
        let (base, new) = (value(0, &amounts[0].raw)?, value(1, &amounts[1].raw)?);
        let net = [value(0, &amounts[0].net)?, value(1, &amounts[1].net)?];
        let groups: Vec<(Vec<f64>, Vec<f64>)> = self
            .drawn()
            .into_iter()
            .zip(amounts)
            .map(|(drawn, amounts)| {
                let count = drawn.cell_of_group.len();
                let tops = cell_sums(&drawn.group_of, &amounts.net, count);
                (tops, cell_sums(&drawn.group_of, &amounts.known_per(), count))
            })
            .collect();
        let logs: Vec<Option<f64>> = (0..DRAWS)
            .map(|draw| {
                let mut logs = [0.0; 2];
                for ((log, drawn), (tops, bottoms)) in
                    logs.iter_mut().zip(self.drawn()).zip(&groups)
                {
                    let counts = drawn.counts.get(draw)?;
                    let mut sums = vec![(0.0, 0.0); cells];
                    for (((count, cell), top), bottom) in
                        counts.iter().zip(&drawn.cell_of_group).zip(tops).zip(bottoms)
                    {
                        if let Some((over, under)) = sums.get_mut(*cell) {
                            *over += count * top;
                            *under += count * bottom;
                        }
                    }
                    let (over, under): (Vec<f64>, Vec<f64>) = sums.into_iter().unzip();
                    *log = weighted(&over, &under, &weights).filter(|value| *value > 0.0)?.ln();
                }
                Some(logs[1] - logs[0])
            })
            .collect();
        let [of_base, of_new] = self.sample.sides();
        let pulls = [pulls(of_base, &amounts[0], &weights), pulls(of_new, &amounts[1], &weights)];
        let movement = Movement { logs, pulls };
        let cpu_share = |amounts: &Amounts| {
            let known = || amounts.cpu.iter().zip(&amounts.net).filter(|(cpu, _)| !cpu.is_nan());
            let (cpu, net): (f64, f64) =
                known().fold((0.0, 0.0), |(a, b), (cpu, net)| (a + cpu, b + net));
            if net > 0.0 { (cpu / net).min(1.0) } else { 1.0 }
        };
        let cpu_share = cpu_share(&amounts[0]).max(cpu_share(&amounts[1]));
        let plain = self.error(&movement)?;
        let beside = benchmark
            .and_then(|benchmark| self.error(&movement.without(benchmark, cpu_share)))
            .unwrap_or(plain);
        let estimate = Estimate {
            base,
            new,
            waiting: (new / base).ln() - (net[1] / net[0]).ln(),
            error: plain.min(beside),
            freedom: self.freedom(),
            cpu_share,
        };
        Some((estimate, movement))
    }

    fn error(&self, movement: &Movement) -> Option<f64> {
        let logs: Vec<f64> = movement.logs.iter().copied().flatten().collect();
        Some(spread(&logs)? * self.small_sample() * self.alikeness(&movement.pulls))
    }

    /// Numbers that are no sums: `statistic` makes some of the chunks in order,
    /// each with how often it counts. Errors of ln(new / base) for each.
    pub(crate) fn of_distribution<const N: usize>(
        &self,
        values: &[Vec<f64>; 2],
        statistic: impl Fn(&[(f64, f64)]) -> Option<[f64; N]>,
    ) -> [Option<f64>; N] {
        let mut ordered: Vec<Vec<(f64, usize)>> = Vec::new();
        for (drawn, values) in self.drawn().into_iter().zip(values) {
            let mut pairs: Vec<(f64, usize)> = values
                .iter()
                .copied()
                .zip(drawn.group_of.iter().copied())
                .filter(|(value, _)| value.is_finite())
                .collect();
            pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            ordered.push(pairs);
        }
        let mut logs: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(DRAWS));
        let mut weighed: Vec<(f64, f64)> = Vec::new();
        for draw in 0..DRAWS {
            let mut results = [[f64::NAN; N]; 2];
            for ((result, drawn), pairs) in results.iter_mut().zip(self.drawn()).zip(&ordered) {
                let Some(counts) = drawn.counts.get(draw) else { continue };
                weighed.clear();
                weighed.extend(pairs.iter().filter_map(|(value, group)| {
                    let count = counts.get(*group).copied().filter(|count| *count > 0.0)?;
                    Some((*value, count))
                }));
                if let Some(found) = statistic(&weighed) {
                    *result = found;
                }
            }
            let [base, new] = results;
            for ((logs, base), new) in logs.iter_mut().zip(base).zip(new) {
                let log = (new / base).ln();
                if log.is_finite() {
                    logs.push(log);
                }
            }
        }
        logs.map(|logs| Some(spread(&logs)? * self.small_sample()))
    }

    /// By how much the error grows because chunks of one stretch of time, or of
    /// one worker, are alike. 1 if they are not.
    fn alikeness(&self, [base, new]: &[Vec<f64>; 2]) -> f64 {
        let [base_side, new_side] = self.sample.sides();
        let growth = |of: fn(&Side) -> &[usize]| -> f64 {
            if self.sample.paired {
                let both: Vec<f64> = new.iter().zip(base).map(|(new, base)| new - base).collect();
                let alone = squares(both.iter().copied());
                // What chunks share in either run, each counted once.
                let shared = grouped(&both, of(base_side)) + grouped(&both, of(new_side)) - alone;
                shared / alone
            } else {
                let alone = squares(base.iter().copied()) + squares(new.iter().copied());
                (grouped(base, of(base_side)) + grouped(new, of(new_side))) / alone
            }
        };
        let growths = [growth(|side| &side.stretches), growth(|side| &side.workers)];
        growths.into_iter().filter(|growth| growth.is_finite()).fold(1.0, f64::max).sqrt()
    }
}

impl Movement {
    /// What is left when so much of the other's movement is taken out.
    fn without(&self, other: &Self, share: f64) -> Self {
        let logs = self
            .logs
            .iter()
            .zip(&other.logs)
            .map(|(own, other)| Some((*own)? - share * (*other)?))
            .collect();
        let less = |own: &[f64], other: &[f64]| {
            own.iter().zip(other).map(|(own, other)| own - share * other).collect()
        };
        let [base, new] = &self.pulls;
        let [other_base, other_new] = &other.pulls;
        Self { logs, pulls: [less(base, other_base), less(new, other_new)] }
    }
}

impl Amounts {
    /// The divisors of the chunks in which the amount is known.
    fn known_per(&self) -> Vec<f64> {
        self.net
            .iter()
            .zip(&self.per)
            .map(|(net, per)| if net.is_nan() { f64::NAN } else { *per })
            .collect()
    }
}

impl Drawn {
    fn of(side: &Side, cells: usize, random: &mut Rng) -> Self {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); cells];
        for (unit, cell) in side.cells.iter().enumerate() {
            if let Some(units) = members.get_mut(*cell) {
                units.push(unit);
            }
        }
        let mut group_of = vec![0; side.len()];
        let mut cell_of_group = Vec::new();
        let mut spans = Vec::new();
        for (cell, units) in members.iter_mut().enumerate() {
            let share = MOST_GROUPS as f64 * units.len() as f64 / side.len().max(1) as f64;
            let groups = (share.round() as usize).max(2).min(units.len());
            let first = cell_of_group.len();
            random.shuffle(units);
            for (rank, unit) in units.iter().enumerate() {
                if let Some(group) = group_of.get_mut(*unit) {
                    *group = first + rank % groups.max(1);
                }
            }
            cell_of_group.extend(std::iter::repeat_n(cell, groups));
            spans.push((first, groups));
        }
        let counts = (0..DRAWS)
            .map(|_| {
                let mut counts = vec![0.0; cell_of_group.len()];
                for (first, groups) in &spans {
                    for _ in 0..*groups {
                        if let Some(count) = counts.get_mut(first + random.usize(0..*groups)) {
                            *count += 1.0;
                        }
                    }
                }
                counts
            })
            .collect();
        Self { group_of, cell_of_group, counts }
    }
}

/// Sums of the numbers that are known, by where each belongs.
fn cell_sums(places: &[usize], numbers: &[f64], count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; count];
    for (place, number) in places.iter().zip(numbers) {
        if let Some(sum) = sums.get_mut(*place)
            && !number.is_nan()
        {
            *sum += number;
        }
    }
    sums
}

/// The mean over cells of top / bottom, by weight.
fn weighted(tops: &[f64], bottoms: &[f64], weights: &[f64]) -> Option<f64> {
    let (mut total, mut weight) = (0.0, 0.0);
    for ((top, bottom), share) in tops.iter().zip(bottoms).zip(weights) {
        if *bottom > 0.0 {
            total += share * top / bottom;
            weight += share;
        }
    }
    (weight > 0.0).then(|| total / weight)
}

/// How much each chunk pulls on the logarithm of its run's number.
fn pulls(side: &Side, amounts: &Amounts, weights: &[f64]) -> Vec<f64> {
    let per = amounts.known_per();
    let tops = cell_sums(&side.cells, &amounts.net, weights.len());
    let bottoms = cell_sums(&side.cells, &per, weights.len());
    let Some(value) = weighted(&tops, &bottoms, weights) else { return vec![0.0; side.len()] };
    let all: f64 = weights.iter().sum();
    side.cells
        .iter()
        .zip(amounts.net.iter().zip(&per))
        .map(|(cell, (net, per))| {
            let (Some(top), Some(bottom), Some(weight)) =
                (tops.get(*cell), bottoms.get(*cell), weights.get(*cell))
            else {
                return 0.0;
            };
            let pull = weight / all * (net - top / bottom * per) / bottom / value;
            if pull.is_finite() { pull } else { 0.0 }
        })
        .collect()
}

fn squares(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|number| number * number).sum()
}

/// The variance that groups of chunks have together.
fn grouped(pulls: &[f64], groups: &[usize]) -> f64 {
    let count = groups.iter().copied().max().map_or(0, |last| last + 1);
    if count < 2 {
        return 0.0;
    }
    let sums = cell_sums(groups, pulls, count);
    squares(sums.into_iter()) * count as f64 / (count - 1) as f64
}

/// The standard deviation; nothing for too few numbers.
fn spread(numbers: &[f64]) -> Option<f64> {
    // A statistic that most draws cannot give has no error worth the name.
    if numbers.len() < DRAWS / 2 {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares = squares(numbers.iter().map(|number| number - mean));
    Some((squares / (numbers.len() - 1) as f64).sqrt())
}
