//! Tables about branches and files, from what each row read. Counts are of
//! distinct chunks and files, so a chunk that was tried twice counts once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use roast_model::ColumnData;

use crate::chunk_columns::{named, secs, to_i64};
use crate::chunk_log::ChunkLog;
use crate::costs::{BranchCost, FileFacts};
use crate::few::Few;
use crate::log_tables::{SetNumbers, added, column};
use crate::order::RowOrder;
use crate::palettes::Source;

impl ChunkLog {
    fn branches(&self, set: u32) -> &[u32] {
        self.palettes.branch_sets.get(set).map_or(&[], AsRef::as_ref)
    }

    /// Every branch of some sets, once; none if there is no set.
    fn branches_of(&self, sets: &Few) -> Option<Cow<'_, [u32]>> {
        let mut all = sets.iter().map(|set| self.branches(set));
        let first = all.next()?;
        if sets.len() == 1 {
            return Some(first.into());
        }
        let all: BTreeSet<u32> = all.chain([first]).flatten().copied().collect();
        Some(all.into_iter().collect())
    }

    /// The columns of the table of columns.
    pub(crate) fn column_columns(&self, use_of: &BranchUse) -> Vec<(String, ColumnData)> {
        // Keyed by names, so that the order of the table is theirs.
        let mut rows: BTreeMap<(Option<&str>, &str), ColumnRow> = BTreeMap::new();
        let key = |dataset: Option<u32>, branch: u32| {
            (self.name_of(dataset), self.name_of(Some(branch)).unwrap_or_default())
        };
        for (&(dataset, branch), cost) in &self.content.costs {
            let row =
                rows.entry(key(dataset, branch)).or_insert_with(|| ColumnRow::new(dataset, branch));
            row.cost.add(cost);
        }
        let mut count = |dataset: Option<u32>, sets: &Few, add: &dyn Fn(&mut ColumnRow)| {
            for &branch in self.branches_of(sets).iter().flat_map(|branches| branches.iter()) {
                let row = rows
                    .entry(key(dataset, branch))
                    .or_insert_with(|| ColumnRow::new(dataset, branch));
                add(row);
            }
        };
        for ((dataset, sets), chunks) in &use_of.chunks {
            count(*dataset, sets, &|row| row.chunks += chunks);
        }
        for ((dataset, sets), files) in &use_of.files_of_dataset {
            count(*dataset, sets, &|row| row.files += files);
        }
        let rows: Vec<ColumnRow> = rows.into_values().collect();
        let whole = |get: fn(&ColumnRow) -> Option<u64>| {
            ColumnData::Ints(rows.iter().map(|row| get(row).map(to_i64)).collect())
        };
        let time = |get: fn(&BranchCost) -> Option<u64>| {
            ColumnData::Floats(rows.iter().map(|row| secs(get(&row.cost))).collect())
        };
        vec![
            column("dataset", named(self, rows.iter().map(|row| row.dataset).collect())),
            column("branch", named(self, rows.iter().map(|row| Some(row.branch)).collect())),
            column("chunks", whole(|row| Some(row.chunks))),
            column("files", whole(|row| Some(row.files))),
            column("reads", whole(|row| Some(row.cost.reads))),
            column("cached_reads", whole(|row| Some(row.cost.cached))),
            column("preloaded_reads", whole(|row| Some(row.cost.preloaded))),
            column("wall_secs", time(|cost| cost.wall_us)),
            column("cpu_secs", time(|cost| cost.cpu_us)),
            column("bytes", whole(|row| row.cost.bytes)),
            column("requests", whole(|row| row.cost.requests)),
            column("decompress_secs", time(|cost| cost.decompress_us)),
            column("interpret_secs", time(|cost| cost.interpret_us)),
        ]
    }

    /// The columns of the table of branch sets, by their numbers.
    pub(crate) fn branch_set_columns(&self, numbers: &SetNumbers) -> Vec<(String, ColumnData)> {
        let mut sets: Vec<(i64, u32)> =
            (0..).zip(numbers).filter_map(|(set, number)| Some(((*number)?, set))).collect();
        sets.sort_unstable();
        let rows: Vec<(i64, u32)> = sets
            .into_iter()
            .flat_map(|(number, set)| {
                self.branches(set).iter().map(move |&branch| (number, branch))
            })
            .collect();
        vec![
            column("branch_set", ColumnData::Ints(rows.iter().map(|row| Some(row.0)).collect())),
            column("branch", named(self, rows.iter().map(|row| Some(row.1)).collect())),
        ]
    }

    /// The columns of the table of files. What was read of them is told by source.
    pub(crate) fn file_columns(
        &self,
        use_of: &BranchUse,
        bytes_of_source: &[Option<i64>],
    ) -> Vec<(String, ColumnData)> {
        let no_facts = FileFacts::default();
        let rows: Vec<_> = use_of
            .files
            .iter()
            .map(|(key, seen)| {
                let facts = self.content.files.get(key).unwrap_or(&no_facts);
                let read = self.branches_of(&seen.sets);
                let branch_bytes =
                    read.as_ref().filter(|_| !facts.branch_bytes.is_empty()).map(|read| {
                        read.iter()
                            .filter_map(|branch| facts.branch_bytes.get(branch))
                            .fold(0_u64, |sum, &bytes| sum.saturating_add(bytes))
                    });
                (*key, facts, seen, read.map(|read| read.len() as u64), branch_bytes)
            })
            .collect();
        let name = |get: fn(&Source) -> Option<u32>| {
            named(self, rows.iter().map(|row| get(&row.0)).collect())
        };
        let ints = |values: Vec<Option<u64>>| {
            ColumnData::Ints(values.into_iter().map(|value| value.map(to_i64)).collect())
        };
        let ratio = rows.iter().map(|(_, facts, ..)| {
            let uncompressed = facts.uncompressed_bytes.filter(|&bytes| bytes > 0)?;
            Some(facts.compressed_bytes? as f64 / uncompressed as f64)
        });
        let bytes_read = rows.iter().map(|(_, _, seen, ..)| {
            let bytes = seen.sources.iter().map(|source| bytes_of_source.get(source as usize));
            bytes.flatten().fold(None, |sum, bytes| added(sum, *bytes))
        });
        vec![
            column("file", name(|key| key.file)),
            column("uuid", name(|key| key.uuid)),
            column("tree", name(|key| key.tree)),
            column("num_branches", ints(rows.iter().map(|row| row.1.num_branches).collect())),
            column(
                "compressed_bytes",
                ints(rows.iter().map(|row| row.1.compressed_bytes).collect()),
            ),
            column(
                "uncompressed_bytes",
                ints(rows.iter().map(|row| row.1.uncompressed_bytes).collect()),
            ),
            column("compression_ratio", ColumnData::Floats(ratio.collect())),
            column("chunks", ints(rows.iter().map(|row| Some(row.2.chunks)).collect())),
            column("num_branches_read", ints(rows.iter().map(|row| row.3).collect())),
            column("bytes_read", ColumnData::Ints(bytes_read.collect())),
            column("branch_bytes_read_compressed", ints(rows.iter().map(|row| row.4).collect())),
        ]
    }
}

/// One row of the table of columns.
struct ColumnRow {
    dataset: Option<u32>,
    branch: u32,
    cost: BranchCost,
    chunks: u64,
    files: u64,
}

impl ColumnRow {
    fn new(dataset: Option<u32>, branch: u32) -> Self {
        Self { dataset, branch, cost: BranchCost::default(), chunks: 0, files: 0 }
    }
}

/// What was read of a source.
#[derive(Clone, Default)]
struct SourceUse {
    chunks: u64,
    sets: Few,
    /// Mostly the next chunk reads the same.
    last_set: Option<u32>,
    /// They do not all read the same.
    is_mixed: bool,
}

impl SourceUse {
    fn read(&mut self, set: Option<u32>) {
        if self.last_set != set {
            self.is_mixed |= self.chunks > 0;
            self.sets.extend(set);
            self.last_set = set;
        }
    }
}

/// What was read of a file.
#[derive(Clone, Default)]
struct FileUse {
    chunks: u64,
    sets: Few,
    /// It is one for each dataset, as the log numbers them.
    sources: Few,
}

/// Who read what, gathered over all rows.
#[derive(Default)]
pub(crate) struct BranchUse {
    /// Chunks by dataset and by the branch sets that their attempts read.
    chunks: BTreeMap<(Option<u32>, Few), u64>,
    /// Files by dataset and by the branch sets that were read of them.
    files_of_dataset: BTreeMap<(Option<u32>, Few), u64>,
    /// In the order of their names.
    files: Vec<(Source, FileUse)>,
}

impl BranchUse {
    /// Goes through the rows. All attempts at a chunk have one source, and mostly
    /// they read the same branches, so what is counted is kept by source.
    pub(crate) fn of(log: &ChunkLog, order: &RowOrder) -> Self {
        let mut of_source = vec![SourceUse::default(); log.palettes.sources.len()];
        let mut chunks = 0;
        for row in &order.rows {
            // They are numbered in the order in which they first come.
            let is_new = row.chunk == chunks;
            chunks += u32::from(is_new);
            if let Some(of_source) = of_source.get_mut(row.source as usize) {
                of_source.read(row.branch_set);
                of_source.chunks += u64::from(is_new);
            }
        }
        let mut found = Self::default();
        for (source, of_source) in log.palettes.sources.items().iter().zip(&of_source) {
            if let (Some(set), false) = (of_source.last_set, of_source.is_mixed) {
                found.count(source.dataset, Few::one(set), of_source.chunks);
            }
        }
        if of_source.iter().any(|of_source| of_source.is_mixed) {
            found.count_mixed(log, order, &of_source);
        }
        let known = log.content.files.keys().map(|file| (*file, FileUse::default()));
        let mut files: HashMap<Source, FileUse, RandomState> = known.collect();
        let mut read_of: BTreeMap<(Option<u32>, u32), Few> = BTreeMap::new();
        let sources = log.palettes.sources.items().iter().zip(of_source);
        for (number, (source, of_source)) in (0..).zip(sources) {
            let (Some(file), 1..) = (source.file, of_source.chunks) else { continue };
            read_of.entry((source.dataset, file)).or_default().extend(of_source.sets.iter());
            let entry = files.entry(Source { dataset: None, ..*source }).or_default();
            entry.chunks += of_source.chunks;
            entry.sets.extend(of_source.sets.iter());
            entry.sources.insert(number);
        }
        for ((dataset, _), sets) in read_of {
            *found.files_of_dataset.entry((dataset, sets)).or_default() += 1;
        }
        found.files = files.into_iter().collect();
        found.files.sort_by_cached_key(|(file, _)| {
            (log.name_of(file.file), log.name_of(file.uuid), log.name_of(file.tree))
        });
        found
    }

    fn count(&mut self, dataset: Option<u32>, sets: Few, chunks: u64) {
        *self.chunks.entry((dataset, sets)).or_default() += chunks;
    }

    /// Counts chunks of sources of which not all read the same, one by one.
    fn count_mixed(&mut self, log: &ChunkLog, order: &RowOrder, of_source: &[SourceUse]) {
        // By chunk: its source, and the first set that was read.
        let mut chunks: Vec<(u32, Option<u32>)> = Vec::with_capacity(order.len());
        let mut several: BTreeMap<u32, Few> = BTreeMap::new();
        for row in &order.rows {
            match chunks.get_mut(row.chunk as usize) {
                None => chunks.push((row.source, row.branch_set)),
                Some((_, first)) => match (*first, row.branch_set) {
                    (Some(first), Some(set)) if first != set => {
                        several.entry(row.chunk).or_insert_with(|| Few::one(first)).insert(set);
                    }
                    _ => *first = first.or(row.branch_set),
                },
            }
        }
        let dataset_of =
            |source: u32| log.palettes.sources.get(source).and_then(|source| source.dataset);
        let mut counts: HashMap<(Option<u32>, u32), u64, RandomState> = HashMap::default();
        for (chunk, (source, set)) in (0..).zip(&chunks) {
            let is_mixed = of_source.get(*source as usize).is_some_and(|used| used.is_mixed);
            match set {
                Some(set) if is_mixed && !several.contains_key(&chunk) => {
                    *counts.entry((dataset_of(*source), *set)).or_default() += 1;
                }
                _ => {}
            }
        }
        for ((dataset, set), count) in counts {
            self.count(dataset, Few::one(set), count);
        }
        for (chunk, sets) in several {
            let source = chunks.get(chunk as usize).map_or(0, |(source, _)| *source);
            self.count(dataset_of(source), sets, 1);
        }
    }
}
