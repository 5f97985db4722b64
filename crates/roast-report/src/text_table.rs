//! Tables in aligned columns of a given width. Where space is short, names are
//! shortened from the left, since their end tells them apart; then columns are
//! left out, the last first.

use textwrap::core::display_width;

use crate::data_table::{CellKind, DataTable};
use crate::text::clean;

const GAP: usize = 2;
const MISSING: &str = "–";
/// Shorter than this a name says nothing.
const MIN_NAME_WIDTH: usize = 20;

/// The line of titles and the lines of the rows; the titles are `None` where the
/// table has none.
pub(crate) fn lines(table: &DataTable, width: usize) -> (Option<String>, Vec<String>) {
    let shown: Vec<Vec<String>> = table
        .rows
        .iter()
        .take(table.text_rows)
        .map(|row| {
            row.iter().map(|cell| clean(cell.as_deref().unwrap_or(MISSING)).into_owned()).collect()
        })
        .collect();
    let titled = table.columns.iter().any(|column| !column.title.is_empty());
    let mut widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = shown.iter().filter_map(|row| row.get(index));
            let widest = cells.map(|cell| display_width(cell)).max().unwrap_or(0);
            widest.max(display_width(column.title)).max(1)
        })
        .collect();
    fit(&mut widths, table, width);
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut line = String::new();
        for ((cell, column), width) in cells.zip(&table.columns).zip(&widths) {
            if !line.is_empty() {
                line.push_str(&" ".repeat(GAP));
            }
            let cell = shortened(cell, *width);
            let blank = " ".repeat(width.saturating_sub(display_width(&cell)));
            match column.kind {
                CellKind::Number => line.extend([blank.as_str(), cell.as_str()]),
                CellKind::Name | CellKind::Words => line.extend([cell.as_str(), blank.as_str()]),
            }
        }
        line.trim_end().to_owned()
    };
    let titles = titled.then(|| line(&mut table.columns.iter().map(|column| column.title)));
    let rows = shown.iter().map(|row| line(&mut row.iter().map(String::as_str))).collect();
    (titles, rows)
}

/// Makes the columns fit: as many as there are widths left.
fn fit(widths: &mut Vec<usize>, table: &DataTable, width: usize) {
    let total = |widths: &[usize]| widths.iter().map(|width| width + GAP).sum::<usize>() - GAP;
    while widths.len() > 1 && total(widths) > width {
        let widest_name = widths
            .iter_mut()
            .zip(&table.columns)
            .filter(|(width, column)| column.kind == CellKind::Name && **width > MIN_NAME_WIDTH)
            .map(|(width, _)| width)
            .max();
        match widest_name {
            Some(name) => *name -= 1,
            None => {
                widths.pop();
            }
        }
    }
    if let [only] = widths.as_mut_slice() {
        *only = (*only).min(width);
    }
}

/// The end of a text that is too long, after a mark that something is missing.
fn shortened(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let end = text
        .char_indices()
        .map(|(start, _)| text.get(start..).unwrap_or_default())
        .find(|end| display_width(end) < width)
        .unwrap_or_default();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_beginning() {
        assert_eq!(shortened("root://eos/nano_1.root", 12), "…nano_1.root");
        assert_eq!(shortened("short", 12), "short");
        assert_eq!(shortened("日本語の名前", 6), "…名前");
        assert_eq!(shortened("ab", 1), "…");
    }
}
