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
//! Chunks are dealt out to threads in order, each to the first that is free.
//! Preprocessing comes before them, a task for each file, spread over all threads.
//! What the run took beyond this model today, it is assumed to take then too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use foldhash::fast::RandomState;
use roast_model::{Frame, Table, both};

use super::evidence::Evidence;
use crate::chunk_rows::slot;
use crate::ledger::is_preprocessing;
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
    /// Thread time of preprocessing.
    preprocess_secs: f64,
    /// By number.
    datasets: Vec<Cost>,
    files: Vec<File>,
    /// As the model has them, in order of start.
    pub(super) now_secs: Vec<f64>,
    /// As they were, in order of start.
    pub(super) actual_secs: Vec<f64>,
    /// What the model makes of each of these two.
    now_wall_secs: f64,
    actual_wall_secs: f64,
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
        let events: f64 = chunks.iter().map(|chunk| chunk.events()).sum();
        let attempts: f64 = chunks.iter().map(|chunk| chunk.secs()).sum();
        if chunks.is_empty() || events <= 0.0 || attempts <= 0.0 {
            return None;
        }
        // What a thread had to do between chunks, or waited for the next one.
        let idle = ["idle_ramp_up", "idle_tail", "idle_client", "failed_work"];
        let preprocess_secs = preprocess_secs(evidence);
        let between = evidence.core_secs? - evidence.rows_secs(&idle)? - attempts - preprocess_secs;
        let gap_secs = (between / chunks.len() as f64).max(0.0);

        let left_out = left_out(evidence);
        let typical = || {
            let chunks = chunks.iter().zip(&left_out);
            chunks.filter(|(_, is_left_out)| !**is_left_out).map(|(chunk, _)| chunk)
        };
        let of_user =
            || typical().map(|chunk| (chunk.dataset(), chunk.events(), chunk.user_secs()));
        let ((files, file_of), growing) = both(|| files(evidence), || growing_part(of_user()));
        let share = growing.unwrap_or(1.0);
        let mut sums: Vec<[f64; 4]> = Vec::new();
        for chunk in typical() {
            let user = chunk.process_secs() - chunk.read_secs();
            let fixed = chunk.secs() - chunk.process_secs() + user * (1.0 - share);
            if let Some(sums) = slot(&mut sums, chunk.dataset() as usize) {
                for (sum, more) in sums.iter_mut().zip([1.0, chunk.events(), fixed, user * share]) {
                    *sum += more;
                }
            }
        }
        let datasets: Vec<Cost> = sums
            .into_iter()
            .map(|[count, events, fixed, growing]| {
                // What no chunk tells of is not asked for.
                let per = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
                let fixed_secs = per(fixed, count) + gap_secs;
                Cost { fixed_secs, secs_per_event: per(growing, events) }
            })
            .collect();
        let mut plan = Self {
            wall_secs: evidence.wall_secs,
            threads,
            gap_secs,
            preprocess_secs,
            datasets,
            files,
            now_secs: Vec::new(),
            actual_secs: chunks.iter().map(|chunk| chunk.secs() + gap_secs).collect(),
            now_wall_secs: 0.0,
            actual_wall_secs: 0.0,
            fixed_part_is_known: growing.is_some(),
        };
        plan.now_secs = chunks
            .iter()
            .zip(file_of)
            .map(|(chunk, file)| {
                let file = plan.files.get(file as usize);
                let read = file.map_or(0.0, |file| file.read_secs / file.chunks);
                plan.chunk_secs(chunk.dataset(), chunk.events(), read)
            })
            .collect();
        plan.now_wall_secs = dealt_out(each(&plan.now_secs), threads);
        plan.actual_wall_secs = dealt_out(each(&plan.actual_secs), threads);
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
        let cost = self.datasets.get(dataset as usize).copied().unwrap_or_default();
        cost.fixed_secs + cost.secs_per_event * events + read_secs
    }

    /// Thread time of all chunks as the model has it.
    pub(super) fn busy_secs(&self) -> f64 {
        self.now_secs.iter().sum()
    }

    /// The same data in chunks of another size, cut as coffea does it.
    pub(super) fn with_chunk_size(&self, size: f64) -> Outlook {
        let then = self.files.iter().map(|file| {
            // A file never becomes more chunks than it has entries.
            let count = (file.entries / size).round_ties_even().min(file.entries).max(1.0);
            let read = file.read_secs * (1.0 + file.reread * (count - 1.0))
                / (1.0 + file.reread * (file.chunks - 1.0));
            let secs = self.chunk_secs(file.dataset, file.entries / count, read / count);
            Alike { secs, count }
        });
        self.outlook(self.now_wall_secs, then, self.threads)
    }

    /// The same chunks on another number of threads.
    pub(super) fn with_threads(&self, threads: usize) -> Outlook {
        self.outlook(self.actual_wall_secs, each(&self.actual_secs), threads)
    }

    /// Other times for the chunks that there are, in their order.
    pub(super) fn with_chunk_secs(&self, secs: impl Fn(usize, f64) -> f64) -> Outlook {
        let secs = &secs;
        let then = self.actual_secs.iter().enumerate().map(move |(chunk, now)| Alike {
            secs: secs(chunk, now - self.gap_secs).max(0.0) + self.gap_secs,
            count: 1.0,
        });
        self.outlook(self.actual_wall_secs, then, self.threads)
    }

    fn outlook(
        &self,
        modelled: f64,
        then: impl Iterator<Item = Alike> + Clone,
        then_threads: usize,
    ) -> Outlook {
        let preprocessing = |threads: usize| self.preprocess_secs / threads.max(1) as f64;
        let new = dealt_out(then.clone(), then_threads) + preprocessing(then_threads);
        let modelled = modelled + preprocessing(self.threads);
        // A model that exceeds the run itself is scaled down to it.
        let scale = if modelled > self.wall_secs { self.wall_secs / modelled } else { 1.0 };
        let wall_secs = self.wall_secs + (new - modelled) * scale;
        Outlook {
            wall_secs: usable(wall_secs).unwrap_or(self.wall_secs),
            busy_secs: then.clone().map(|chunks| chunks.secs * chunks.count).sum(),
            chunks: then.map(|chunks| chunks.count).sum(),
        }
    }
}

/// Chunks that follow each other and take the same time.
#[derive(Clone, Copy, Debug)]
struct Alike {
    secs: f64,
    count: f64,
}

fn each(secs: &[f64]) -> impl Iterator<Item = Alike> + Clone {
    secs.iter().map(|secs| Alike { secs: *secs, count: 1.0 })
}

/// When the last of these is done, each taken by the first thread that is free.
fn dealt_out(chunks: impl Iterator<Item = Alike> + Clone, threads: usize) -> f64 {
    let threads = threads.max(1);
    let count: f64 = chunks.clone().map(|chunks| chunks.count).sum();
    if count > MAX_DEALT {
        // At the end each thread has half a chunk left to do, on average.
        let total: f64 = chunks.clone().map(|chunks| chunks.secs * chunks.count).sum();
        let longest = chunks.map(|chunks| chunks.secs).fold(0.0, f64::max);
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

/// What threads spent on tasks before there were chunks; none that is known of
/// without tasks.
fn preprocess_secs(evidence: &Evidence<'_>) -> f64 {
    let phases = &evidence.measurement.header.phases;
    let Some(tasks) = evidence.measurement.table(Table::Tasks).map(Frame::new) else {
        return 0.0;
    };
    let ends = tasks.times("start").zip(tasks.times("stop"));
    let total_ns: i128 = ends
        .zip(tasks.names("action"))
        .filter_map(|((start, stop), action)| {
            let (start, stop) = (start?.0, stop?.0);
            let is_counted = is_preprocessing(phases, start) && action == Some("compute");
            is_counted.then(|| (i128::from(stop) - i128::from(start)).max(0))
        })
        .sum();
    total_ns as f64 / 1e9
}

/// The first chunk of each worker, where that leaves enough of each dataset to judge
/// by; none else.
fn left_out(evidence: &Evidence<'_>) -> Vec<bool> {
    let (mut workers, mut all, mut kept) = (Seen::default(), Seen::default(), Seen::default());
    let mut left_out = Vec::with_capacity(evidence.chunks.len());
    for chunk in evidence.chunks.iter() {
        let is_first = workers.is_new(chunk.worker());
        all.is_new(chunk.dataset());
        if !is_first {
            kept.is_new(chunk.dataset());
        }
        left_out.push(is_first);
    }
    if workers.count * 2 > left_out.len() || kept.count < all.count {
        left_out.fill(false);
    }
    left_out
}

/// Which numbers came before.
#[derive(Default)]
struct Seen {
    numbers: Vec<bool>,
    count: usize,
}

impl Seen {
    fn is_new(&mut self, number: u32) -> bool {
        let seen = slot(&mut self.numbers, number as usize);
        let is_new = seen.is_some_and(|seen| !std::mem::replace(seen, true));
        self.count += usize::from(is_new);
        is_new
    }
}

/// The share of the user's code that grows with the events, by least squares over
/// the deviations from each dataset's means; missing if chunks are too much alike.
/// Each chunk is given by its dataset, its events and the time of the user's code.
fn growing_part(chunks: impl Iterator<Item = (u32, f64, f64)> + Clone) -> Option<f64> {
    let mut times: Vec<Vec<f64>> = Vec::new();
    for (dataset, _, secs) in chunks.clone() {
        slot(&mut times, dataset as usize)?.push(secs);
    }
    let limits: Vec<f64> =
        times.iter_mut().map(|times| median(times).map_or(0.0, |secs| ODD * secs)).collect();
    drop(times);
    let limit = |dataset: u32| limits.get(dataset as usize).copied().unwrap_or(0.0);
    let chunks = chunks.filter(|(dataset, _, secs)| *secs <= limit(*dataset));
    let mut sums: Vec<[f64; 3]> = vec![[0.0; 3]; limits.len()];
    for (dataset, events, secs) in chunks.clone() {
        if let Some([count, sum_x, sum_y]) = sums.get_mut(dataset as usize) {
            *count += 1.0;
            *sum_x += events;
            *sum_y += secs;
        }
    }
    let (mut sum_xx, mut sum_xy, mut sum_yy) = (0.0, 0.0, 0.0);
    for (dataset, events, secs) in chunks {
        if let Some([count, sum_x, sum_y]) = sums.get(dataset as usize) {
            let (x, y) = (events - sum_x / count, secs - sum_y / count);
            sum_xx += x * x;
            sum_xy += x * y;
            sum_yy += y * y;
        }
    }
    let some = || sums.iter().filter(|[count, ..]| *count > 0.0);
    let total = |part: usize| some().filter_map(|sums| sums.get(part)).sum::<f64>();
    let (count, total_x, total_y) = (total(0), total(1), total(2));
    // Each dataset's mean is taken from the data, and so is the slope.
    let free = count - some().count() as f64 - 1.0;
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
    for chunk in evidence.chunks.iter() {
        let fresh = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let place = *places.entry((chunk.dataset(), chunk.file())).or_insert(fresh);
        if place == fresh {
            let once = compressed.get(&chunk.file()).copied();
            let file = File {
                dataset: chunk.dataset(),
                entries: 0.0,
                chunks: 0.0,
                read_secs: 0.0,
                reread: 0.0,
            };
            files.push((file, 0.0, once));
        }
        file_of.push(place);
        let Some((file, bytes, _)) = files.get_mut(place as usize) else { continue };
        file.entries += chunk.events();
        file.chunks += 1.0;
        file.read_secs += chunk.read_secs();
        *bytes += chunk.read_bytes();
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
fn compressed_bytes(evidence: &Evidence<'_>) -> BTreeMap<u32, f64> {
    let Some(files) = evidence.measurement.table(Table::Files).map(Frame::new) else {
        return BTreeMap::new();
    };
    files
        .names("file")
        .zip(files.ints("branch_bytes_read_compressed"))
        .filter_map(|(file, bytes)| Some((evidence.chunks.files.number(file)?, bytes? as f64)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_dealt_to_the_first_free_thread() {
        assert_eq!(dealt_out(each(&[1.0; 5]), 2), 3.0);
        assert_eq!(dealt_out(each(&[3.0, 1.0, 1.0, 1.0]), 2), 3.0);
        assert_eq!(dealt_out(each(&[]), 4), 0.0);
        let many = |count| dealt_out([Alike { secs: 1.0, count }].into_iter(), 100);
        assert_eq!(many(MAX_DEALT), 200.0);
        assert!((many(MAX_DEALT + 1.0) - 200.5).abs() < 0.1);
    }

    #[test]
    fn the_growing_part_needs_chunks_of_different_length() {
        let fixed = [800.0, 1000.0, 1200.0, 900.0].map(|events| (0, events, 0.5));
        assert_eq!(growing_part(fixed.into_iter()), Some(0.0));
        let half = [800.0, 1000.0, 1200.0, 1000.0].map(|n| (0, n, 0.5 + 0.0005 * n));
        assert!((growing_part(half.into_iter()).unwrap() - 0.5).abs() < 1e-9);
        assert_eq!(growing_part([(0, 1000.0, 0.5); 9].into_iter()), None);
        let noise = [(1000.0, 0.5), (1010.0, 0.3), (1000.0, 0.3), (1010.0, 0.5)];
        let noise = noise.map(|(events, cpu)| (0, events, cpu));
        assert_eq!(growing_part(noise.into_iter()), None);
        // Datasets may differ in what an event takes; each has a mean of its own.
        let two = half.into_iter().chain(half.map(|(_, n, secs)| (2, n, secs + 0.1)));
        assert!((growing_part(two).unwrap() - 2000.0 / 4200.0).abs() < 1e-9);
    }
}
