//! What a log holds, in the numbers of some palettes: its rows, what reading
//! branches cost, and what is known of files. It is carried from one log into
//! another without unpacking rows.

use std::collections::BTreeMap;

use crate::costs::{BranchCost, FileFacts};
use crate::palettes::{Codes, Source, read_source, write_source};
use crate::row::{Times, renumber};
use crate::row_store::{RowStore, StoredRow};
use crate::wire::{LogError, Reader, Writer};

const NONCE_BYTES: usize = 16;

/// Rows of chunks with what reading their branches cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) rows: RowStore,
    /// By dataset and branch.
    pub(crate) costs: BTreeMap<(Option<u32>, u32), BranchCost>,
    /// By source without its dataset.
    pub(crate) files: BTreeMap<Source, FileFacts<u32>>,
    /// Serialization times of rows that have not arrived yet.
    pub(crate) late: BTreeMap<u128, Times>,
    /// Rows whose branch costs may have been counted twice.
    pub(crate) cost_overlap: u64,
}

impl Content {
    /// The same in other numbers.
    pub(crate) fn renumbered(&self, codes: &Codes) -> Result<Self, LogError> {
        let mut rows = RowStore::default();
        rows.reserve(self.rows.len());
        for stored in self.rows.all() {
            let mut packed = self.rows.reader(stored);
            rows.push(stored.nonce(), stored.start_ns(), |writer| {
                renumber(&mut packed, writer, codes)
            })?;
        }
        let mut costs = BTreeMap::new();
        for (&(dataset, branch), &cost) in &self.costs {
            costs.insert((codes.maybe_name(dataset)?, codes.name(branch)?), cost);
        }
        let mut files = BTreeMap::new();
        for (&key, facts) in &self.files {
            files.insert(codes.in_source(key)?, facts.rename(|&branch| codes.name(branch))?);
        }
        Ok(Self { rows, costs, files, late: self.late.clone(), cost_overlap: self.cost_overlap })
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        self.write_rows(writer);
        self.write_costs(writer);
        self.write_files(writer);
        writer.count(self.late.len());
        for (nonce, times) in &self.late {
            writer.bytes.extend_from_slice(&nonce.to_le_bytes());
            times.pack(writer);
        }
        writer.plain(self.cost_overlap);
    }

    /// Reads what [`Content::write`] wrote, in other numbers.
    pub(crate) fn read(reader: &mut Reader<'_>, codes: &Codes) -> Result<Self, LogError> {
        let mut content = Self {
            rows: read_rows(reader, codes)?,
            costs: read_costs(reader, codes)?,
            files: read_files(reader, codes)?,
            ..Self::default()
        };
        for _ in 0..reader.count()? {
            let nonce = read_nonce(reader)?;
            content.late.insert(nonce, Times::unpack(reader));
        }
        content.cost_overlap = reader.plain()?;
        Ok(content)
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
}

fn read_rows(reader: &mut Reader<'_>, codes: &Codes) -> Result<RowStore, LogError> {
    let mut rows = RowStore::default();
    let mut last_start = 0;
    let count = reader.count()?;
    // A row is longer than a nonce.
    rows.reserve(count.min(reader.rest().len() / NONCE_BYTES));
    for _ in 0..count {
        let start_ns = reader.moment(last_start);
        last_start = start_ns.unwrap_or(last_start);
        let nonce = read_nonce(reader)?;
        rows.push(nonce, start_ns, |writer| renumber(reader, writer, codes))?;
    }
    Ok(rows)
}

fn read_costs(
    reader: &mut Reader<'_>,
    codes: &Codes,
) -> Result<BTreeMap<(Option<u32>, u32), BranchCost>, LogError> {
    let mut costs = Vec::new();
    for _ in 0..reader.count()? {
        let dataset = codes.maybe_name(reader.maybe_code()?)?;
        for _ in 0..reader.count()? {
            let first: u32 = reader.code()?;
            for offset in 0..reader.count()? {
                let branch = u32::try_from(offset).ok().and_then(|more| first.checked_add(more));
                let branch = codes.name(branch.ok_or(LogError::Damaged)?)?;
                costs.push(((dataset, branch), BranchCost::unpack(reader)?));
            }
        }
    }
    // Built in one go: they were written in order.
    Ok(costs.into_iter().collect())
}

fn read_files(
    reader: &mut Reader<'_>,
    codes: &Codes,
) -> Result<BTreeMap<Source, FileFacts<u32>>, LogError> {
    let mut files = BTreeMap::new();
    for _ in 0..reader.count()? {
        let key = codes.in_source(read_source(reader)?)?;
        let mut facts = FileFacts {
            num_branches: reader.maybe(),
            compressed_bytes: reader.maybe(),
            uncompressed_bytes: reader.maybe(),
            branch_bytes: BTreeMap::new(),
        };
        for _ in 0..reader.count()? {
            let branch = codes.name(reader.code()?)?;
            facts.branch_bytes.insert(branch, reader.plain()?);
        }
        files.insert(key, facts);
    }
    Ok(files)
}

fn read_nonce(reader: &mut Reader<'_>) -> Result<u128, LogError> {
    let bytes = reader.bytes(NONCE_BYTES)?.try_into().map_err(|_| LogError::Damaged)?;
    Ok(u128::from_le_bytes(bytes))
}
