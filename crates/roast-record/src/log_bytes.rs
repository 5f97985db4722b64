//! A log as bytes and back. The bytes begin with what they are and their
//! format; names share their beginnings, starts are differences. Reading never
//! trusts a number: damaged bytes are an error and cost no more memory than a
//! fixed multiple of their length.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::chunk_log::{ChunkLog, Place, Source};
use crate::costs::{BranchCost, FileFacts};
use crate::row::{Row, Times};
use crate::row_store::StoredRow;
use crate::wire::{LogError, Reader, Writer};

const MAGIC: &[u8; 3] = b"RCL";
const FORMAT: u8 = 1;
const NONCE_BYTES: usize = 16;

/// Longest beginning that a name takes over from the one before it: bounds how
/// much longer names can be than the bytes they come from.
const MAX_SHARED_BYTES: usize = 255;

impl ChunkLog {
    /// The log as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes.extend_from_slice(MAGIC);
        writer.bytes.push(FORMAT);
        self.write_palettes(&mut writer);
        self.write_rows(&mut writer);
        self.write_costs(&mut writer);
        self.write_files(&mut writer);
        writer.count(self.late.len());
        for (nonce, times) in &self.late {
            writer.bytes.extend_from_slice(&nonce.to_le_bytes());
            times.pack(&mut writer);
        }
        writer.plain(self.cost_overlap);
        writer.bytes
    }

    fn write_palettes(&self, writer: &mut Writer) {
        writer.count(self.names.len());
        let mut last: &str = "";
        for name in self.names.items() {
            let shared = shared_bytes(last, name);
            writer.count(shared);
            writer.text(name.get(shared..).unwrap_or_default());
            last = name;
        }
        writer.count(self.branch_sets.len());
        for set in self.branch_sets.items() {
            writer.count(set.len());
            let mut next = 0;
            for &branch in set.iter() {
                writer.near(Some(i64::from(branch)), next);
                next = i64::from(branch) + 1;
            }
        }
        writer.count(self.sources.len());
        for source in self.sources.items() {
            write_source(writer, *source);
        }
        writer.count(self.places.len());
        for place in self.places.items() {
            writer.maybe(place.worker);
            writer.maybe(place.host);
            writer.maybe(place.thread);
        }
    }

    fn write_rows(&self, writer: &mut Writer) {
        let mut order: Vec<&StoredRow> = self.rows.all().iter().collect();
        order.sort_unstable_by_key(|row| (row.start_ns(), row.nonce()));
        writer.count(order.len());
        let mut last_start = 0;
        for row in order {
            writer.moment(row.start_ns(), last_start);
            last_start = row.start_ns().unwrap_or(last_start);
            writer.bytes.extend_from_slice(&row.nonce().to_le_bytes());
            writer.bytes.extend_from_slice(self.rows.bytes(row));
        }
    }

    fn write_costs(&self, writer: &mut Writer) {
        let mut datasets: Vec<Option<u32>> =
            self.costs.keys().map(|(dataset, _)| *dataset).collect();
        datasets.dedup();
        writer.count(datasets.len());
        for dataset in datasets {
            let costs = self.costs.range((dataset, 0)..=(dataset, u32::MAX));
            writer.maybe(dataset);
            // Branches were named in one go, so their numbers follow each other.
            let costs: Vec<(u32, &BranchCost)> =
                costs.map(|((_, code), cost)| (*code, cost)).collect();
            let runs: Vec<_> = costs.chunk_by(|a, b| a.0.checked_add(1) == Some(b.0)).collect();
            writer.count(runs.len());
            for run in runs {
                writer.plain(run.first().map_or(0, |(code, _)| *code));
                writer.count(run.len());
                for (_, cost) in run {
                    cost.pack(writer);
                }
            }
        }
    }

    fn write_files(&self, writer: &mut Writer) {
        writer.count(self.files.len());
        for (key, facts) in &self.files {
            write_source(writer, *key);
            writer.maybe(facts.num_branches);
            writer.maybe(facts.compressed_bytes);
            writer.maybe(facts.uncompressed_bytes);
            writer.count(facts.branch_bytes.len());
            for (branch, bytes) in &facts.branch_bytes {
                writer.plain(*branch);
                writer.plain(*bytes);
            }
        }
    }

    /// Reads what [`ChunkLog::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LogError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(LogError::NotALog)?;
        let (&found, rest) = rest.split_first().ok_or(LogError::NotALog)?;
        if found != FORMAT {
            return Err(LogError::Newer { found, known: FORMAT });
        }
        let mut reader = Reader::new(rest);
        let mut log = Self::default();
        log.read_palettes(&mut reader)?;
        log.read_rows(&mut reader)?;
        log.read_costs(&mut reader)?;
        log.read_files(&mut reader)?;
        for _ in 0..reader.count()? {
            let nonce = read_nonce(&mut reader)?;
            let times = Times::unpack(&mut reader)?;
            log.late.insert(nonce, times);
        }
        log.cost_overlap = reader.plain()?;
        if reader.rest().is_empty() { Ok(log) } else { Err(LogError::Damaged) }
    }

    fn read_palettes(&mut self, reader: &mut Reader<'_>) -> Result<(), LogError> {
        let mut last: Arc<str> = Arc::from("");
        for index in 0..reader.count()? {
            let shared: usize = reader.plain()?;
            if shared > MAX_SHARED_BYTES {
                return Err(LogError::Damaged);
            }
            let beginning = last.get(..shared).ok_or(LogError::Damaged)?;
            let name: Arc<str> = Arc::from(format!("{beginning}{}", reader.text()?));
            same(self.names.code_of(Arc::clone(&name)), index)?;
            last = name;
        }
        for index in 0..reader.count()? {
            let mut set = Vec::new();
            let mut next = 0;
            for _ in 0..reader.count()? {
                let branch = reader.near(next)?.ok_or(LogError::Damaged)?;
                next = branch.saturating_add(1);
                set.push(self.check_name(u32::try_from(branch).map_err(|_| LogError::Damaged)?)?);
            }
            same(self.branch_sets.code_of(Arc::from(set)), index)?;
        }
        for index in 0..reader.count()? {
            let source = self.read_source(reader)?;
            same(self.sources.code_of(source), index)?;
        }
        for index in 0..reader.count()? {
            let place = Place {
                worker: self.read_name(reader)?,
                host: self.read_name(reader)?,
                thread: reader.maybe()?,
            };
            same(self.places.code_of(place), index)?;
        }
        Ok(())
    }

    fn read_rows(&mut self, reader: &mut Reader<'_>) -> Result<(), LogError> {
        let mut last_start = 0;
        let mut row = Row::default();
        let count = reader.count()?;
        // A row is longer than a nonce.
        self.rows.reserve(count.min(reader.rest().len() / NONCE_BYTES));
        for _ in 0..count {
            let start_ns = reader.moment(last_start)?;
            last_start = start_ns.unwrap_or(last_start);
            let nonce = read_nonce(reader)?;
            let before = reader.rest();
            row.unpack_from(reader, start_ns)?;
            self.check_row(&row)?;
            let length = before.len() - reader.rest().len();
            let packed = before.get(..length).ok_or(LogError::Damaged)?;
            if self.rows.find(nonce).is_some() {
                return Err(LogError::Damaged);
            }
            self.rows.push(nonce, start_ns, |writer| {
                writer.bytes.extend_from_slice(packed);
                Ok::<(), LogError>(())
            })?;
        }
        Ok(())
    }

    fn read_costs(&mut self, reader: &mut Reader<'_>) -> Result<(), LogError> {
        let mut costs = Vec::new();
        for _ in 0..reader.count()? {
            let dataset = self.read_name(reader)?;
            for _ in 0..reader.count()? {
                let first: u32 = reader.plain()?;
                for offset in 0..reader.count()? {
                    let branch =
                        u32::try_from(offset).ok().and_then(|more| first.checked_add(more));
                    let branch = self.check_name(branch.ok_or(LogError::Damaged)?)?;
                    costs.push(((dataset, branch), BranchCost::unpack(reader)?));
                }
            }
        }
        // Built in one go: they were written in order.
        self.costs = costs.into_iter().collect();
        Ok(())
    }

    fn read_files(&mut self, reader: &mut Reader<'_>) -> Result<(), LogError> {
        for _ in 0..reader.count()? {
            let key = self.read_source(reader)?;
            let mut facts = FileFacts {
                num_branches: reader.maybe()?,
                compressed_bytes: reader.maybe()?,
                uncompressed_bytes: reader.maybe()?,
                branch_bytes: BTreeMap::new(),
            };
            for _ in 0..reader.count()? {
                let branch = self.check_name(reader.plain()?)?;
                facts.branch_bytes.insert(branch, reader.plain()?);
            }
            self.files.insert(key, facts);
        }
        Ok(())
    }

    fn read_source(&self, reader: &mut Reader<'_>) -> Result<Source, LogError> {
        Ok(Source {
            dataset: self.read_name(reader)?,
            file: self.read_name(reader)?,
            uuid: self.read_name(reader)?,
            tree: self.read_name(reader)?,
        })
    }

    fn read_name(&self, reader: &mut Reader<'_>) -> Result<Option<u32>, LogError> {
        reader.maybe()?.map(|code| self.check_name(code)).transpose()
    }

    fn check_name(&self, code: u32) -> Result<u32, LogError> {
        self.names.get(code).map(|_| code).ok_or(LogError::Damaged)
    }

    fn check_row(&self, row: &Row) -> Result<(), LogError> {
        let names = row.sections.iter().map(|section| section.name);
        for name in names.chain(row.task_head).chain(row.error) {
            self.check_name(name)?;
        }
        self.sources.get(row.source).ok_or(LogError::Damaged)?;
        self.places.get(row.place).ok_or(LogError::Damaged)?;
        if let Some(set) = row.branch_set {
            self.branch_sets.get(set).ok_or(LogError::Damaged)?;
        }
        Ok(())
    }
}

fn write_source(writer: &mut Writer, source: Source) {
    writer.maybe(source.dataset);
    writer.maybe(source.file);
    writer.maybe(source.uuid);
    writer.maybe(source.tree);
}

fn read_nonce(reader: &mut Reader<'_>) -> Result<u128, LogError> {
    let bytes = reader.bytes(NONCE_BYTES)?.try_into().map_err(|_| LogError::Damaged)?;
    Ok(u128::from_le_bytes(bytes))
}

/// A value that was there before would shift the numbers of those after it.
fn same(code: u32, index: usize) -> Result<(), LogError> {
    if usize::try_from(code) == Ok(index) { Ok(()) } else { Err(LogError::Damaged) }
}

fn shared_bytes(last: &str, name: &str) -> usize {
    let mut shared =
        last.bytes().zip(name.bytes()).take(MAX_SHARED_BYTES).take_while(|(a, b)| a == b).count();
    while !name.is_char_boundary(shared) || !last.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}
