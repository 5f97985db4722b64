//! The time axis that all series share: the samples as they were taken, or bins
//! where there are more of them than a screen has columns.

use roast_analyze::WorkerRow;
use roast_model::{Frame, Measurement, Table};

/// Places on the axis at most.
pub(crate) const MOST_CELLS: usize = 1500;
/// Bins where nothing was sampled: the axis is there for the chunks alone.
const UNSAMPLED_CELLS: usize = 300;

/// The axis: samples, each in one cell, and the cells in order.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// When samples were taken, in seconds of the run; each differs from the others.
    ticks: Vec<f64>,
    /// The cell of each sample.
    cell_of_tick: Vec<usize>,
    /// Where each cell stands.
    time: Vec<f64>,
    /// The bounds of the cells, one more than there are cells.
    edges: Vec<f64>,
    bin_secs: Option<f64>,
}

impl Axis {
    /// The axis of a measurement: its ticks, or where there are none the moments at
    /// which workers were sampled.
    pub(crate) fn of(measurement: &Measurement, workers: &[WorkerRow<'_>], end_secs: f64) -> Self {
        let started = measurement.header.started;
        let mut ticks: Vec<f64> = measurement
            .table(Table::Ticks)
            .map(|ticks| {
                Frame::new(ticks).times("time").flatten().map(|t| t.secs_since(started)).collect()
            })
            .unwrap_or_default();
        if ticks.is_empty() {
            ticks = workers
                .iter()
                .filter_map(|row| row.span)
                .flat_map(|(first, last)| [first.secs_since(started), last.secs_since(started)])
                .collect();
        }
        Self::new(ticks, end_secs)
    }

    pub(crate) fn new(mut ticks: Vec<f64>, end_secs: f64) -> Self {
        // The last sample may come after the end, and the first before the start.
        ticks.iter_mut().for_each(|tick| *tick = tick.clamp(0.0, end_secs));
        ticks.sort_unstable_by(f64::total_cmp);
        ticks.dedup();
        if (2..=MOST_CELLS).contains(&ticks.len()) {
            return Self {
                cell_of_tick: (0..ticks.len()).collect(),
                time: ticks.clone(),
                edges: halfway(&ticks, end_secs),
                ticks,
                bin_secs: None,
            };
        }
        let cells = match (ticks.len(), end_secs > 0.0) {
            (_, false) => 1,
            (0 | 1, true) => UNSAMPLED_CELLS,
            (_, true) => MOST_CELLS,
        };
        let width = end_secs / cells as f64;
        let edges: Vec<f64> = (0..=cells).map(|edge| width * edge as f64).collect();
        let cell_of_tick = ticks.iter().map(|tick| cell_of(&edges, *tick)).collect();
        let time = (0..cells).map(|cell| width * (cell as f64 + 0.5)).collect();
        Self { ticks, cell_of_tick, time, edges, bin_secs: Some(width) }
    }

    pub(crate) fn time(&self) -> &[f64] {
        &self.time
    }

    pub(crate) fn edges(&self) -> &[f64] {
        &self.edges
    }

    pub(crate) fn cells(&self) -> usize {
        self.time.len()
    }

    pub(crate) fn bin_secs(&self) -> Option<f64> {
        self.bin_secs
    }

    pub(crate) fn end_secs(&self) -> f64 {
        self.edges.last().copied().unwrap_or(0.0)
    }

    /// How many samples were taken.
    pub(crate) fn ticks(&self) -> usize {
        self.ticks.len()
    }

    pub(crate) fn cell_of_tick(&self, tick: usize) -> Option<usize> {
        self.cell_of_tick.get(tick).copied()
    }

    /// The sample that was taken closest to a moment; there may be none at all.
    pub(crate) fn nearest_tick(&self, secs: f64) -> Option<usize> {
        let after = self.ticks.partition_point(|tick| *tick < secs);
        let distance = |tick: usize| self.ticks.get(tick).map(|tick| (tick - secs).abs());
        match (after.checked_sub(1).and_then(distance), distance(after)) {
            (None, None) => None,
            (Some(_), None) => Some(after - 1),
            (Some(before), Some(later)) if before < later => Some(after - 1),
            _ => Some(after),
        }
    }

    /// From when to when the samples from one to another stand for: halfway to
    /// their neighbours, and to the ends of the run.
    pub(crate) fn reach(&self, first: usize, last: usize) -> (f64, f64) {
        let tick = |index: usize| self.ticks.get(index).copied();
        let before = first.checked_sub(1).and_then(tick);
        let start = match (before, tick(first)) {
            (Some(a), Some(b)) => f64::midpoint(a, b),
            _ => 0.0,
        };
        let stop = match (tick(last), tick(last.saturating_add(1))) {
            (Some(a), Some(b)) => f64::midpoint(a, b),
            _ => self.end_secs(),
        };
        (start, stop)
    }
}

/// The cell between whose edges a moment lies; the first or last one if none.
pub(crate) fn cell_of(edges: &[f64], secs: f64) -> usize {
    let last = edges.len().saturating_sub(2);
    edges.partition_point(|edge| *edge <= secs).saturating_sub(1).min(last)
}

/// Bounds halfway between neighbours, from the start to the end of the run.
fn halfway(ticks: &[f64], end_secs: f64) -> Vec<f64> {
    let between = ticks.windows(2).map(|pair| pair.iter().sum::<f64>() / 2.0);
    std::iter::once(0.0).chain(between).chain([end_secs]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_stay_as_they_are() {
        let axis = Axis::new(vec![10.0, -0.1, 4.0, 4.0, 12.0], 11.0);
        assert_eq!(axis.time(), [0.0, 4.0, 10.0, 11.0]);
        assert_eq!(axis.edges(), [0.0, 2.0, 7.0, 10.5, 11.0]);
        assert_eq!(axis.bin_secs(), None);
        assert_eq!(axis.nearest_tick(6.9), Some(1));
        assert_eq!(axis.nearest_tick(99.0), Some(3));
        assert_eq!(axis.reach(1, 2), (2.0, 10.5));
        assert_eq!(axis.reach(0, 3), (0.0, 11.0));
    }

    #[test]
    fn many_samples_become_bins() {
        let axis = Axis::new((0..3600).map(f64::from).collect(), 3600.0);
        assert_eq!((axis.cells(), axis.bin_secs()), (1500, Some(2.4)));
        assert_eq!(axis.cell_of_tick(0), Some(0));
        assert_eq!(axis.cell_of_tick(3), Some(1));
        assert_eq!(axis.cell_of_tick(3599), Some(1499));
        assert_eq!(axis.end_secs(), 3600.0);
    }

    #[test]
    fn a_run_of_no_length_has_one_cell() {
        for ticks in [vec![], vec![0.0], vec![3.0, 4.0]] {
            let axis = Axis::new(ticks, 0.0);
            assert_eq!((axis.cells(), axis.end_secs()), (1, 0.0));
            assert_eq!(cell_of(axis.edges(), 0.0), 0);
        }
    }
}
