//! What a run would take with other chunks or other workers.
//!
//! A chunk of `n` events takes `fixed + read + per_event · n` seconds of a thread:
//!
//! * `fixed` is what was spent around `process()` (opening, tree, events, packing),
//!   the handling of the task outside of its row, and that part of the user's code
//!   which does not grow with the events. That part is taken from how the CPU time
//!   of chunks of one dataset follows their events. Where chunks are too much
//!   alike to tell, it is none, and the estimate is on the careful side.
//! * `read` grows with the bytes: a file in `k` chunks is asked for its columns
//!   once, and for the baskets on the `k − 1` borders once more each time.
//! * the first chunk of each worker does not enter: it pays for imports, and would
//!   do so with chunks of any size.
//!
//! Chunks are dealt out to threads in order, each to the first that is free. What
//! the run took beyond this model today, it is assumed to take then too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use foldhash::fast::RandomState;
use roast_model::{Frame, Table};

use super::evidence::{Chunk, Evidence};
use crate::number::usable;
use crate::statistics::median;

/// Beyond this many chunks, their order no longer matters.
const MAX_DEALT: f64 = 20_000.0;
/// The share of the user's code that grows with the events must be known to this.
const MAX_ERROR: f64 = 0.12;
/// Chunks of a dataset far above its median are no measure of what events cost.
const ODD: f64 = 3.0;

/// The model of one run.
pub(super) struct Plan {
    wall_secs: f64,
    threads: usize,
    /// Of a task, outside of its chunk's row.
    gap_secs: f64,
    datasets: BTreeMap<u32, Cost>,
    files: Vec<File>,
    /// As the model has them, in order of start.
    pub(super) now_secs: Vec<f64>,
    /// As they were, in order of start.
    pub(super) actual_secs: Vec<f64>,
    /// Whether the part of the user's code that is the same for every chunk is known.
    pub(super) fixed_part_is_known: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    fixed_secs: f64,
    secs_per_event: f64,
}

/// A file as the chunks show it.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    dataset: u32,
    entries: f64,
    chunks: f64,
    read_secs: f64,
    /// Bytes asked for again at each border between chunks, of those asked for once.
    reread: f64,
}

/// What a change would lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    pub(super) wall_secs: f64,
    /// Thread time of all chunks.
    pub(super) busy_secs: f64,
    pub(super) chunks: f64,
}

impl Plan {
    /// The model; missing without a ledger or chunks.
    pub(super) fn of(evidence: &Evidence<'_>) -> Option<Self> {
        // A run that was cut short does not tell what a whole one takes.
        if evidence.measurement.header.error.is_some() {
            return None;
        }
        let threads = evidence.threads()?;
        let chunks = &evidence.chunks;
        let events: f64 = chunks.iter().map(|chunk| chunk.events).sum();
        let attempts: f64 = chunks.iter().map(|chunk| chunk.secs).sum();
        if chunks.is_empty() || events <= 0.0 || attempts <= 0.0 {
            return None;
        }
        // What a thread had to do between chunks, or waited for the next one.
        let idle = ["idle_ramp_up", "idle_tail", "idle_client", "failed_work"];
        let between = evidence.core_secs? - evidence.rows_secs(&idle)? - attempts;
        let gap_secs = (between / chunks.len() as f64).max(0.0);

        let typical = without_first(chunks);
        let growing = growing_part(typical.iter().copied());
        let share = growing.unwrap_or(1.0);
        let mut datasets: BTreeMap<u32, (f64, f64, f64, f64)> = BTreeMap::new();
        for chunk in &typical {
            let user = chunk.process_secs - chunk.read_secs;
            let sums = datasets.entry(chunk.dataset).or_default();
            sums.0 += 1.0;
            sums.1 += chunk.events;
            sums.2 += chunk.secs - chunk.process_secs + user * (1.0 - share);
            sums.3 += user * share;
        }
        let datasets: BTreeMap<u32, Cost> = datasets
            .into_iter()
            .map(|(dataset, (count, events, fixed, growing))| {
                let secs_per_event = if events > 0.0 { growing / events } else { 0.0 };
                (dataset, Cost { fixed_secs: fixed / count + gap_secs, secs_per_event })
            })
            .collect();
        let (files, file_of) = files(evidence);
        let mut plan = Self {
            wall_secs: evidence.wall_secs,
            threads,
            gap_secs,
            datasets,
            files,
            now_secs: Vec::new(),
            actual_secs: chunks.iter().map(|chunk| chunk.secs + gap_secs).collect(),
            fixed_part_is_known: growing.is_some(),
        };
        plan.now_secs = chunks
            .iter()
            .zip(file_of)
            .map(|(chunk, file)| {
                let file = plan.files.get(file as usize);
                let read = file.map_or(0.0, |file| file.read_secs / file.chunks);
                plan.chunk_secs(chunk.dataset, chunk.events, read)
            })
            .collect();
        Some(plan)
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// Entries of the longest file.
    pub(super) fn longest_file(&self) -> f64 {
        self.files.iter().map(|file| file.entries).fold(0.0, f64::max)
    }

    fn chunk_secs(&self, dataset: u32, events: f64, read_secs: f64) -> f64 {
        let cost = self.datasets.get(&dataset).copied().unwrap_or_default();
        cost.fixed_secs + cost.secs_per_event * events + read_secs
    }

    /// Thread time of all chunks as the model has it.
    pub(super) fn busy_secs(&self) -> f64 {
        self.now_secs.iter().sum()
    }

    /// The same data in chunks of another size, cut as coffea does it.
    pub(super) fn with_chunk_size(&self, size: f64) -> Outlook {
        let then: Vec<Alike> = self
            .files
            .iter()
            .map(|file| {
                // A file never becomes more chunks than it has entries.
                let count = (file.entries / size).round_ties_even().min(file.entries).max(1.0);
                let read = file.read_secs * (1.0 + file.reread * (count - 1.0))
                    / (1.0 + file.reread * (file.chunks - 1.0));
                let secs = self.chunk_secs(file.dataset, file.entries / count, read / count);
                Alike { secs, count }
            })
            .collect();
        self.outlook(&each(&self.now_secs), &then, self.threads)
    }

    /// The same chunks on another number of threads.
    pub(super) fn with_threads(&self, threads: usize) -> Outlook {
        let chunks = each(&self.actual_secs);
        self.outlook(&chunks, &chunks, threads)
    }

    /// Other times for the chunks that there are, in their order.
    pub(super) fn with_chunk_secs(&self, secs: impl Fn(usize, f64) -> f64) -> Outlook {
        let then: Vec<f64> = self
            .actual_secs
            .iter()
            .enumerate()
            .map(|(chunk, now)| secs(chunk, now - self.gap_secs).max(0.0) + self.gap_secs)
            .collect();
        self.outlook(&each(&self.actual_secs), &each(&then), self.threads)
    }

    fn outlook(&self, now: &[Alike], then: &[Alike], then_threads: usize) -> Outlook {
        let modelled = dealt_out(now, self.threads);
        let new = dealt_out(then, then_threads);
        // A model that exceeds the run itself is scaled down to it.
        let scale = if modelled > self.wall_secs { self.wall_secs / modelled } else { 1.0 };
        let wall_secs = self.wall_secs + (new - modelled) * scale;
        Outlook {
            wall_secs: usable(wall_secs).unwrap_or(self.wall_secs),
            busy_secs: then.iter().map(|chunks| chunks.secs * chunks.count).sum(),
            chunks: then.iter().map(|chunks| chunks.count).sum(),
        }
    }
}

/// Chunks that follow each other and take the same time.
#[derive(Clone, Copy, Debug)]
struct Alike {
    secs: f64,
    count: f64,
}

fn each(secs: &[f64]) -> Vec<Alike> {
    secs.iter().map(|secs| Alike { secs: *secs, count: 1.0 }).collect()
}

/// When the last of these is done, each taken by the first thread that is free.
fn dealt_out(chunks: &[Alike], threads: usize) -> f64 {
    let threads = threads.max(1);
    let count: f64 = chunks.iter().map(|chunks| chunks.count).sum();
    if count > MAX_DEALT {
        // At the end each thread has half a chunk left to do, on average.
        let total: f64 = chunks.iter().map(|chunks| chunks.secs * chunks.count).sum();
        let longest = chunks.iter().map(|chunks| chunks.secs).fold(0.0, f64::max);
        return (total / threads as f64 + total / count / 2.0).max(longest);
    }
    // Nanoseconds: whole numbers have an order.
    let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut last = 0;
    for chunks in chunks {
        for _ in 0..chunks.count as usize {
            let start = if free.len() < threads { 0 } else { free.pop().map_or(0, |free| free.0) };
            let stop = start.saturating_add((chunks.secs * 1e9) as u64);
            last = last.max(stop);
            free.push(Reverse(stop));
        }
    }
    last as f64 / 1e9
}

/// All chunks but the first of each worker, where that leaves enough of each
/// dataset to judge by.
fn without_first(chunks: &[Chunk]) -> Vec<&Chunk> {
    let mut seen = BTreeSet::new();
    let later: Vec<&Chunk> = chunks.iter().filter(|chunk| !seen.insert(chunk.worker)).collect();
    let all: Vec<&Chunk> = chunks.iter().collect();
    let kept =
        |chunks: &[&Chunk]| chunks.iter().map(|chunk| chunk.dataset).collect::<BTreeSet<_>>().len();
    if later.len() * 2 >= chunks.len() && kept(&later) == kept(&all) { later } else { all }
}

/// The share of the user's code that grows with the events, by least squares over
/// the deviations from each dataset's means; missing if chunks are too much alike.
fn growing_part<'c>(chunks: impl IntoIterator<Item = &'c Chunk>) -> Option<f64> {
    let mut by_dataset: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for chunk in chunks {
        by_dataset.entry(chunk.dataset).or_default().push((chunk.events, chunk.user_secs));
    }
    let (mut sum_xx, mut sum_xy, mut sum_yy) = (0.0, 0.0, 0.0);
    let (mut total_x, mut total_y, mut count, mut free) = (0.0, 0.0, 0.0, -1.0);
    for points in by_dataset.values_mut() {
        let mut times: Vec<f64> = points.iter().map(|point| point.1).collect();
        let middle = median(&mut times)?;
        points.retain(|point| point.1 <= ODD * middle);
        let number = points.len() as f64;
        let mean_x = points.iter().map(|point| point.0).sum::<f64>() / number;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / number;
        for (x, y) in points.iter() {
            sum_xx += (x - mean_x).powi(2);
            sum_xy += (x - mean_x) * (y - mean_y);
            sum_yy += (y - mean_y).powi(2);
        }
        total_x += mean_x * number;
        total_y += mean_y * number;
        count += number;
        free += number - 1.0;
    }
    if free < 1.0 || total_y <= 0.0 || sum_xx <= 1e-9 * total_x * total_x / count {
        return None;
    }
    let slope = sum_xy / sum_xx;
    let variance = ((sum_yy - slope * sum_xy) / free).max(0.0);
    let share = slope * total_x / total_y;
    let error = (variance / sum_xx).sqrt() * total_x / total_y;
    (share.is_finite() && error <= MAX_ERROR).then(|| share.clamp(0.0, 1.0))
}

/// The files, and the file of each chunk.
fn files(evidence: &Evidence<'_>) -> (Vec<File>, Vec<u32>) {
    let compressed = compressed_bytes(evidence);
    // One file may be in two datasets.
    let mut places: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
    let mut files: Vec<(File, f64, Option<f64>)> = Vec::new();
    let mut file_of = Vec::with_capacity(evidence.chunks.len());
    for chunk in &evidence.chunks {
        let fresh = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let place = *places.entry((chunk.dataset, chunk.file)).or_insert(fresh);
        if place == fresh {
            let once = compressed.get(&(chunk.file as usize)).copied();
            let file = File {
                dataset: chunk.dataset,
                entries: 0.0,
                chunks: 0.0,
                read_secs: 0.0,
                reread: 0.0,
            };
            files.push((file, 0.0, once));
        }
        file_of.push(place);
        let Some((file, bytes, _)) = files.get_mut(place as usize) else { continue };
        file.entries += chunk.events;
        file.chunks += 1.0;
        file.read_secs += chunk.read_secs;
        *bytes += chunk.read_bytes;
    }
    let files = files
        .into_iter()
        .map(|(mut file, bytes, once)| {
            if let Some(once) = once.filter(|once| *once > 0.0)
                && file.chunks > 1.0
            {
                let again = (bytes - once) / (file.chunks - 1.0) / once;
                // A border cannot cost more than the whole file.
                file.reread = usable(again).unwrap_or(0.0).min(1.0);
            }
            file
        })
        .collect();
    (files, file_of)
}

/// The compressed size of the branches read, by file.
fn compressed_bytes(evidence: &Evidence<'_>) -> BTreeMap<usize, f64> {
    let Some(files) = evidence.measurement.table(Table::Files).map(Frame::new) else {
        return BTreeMap::new();
    };
    files
        .names("file")
        .zip(files.ints("branch_bytes_read_compressed"))
        .filter_map(|(file, bytes)| Some((evidence.files.known(file)?, bytes? as f64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_dealt_to_the_first_free_thread() {
        assert_eq!(dealt_out(&each(&[1.0; 5]), 2), 3.0);
        assert_eq!(dealt_out(&each(&[3.0, 1.0, 1.0, 1.0]), 2), 3.0);
        assert_eq!(dealt_out(&[], 4), 0.0);
        let many = |count| dealt_out(&[Alike { secs: 1.0, count }], 100);
        assert_eq!(many(MAX_DEALT), 200.0);
        assert!((many(MAX_DEALT + 1.0) - 200.5).abs() < 0.1);
    }

    #[test]
    fn the_growing_part_needs_chunks_of_different_length() {
        let chunk = |events: f64, cpu: f64| Chunk { events, user_secs: cpu, ..Chunk::default() };
        let fixed: Vec<_> = [800.0, 1000.0, 1200.0, 900.0].map(|n| chunk(n, 0.5)).to_vec();
        assert_eq!(growing_part(&fixed), Some(0.0));
        let half: Vec<_> =
            [800.0, 1000.0, 1200.0, 1000.0].map(|n| chunk(n, 0.5 + 0.0005 * n)).to_vec();
        assert!((growing_part(&half).unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(growing_part(&[chunk(1000.0, 0.5); 9]), None);
        let noise = [(1000.0, 0.5), (1010.0, 0.3), (1000.0, 0.3), (1010.0, 0.5)];
        assert_eq!(growing_part(&noise.map(|(events, cpu)| chunk(events, cpu))), None);
    }
}
