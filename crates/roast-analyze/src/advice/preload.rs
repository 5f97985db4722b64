//! Columns fetched one by one, each waiting for an answer from afar. coffea's
//! `preload` asks for all of them at once, before `process()`.
//!
//! The time of a branch in which its thread had nothing to do is taken as
//! `requests · latency + bytes / bandwidth`; least squares over the branches give
//! both. With `preload` a chunk waits for one answer instead of one per request;
//! the bytes take as long as before, and so does the work on each column.

use std::collections::BTreeMap;

use roast_model::{Frame, Table};

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, words};
use crate::number::usable;

const THRESHOLD: f64 = 0.1;
/// Nearer files answer faster, and asking at once gains nothing that is sure.
const MIN_LATENCY_SECS: f64 = 0.008;
/// Standard errors that the time per byte must be above zero to count.
const STANDS_OUT: f64 = 3.0;
/// A branch that fewer of a dataset's chunks read is not worth fetching in all.
const USUALLY_READ: f64 = 0.9;

#[derive(Default)]
struct Branch {
    waited_secs: f64,
    requests: f64,
    bytes: f64,
    chunks: f64,
}

pub(super) fn many_requests(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let (plan, core_secs) = (plan?, evidence.core_secs?);
    let columns = evidence.measurement.table(Table::Columns).map(Frame::new)?;
    // Already preloading: what is left is not worth guessing.
    if columns.ints("preloaded_reads").flatten().any(|reads| reads > 0) {
        return None;
    }
    let branches = read(columns);
    let latency_secs = latency(&branches).filter(|secs| *secs >= MIN_LATENCY_SECS)?;
    let chunks = evidence.chunks.len() as f64;
    let usual: Vec<(&&str, &Branch)> =
        branches.iter().filter(|(_, branch)| branch.chunks >= USUALLY_READ * chunks).collect();
    let requests: f64 = usual.iter().map(|(_, branch)| branch.requests).sum();
    let waited = latency_secs * (requests - chunks);
    if waited < THRESHOLD * core_secs {
        return None;
    }
    let per_chunk = waited / chunks;
    let outlook = plan.with_chunk_secs(|_, secs| secs - per_chunk);
    let gain = Gain::new(waited, evidence.wall_secs, outlook.wall_secs);
    let mut facts = vec![
        ("requests for columns", words::count(requests)),
        ("requests per chunk", format!("{:.1}", requests / chunks)),
        ("time per request", words::duration(latency_secs)),
        ("bytes asked for", words::bytes(usual.iter().map(|(_, branch)| branch.bytes).sum())),
    ];
    facts.extend(sizes(evidence));
    let names: Vec<&str> = usual.iter().map(|(name, _)| **name).collect();
    let list = words::python_list(&names);
    Some(Advice {
        rule: "preload-columns",
        headline: format!(
            "{} of the core time went into waiting for {} requests, {} for each chunk of about {} \
             each, because columns are fetched one by one.",
            words::percent(waited / core_secs),
            words::count(requests),
            words::count(requests / chunks),
            words::duration(latency_secs)
        ),
        action: format!(
            "give the fileset `preload` with the {} that are read anyway, which fetches them at \
             once: {}.",
            words::several(names.len(), "branch", "branches"),
            gain.sentence()
        ),
        change: format!("`preload` of {}", words::several(names.len(), "branch", "branches")),
        evidence: facts,
        threshold: "waiting for the answers to column requests, more than 8 ms each, takes a \
                    tenth of the core time",
        gain: Some(gain),
        snippet: Some(format!(
            "preload = {list}\nfor dataset in fileset.values():\n    dataset[\"preload\"] = preload"
        )),
        is_urgent: false,
    })
}

fn read(columns: Frame<'_>) -> BTreeMap<&str, Branch> {
    let mut branches: BTreeMap<&str, Branch> = BTreeMap::new();
    let mut secs = ["wall_secs", "cpu_secs", "decompress_secs", "interpret_secs"]
        .map(|column| columns.floats(column));
    let mut ints = ["requests", "bytes", "chunks"].map(|column| columns.ints(column));
    for name in columns.names("branch") {
        let [wall, cpu, decompress, interpret] =
            secs.each_mut().map(|secs| secs.next().flatten().and_then(usable));
        let [requests, bytes, chunks] =
            ints.each_mut().map(|ints| ints.next().flatten().unwrap_or(0).max(0) as f64);
        let (Some(name), Some(wall)) = (name, wall) else { continue };
        let branch = branches.entry(name).or_default();
        // Baskets may be unpacked on other threads, which the CPU time leaves out.
        let unpacking = decompress.unwrap_or(0.0) + interpret.unwrap_or(0.0);
        branch.waited_secs += (wall - unpacking.max(cpu.unwrap_or(0.0))).max(0.0);
        branch.requests += requests;
        branch.bytes += bytes;
        branch.chunks += chunks;
    }
    branches
}

/// Seconds per request beyond what its bytes take.
///
/// Branches that are much alike cannot tell the two apart. Unless the bytes' part
/// stands out from the noise, the requests explain it all.
fn latency(branches: &BTreeMap<&str, Branch>) -> Option<f64> {
    let (mut rr, mut rb, mut bb, mut rs, mut bs, mut ss) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for branch in branches.values() {
        // In megabytes, so that both unknowns have a like size.
        let (requests, bytes) = (branch.requests, branch.bytes / 1e6);
        rr += requests * requests;
        rb += requests * bytes;
        bb += bytes * bytes;
        rs += requests * branch.waited_secs;
        bs += bytes * branch.waited_secs;
        ss += branch.waited_secs * branch.waited_secs;
    }
    let requests_only = usable(rs / rr);
    let determinant = rr * bb - rb * rb;
    let free = branches.len() as f64 - 2.0;
    if free < 1.0 || determinant <= 1e-9 * rr * bb {
        return requests_only;
    }
    let latency = (rs * bb - bs * rb) / determinant;
    let per_megabyte = (bs * rr - rs * rb) / determinant;
    let variance = ((ss - latency * rs - per_megabyte * bs) / free).max(0.0);
    let error = (variance * rr / determinant).sqrt();
    if per_megabyte > STANDS_OUT * error { usable(latency) } else { requests_only }
}

/// How much of the files the branches are.
fn sizes(evidence: &Evidence<'_>) -> Vec<(&'static str, String)> {
    let Some(files) = evidence.measurement.table(Table::Files).map(Frame::new) else {
        return Vec::new();
    };
    let sum = |column: &str| files.ints(column).flatten().map(|bytes| bytes as f64).sum::<f64>();
    let largest = |column: &str| files.ints(column).flatten().max();
    let mut facts = Vec::new();
    let (read, all) = (sum("branch_bytes_read_compressed"), sum("compressed_bytes"));
    if read > 0.0 && all > 0.0 {
        facts.push(("compressed size of these branches", words::bytes(read)));
        facts.push(("compressed size of the trees", words::bytes(all)));
    }
    if let (Some(read), Some(all)) = (largest("num_branches_read"), largest("num_branches")) {
        facts.push(("branches read", format!("{read} of {all}")));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const NOISE: [f64; 8] = [0.01, -0.02, 0.005, 0.015, -0.01, 0.02, -0.005, -0.015];

    fn branches(branch: impl Fn(usize) -> Branch) -> BTreeMap<&'static str, Branch> {
        NAMES.iter().enumerate().map(|(index, name)| (*name, branch(index))).collect()
    }

    #[test]
    fn branches_that_differ_tell_bytes_from_requests() {
        let found = latency(&branches(|index| {
            let bytes = 1e6 * index as f64;
            Branch { requests: 10.0, bytes, waited_secs: 0.4 + 0.2 * index as f64, chunks: 10.0 }
        }));
        assert!((found.unwrap() - 0.04).abs() < 1e-9);
    }

    #[test]
    fn branches_that_are_alike_wait_for_requests() {
        let found = latency(&branches(|index| {
            // Sizes that differ by chance, and times that happen to follow them.
            let (bytes, waited_secs) = (1e6 + 100.0 * index as f64, 0.4 + NOISE[index]);
            Branch { requests: 10.0, bytes, waited_secs, chunks: 10.0 }
        }));
        assert!((found.unwrap() - 0.04).abs() < 1e-3);
    }
}
