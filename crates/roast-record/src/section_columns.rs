//! The `sections` table while it grows.

use roast_model::{Column, FloatColumn, IntColumn};

use crate::chunk_columns::{LogNames, View, Words, to_i64};
use crate::chunk_log::ChunkLog;
use crate::kinds::SectionKind;
use crate::row::Section;

#[derive(Default)]
pub(crate) struct SectionColumns {
    /// How deep the sections of this row are.
    depths: Vec<i64>,
    /// How often a name came in this row, by name and kind.
    seen: Vec<[i64; SectionKind::ALL.len()]>,
    chunk_id: IntColumn,
    dataset: LogNames,
    section: LogNames,
    kind: Words,
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
    /// Adds the sections of a row.
    pub(crate) fn push(&mut self, view: &View<'_>) {
        self.depths.clear();
        for section in &view.row.sections {
            let around = section.parent.and_then(|parent| usize::try_from(parent).ok());
            let around = around.and_then(|parent| self.depths.get(parent));
            let depth = around.map_or(0, |depth| depth.saturating_add(1));
            self.depths.push(depth);
            let occurrence = self.seen(section).map_or(0, |seen| {
                *seen += 1;
                *seen - 1
            });
            self.chunk_id.push(Some(view.chunk_id));
            self.dataset.push(view.source.dataset);
            self.section.push(Some(section.name));
            self.kind.push(section.kind.name());
            self.depth.push(Some(depth));
            self.parent.push(section.parent.map(i64::from));
            self.occurrence.push(Some(occurrence));
            self.start.push_tenth_micros(section.start);
            self.wall.push_tenth_micros(section.wall);
            self.cpu.push_tenth_micros(section.cpu);
            self.rss_start.push(section.rss_start_bytes);
            self.rss_end.push(section.rss_end_bytes);
            self.bytes.push(section.bytes);
            self.count.push(Some(to_i64(section.count)));
        }
        for section in &view.row.sections {
            if let Some(seen) = self.seen(section) {
                *seen = 0;
            }
        }
    }

    fn seen(&mut self, section: &Section) -> Option<&mut i64> {
        let name = usize::try_from(section.name).ok()?;
        if self.seen.len() <= name {
            self.seen.resize(name + 1, Default::default());
        }
        self.seen.get_mut(name)?.get_mut(section.kind as usize)
    }

    /// Sections so far.
    pub(crate) fn len(&self) -> usize {
        self.chunk_id.len()
    }

    /// Tells how many there will be.
    pub(crate) fn expect_rows(&mut self, rows: usize) {
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

    /// The columns of the table, in order.
    pub(crate) fn finish(self, log: &ChunkLog) -> Vec<Column> {
        vec![
            Column::Int(self.chunk_id),
            Column::Name(self.dataset.finish(log)),
            Column::Name(self.section.finish(log)),
            Column::Name(self.kind.finish()),
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
