//! Means, spreads, quantiles and correlation. A number that is not finite is
//! left out; what has no meaning for so few numbers is missing.

/// Count, mean, spread and extremes of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    pub(crate) total: f64,
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The sample standard deviation (n − 1); missing for a single number.
    pub(crate) std: Option<f64>,
}

impl Moments {
    /// Missing if there is no number at all.
    pub(crate) fn of(numbers: &[f64]) -> Option<Self> {
        Self::of_each(|| numbers.iter().copied())
    }

    /// The same of numbers that can be gone through more than once.
    fn of_each<N: Iterator<Item = f64>>(numbers: impl Fn() -> N) -> Option<Self> {
        let finite = || numbers().filter(|number| number.is_finite());
        let (mut count, mut total) = (0_usize, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in finite() {
            count += 1;
            total += number;
            min = min.min(number);
            max = max.max(number);
        }
        if count == 0 {
            return None;
        }
        // Rounding may carry the mean of equal numbers just past them.
        let mean = (total / count as f64).clamp(min, max);
        let squares: f64 = finite().map(|number| (number - mean).powi(2)).sum();
        let std = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        Some(Self { total, mean, min, max, std })
    }
}

/// Puts the finite ones in order and leaves the others out.
pub(crate) fn put_in_order(numbers: &mut Vec<f64>) {
    numbers.retain(|number| number.is_finite());
    numbers.sort_unstable_by(f64::total_cmp);
}

/// The number below which that fraction of the others lies, on a straight line
/// between neighbours. The numbers must be in order.
pub(crate) fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = last as f64 * fraction.clamp(0.0, 1.0);
    let below = place.floor() as usize;
    let low = *sorted.get(below)?;
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    Some(low + (high - low) * (place - below as f64))
}

/// The same without putting all in order; they are moved about.
pub(crate) fn quantile_of(numbers: &mut [f64], fraction: f64) -> Option<f64> {
    let last = numbers.len().checked_sub(1)?;
    let place = last as f64 * fraction.clamp(0.0, 1.0);
    let below = place.floor() as usize;
    let (_, &mut low, above) = numbers.select_nth_unstable_by(below, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    Some(low + (high - low) * (place - below as f64))
}

/// The middle number, without putting all in order; they are moved about.
pub(crate) fn median(numbers: &mut [f64]) -> Option<f64> {
    let count = numbers.len();
    let middle = count / 2;
    if count == 0 {
        return None;
    }
    let (below, &mut upper, _) = numbers.select_nth_unstable_by(middle, f64::total_cmp);
    if count % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, upper))
}

/// Pearson's correlation of pairs that can be gone through more than once; missing
/// where either number never changes.
pub(crate) fn correlation<P: Iterator<Item = (f64, f64)>>(pairs: impl Fn() -> P) -> Option<f64> {
    let x = Moments::of_each(|| pairs().map(|pair| pair.0))?;
    let y = Moments::of_each(|| pairs().map(|pair| pair.1))?;
    // Equal numbers: what deviates from their mean is rounding.
    if x.min >= x.max || y.min >= y.max {
        return None;
    }
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs() {
        let (a, b) = (a - x.mean, b - y.mean);
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    let correlation = xy / (xx.sqrt() * yy.sqrt());
    correlation.is_finite().then(|| correlation.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_out_on_paper() {
        let moments = Moments::of(&[2.0, 4.0, f64::NAN, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((moments.mean, moments.min, moments.max), (5.0, 2.0, 9.0));
        assert!((moments.std.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Moments::of(&[3.0]).unwrap().std, None);
        assert_eq!(Moments::of(&[]), None);
        let mut ordered = vec![4.0, 1.0, f64::INFINITY, 3.0, 2.0];
        put_in_order(&mut ordered);
        assert_eq!(quantile(&ordered, 0.5), Some(2.5));
        assert!((quantile(&ordered, 0.95).unwrap() - 3.85).abs() < 1e-12);
        assert_eq!((quantile(&ordered, 0.0), quantile(&ordered, 1.0)), (Some(1.0), Some(4.0)));
        for fraction in [0.0, 0.3, 0.5, 0.95, 1.0] {
            let mixed = &mut [4.0, 1.0, 3.0, 2.0];
            assert_eq!(quantile_of(mixed, fraction), quantile(&ordered, fraction));
        }
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0])), (Some(2.0), Some(2.5)));
        assert_eq!((median(&mut []), quantile(&[], 0.5)), (None, None));
        assert_eq!(quantile_of(&mut [], 0.5), None);
    }

    #[test]
    fn correlation_needs_something_that_changes() {
        let line: Vec<_> = (0..5).map(|n| (f64::from(n), 3.0 - f64::from(n))).collect();
        let of = |pairs: &[(f64, f64)]| correlation(|| pairs.iter().copied());
        assert!((of(&line).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(of(&[(0.1, 1.0), (0.1, 2.0), (0.1, 4.0)]), None);
        assert_eq!(of(&[(1.0, 1.0)]), None);
        assert_eq!(of(&[]), None);
    }
}
