//! Numbers as people read them: scaled to a fitting prefix, three significant
//! digits, whole numbers in groups of three.

use roast_model::Unit;

const DECIMAL_BYTES: &[(f64, &str)] =
    &[(1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB")];
const HERTZ: &[(f64, &str)] = &[(1.0, "Hz"), (1e3, "kHz"), (1e6, "MHz"), (1e9, "GHz")];
const BITS_PER_SEC: &[(f64, &str)] =
    &[(1.0, "bps"), (1e3, "kbps"), (1e6, "Mbps"), (1e9, "Gbps"), (1e12, "Tbps")];
const SHORT_TIMES: &[(f64, &str)] = &[(1e-6, "µs"), (1e-3, "ms"), (1.0, "s")];

/// A number in its unit, scaled for people.
///
/// ```
/// use roast_model::Unit;
/// assert_eq!(roast_report::show(12_345_678.0, Unit::Bytes), "12.3 MB");
/// assert_eq!(roast_report::show(3725.4, Unit::Seconds), "1:02:05");
/// ```
pub fn show(number: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => duration(number),
        Unit::Bytes => scaled(number, DECIMAL_BYTES, ""),
        Unit::BytesPerSec => scaled(number, DECIMAL_BYTES, "/s"),
        Unit::MegabytesPerSec => scaled(number * 1e6, DECIMAL_BYTES, "/s"),
        Unit::GigabitsPerSec => scaled(number * 1e9, BITS_PER_SEC, ""),
        Unit::Kilohertz => scaled(number * 1e3, HERTZ, ""),
        Unit::HertzPerCore => scaled(number, HERTZ, "/core"),
        Unit::KilohertzPerCore => scaled(number * 1e3, HERTZ, "/core"),
        Unit::Count => count(number),
        Unit::Percent => format!("{} %", significant(number)),
        Unit::Ratio => significant(number),
        Unit::Microseconds => duration(number * 1e-6),
        Unit::Mebibytes => scaled(number * f64::from(1 << 20), DECIMAL_BYTES, ""),
        Unit::CoreSeconds => format!("{} core-seconds", significant(number)),
        Unit::Table | Unit::Text => count(number),
    }
}

/// A ratio in hundredths.
pub(crate) fn share(ratio: f64) -> String {
    show(ratio * 100.0, Unit::Percent)
}

/// A ratio as a multiple.
pub(crate) fn times(ratio: f64) -> String {
    format!("{}×", significant(ratio))
}

/// A plain number of whatever it may be.
pub(crate) fn count(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        grouped(&format!("{number:.0}"))
    } else {
        significant(number)
    }
}

/// Digits in groups of three: `1,234,567`.
pub(crate) fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn duration(secs: f64) -> String {
    // Rounded first, so that 59.96 s is a minute and not "60.0 s".
    let rounded = round_significant(secs);
    if rounded == 0.0 {
        return "0 s".to_owned();
    }
    if rounded.abs() < 60.0 {
        return scaled(secs, SHORT_TIMES, "");
    }
    let whole = secs.abs().round();
    let sign = if secs < 0.0 { "-" } else { "" };
    let (hours, rest) = ((whole / 3600.0).floor(), whole % 3600.0);
    format!("{sign}{}:{:02.0}:{:02.0}", count(hours), (rest / 60.0).floor(), rest % 60.0)
}

/// The number with the largest prefix that leaves at least 1.
fn scaled(number: f64, scales: &[(f64, &str)], suffix: &str) -> String {
    let rounded = round_significant(number).abs();
    let (scale, unit) = scales
        .iter()
        .rev()
        // The factor takes in the rounding error of the comparison.
        .find(|(scale, _)| rounded >= *scale * (1.0 - 1e-12))
        .or(scales.first())
        .copied()
        .unwrap_or((1.0, ""));
    let whole_bytes = unit == "B" && number.fract() == 0.0;
    let digits = if whole_bytes { count(number) } else { significant(number / scale) };
    format!("{digits} {unit}{suffix}")
}

fn round_significant(number: f64) -> f64 {
    format!("{number:.2e}").parse().unwrap_or(number)
}

/// Three significant digits without an exponent where that is short enough; all
/// digits before the point are kept.
fn significant(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = round_significant(number).abs();
    if !(1e-4..1e15).contains(&size) {
        return format!("{number:.2e}");
    }
    let decimals = (2.0 - size.log10().floor()).max(0.0) as usize;
    let text = format!("{number:.decimals$}");
    if decimals == 0 { grouped(&text) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_scaled_for_people() {
        let cases = [
            (0.0, Unit::Bytes, "0 B"),
            (512.0, Unit::Bytes, "512 B"),
            (999.0, Unit::Bytes, "999 B"),
            (14_935_040.0, Unit::Bytes, "14.9 MB"),
            (999_960.0, Unit::Bytes, "1.00 MB"),
            (5e10, Unit::Bytes, "50.0 GB"),
            (2.5e18, Unit::Bytes, "2,500 PB"),
            (12.5, Unit::BytesPerSec, "12.5 B/s"),
            (389.513, Unit::MegabytesPerSec, "390 MB/s"),
            (1389.5, Unit::MegabytesPerSec, "1.39 GB/s"),
            (0.003_116, Unit::GigabitsPerSec, "3.12 Mbps"),
            (4.0, Unit::GigabitsPerSec, "4.00 Gbps"),
            (0.052_16, Unit::Kilohertz, "52.2 Hz"),
            (20.0, Unit::Kilohertz, "20.0 kHz"),
            (2500.0, Unit::HertzPerCore, "2.50 kHz/core"),
            (0.026, Unit::KilohertzPerCore, "26.0 Hz/core"),
            (1_234_567.0, Unit::Count, "1,234,567"),
            (1.969, Unit::Count, "1.97"),
            (2.0, Unit::Count, "2"),
            (1234.5, Unit::Count, "1,234"),
            (6.6308, Unit::Percent, "6.63 %"),
            (100.0, Unit::Percent, "100 %"),
            (0.0, Unit::Percent, "0 %"),
            (0.000_01, Unit::Percent, "1.00e-5 %"),
            (0.5, Unit::Ratio, "0.500"),
            (0.0, Unit::Seconds, "0 s"),
            (0.000_45, Unit::Seconds, "450 µs"),
            (0.45, Unit::Seconds, "450 ms"),
            (0.999_96, Unit::Seconds, "1.00 s"),
            (12.34, Unit::Seconds, "12.3 s"),
            (59.97, Unit::Seconds, "0:01:00"),
            (754.4, Unit::Seconds, "0:12:34"),
            (3599.7, Unit::Seconds, "1:00:00"),
            (445_506.0, Unit::Seconds, "123:45:06"),
            (15_000.0, Unit::Microseconds, "15.0 ms"),
            (-4.0, Unit::Mebibytes, "-4.19 MB"),
            (5908.4, Unit::CoreSeconds, "5,908 core-seconds"),
        ];
        for (number, unit, text) in cases {
            assert_eq!(show(number, unit), text, "{number} {unit:?}");
        }
    }

    #[test]
    fn any_number_can_be_shown() {
        for number in [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -1.5e7, -0.0] {
            for unit in [Unit::Seconds, Unit::Bytes, Unit::Count, Unit::Percent, Unit::Kilohertz] {
                assert!(!show(number, unit).is_empty());
            }
        }
    }
}
