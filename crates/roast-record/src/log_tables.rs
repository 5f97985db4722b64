//! A log as tables: chunks, sections, columns, branch sets and files. Equal
//! logs give equal tables, however they were merged.

use std::collections::HashMap;

use roast_model::{ColumnData, Table, TableBuilder, TableError, both};

use crate::branch_tables::BranchUse;
use crate::chunk_columns::{CHUNK_COLUMNS, Growing, View, to_i64};
use crate::chunk_log::ChunkLog;
use crate::order::{Outcome, Ranked, RowOrder};
use crate::row::Row;
use crate::section_columns::SectionColumns;

/// Rows that are unpacked before they become columns: as many as stay in a core's
/// own memory.
const ROWS_PER_BATCH: usize = 512;
/// With fewer rows a second thread is not worth its start.
const ROWS_WORTH_A_THREAD: usize = 10_000;

/// Seconds from units of 100 ns.
pub(crate) fn section_secs(units: Option<u64>) -> Option<f64> {
    units.map(|units| units as f64 / 1e7)
}

impl ChunkLog {
    /// Tables of chunks, sections, columns, branch sets and files.
    pub fn tables(&self) -> Result<Vec<TableBuilder>, TableError> {
        let order = RowOrder::of(self);
        let numbers = Self::set_numbers(&order);
        let whole = if order.len() < ROWS_WORTH_A_THREAD {
            Part::of(self, &order.rows, 0, order.len(), &numbers)?
        } else {
            self.halves(&order, &numbers)?
        };
        let use_of = BranchUse::of(self, &order, &whole.bytes_of_source);
        Ok(vec![
            whole.chunks,
            whole.sections,
            built(Table::Columns, self.column_columns(&use_of))?,
            built(Table::BranchSets, self.branch_set_columns(&numbers))?,
            built(Table::Files, self.file_columns(&use_of))?,
        ])
    }

    /// Half of the rows on a thread of their own, then put together.
    fn halves(&self, order: &RowOrder, numbers: &HashMap<u32, i64>) -> Result<Part, TableError> {
        let middle = order.len() / 2;
        let (first, second) = order.rows.split_at(middle);
        let (first, second) = both(
            || Part::of(self, first, 0, order.len(), numbers),
            || Part::of(self, second, middle, second.len(), numbers),
        );
        let mut whole = first?;
        whole.append(second?)?;
        Ok(whole)
    }

    /// Branch sets numbered by first use, so that numbers do not depend on how
    /// logs were merged.
    fn set_numbers(order: &RowOrder) -> HashMap<u32, i64> {
        let mut numbers = HashMap::new();
        let mut last = None;
        for set in order.rows.iter().filter_map(|ranked| ranked.branch_set) {
            if last.replace(set) != Some(set) {
                let next = to_i64(numbers.len() as u64);
                numbers.entry(set).or_insert(next);
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

/// Tables of a stretch of the rows.
struct Part {
    chunks: TableBuilder,
    sections: TableBuilder,
    /// Bytes that successful attempts read, by the log's number of their source.
    bytes_of_source: Vec<Option<i64>>,
}

impl Part {
    /// Unpacks rows by the batch; the first of them is row number `before`. In the
    /// end there will be `rows`, those that are added later included.
    fn of(
        log: &ChunkLog,
        ranked: &[Ranked],
        before: usize,
        rows: usize,
        numbers: &HashMap<u32, i64>,
    ) -> Result<Self, TableError> {
        let kinds = Table::Chunks.columns().iter().map(|def| def.kind);
        let mut chunks: Vec<Growing> = kinds
            .zip(CHUNK_COLUMNS)
            .map(|(kind, (_, get))| Growing::new(kind, *get, rows))
            .collect();
        let mut sections = SectionColumns::default();
        let mut bytes_of_source: Vec<Option<i64>> = vec![None; log.palettes.sources.len()];
        let mut unpacked: Vec<Row> = vec![Row::default(); ROWS_PER_BATCH.min(ranked.len())];
        let mut last_set = (None, None);
        for (batch, ranked) in ranked.chunks(ROWS_PER_BATCH).enumerate() {
            for (row, ranked) in unpacked.iter_mut().zip(ranked) {
                if let Some(stored) = log.content.rows.get(ranked.index as usize) {
                    log.content.rows.unpack_into(stored, row);
                }
            }
            let first = before + batch * ROWS_PER_BATCH;
            let mut views: Vec<View<'_>> = Vec::with_capacity(ranked.len());
            for (position, (row, ranked)) in unpacked.iter().zip(ranked).enumerate() {
                let chunk_id = to_i64((first + position) as u64);
                if last_set.0 != row.branch_set {
                    let number = row.branch_set.and_then(|set| numbers.get(&set).copied());
                    last_set = (row.branch_set, number);
                }
                let source = log.palettes.sources.get(row.source).copied().unwrap_or_default();
                let place = log.palettes.places.get(row.place).copied().unwrap_or_default();
                let branch_set = last_set.1;
                sections.push(chunk_id, source.dataset, row);
                let sum = bytes_of_source.get_mut(row.source as usize);
                if let (Outcome::Ok, Some(sum)) = (ranked.outcome, sum) {
                    *sum = added(*sum, row.bytes_read);
                }
                views.push(View { log, row, source, place, ranked: *ranked, chunk_id, branch_set });
            }
            for (column, (_, get)) in chunks.iter_mut().zip(CHUNK_COLUMNS) {
                column.extend(*get, &views);
            }
            if batch == 0 {
                sections.expect_rows(rows as f64 / ranked.len() as f64);
            }
            sections.settle();
        }
        let chunks = chunks.into_iter().map(|column| column.finish(log)).collect();
        Ok(Self {
            chunks: TableBuilder::from_columns(Table::Chunks, chunks)?,
            sections: TableBuilder::from_columns(Table::Sections, sections.finish(log))?,
            bytes_of_source,
        })
    }

    /// Adds the rows that follow.
    fn append(&mut self, later: Self) -> Result<(), TableError> {
        let Self { chunks, sections, .. } = self;
        let mut later_sections = Some(later.sections);
        let (chunks, sections) = both(
            || chunks.append_table(later.chunks),
            || later_sections.take().map_or(Ok(()), |later| sections.append_table(later)),
        );
        chunks?;
        sections?;
        for (sum, more) in self.bytes_of_source.iter_mut().zip(later.bytes_of_source) {
            *sum = added(*sum, more);
        }
        Ok(())
    }
}

/// The sum of what is known; missing only if nothing is.
pub(crate) fn added(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}
