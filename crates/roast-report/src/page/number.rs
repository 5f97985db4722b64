//! Numbers as the page needs them: finite, and no longer than a screen can tell
//! apart, because there are many of them.

/// The number, if it is one and not negative.
pub(crate) fn known(number: f64) -> Option<f64> {
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// Five significant digits.
pub(crate) fn short(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() || number.abs() < f64::MIN_POSITIVE {
        return number;
    }
    let digits = 4 - number.abs().log10().floor() as i32;
    // Two steps, because one factor of a very small number would be infinite.
    let scale = |power: i32| 10.0_f64.powi(power);
    let rounded = if digits >= 0 {
        (number * scale(digits)).round() / scale(digits)
    } else {
        (number / scale(-digits)).round() * scale(-digits)
    };
    if rounded.is_finite() { rounded } else { number }
}

/// Seconds of the run, to a tenth of a millisecond.
pub(crate) fn moment(secs: f64) -> f64 {
    (secs * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept_where_they_count() {
        assert_eq!(short(123_456.7), 123_460.0);
        assert_eq!(short(0.000_123_456), 0.000_123_46);
        assert_eq!(short(-9.999_99), -10.0);
        assert_eq!(short(0.0), 0.0);
        for odd in [f64::MIN_POSITIVE, f64::MAX, 1e-320] {
            assert!(short(odd).is_finite());
        }
        assert!(short(f64::NAN).is_nan());
        assert_eq!(moment(1.234_56), 1.2346);
    }
}
