//! Sums over several owners (workers, hosts) of amounts that hold from one
//! moment to another, both included, at every moment where something changes.
//!
//! Amounts are whole numbers, so that the sums do not depend on the order in
//! which rows came.

use std::collections::{BTreeMap, BTreeSet};

use roast_model::UtcNs;

/// An amount that an owner had from `start` to `stop`, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch<'a> {
    pub(crate) owner: Option<&'a str>,
    /// Who says so: of several witnesses to one owner, the same is always heard.
    pub(crate) witness: Option<&'a str>,
    pub(crate) start: UtcNs,
    pub(crate) stop: UtcNs,
    pub(crate) amount: i128,
}

/// The amounts that hold at the moment. The last in order counts: of one witness
/// the newest, and the larger one where two are equally new.
type Active<'a> = BTreeSet<(Option<&'a str>, UtcNs, i128, usize)>;

/// The sum over owners at each start and stop, and at those of the other moments
/// that lie between the first and the last of these. An owner counts once at any
/// moment, even where its stretches overlap.
pub(crate) fn sums(stretches: &[Stretch<'_>], moments: &[UtcNs]) -> Vec<(UtcNs, i128)> {
    let mut changes: BTreeMap<UtcNs, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, stretch) in stretches.iter().enumerate() {
        changes.entry(stretch.start).or_default().0.push(index);
        changes.entry(stretch.stop).or_default().1.push(index);
    }
    if let (Some((&first, _)), Some((&last, _))) =
        (changes.first_key_value(), changes.last_key_value())
    {
        for moment in moments.iter().filter(|moment| (first..=last).contains(moment)) {
            changes.entry(*moment).or_default();
        }
    }
    let mut active: BTreeMap<Option<&str>, Active<'_>> = BTreeMap::new();
    let mut sum = 0;
    let mut change = |index: usize, begins: bool, sum: &mut i128| {
        let Some(stretch) = stretches.get(index) else { return };
        let current = active.entry(stretch.owner).or_default();
        let before = current.last().map_or(0, |(_, _, amount, _)| *amount);
        let entry = (stretch.witness, stretch.start, stretch.amount, index);
        if begins {
            current.insert(entry);
        } else {
            current.remove(&entry);
        }
        let after = current.last().map_or(0, |(_, _, amount, _)| *amount);
        // Saturating here and below: absurd input must not end a finished run.
        *sum = sum.saturating_add(after.saturating_sub(before));
    };
    changes
        .into_iter()
        .map(|(moment, (starts, stops))| {
            starts.into_iter().for_each(|index| change(index, true, &mut sum));
            let here = (moment, sum);
            stops.into_iter().for_each(|index| change(index, false, &mut sum));
            here
        })
        .collect()
}

/// `∫ amount dt / (last − first)` by the trapezoidal rule, in whole numbers up to
/// the division. All at one moment: their mean. The points must be in order.
pub(crate) fn time_weighted_mean(points: &[(UtcNs, i128)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let span = i128::from(last.0.0) - i128::from(first.0.0);
    if span <= 0 {
        let total = points.iter().fold(0_i128, |total, (_, amount)| total.saturating_add(*amount));
        return Some(total as f64 / points.len() as f64);
    }
    let twice_area = points.windows(2).fold(0_i128, |area, pair| match pair {
        [(start, left), (stop, right)] => {
            let width = i128::from(stop.0) - i128::from(start.0);
            area.saturating_add(left.saturating_add(*right).saturating_mul(width))
        }
        _ => area,
    });
    Some(twice_area as f64 / 2.0 / span as f64)
}
