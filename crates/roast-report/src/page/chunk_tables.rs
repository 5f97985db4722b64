//! Tables made from the chunk rows: files, the slowest chunks, and the attempts
//! that came to nothing.

use std::collections::HashMap;

use roast_analyze::Outcome;
use roast_model::{Frame, Table as Stored};

use super::panel::no_chunks;
use super::run::{ChunkRow, Run, shown_name};
use super::table::{Cell, Column, Table, column, heaviest, share};
use super::text;

const FILES: &[Column] = &[
    column("file", "file", "text", ""),
    column("dataset", "dataset", "text", "of its first chunk"),
    column("chunks", "chunks", "count", "chunks that gave a result"),
    column("events", "events", "count", ""),
    column("secs", "time", "seconds", "of its attempts, opening included"),
    column("share", "share", "share", "of the time of all files"),
    column("rate_khz", "rate per thread", "khz", "events over the time of its attempts"),
    column("bytes_read", "read", "bytes", "byte ranges asked for"),
    column("wasted", "failed", "count", "attempts that failed or were repeated"),
    column("branches_read", "branches read", "count", ""),
    column("branches", "of branches", "count", "branches in the tree"),
    column("tree_bytes", "tree size", "bytes", "compressed"),
    column("compression", "compression", "number", "compressed over uncompressed size"),
];

/// Sums over the attempts at the chunks of one file.
#[derive(Clone, Copy, Debug, Default)]
struct FileSums {
    dataset: Option<usize>,
    chunks: usize,
    events: Option<i64>,
    secs: Option<f64>,
    bytes: Option<i64>,
    wasted: usize,
}

/// What is known of a file beside its chunks.
#[derive(Clone, Copy, Debug, Default)]
struct FileFacts {
    branches_read: Option<i64>,
    branches: Option<i64>,
    tree_bytes: Option<i64>,
    compression: Option<f64>,
}

/// One row per file.
pub(crate) fn files(run: &Run<'_>) -> Table {
    let mut names = run.files.clone();
    let mut sums = vec![FileSums::default(); names.len()];
    for chunk in run.chunks.iter().filter(|chunk| chunk.outcome != Outcome::Replayed) {
        let Some(sum) = sums.get_mut(chunk.file) else { continue };
        sum.dataset = sum.dataset.or(Some(chunk.dataset));
        sum.secs = plus(sum.secs, chunk.attempt_secs);
        if chunk.is_ok() {
            sum.chunks += 1;
            sum.events = plus_whole(sum.events, chunk.events);
            sum.bytes = plus_whole(sum.bytes, chunk.bytes_read);
        } else {
            sum.wasted += 1;
        }
    }
    let facts = file_facts(run);
    let known: std::collections::BTreeSet<Option<&str>> = names.iter().copied().collect();
    let mut unread: Vec<Option<&str>> =
        facts.keys().copied().filter(|name| !known.contains(name)).collect();
    unread.sort_unstable();
    names.extend(unread);
    sums.resize(names.len(), FileSums::default());
    let all_secs: f64 = sums.iter().filter_map(|sum| sum.secs).sum();
    let weights: Vec<f64> = sums.iter().map(|sum| sum.secs.unwrap_or(-1.0)).collect();
    let rows = heaviest(&weights)
        .into_iter()
        .filter_map(|index| Some((names.get(index).copied()?, sums.get(index)?)))
        .map(|(name, sum)| {
            let facts = facts.get(&name).copied().unwrap_or_default();
            let dataset = sum.dataset.and_then(|code| run.datasets.get(code)).copied();
            let rate = sum.events.zip(sum.secs.filter(|secs| *secs > 0.0));
            let seen = sum.dataset.is_some();
            vec![
                shown_name(name).into(),
                dataset.map(shown_name).into(),
                if seen { sum.chunks.into() } else { Cell::Missing },
                sum.events.into(),
                sum.secs.into(),
                share(sum.secs, Some(all_secs)),
                rate.map(|(events, secs)| events as f64 / secs / 1e3).into(),
                sum.bytes.into(),
                if seen { sum.wasted.into() } else { Cell::Missing },
                facts.branches_read.into(),
                facts.branches.into(),
                facts.tree_bytes.into(),
                facts.compression.into(),
            ]
        })
        .collect();
    Table::new(("files", "Files"), FILES, rows, names.len(), no_chunks)
}

fn file_facts<'a>(run: &Run<'a>) -> HashMap<Option<&'a str>, FileFacts> {
    let mut facts = HashMap::new();
    let Some(files) = run.measurement.table(Stored::Files).map(Frame::new) else { return facts };
    let mut read = files.ints("num_branches_read");
    let mut all = files.ints("num_branches");
    let mut sizes = files.ints("compressed_bytes");
    let mut ratios = files.floats("compression_ratio");
    for name in files.names("file") {
        let fact = FileFacts {
            branches_read: read.next().flatten(),
            branches: all.next().flatten(),
            tree_bytes: sizes.next().flatten(),
            compression: ratios.next().flatten(),
        };
        // Of several trees in one file, the first.
        facts.entry(name).or_insert(fact);
    }
    facts
}

const SLOWEST: &[Column] = &[
    column("secs", "took", "seconds", "from the opening of the file on, where that was seen"),
    column("dataset", "dataset", "text", ""),
    column("file", "file", "text", ""),
    column("entry_start", "from entry", "count", ""),
    column("entry_stop", "to entry", "count", ""),
    column("events", "events", "count", ""),
    column("rate_khz", "rate", "khz", "events over the time of the attempt"),
    column("open_secs", "open", "seconds", "opening the file"),
    column("tree_secs", "tree", "seconds", "reading the tree's metadata"),
    column("events_secs", "events form", "seconds", "building the events"),
    column("process_secs", "process()", "seconds", ""),
    column("read_secs", "column reads", "seconds", "inside process()"),
    column("serialize_secs", "packing", "seconds", "packing the output"),
    column("peak_bytes", "peak memory", "bytes", "of its process while it ran"),
    column("worker", "worker", "text", ""),
];

/// The chunks that took longest.
pub(crate) fn slowest(run: &Run<'_>) -> Table {
    let ok: Vec<&ChunkRow> =
        run.chunks.iter().filter(|chunk| chunk.is_ok() && chunk.attempt_secs.is_some()).collect();
    let weights: Vec<f64> = ok.iter().filter_map(|chunk| chunk.attempt_secs).collect();
    let chosen: Vec<&ChunkRow> =
        heaviest(&weights).into_iter().filter_map(|index| ok.get(index).copied()).collect();
    let more = Picked::new(run, &chosen);
    let [open, tree, form, process, read, pack] =
        ["open_secs", "tree_secs", "events_secs", "process_secs", "read_secs", "serialize_secs"]
            .map(|column| more.floats(column));
    let (stops, peaks) = (more.ints("entry_stop"), more.ints("rss_peak_bytes"));
    let nth =
        |column: &[Option<f64>], place: usize| Cell::from(column.get(place).copied().flatten());
    let rows = chosen
        .iter()
        .enumerate()
        .map(|(place, chunk)| {
            let rate = chunk.events.zip(chunk.attempt_secs.filter(|secs| *secs > 0.0));
            vec![
                chunk.attempt_secs.into(),
                dataset(run, chunk),
                file(run, chunk),
                chunk.entry_start.into(),
                stops.get(place).copied().flatten().into(),
                chunk.events.into(),
                rate.map(|(events, secs)| events as f64 / secs / 1e3).into(),
                nth(&open, place),
                nth(&tree, place),
                nth(&form, place),
                nth(&process, place),
                nth(&read, place),
                nth(&pack, place),
                peaks.get(place).copied().flatten().into(),
                worker(run, chunk),
            ]
        })
        .collect();
    Table::new(("chunks", "Slowest chunks"), SLOWEST, rows, ok.len(), || {
        if run.chunks.is_empty() {
            no_chunks()
        } else {
            "No chunk with a known duration gave a result.".to_owned()
        }
    })
}

const FAILURES: &[Column] = &[
    column("error", "error", "text", "class of the error"),
    column("outcome", "attempt", "text", "a repeated one succeeded, and so did a later one"),
    column("in_the_end", "chunk", "text", "whether another attempt gave its result"),
    column("secs", "time lost", "seconds", ""),
    column("attempt", "number", "count", "of the attempt at its chunk, from 1"),
    column("dataset", "dataset", "text", ""),
    column("file", "file", "text", ""),
    column("entry_start", "from entry", "count", ""),
    column("entry_stop", "to entry", "count", ""),
    column("worker", "worker", "text", ""),
];

/// The attempts that came to nothing, the most costly first.
pub(crate) fn failures(run: &Run<'_>) -> Table {
    let wasted: Vec<&ChunkRow> = run.chunks.iter().filter(|chunk| chunk.is_wasted()).collect();
    let weights: Vec<f64> = wasted.iter().map(|chunk| chunk.attempt_secs.unwrap_or(-1.0)).collect();
    let chosen: Vec<&ChunkRow> =
        heaviest(&weights).into_iter().filter_map(|index| wasted.get(index).copied()).collect();
    let more = Picked::new(run, &chosen);
    let (stops, numbers) = (more.ints("entry_stop"), more.ints("attempt"));
    let errors = more.names("error");
    // Which of these chunks have a result after all.
    let key = |chunk: &ChunkRow| Some((chunk.dataset, chunk.file, chunk.entry_start?));
    let mut results: HashMap<_, bool> =
        chosen.iter().filter_map(|chunk| Some((key(chunk)?, false))).collect();
    for chunk in run.chunks.iter().filter(|chunk| !chunk.is_wasted()) {
        if let Some(result) = key(chunk).and_then(|key| results.get_mut(&key)) {
            *result = true;
        }
    }
    let rows = chosen
        .iter()
        .enumerate()
        .map(|(place, chunk)| {
            let error = errors.get(place).copied().flatten().map(text::name);
            let result = key(chunk).and_then(|key| results.get(&key));
            let in_the_end = result.map(|result| if *result { "succeeded" } else { "never done" });
            let outcome = if chunk.outcome == Outcome::Failed { "failed" } else { "repeated" };
            vec![
                error.into(),
                outcome.to_owned().into(),
                in_the_end.map(str::to_owned).into(),
                chunk.attempt_secs.into(),
                numbers.get(place).copied().flatten().into(),
                dataset(run, chunk),
                file(run, chunk),
                chunk.entry_start.into(),
                stops.get(place).copied().flatten().into(),
                worker(run, chunk),
            ]
        })
        .collect();
    Table::new(("failures", "Failures and retries"), FAILURES, rows, wasted.len(), || {
        if run.chunks.is_empty() { no_chunks() } else { "No attempt failed.".to_owned() }
    })
}

/// Further columns of some rows of the table of chunks, in the order of these.
struct Picked<'a> {
    frame: Option<Frame<'a>>,
    /// Row of the table and place among the chosen, by row.
    places: Vec<(usize, usize)>,
}

impl<'a> Picked<'a> {
    fn new(run: &Run<'a>, chosen: &[&ChunkRow]) -> Self {
        let mut places: Vec<_> =
            chosen.iter().enumerate().map(|(place, chunk)| (chunk.row, place)).collect();
        places.sort_unstable();
        Self { frame: run.measurement.table(Stored::Chunks).map(Frame::new), places }
    }

    fn floats(&self, column: &str) -> Vec<Option<f64>> {
        self.pick(self.frame.map(|frame| frame.floats(column)))
    }

    fn ints(&self, column: &str) -> Vec<Option<i64>> {
        self.pick(self.frame.map(|frame| frame.ints(column)))
    }

    fn names(&self, column: &str) -> Vec<Option<&'a str>> {
        self.pick(self.frame.map(|frame| frame.names(column)))
    }

    fn pick<T: Copy>(&self, column: Option<impl Iterator<Item = Option<T>>>) -> Vec<Option<T>> {
        let mut picked = vec![None; self.places.len()];
        let mut wanted = self.places.iter().peekable();
        for (row, value) in column.into_iter().flatten().enumerate() {
            while let Some((_, place)) = wanted.next_if(|(wanted, _)| *wanted == row) {
                if let Some(slot) = picked.get_mut(*place) {
                    *slot = value;
                }
            }
        }
        picked
    }
}

fn dataset(run: &Run<'_>, chunk: &ChunkRow) -> Cell {
    run.datasets.get(chunk.dataset).copied().flatten().map(text::name).into()
}

fn file(run: &Run<'_>, chunk: &ChunkRow) -> Cell {
    run.files.get(chunk.file).copied().flatten().map(text::name).into()
}

fn worker(run: &Run<'_>, chunk: &ChunkRow) -> Cell {
    run.chunk_workers.get(chunk.worker).copied().flatten().map(text::name).into()
}

fn plus(sum: Option<f64>, number: Option<f64>) -> Option<f64> {
    match (sum, number) {
        (Some(sum), Some(number)) => Some(sum + number),
        (sum, number) => sum.or(number),
    }
}

fn plus_whole(sum: Option<i64>, number: Option<i64>) -> Option<i64> {
    match (sum, number) {
        (Some(sum), Some(number)) => Some(sum.saturating_add(number)),
        (sum, number) => sum.or(number),
    }
}
