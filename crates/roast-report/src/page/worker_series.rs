//! What workers were sampled to be, over the axis: each quantity over the workers
//! (with the least and the most of them), or summed up.

use roast_analyze::WorkerRow;

use super::number::short;
use super::run::Run;

/// A quantity over the axis. What a cell holds is missing where nothing was sampled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reduced {
    pub(crate) mean: Vec<Option<f64>>,
    pub(crate) low: Vec<Option<f64>>,
    pub(crate) high: Vec<Option<f64>>,
}

impl Reduced {
    pub(crate) fn is_known(&self) -> bool {
        self.mean.iter().any(Option::is_some)
    }

    /// Whether a cell holds more than one number.
    pub(crate) fn has_band(&self) -> bool {
        self.low != self.high
    }
}

/// Cells that take in numbers.
#[derive(Clone, Debug)]
struct Cells {
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    sum: f64,
    weight: f64,
    low: f64,
    high: f64,
}

impl Cells {
    fn new(count: usize) -> Self {
        let empty = Cell { sum: 0.0, weight: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };
        Self { cells: vec![empty; count] }
    }

    fn add(&mut self, cell: usize, number: f64, weight: f64) {
        if let Some(cell) = self.cells.get_mut(cell) {
            cell.sum += number * weight;
            cell.weight += weight;
            cell.low = cell.low.min(number);
            cell.high = cell.high.max(number);
        }
    }

    fn reduced(&self) -> Reduced {
        let column = |get: fn(&Cell) -> f64| {
            self.cells
                .iter()
                .map(|cell| (cell.weight > 0.0).then(|| short(get(cell))))
                .collect::<Vec<_>>()
        };
        Reduced {
            // Rounding may carry the mean of equal numbers just past them.
            mean: column(|cell| (cell.sum / cell.weight).clamp(cell.low, cell.high)),
            low: column(|cell| cell.low),
            high: column(|cell| cell.high),
        }
    }
}

/// A quantity of one worker: mean, least and most over workers and samples.
pub(crate) fn over_workers(
    run: &Run<'_>,
    quantity: impl Fn(&WorkerRow<'_>) -> Option<f64>,
) -> Reduced {
    let mut cells = Cells::new(run.axis.cells());
    for (row, first, last) in run.sampled() {
        let Some(number) = quantity(row).filter(|number| number.is_finite()) else { continue };
        for tick in first..=last {
            if let Some(cell) = run.axis.cell_of_tick(tick) {
                cells.add(cell, number, 1.0);
            }
        }
    }
    cells.reduced()
}

/// A quantity summed over the workers at each sample: mean, least and most over
/// the samples of a cell.
pub(crate) fn summed(run: &Run<'_>, quantity: impl Fn(&WorkerRow<'_>) -> Option<i64>) -> Reduced {
    let count = run.axis.ticks();
    let mut changes = vec![(0_i128, 0_i64); count + 1];
    for (row, first, last) in run.sampled() {
        let Some(amount) = quantity(row) else { continue };
        for (tick, sign) in [(first, 1), (last + 1, -1)] {
            if let Some(change) = changes.get_mut(tick) {
                change.0 += i128::from(sign * amount);
                change.1 += sign;
            }
        }
    }
    let (mut sum, mut reporting) = (0_i128, 0_i64);
    let sums = changes.into_iter().take(count).map(|change| {
        sum += change.0;
        reporting += change.1;
        (reporting > 0).then_some(sum as f64)
    });
    of_ticks(run, sums.enumerate())
}

/// Numbers by sample: mean, least and most in each cell.
pub(crate) fn of_ticks(
    run: &Run<'_>,
    numbers: impl Iterator<Item = (usize, Option<f64>)>,
) -> Reduced {
    let mut cells = Cells::new(run.axis.cells());
    for (tick, number) in numbers {
        if let (Some(cell), Some(number)) = (run.axis.cell_of_tick(tick), number) {
            cells.add(cell, number, 1.0);
        }
    }
    cells.reduced()
}
