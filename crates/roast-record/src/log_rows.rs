//! A log's rows as users see them, and rows that users hand over.

use std::sync::Arc;

use roast_model::{ShownSection, UtcNs, Value, chunk_row, split_key};

use crate::chunk_columns::View;
use crate::chunk_log::ChunkLog;
use crate::kinds::{ChunkPhase, SectionKind};
use crate::log_tables::section_secs;
use crate::order::{Outcome, Ranked, RowOrder};
use crate::palettes::{Place, Source};
use crate::row::{Row, Section};

const BYTES_PER_MB: f64 = 1_048_576.0;
const BYTES_PER_GB: f64 = 1e9;

impl ChunkLog {
    /// Every row as users see it, in the order of their start.
    pub fn rows(&self) -> Vec<Value> {
        let order = RowOrder::of(self);
        (0..order.len()).filter_map(|position| self.row(&order, position)).collect()
    }

    /// The row at a position of an order that was made from this log.
    pub fn row(&self, order: &RowOrder, position: usize) -> Option<Value> {
        let ranked = *order.rows.get(position)?;
        let row = self.content.rows.unpack(self.content.rows.get(ranked.index as usize)?);
        Some(self.shown(&row, ranked, i64::try_from(position).ok()?))
    }

    fn shown(&self, row: &Row, ranked: Ranked, chunk_id: i64) -> Value {
        let numbers = Vec::new();
        let view = View::new(self, row, ranked, chunk_id, &numbers);
        let sections: Vec<ShownSection<'_>> = row
            .sections
            .iter()
            .map(|section| ShownSection {
                name: self.name_of(Some(section.name)).unwrap_or_default(),
                kind: section.kind.name(),
                wall_secs: section_secs(section.wall),
                rss_start_bytes: section.rss_start_bytes,
                rss_end_bytes: section.rss_end_bytes,
                bytes: section.bytes,
                count: i64::try_from(section.count).unwrap_or(i64::MAX),
            })
            .collect();
        let branches: Option<Vec<&str>> = row.branch_set.map(|set| {
            let set = self.palettes.branch_sets.get(set).map_or(&[][..], AsRef::as_ref);
            set.iter().filter_map(|&branch| self.name_of(Some(branch))).collect()
        });
        chunk_row(&|column| view.cell(column), &sections, branches.as_deref(), row.extra.as_deref())
    }

    /// Adds a row as users write them; `false` if it is no mapping. What has
    /// no place, or would not come back as it was given, is kept beside.
    pub fn add_row(&mut self, given: &Value) -> bool {
        let Value::Map(pairs) = given else { return false };
        let nonce = self.nonce_of(given);
        let mut row = self.row_from(given);
        let alone = Ranked {
            index: 0,
            attempt: 1,
            chunk: 0,
            source: 0,
            branch_set: None,
            outcome: Outcome::Ok,
        };
        let shown = self.shown(&row, alone, i64::try_from(self.len()).unwrap_or(i64::MAX));
        let rest: Vec<(Value, Value)> = pairs
            .iter()
            .filter(|(key, value)| match key.as_str() {
                // What these show depends on the rows that are yet to come.
                Some("chunk_id" | "attempt") => !value.is_none(),
                Some(key) => shown.get(key) != Some(value),
                None => true,
            })
            .cloned()
            .collect();
        if !rest.is_empty() {
            row.extra = Some(Value::Map(rest).to_json().to_string());
        }
        self.push(nonce, row);
        true
    }

    fn row_from(&mut self, given: &Value) -> Row {
        let whole = |key: &str| given.get(key).and_then(Value::as_i64);
        let megabytes =
            |key: &str| finite(given.get(key)?).map(|mb| (mb * BYTES_PER_MB).round() as i64);
        let source = Source {
            dataset: self.name_in(given, "dataset"),
            file: self.name_in(given, "file"),
            uuid: self.name_in(given, "uuid"),
            tree: self.name_in(given, "tree"),
        };
        let place = Place { worker: self.name_in(given, "worker"), host: None, thread: None };
        let mut row = Row {
            source: self.palettes.sources.code_of(source),
            place: self.palettes.places.code_of(place),
            entry_start: whole("entry_start"),
            entry_stop: whole("entry_stop"),
            num_events: whole("num_events"),
            start_ns: given.get("t_start").and_then(epoch_ns),
            stop_ns: given.get("t_end").and_then(epoch_ns),
            rss_start_bytes: megabytes("mem_before_mb"),
            rss_end_bytes: megabytes("mem_after_mb"),
            rss_peak_bytes: megabytes("peak_memory_mb"),
            bytes_read: whole("bytes_read"),
            error: self.name_in(given, "error"),
            ..Row::default()
        };
        let duration = given.get("duration").and_then(duration_us);
        for phase in ChunkPhase::ALL {
            let of_phase = given.get("phases").and_then(|phases| phases.get(phase.name()));
            let wall_us = of_phase
                .and_then(duration_us)
                .or(duration.filter(|_| phase == ChunkPhase::Process));
            if let Some(times) = row.phase_mut(phase) {
                times.wall_us = wall_us;
            }
        }
        let branches: Option<Vec<&str>> = given
            .get("accessed_branches")
            .and_then(Value::items)
            .map(|items| items.iter().filter_map(Value::as_str).collect());
        row.branch_set = branches.map(|branches| {
            let set: Arc<[u32]> = branches.into_iter().map(|branch| self.name(branch)).collect();
            self.palettes.branch_sets.code_of(set)
        });
        row.sections = self.sections_from(given);
        row
    }

    fn sections_from(&mut self, given: &Value) -> Vec<Section> {
        let mut sections = Vec::new();
        let listed = |key: &str| given.get(key).and_then(Value::items).unwrap_or_default();
        let summed = |key: &str| given.get(key).map(Value::pairs).unwrap_or_default();
        let name_of = |item: &Value| item.get("section_name")?.as_str().map(str::to_owned);
        if listed("sections").is_empty() {
            for (name, secs) in summed("timing") {
                if let (Some(name), Some(secs)) = (name.as_str(), finite(secs)) {
                    let name = self.name(name);
                    sections.push(Section { wall: units(secs), ..empty(name, SectionKind::Time) });
                }
            }
        }
        for item in listed("sections") {
            if let (Some(name), Some(secs)) =
                (name_of(item), item.get("time_delta").and_then(finite))
            {
                let name = self.name(&name);
                sections.push(Section { wall: units(secs), ..empty(name, SectionKind::Time) });
            }
        }
        for item in listed("memory_sections") {
            let bytes =
                |key: &str| finite(item.get(key)?).map(|gb| (gb * BYTES_PER_GB).round() as i64);
            if let Some(name) = name_of(item) {
                sections.push(Section {
                    rss_start_bytes: bytes("memory_start_gb"),
                    rss_end_bytes: bytes("memory_end_gb"),
                    ..empty(self.name(&name), SectionKind::Memory)
                });
            }
        }
        for (name, bytes) in summed("bytes") {
            if let (Some(name), Some(bytes)) = (name.as_str(), bytes.as_i64()) {
                let name = self.name(name);
                sections.push(Section { bytes: Some(bytes), ..empty(name, SectionKind::Bytes) });
            }
        }
        sections
    }

    fn name_in(&mut self, given: &Value, key: &str) -> Option<u32> {
        given.get(key).and_then(Value::as_str).map(|name| self.name(name))
    }

    /// The same row added to two logs has the same identity in both: it is
    /// made from what says which chunk it is, or from all of it if nothing does.
    fn nonce_of(&self, given: &Value) -> u128 {
        const IDENTITY: [&str; 7] =
            ["dataset", "file", "uuid", "tree", "entry_start", "entry_stop", "t_start"];
        let index = given.get("chunk_id").and_then(Value::as_i64);
        let index = index.unwrap_or_else(|| i64::try_from(self.len()).unwrap_or(i64::MAX));
        let mut text = format!("{index}");
        let names_a_chunk =
            ["file", "t_start"].iter().any(|key| given.get(key).is_some_and(|v| !v.is_none()));
        if names_a_chunk {
            for key in IDENTITY {
                let value = given.get(key).cloned().unwrap_or_default();
                text.push('\n');
                text.push_str(&value.to_json().to_string());
            }
        } else {
            text.push_str(&given.to_json().to_string());
        }
        fnv_1a(text.as_bytes())
    }

    /// Dask's key of a row, as it was given.
    pub(crate) fn set_task_key(&mut self, row: &mut Row, key: &str) {
        let (head, number) = split_key(key);
        row.task_head = Some(self.name(head));
        row.task_number = number;
    }
}

fn empty(name: u32, kind: SectionKind) -> Section {
    Section {
        name,
        kind,
        parent: None,
        start: None,
        wall: None,
        cpu: None,
        rss_start_bytes: None,
        rss_end_bytes: None,
        bytes: None,
        count: 1,
    }
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

fn epoch_ns(value: &Value) -> Option<i64> {
    match value {
        Value::Time(moment) => Some(moment.0),
        other => finite(other).map(|secs| UtcNs(0).after_secs(secs).0),
    }
}

fn duration_us(value: &Value) -> Option<u64> {
    finite(value).filter(|&secs| secs >= 0.0).map(|secs| (secs * 1e6).round() as u64)
}

fn units(secs: f64) -> Option<u64> {
    (secs >= 0.0).then(|| (secs * 1e7).round() as u64)
}

/// A hash that is the same on every machine and in every version.
fn fnv_1a(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash, &byte| {
        (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}
