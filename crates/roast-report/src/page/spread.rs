//! Amounts that were produced evenly from one moment to another, laid out over
//! cells of time. The sum over the cells is the sum of what was put in.

use super::axis::cell_of;

/// What is put in costs the same however many cells it covers.
#[derive(Clone, Debug)]
pub(crate) struct Spread<'e> {
    edges: &'e [f64],
    /// What falls into a cell without filling it.
    parts: Vec<f64>,
    /// Changes of what all further cells get per second, and of how many give it.
    slopes: Vec<(f64, i64)>,
}

impl<'e> Spread<'e> {
    /// Cells between these bounds, which are in order.
    pub(crate) fn new(edges: &'e [f64]) -> Self {
        let cells = edges.len().saturating_sub(1);
        Self { edges, parts: vec![0.0; cells], slopes: vec![(0.0, 0); cells + 1] }
    }

    /// Puts in an amount. What lies outside of the cells counts at their ends:
    /// clocks of different hosts do not agree to the last.
    pub(crate) fn add(&mut self, (start, stop): (f64, f64), amount: f64) {
        let (Some(first), Some(last)) = (self.edges.first(), self.edges.last()) else { return };
        let (start, stop) = (start.clamp(*first, *last), stop.clamp(*first, *last));
        let (from, to) = (cell_of(self.edges, start), cell_of(self.edges, stop));
        if from >= to || stop <= start {
            self.part(from, amount);
            return;
        }
        let rate = amount / (stop - start);
        let edge = |index: usize| self.edges.get(index).copied().unwrap_or(*last);
        let (begun, ended) = (edge(from + 1) - start, stop - edge(to));
        self.part(from, rate * begun);
        self.part(to, rate * ended);
        self.slope(from + 1, rate, 1);
        self.slope(to, -rate, -1);
    }

    fn part(&mut self, cell: usize, amount: f64) {
        if let Some(part) = self.parts.get_mut(cell) {
            *part += amount;
        }
    }

    fn slope(&mut self, cell: usize, rate: f64, count: i64) {
        if let Some(slope) = self.slopes.get_mut(cell) {
            slope.0 += rate;
            slope.1 += count;
        }
    }

    /// The amount in each cell.
    pub(crate) fn amounts(&self) -> Vec<f64> {
        let (mut rate, mut count) = (0.0, 0);
        let widths = self.edges.windows(2).map(|pair| match pair {
            [start, stop] => stop - start,
            _ => 0.0,
        });
        self.parts
            .iter()
            .zip(&self.slopes)
            .zip(widths)
            .map(|((part, slope), width)| {
                rate += slope.0;
                count += slope.1;
                // Nothing is going on: what is left of the rate is rounding.
                if count == 0 {
                    rate = 0.0;
                }
                (part + rate * width).max(0.0)
            })
            .collect()
    }

    /// The amount per second in each cell; missing in a cell of no length.
    pub(crate) fn rates(&self) -> Vec<Option<f64>> {
        let widths = self.edges.windows(2).map(|pair| match pair {
            [start, stop] => stop - start,
            _ => 0.0,
        });
        self.amounts()
            .into_iter()
            .zip(widths)
            .map(|(amount, width)| (width > 0.0).then(|| amount / width))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_out_on_paper() {
        let edges = [0.0, 1.0, 2.0, 4.0, 5.0];
        let mut spread = Spread::new(&edges);
        spread.add((0.5, 4.5), 8.0);
        assert_eq!(spread.amounts(), [1.0, 2.0, 4.0, 1.0]);
        assert_eq!(spread.rates(), [Some(1.0), Some(2.0), Some(2.0), Some(1.0)]);
        spread.add((1.5, 1.5), 3.0);
        spread.add((-9.0, -8.0), 5.0);
        spread.add((4.0, 99.0), 7.0);
        assert_eq!(spread.amounts(), [6.0, 5.0, 4.0, 8.0]);
    }

    #[test]
    fn nothing_is_lost_and_nothing_is_left_over() {
        let edges: Vec<f64> = (0..=100).map(|edge| f64::from(edge) * 0.7).collect();
        let mut spread = Spread::new(&edges);
        let mut total = 0.0;
        for index in 0..1000_u32 {
            let start = f64::from(index * 37 % 500) / 10.0;
            let length = f64::from(index * 53 % 97) / 10.0;
            spread.add((start, start + length), f64::from(index));
            total += f64::from(index);
        }
        let amounts = spread.amounts();
        assert!((amounts.iter().sum::<f64>() - total).abs() < 1e-6 * total);
        // The last one ended at 59.5 s at the latest.
        assert!(amounts.iter().skip(86).all(|amount| *amount == 0.0));
    }

    #[test]
    fn cells_of_no_length_have_no_rate() {
        let mut spread = Spread::new(&[0.0, 0.0]);
        spread.add((0.0, 1.0), 5.0);
        assert_eq!((spread.amounts(), spread.rates()), (vec![5.0], vec![None]));
        assert!(Spread::new(&[]).amounts().is_empty());
    }
}
