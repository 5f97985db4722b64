//! A log as tables: chunks, sections, columns, branch sets and files. Equal
//! logs give equal tables, however they were merged.

use std::collections::HashMap;

use roast_model::{ColumnData, Table, TableBuilder, TableError};

use crate::branch_tables::BranchUse;
use crate::chunk_columns::{CHUNK_COLUMNS, Growing, View, named, to_i64};
use crate::chunk_log::ChunkLog;
use crate::order::RowOrder;
use crate::row::{Row, Section};

/// Seconds from units of 100 ns.
pub(crate) fn section_secs(units: Option<u64>) -> Option<f64> {
    units.map(|units| units as f64 / 1e7)
}

impl ChunkLog {
    /// Tables of chunks, sections, columns, branch sets and files.
    pub fn tables(&self) -> Result<Vec<TableBuilder>, TableError> {
        let order = RowOrder::of(self);
        let numbers = Self::set_numbers(&order);
        let mut chunks: Vec<Growing> =
            CHUNK_COLUMNS.iter().map(|(_, get)| Growing::for_getter(*get)).collect();
        let mut sections = SectionColumns::default();
        let mut use_of = BranchUse::default();
        for (position, ranked) in order.rows.iter().enumerate() {
            let Some(row) = self.rows.get(ranked.index).map(|stored| stored.unpack()) else {
                continue;
            };
            let chunk_id = to_i64(position as u64);
            let branch_set = row.branch_set.and_then(|set| numbers.get(&set).copied());
            let view = View { log: self, row: &row, ranked: *ranked, chunk_id, branch_set };
            for (column, (_, get)) in chunks.iter_mut().zip(CHUNK_COLUMNS) {
                column.push(*get, &view);
            }
            let source = self.sources.get(row.source).copied().unwrap_or_default();
            sections.push(chunk_id, source.dataset, &row);
            use_of.push(source, &row, ranked.chunk, ranked.outcome);
        }
        let chunks = CHUNK_COLUMNS
            .iter()
            .zip(chunks)
            .map(|((name, _), column)| ((*name).to_owned(), column.finish(self)))
            .collect();
        Ok(vec![
            built(Table::Chunks, chunks)?,
            built(Table::Sections, sections.finish(self))?,
            built(Table::Columns, self.column_columns(&use_of))?,
            built(Table::BranchSets, self.branch_set_columns(&numbers))?,
            built(Table::Files, self.file_columns(&use_of))?,
        ])
    }

    /// Branch sets numbered by first use, so that numbers do not depend on how
    /// logs were merged.
    fn set_numbers(order: &RowOrder) -> HashMap<u32, i64> {
        let mut numbers = HashMap::new();
        for set in order.rows.iter().filter_map(|ranked| ranked.branch_set) {
            let next = to_i64(numbers.len() as u64);
            numbers.entry(set).or_insert(next);
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

/// The `sections` table while it grows.
#[derive(Default)]
struct SectionColumns {
    datasets: Vec<Option<u32>>,
    /// Chunk, depth, occurrence.
    places: Vec<(i64, i64, i64)>,
    sections: Vec<Section>,
}

impl SectionColumns {
    fn push(&mut self, chunk_id: i64, dataset: Option<u32>, row: &Row) {
        let mut depths: Vec<i64> = Vec::with_capacity(row.sections.len());
        let mut seen: HashMap<(u32, &str), i64> = HashMap::new();
        for section in &row.sections {
            let parent =
                section.parent.and_then(|parent| depths.get(usize::try_from(parent).ok()?));
            let depth = parent.map_or(0, |depth| depth + 1);
            depths.push(depth);
            let before = seen.entry((section.name, section.kind.name())).or_default();
            self.places.push((chunk_id, depth, *before));
            *before += 1;
            self.datasets.push(dataset);
            self.sections.push(*section);
        }
    }

    fn finish(self, log: &ChunkLog) -> Vec<(String, ColumnData)> {
        let ints = |get: &dyn Fn(&Section) -> Option<i64>| {
            ColumnData::Ints(self.sections.iter().map(get).collect())
        };
        let times = |get: &dyn Fn(&Section) -> Option<u64>| {
            ColumnData::Floats(self.sections.iter().map(|s| section_secs(get(s))).collect())
        };
        let place = |get: &dyn Fn(&(i64, i64, i64)) -> i64| {
            ColumnData::Ints(self.places.iter().map(|place| Some(get(place))).collect())
        };
        let kinds = self.sections.iter().map(|section| Some(section.kind.name().to_owned()));
        vec![
            column("chunk_id", place(&|place| place.0)),
            column("dataset", named(log, self.datasets.clone())),
            column("section", named(log, self.sections.iter().map(|s| Some(s.name)).collect())),
            column("kind", ColumnData::Texts(kinds.collect())),
            column("depth", place(&|place| place.1)),
            column("parent", ints(&|section| section.parent.map(i64::from))),
            column("occurrence", place(&|place| place.2)),
            column("start_secs", times(&|section| section.start)),
            column("wall_secs", times(&|section| section.wall)),
            column("cpu_secs", times(&|section| section.cpu)),
            column("rss_start_bytes", ints(&|section| section.rss_start_bytes)),
            column("rss_end_bytes", ints(&|section| section.rss_end_bytes)),
            column("bytes", ints(&|section| section.bytes)),
            column("count", ints(&|section| Some(to_i64(section.count)))),
        ]
    }
}
