//! Arithmetic in which a number that makes no sense is missing.

use roast_model::Value;

/// The number, unless it is negative or not finite.
pub(crate) fn usable(number: f64) -> Option<f64> {
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// An entry of coffea's report, if it is there and makes sense.
pub(crate) fn reported(report: &Value, key: &str) -> Option<f64> {
    report.get(key).and_then(Value::as_f64).and_then(usable)
}

/// `numerator / denominator`, missing if either is or if the denominator is zero.
pub(crate) fn ratio(numerator: Option<f64>, denominator: Option<f64>) -> Option<f64> {
    let denominator = denominator.filter(|number| *number > 0.0)?;
    usable(numerator? / denominator)
}

/// `a × b`, missing if either is.
pub(crate) fn product(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    usable(a? * b?)
}

/// Mean, smallest and largest of numbers that each stand for several samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Summary {
    /// Summarises `(number, samples)`; missing if there is no sample at all.
    /// Numbers that make no sense are left out.
    pub(crate) fn of(numbers: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut total, mut weight) = (0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for (number, samples) in numbers {
            if usable(number).is_none() || samples <= 0.0 {
                continue;
            }
            total += number * samples;
            weight += samples;
            min = min.min(number);
            max = max.max(number);
        }
        // Rounding may carry the mean of equal numbers just past them.
        (weight > 0.0).then(|| Self { mean: (total / weight).clamp(min, max), min, max })
    }
}
