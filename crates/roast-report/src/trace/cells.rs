//! Cells of a table by row and column; a column that is not there has none.

use arrow_array::RecordBatch;
use roast_model::{FloatCells, Frame, IntCells, NameCells};

pub(super) type Ints<'a> = IntCells<'a>;
pub(super) type Times<'a> = IntCells<'a>;
pub(super) type Names<'a> = NameCells<'a>;
#[derive(Clone, Copy)]
pub(super) struct Floats<'a>(FloatCells<'a>);

pub(super) fn ints<'a>(batch: &'a RecordBatch, column: &str) -> Ints<'a> {
    Frame::new(batch).int_cells(column)
}

pub(super) fn floats<'a>(batch: &'a RecordBatch, column: &str) -> Floats<'a> {
    Floats(Frame::new(batch).float_cells(column))
}

pub(super) fn times<'a>(batch: &'a RecordBatch, column: &str) -> Times<'a> {
    Frame::new(batch).int_cells(column)
}

pub(super) fn names<'a>(batch: &'a RecordBatch, column: &str) -> Names<'a> {
    Frame::new(batch).name_cells(column)
}

impl Floats<'_> {
    pub(super) fn get(self, row: usize) -> Option<f64> {
        self.0.get(row).filter(|number| number.is_finite())
    }
}
