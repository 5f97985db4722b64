//! A log as tables: chunks, sections, columns, branch sets and files. Equal
//! logs give equal tables, however they were merged.

use roast_model::{ColumnData, ROWS_WORTH_A_THREAD, Table, TableBuilder, TableError, both};

use crate::branch_tables::BranchUse;
use crate::chunk_log::ChunkLog;
use crate::order::RowOrder;
use crate::row_columns::RowColumns;

/// By the log's numbers of branch sets, those of the table.
pub(crate) type SetNumbers = Vec<Option<i64>>;

/// Seconds from units of 100 ns.
pub(crate) fn section_secs(units: Option<u64>) -> Option<f64> {
    units.map(|units| units as f64 / 1e7)
}

impl ChunkLog {
    /// Tables of chunks, sections, columns, branch sets and files.
    pub fn tables(&self) -> Result<Vec<TableBuilder>, TableError> {
        let order = RowOrder::of(self);
        let numbers = self.set_numbers(&order);
        let rows = || RowColumns::of(self, &order.rows, &numbers);
        let use_of = || BranchUse::of(self, &order);
        let is_little = self.len() < ROWS_WORTH_A_THREAD;
        let (rows, use_of) = if is_little { (rows(), use_of()) } else { both(rows, use_of) };
        drop(order);
        let branches = || (self.column_columns(&use_of), self.branch_set_columns(&numbers));
        let files = || built(Table::Files, self.file_columns(&use_of, &rows.bytes_of_source));
        let (branches, files) =
            if is_little { (branches(), files()) } else { both(branches, files) };
        Ok(vec![
            TableBuilder::from_columns(Table::Chunks, rows.chunks)?,
            TableBuilder::from_columns(Table::Sections, rows.sections)?,
            built(Table::Columns, branches.0)?,
            built(Table::BranchSets, branches.1)?,
            files?,
        ])
    }

    /// Branch sets numbered by first use, so that numbers do not depend on how
    /// logs were merged.
    fn set_numbers(&self, order: &RowOrder) -> SetNumbers {
        let mut numbers = vec![None; self.palettes.branch_sets.len()];
        let mut next = 0;
        for set in order.rows.iter().filter_map(|ranked| ranked.branch_set) {
            if let Some(number @ None) = numbers.get_mut(set as usize) {
                *number = Some(next);
                next += 1;
            }
        }
        numbers
    }
}

pub(crate) fn column(name: &str, data: ColumnData) -> (String, ColumnData) {
    (name.to_owned(), data)
}

fn built(table: Table, columns: Vec<(String, ColumnData)>) -> Result<TableBuilder, TableError> {
    let mut builder = TableBuilder::new(table);
    builder.append(columns)?;
    Ok(builder)
}

/// The sum of what is known; missing only if nothing is.
pub(crate) fn added(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}
