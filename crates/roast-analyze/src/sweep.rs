//! Sums over several owners (workers, hosts) of amounts that hold from one
//! moment to another, both included, at every moment where something changes.
//!
//! Amounts are whole numbers, so that the sums do not depend on the order in
//! which rows came.

use std::collections::BTreeSet;

use roast_model::UtcNs;

use crate::chunk_rows::{Names, slot};

/// An amount that an owner had from `start` to `stop`, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// The owner's [place](places).
    pub(crate) owner: u32,
    /// The place of who says so: of several witnesses to one owner, the same is
    /// always heard.
    pub(crate) witness: u32,
    pub(crate) start: UtcNs,
    pub(crate) stop: UtcNs,
    pub(crate) amount: i64,
}

/// The amounts that hold at the moment. The last in order counts: of one witness
/// the newest, and the larger one where two are equally new.
type Active = BTreeSet<(u32, UtcNs, i64, u32)>;

/// The sum over owners at each start and stop, and at those of the other moments
/// that lie between the first and the last of these. An owner counts once at any
/// moment, even where its stretches overlap.
pub(crate) fn sums(stretches: &[Stretch], mut moments: Vec<UtcNs>) -> Vec<(UtcNs, i128)> {
    let of = |index: &u32| stretches.get(*index as usize);
    let start = |index: &u32| of(index).map(|stretch| stretch.start);
    let stop = |index: &u32| of(index).map(|stretch| stretch.stop);
    let mut starting: Vec<u32> = (0..).zip(stretches).map(|(index, _)| index).collect();
    let mut stopping = starting.clone();
    starting.sort_unstable_by_key(start);
    stopping.sort_unstable_by_key(stop);
    let first = starting.first().and_then(start);
    let last = stopping.last().and_then(stop);
    moments.retain(|moment| first <= Some(*moment) && Some(*moment) <= last);
    moments.sort_unstable();

    let mut active: Vec<Active> = Vec::new();
    let mut sum: i128 = 0;
    let mut change = |index: u32, begins: bool, sum: &mut i128| {
        let Some(stretch) = of(&index) else { return };
        let Some(current) = slot(&mut active, stretch.owner as usize) else { return };
        let before = current.last().map_or(0, |(_, _, amount, _)| i128::from(*amount));
        let entry = (stretch.witness, stretch.start, stretch.amount, index);
        if begins {
            current.insert(entry);
        } else {
            current.remove(&entry);
        }
        let after = current.last().map_or(0, |(_, _, amount, _)| i128::from(*amount));
        // Saturating here and below: absurd input must not end a finished run.
        *sum = sum.saturating_add(after.saturating_sub(before));
    };
    let mut found: Vec<(UtcNs, i128)> = Vec::new();
    let mut starting = starting.into_iter().peekable();
    let mut stopping = stopping.into_iter().peekable();
    let mut moments = moments.into_iter().peekable();
    loop {
        let next = [
            starting.peek().and_then(start),
            stopping.peek().and_then(stop),
            moments.peek().copied(),
        ];
        let Some(moment) = next.into_iter().flatten().min() else { break };
        while let Some(index) = starting.next_if(|index| start(index) == Some(moment)) {
            change(index, true, &mut sum);
        }
        found.push((moment, sum));
        while let Some(index) = stopping.next_if(|index| stop(index) == Some(moment)) {
            change(index, false, &mut sum);
        }
        while moments.next_if_eq(&moment).is_some() {}
    }
    found
}

/// The place of each name among all of them in order.
pub(crate) fn places<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Vec<u32> {
    let mut known = Names::default();
    let codes: Vec<u32> = names.map(|name| known.code(name) as u32).collect();
    let mut order: Vec<u32> = (0..).zip(known.names()).map(|(code, _)| code).collect();
    order.sort_unstable_by_key(|code| known.names().get(*code as usize));
    let mut place_of = vec![0; order.len()];
    for (place, code) in (0..).zip(order) {
        if let Some(slot) = place_of.get_mut(code as usize) {
            *slot = place;
        }
    }
    codes.into_iter().filter_map(|code| place_of.get(code as usize).copied()).collect()
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
