//! Amdahl's law as a straight line: the time per event is a + b / cores, and the
//! serial fraction a / (a + b). Fitted by least squares of relative deviations.

use super::SAME_SIZE;

/// Points without which there is nothing to say about how well a line fits.
const FEWEST_POINTS: usize = 3;

/// A fitted line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Share of the work of one core that more cores do not speed up, from 0 to 1.
    pub serial_fraction: f64,
    /// Its standard error.
    pub error: f64,
    /// Time per event on a single core.
    pub single_core_secs_per_event: f64,
    /// Whether the line itself lies outside of 0 to 1, as for more than ideal scaling.
    pub at_limit: bool,
}

/// Why no line was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFit {
    /// Fewer than three runs.
    TooFew,
    /// The runs have the same size.
    SameSizes,
    /// The time per event grows with the number of cores.
    Slower,
}

impl Fit {
    /// The time per event that the line expects.
    pub fn secs_per_event(&self, cores: f64) -> f64 {
        self.single_core_secs_per_event
            * (self.serial_fraction + (1.0 - self.serial_fraction) / cores)
    }
}

/// Fits cores and seconds per event.
pub(crate) fn fit(points: &[(f64, f64)]) -> Result<Fit, NoFit> {
    if points.len() < FEWEST_POINTS {
        return Err(NoFit::TooFew);
    }
    let smallest = points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let largest = points.iter().map(|point| point.0).fold(0.0, f64::max);
    if largest <= smallest * (1.0 + SAME_SIZE) {
        return Err(NoFit::SameSizes);
    }
    // Relative deviations: each time counts as 1, so long ones do not outweigh.
    let (mut aa, mut ab, mut bb, mut ay, mut by) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (cores, secs) in points {
        let (one, inverse) = (1.0 / secs, 1.0 / (cores * secs));
        aa += one * one;
        ab += one * inverse;
        bb += inverse * inverse;
        ay += one;
        by += inverse;
    }
    let determinant = aa * bb - ab * ab;
    let serial = (ay * bb - by * ab) / determinant;
    let parallel = (by * aa - ay * ab) / determinant;
    let single = serial + parallel;
    if !(single.is_finite() && single > 0.0 && parallel > 0.0) {
        return Err(NoFit::Slower);
    }
    let squares: f64 =
        points.iter().map(|(cores, secs)| ((serial + parallel / cores) / secs - 1.0).powi(2)).sum();
    let variance = squares / (points.len() - 2) as f64 / determinant;
    // Of a / (a + b), by its derivatives.
    let (by_serial, by_parallel) = (parallel / single.powi(2), -serial / single.powi(2));
    let error = (variance
        * (bb * by_serial.powi(2) + aa * by_parallel.powi(2) - 2.0 * ab * by_serial * by_parallel))
        .max(0.0)
        .sqrt();
    let fraction = serial / single;
    // Outside of its limits the fraction is held, and the line turned to fit again.
    let held = fraction.clamp(0.0, 1.0);
    let single = if held == fraction {
        single
    } else {
        let shape = |cores: f64| held + (1.0 - held) / cores;
        let top: f64 = points.iter().map(|(cores, secs)| shape(*cores) / secs).sum();
        let bottom: f64 = points.iter().map(|(cores, secs)| (shape(*cores) / secs).powi(2)).sum();
        top / bottom
    };
    Ok(Fit {
        serial_fraction: held,
        error,
        single_core_secs_per_event: single,
        at_limit: held != fraction,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amdahl(fraction: f64, cores: &[f64]) -> Vec<(f64, f64)> {
        cores.iter().map(|cores| (*cores, 0.01 * (fraction + (1.0 - fraction) / cores))).collect()
    }

    #[test]
    fn a_known_fraction_is_found() {
        let fit = fit(&amdahl(0.1, &[1.0, 2.0, 4.0, 16.0])).unwrap();
        assert!((fit.serial_fraction - 0.1).abs() < 1e-9 && fit.error < 1e-6);
        assert!((fit.single_core_secs_per_event - 0.01).abs() < 1e-9);
        assert!((fit.secs_per_event(4.0) - 0.01 * 0.325).abs() < 1e-9);
    }

    #[test]
    fn noise_gives_an_error_of_its_size() {
        let mut points = amdahl(0.1, &[1.0, 2.0, 4.0, 8.0, 16.0]);
        for (index, point) in points.iter_mut().enumerate() {
            point.1 *= if index % 2 == 0 { 1.03 } else { 0.97 };
        }
        let fit = fit(&points).unwrap();
        assert!(fit.error > 0.001 && (fit.serial_fraction - 0.1).abs() < 3.0 * fit.error);
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        assert_eq!(fit(&amdahl(0.1, &[1.0, 2.0])), Err(NoFit::TooFew));
        assert_eq!(fit(&amdahl(0.1, &[2.0, 2.0, 2.02])), Err(NoFit::SameSizes));
        let slower = [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)];
        assert_eq!(fit(&slower), Err(NoFit::Slower));
        let ideal = fit(&[(1.0, 1.0), (2.0, 0.49), (4.0, 0.24)]).unwrap();
        assert!(ideal.at_limit && ideal.serial_fraction == 0.0);
    }
}
