//! The `sections` table while it grows.

use roast_model::{Column, FloatColumn, IntColumn, NameColumn};

use crate::chunk_columns::{LogNames, to_i64};
use crate::chunk_log::ChunkLog;
use crate::kinds::SectionKind;
use crate::row::{Row, Section};

/// A section with what follows from those around it.
#[derive(Clone, Copy)]
struct Placed {
    section: Section,
    chunk_id: i64,
    dataset: Option<u32>,
    depth: u32,
    occurrence: u32,
}

/// Columns, and the sections that are not in them yet.
#[derive(Default)]
pub(crate) struct SectionColumns {
    waiting: Vec<Placed>,
    /// How often a name came in this row, by name and kind.
    seen: Vec<[u32; SectionKind::ALL.len()]>,
    chunk_id: IntColumn,
    dataset: LogNames,
    section: LogNames,
    kind: NameColumn,
    depth: IntColumn,
    parent: IntColumn,
    occurrence: IntColumn,
    start: FloatColumn,
    wall: FloatColumn,
    cpu: FloatColumn,
    rss_start: IntColumn,
    rss_end: IntColumn,
    bytes: IntColumn,
    count: IntColumn,
}

impl SectionColumns {
    pub(crate) fn push(&mut self, chunk_id: i64, dataset: Option<u32>, row: &Row) {
        let first = self.waiting.len();
        for section in &row.sections {
            let around = section.parent.and_then(|parent| usize::try_from(parent).ok());
            let around = around.and_then(|parent| self.waiting.get(first + parent));
            let depth = around.map_or(0, |around| around.depth.saturating_add(1));
            let occurrence = self.seen(section).map_or(0, |seen| {
                *seen += 1;
                *seen - 1
            });
            self.waiting.push(Placed { section: *section, chunk_id, dataset, depth, occurrence });
        }
        for section in &row.sections {
            if let Some(seen) = self.seen(section) {
                *seen = 0;
            }
        }
    }

    fn seen(&mut self, section: &Section) -> Option<&mut u32> {
        let name = usize::try_from(section.name).ok()?;
        if self.seen.len() <= name {
            self.seen.resize(name + 1, Default::default());
        }
        self.seen.get_mut(name)?.get_mut(section.kind as usize)
    }

    /// Tells how many times as many sections there will be as now wait, about.
    pub(crate) fn expect_rows(&mut self, times: f64) {
        // Chunks do not all have as many.
        let rows = (self.waiting.len() as f64 * times * 1.05) as usize;
        self.dataset.expect_rows(rows);
        self.section.expect_rows(rows);
        self.kind.expect_rows(rows);
        for column in [
            &mut self.chunk_id,
            &mut self.depth,
            &mut self.parent,
            &mut self.occurrence,
            &mut self.rss_start,
            &mut self.rss_end,
            &mut self.bytes,
            &mut self.count,
        ] {
            column.expect_rows(rows);
        }
        for column in [&mut self.start, &mut self.wall, &mut self.cpu] {
            column.expect_rows(rows);
        }
    }

    /// Puts what waits into the columns.
    pub(crate) fn settle(&mut self) {
        let placed = self.waiting.iter();
        let sections = || placed.clone().map(|placed| &placed.section);
        self.chunk_id.extend(placed.clone().map(|placed| Some(placed.chunk_id)));
        self.dataset.extend(placed.clone().map(|placed| placed.dataset));
        self.section.extend(sections().map(|section| Some(section.name)));
        self.kind.extend(sections().map(|section| Some(section.kind.name())));
        self.depth.extend(placed.clone().map(|placed| Some(placed.depth.into())));
        self.parent.extend(sections().map(|section| section.parent.map(i64::from)));
        self.occurrence.extend(placed.clone().map(|placed| Some(placed.occurrence.into())));
        self.start.extend_tenth_micros(sections().map(|section| section.start));
        self.wall.extend_tenth_micros(sections().map(|section| section.wall));
        self.cpu.extend_tenth_micros(sections().map(|section| section.cpu));
        self.rss_start.extend(sections().map(|section| section.rss_start_bytes));
        self.rss_end.extend(sections().map(|section| section.rss_end_bytes));
        self.bytes.extend(sections().map(|section| section.bytes));
        self.count.extend(sections().map(|section| Some(to_i64(section.count))));
        self.waiting.clear();
    }

    /// The columns of the table, in order.
    pub(crate) fn finish(mut self, log: &ChunkLog) -> Vec<Column> {
        self.settle();
        vec![
            Column::Int(self.chunk_id),
            Column::Name(self.dataset.finish(log)),
            Column::Name(self.section.finish(log)),
            Column::Name(self.kind),
            Column::Int(self.depth),
            Column::Int(self.parent),
            Column::Int(self.occurrence),
            Column::Float(self.start),
            Column::Float(self.wall),
            Column::Float(self.cpu),
            Column::Int(self.rss_start),
            Column::Int(self.rss_end),
            Column::Int(self.bytes),
            Column::Int(self.count),
        ]
    }
}

#[cfg(test)]
mod tests {
    use roast_model::Table;

    #[test]
    fn columns_are_in_the_order_of_the_table() {
        let names: Vec<&str> = Table::Sections.columns().iter().map(|def| def.name).collect();
        let ours = [
            "chunk_id",
            "dataset",
            "section",
            "kind",
            "depth",
            "parent",
            "occurrence",
            "start_secs",
            "wall_secs",
            "cpu_secs",
            "rss_start_bytes",
            "rss_end_bytes",
            "bytes",
            "count",
        ];
        assert_eq!(names, ours);
    }
}
