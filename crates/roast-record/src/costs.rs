//! What reading each branch cost, and what is known of each file. Both are
//! sums or maxima, so logs can be merged in any order.

use std::collections::BTreeMap;

use crate::wire::{LogError, Reader, Writer};

/// What reading one branch cost, summed over the attempts of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BranchCost {
    pub(crate) reads: u64,
    pub(crate) cached: u64,
    pub(crate) preloaded: u64,
    pub(crate) wall_us: Option<u64>,
    pub(crate) cpu_us: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) requests: Option<u64>,
    pub(crate) decompress_us: Option<u64>,
    pub(crate) interpret_us: Option<u64>,
}

impl BranchCost {
    /// Adds another sum to this one.
    pub(crate) fn add(&mut self, other: &Self) {
        self.reads = self.reads.saturating_add(other.reads);
        self.cached = self.cached.saturating_add(other.cached);
        self.preloaded = self.preloaded.saturating_add(other.preloaded);
        self.wall_us = plus(self.wall_us, other.wall_us);
        self.cpu_us = plus(self.cpu_us, other.cpu_us);
        self.bytes = plus(self.bytes, other.bytes);
        self.requests = plus(self.requests, other.requests);
        self.decompress_us = plus(self.decompress_us, other.decompress_us);
        self.interpret_us = plus(self.interpret_us, other.interpret_us);
    }

    pub(crate) fn pack(&self, writer: &mut Writer) {
        let other_reads = self.cached > 0 || self.preloaded > 0;
        // Mostly one request answers one read.
        let same = self.requests == Some(self.reads);
        let head = u128::from(self.reads) << 2 | u128::from(same) << 1 | u128::from(other_reads);
        writer.wide(head);
        if other_reads {
            writer.plain(self.cached);
            writer.plain(self.preloaded);
        }
        writer.maybe(self.wall_us);
        writer.short_of(self.cpu_us, self.wall_us);
        writer.maybe(self.bytes);
        if !same {
            writer.maybe(self.requests);
        }
        writer.maybe(self.decompress_us);
        writer.maybe(self.interpret_us);
    }

    pub(crate) fn unpack(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let head = reader.wide()?;
        let mut cost = Self {
            reads: u64::try_from(head >> 2).map_err(|_| LogError::Damaged)?,
            ..Self::default()
        };
        if head & 1 == 1 {
            cost.cached = reader.plain()?;
            cost.preloaded = reader.plain()?;
        }
        cost.wall_us = reader.maybe();
        cost.cpu_us = reader.short_of(cost.wall_us);
        cost.bytes = reader.maybe();
        cost.requests = if head & 2 == 2 { Some(cost.reads) } else { reader.maybe() };
        cost.decompress_us = reader.maybe();
        cost.interpret_us = reader.maybe();
        Ok(cost)
    }
}

/// The sum of what is known; missing only if nothing is.
pub(crate) fn plus(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (known, None) | (None, known) => known,
    }
}

/// What is known of one tree in one file. `B` names a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts<B: Ord> {
    /// Branches in the tree.
    pub num_branches: Option<u64>,
    /// Compressed size of the tree.
    pub compressed_bytes: Option<u64>,
    /// Size of the tree after decompression.
    pub uncompressed_bytes: Option<u64>,
    /// Compressed size of the branches that were looked up.
    pub branch_bytes: BTreeMap<B, u64>,
}

impl<B: Ord> Default for FileFacts<B> {
    fn default() -> Self {
        Self {
            num_branches: None,
            compressed_bytes: None,
            uncompressed_bytes: None,
            branch_bytes: BTreeMap::new(),
        }
    }
}

impl<B: Ord + Clone> FileFacts<B> {
    /// Takes in what another log knows. The same file always tells the same;
    /// should two disagree, the larger number stands whatever the order.
    pub(crate) fn unite(&mut self, other: &Self) {
        self.num_branches = self.num_branches.max(other.num_branches);
        self.compressed_bytes = self.compressed_bytes.max(other.compressed_bytes);
        self.uncompressed_bytes = self.uncompressed_bytes.max(other.uncompressed_bytes);
        for (branch, &bytes) in &other.branch_bytes {
            let known = self.branch_bytes.entry(branch.clone()).or_default();
            *known = bytes.max(*known);
        }
    }

    /// The same facts with branches named another way.
    pub(crate) fn rename<C: Ord, E>(
        &self,
        mut name: impl FnMut(&B) -> Result<C, E>,
    ) -> Result<FileFacts<C>, E> {
        let branches = self.branch_bytes.iter().map(|(b, &bytes)| Ok((name(b)?, bytes)));
        Ok(FileFacts {
            num_branches: self.num_branches,
            compressed_bytes: self.compressed_bytes,
            uncompressed_bytes: self.uncompressed_bytes,
            branch_bytes: branches.collect::<Result<_, E>>()?,
        })
    }
}
