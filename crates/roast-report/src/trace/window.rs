//! The part of a run that a trace shows. What touches it is shown whole.

use roast_model::Header;

/// Seconds of a run, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it begins.
    pub from_ns: i64,
    /// Where it ends; missing for the end of the run.
    pub until_ns: Option<i64>,
}

impl Window {
    /// All of a run.
    pub const ALL: Self = Self { from_ns: i64::MIN, until_ns: None };

    /// The part of the run's time that is shown.
    pub(super) fn share(self, header: &Header) -> f64 {
        let wall_ns = header.wall_secs * 1e9;
        let from = (self.from_ns as f64).clamp(0.0, wall_ns.max(0.0));
        let until = self.until_ns.map_or(wall_ns, |until| wall_ns.min(until as f64));
        let share = (until - from) / wall_ns;
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 1.0 }
    }

    pub(super) fn in_run(self, header: &Header) -> Moments {
        let moment = |ns: i64| header.started.0.saturating_add(ns);
        Moments { from: moment(self.from_ns), until: self.until_ns.map_or(i64::MAX, moment) }
    }
}

/// The same in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) from: i64,
    pub(super) until: i64,
}

impl Moments {
    /// Whether any of a stretch of time is shown.
    pub(super) fn touches(self, start: i64, stop: i64) -> bool {
        stop >= self.from && start <= self.until
    }
}
