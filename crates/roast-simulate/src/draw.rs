//! Random numbers that are the same for the same seed, on every machine that
//! computes logarithms alike.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    source: Pcg64Mcg,
}

impl Draw {
    /// A source of its own for each purpose, so that more draws for one leave the
    /// others as they were.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let purpose = purpose.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self { source: Pcg64Mcg::seed_from_u64(seed ^ purpose) }
    }

    /// From 0 up to, but not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.source.random()
    }

    pub(crate) fn bits(&mut self) -> u128 {
        self.source.random()
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True with that probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A factor around 1, always positive: lognormal with a mean of 1.
    pub(crate) fn factor(&mut self, sigma: f64) -> f64 {
        let normal: f64 = StandardNormal.sample(&mut self.source);
        (sigma * normal - sigma * sigma / 2.0).exp()
    }

    /// Exponential with that mean.
    pub(crate) fn waiting(&mut self, mean: f64) -> f64 {
        let waiting: f64 = Exp1.sample(&mut self.source);
        mean * waiting
    }
}
