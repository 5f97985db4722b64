//! A table of the page: typed cells, so that the page can sort and format them.

use serde::Serialize;

use super::number::short;

/// Rows at most: the heaviest.
pub(crate) const MOST_ROWS: usize = 1000;

/// A table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) key: &'static str,
    pub(crate) title: &'static str,
    pub(crate) note: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) total_rows: usize,
    pub(crate) missing: Option<String>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) key: &'static str,
    pub(crate) label: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) note: &'static str,
}

/// A cell; missing is `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Missing,
    Text(String),
    Whole(i64),
    Real(f64),
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.filter(|number| number.is_finite()).map_or(Self::Missing, |n| Self::Real(short(n)))
    }
}

impl From<Option<i64>> for Cell {
    fn from(number: Option<i64>) -> Self {
        number.map_or(Self::Missing, Self::Whole)
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::Whole(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Option<String>> for Cell {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Missing, Self::Text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Table {
    /// A table of these rows, of which `total_rows` there are in all; without any,
    /// the sentence says why.
    pub(crate) fn new(
        (key, title): (&'static str, &'static str),
        columns: &[Column],
        rows: Vec<Vec<Cell>>,
        total_rows: usize,
        missing: impl FnOnce() -> String,
    ) -> Self {
        let missing = rows.is_empty().then(missing);
        let table = Self {
            key,
            title,
            note: String::new(),
            columns: columns.to_vec(),
            rows,
            total_rows,
            missing,
        };
        table.without_empty_columns()
    }

    #[must_use]
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// What is missing in every row needs no column.
    fn without_empty_columns(mut self) -> Self {
        if self.rows.is_empty() {
            return self;
        }
        let mut filled = vec![false; self.columns.len()];
        for row in &self.rows {
            for (filled, cell) in filled.iter_mut().zip(row) {
                *filled |= *cell != Cell::Missing;
            }
        }
        let mut keep = filled.iter();
        self.columns.retain(|_| keep.next().copied().unwrap_or(true));
        for row in &mut self.rows {
            let mut keep = filled.iter();
            row.retain(|_| keep.next().copied().unwrap_or(true));
        }
        self
    }
}

/// A column.
pub(crate) const fn column(
    key: &'static str,
    label: &'static str,
    kind: &'static str,
    note: &'static str,
) -> Column {
    Column { key, label, kind, note }
}

/// A part of a whole.
pub(crate) fn share(part: Option<f64>, whole: Option<f64>) -> Cell {
    let whole = whole.filter(|whole| *whole > 0.0);
    part.zip(whole).map(|(part, whole)| part / whole).into()
}

/// The places of the heaviest, in order; of equal ones, the first.
pub(crate) fn heaviest(weights: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    let weight = |index: &usize| weights.get(*index).copied().unwrap_or(f64::NEG_INFINITY);
    let before = |a: &usize, b: &usize| weight(b).total_cmp(&weight(a)).then(a.cmp(b));
    if order.len() > MOST_ROWS {
        order.select_nth_unstable_by(MOST_ROWS, before);
        order.truncate(MOST_ROWS);
    }
    order.sort_unstable_by(before);
    order
}
