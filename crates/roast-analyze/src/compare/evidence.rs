//! What the chunks of one run say: per chunk that gave its result, what it is,
//! where and when it ran, and what each part of it took.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use roast_model::{Frame, Measurement, Table};

use super::Part;
use crate::chunk_rows::{self, Names, Outcome, slot};
use crate::datasets::UNKNOWN;
use crate::number::usable;

/// Parts that take less than this share of all chunk time in both runs are not
/// worth a verdict.
pub(crate) const SMALL_SHARE: f64 = 0.01;

/// The key of the part that is everything a chunk does.
pub(crate) const WHOLE_CHUNK: &str = "chunk";
/// The key of the time in `process()`.
pub(crate) const PROCESS: &str = "process";
/// The key of the time in column reads.
pub(crate) const READ: &str = "read";
/// The key of the time that the tree's metadata takes.
pub(crate) const TREE: &str = "tree";
/// The key of the bytes that a chunk asked for.
pub(crate) const BYTES: &str = "bytes";

/// Dataset, file, UUID, tree and entries.
pub(crate) type ChunkKey<'a> =
    (Option<&'a str>, &'a str, Option<&'a str>, Option<&'a str>, i64, i64);

/// One part of each chunk: what it took, the same without waiting for a core, and
/// how much of it was on a CPU. What was not measured is NaN.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) wall: Vec<f64>,
    pub(crate) net: Vec<f64>,
    pub(crate) cpu: Vec<f64>,
}

/// The chunks of a run that gave a result.
#[derive(Debug, Default)]
pub(crate) struct Evidence<'a> {
    pub(crate) keys: Vec<Option<ChunkKey<'a>>>,
    pub(crate) datasets: Vec<&'a str>,
    pub(crate) workers: Vec<usize>,
    /// Nanoseconds; the order is all that matters.
    pub(crate) starts: Vec<i64>,
    pub(crate) events: Vec<f64>,
    /// By kind of part and name, in the order in which they are shown.
    pub(crate) parts: Vec<(Part, String, Series)>,
    /// Longest attempt.
    pub(crate) longest_secs: f64,
    /// Time of every attempt, failed ones included.
    pub(crate) attempts_secs: f64,
}

/// Key and the columns of wall time, CPU time and time of waiting for a core.
const PHASES: [(&str, &str, Option<&str>, Option<&str>); 9] = [
    ("unpack", "unpack_secs", Some("unpack_cpu_secs"), Some("unpack_run_queue_secs")),
    ("open", "open_secs", Some("open_cpu_secs"), Some("open_run_queue_secs")),
    (TREE, "tree_secs", Some("tree_cpu_secs"), Some("tree_run_queue_secs")),
    ("events", "events_secs", Some("events_cpu_secs"), Some("events_run_queue_secs")),
    (PROCESS, "duration_secs", Some("process_cpu_secs"), Some("process_run_queue_secs")),
    (READ, "read_secs", Some("read_cpu_secs"), Some("read_run_queue_secs")),
    ("decompress", "decompress_secs", Some("decompress_cpu_secs"), None),
    ("interpret", "interpret_secs", Some("interpret_cpu_secs"), None),
    ("serialize", "serialize_secs", Some("serialize_cpu_secs"), Some("serialize_run_queue_secs")),
];
/// The phases that follow on each other and make up a chunk.
const IN_CHUNK: [&str; 6] = ["unpack", "open", TREE, "events", PROCESS, "serialize"];

impl<'a> Evidence<'a> {
    /// Reads the chunks and their sections of these names; nothing if there are none.
    pub(crate) fn read(measurement: &'a Measurement, wanted: &BTreeSet<&str>) -> Self {
        let Some(rows) = measurement.table(Table::Chunks).map(Frame::new) else {
            return Self::default();
        };
        let outcomes = chunk_rows::outcomes(rows);
        let attempts: Vec<Option<f64>> = chunk_rows::attempt_secs(rows).collect();
        let mut evidence = Self {
            attempts_secs: attempts.iter().flatten().sum(),
            longest_secs: attempts.iter().flatten().copied().fold(0.0, f64::max),
            ..Self::default()
        };
        let mut units: Vec<usize> = Vec::new();
        let (mut workers, mut files) = (Names::default(), rows.names("file"));
        let (mut datasets, mut uuids) = (rows.names("dataset"), rows.names("uuid"));
        let (mut trees, mut names) = (rows.names("tree"), rows.names("worker"));
        let (mut starts, mut stops) = (rows.ints("entry_start"), rows.ints("entry_stop"));
        let (mut times, mut events) = (rows.times("start"), rows.ints("num_events"));
        for (row, outcome) in outcomes.iter().enumerate() {
            let (dataset, file) = (datasets.next().flatten(), files.next().flatten());
            let (uuid, tree) = (uuids.next().flatten(), trees.next().flatten());
            let entries = starts.next().flatten().zip(stops.next().flatten());
            let worker = names.next().flatten();
            let (start, events) = (times.next().flatten(), events.next().flatten());
            // Without events there is nothing to divide by.
            let Some(events) = events.filter(|count| *count > 0) else { continue };
            if *outcome != Outcome::Ok {
                continue;
            }
            units.push(row);
            let key =
                file.zip(entries).map(|(file, (from, to))| (dataset, file, uuid, tree, from, to));
            evidence.keys.push(key);
            evidence.datasets.push(dataset.unwrap_or(UNKNOWN));
            evidence.workers.push(workers.code(worker));
            evidence.starts.push(start.map_or(row as i64, |start| start.0));
            evidence.events.push(events as f64);
        }
        evidence.phases(rows, &units, &attempts);
        if let Some(sections) = measurement.table(Table::Sections) {
            evidence.sections(rows, &units, Frame::new(sections), wanted);
        }
        evidence
    }

    /// How many chunks there are.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// What each chunk spent on a part, if it was measured.
    pub(crate) fn series(&self, part: Part, name: &str) -> Option<&Series> {
        self.parts
            .iter()
            .find(|(kind, known, _)| *kind == part && known == name)
            .map(|(_, _, series)| series)
    }

    fn phases(&mut self, rows: Frame<'_>, units: &[usize], attempts: &[Option<f64>]) {
        let column = |name: &str| -> Vec<f64> {
            let all: Vec<f64> =
                rows.floats(name).map(|secs| secs.and_then(usable).unwrap_or(f64::NAN)).collect();
            pick(&all, units)
        };
        let mut waiting = vec![0.0; units.len()];
        let mut busy = vec![0.0; units.len()];
        let mut found = Vec::new();
        for (key, wall, cpu, run_queue) in PHASES {
            let wall = column(wall);
            if wall.iter().all(|secs| secs.is_nan()) {
                continue;
            }
            let cpu = cpu.map_or_else(|| vec![f64::NAN; units.len()], column);
            let wait = run_queue.map_or_else(|| vec![f64::NAN; units.len()], column);
            let net = wall
                .iter()
                .zip(&wait)
                .map(|(wall, wait)| if wait.is_nan() { *wall } else { (wall - wait).max(0.0) })
                .collect();
            if IN_CHUNK.contains(&key) {
                for ((sum, wait), (total, cpu)) in
                    waiting.iter_mut().zip(&wait).zip(busy.iter_mut().zip(&cpu))
                {
                    *sum += if wait.is_nan() { 0.0 } else { *wait };
                    *total += if cpu.is_nan() { 0.0 } else { *cpu };
                }
            }
            found.push((Part::Phase, key.to_owned(), Series { wall, net, cpu }));
        }
        let attempts: Vec<f64> = attempts.iter().map(|secs| secs.unwrap_or(f64::NAN)).collect();
        let wall = pick(&attempts, units);
        let net = wall.iter().zip(&waiting).map(|(wall, wait)| (wall - wait).max(0.0)).collect();
        self.parts.push((Part::Phase, WHOLE_CHUNK.to_owned(), Series { wall, net, cpu: busy }));
        self.parts.append(&mut found);
        let bytes: Vec<f64> = rows
            .ints("bytes_read")
            .map(|bytes| bytes.filter(|bytes| *bytes >= 0).map_or(f64::NAN, |bytes| bytes as f64))
            .collect();
        let bytes = pick(&bytes, units);
        if bytes.iter().any(|bytes| !bytes.is_nan()) {
            let cpu = vec![0.0; units.len()];
            let series = Series { wall: bytes.clone(), net: bytes, cpu };
            self.parts.push((Part::Phase, BYTES.to_owned(), series));
        }
    }

    /// Adds the sections of these names. A chunk that did not enter a section spent
    /// no time in it.
    fn sections(
        &mut self,
        rows: Frame<'_>,
        units: &[usize],
        sections: Frame<'_>,
        wanted: &BTreeSet<&str>,
    ) {
        let ids: Vec<Option<i64>> = rows.ints("chunk_id").collect();
        let unit_of: HashMap<i64, usize, RandomState> = units
            .iter()
            .enumerate()
            .filter_map(|(unit, row)| Some(((*ids.get(*row)?)?, unit)))
            .collect();
        let zeros = || vec![0.0; units.len()];
        let mut columns: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for entry in timed_sections(sections) {
            let Some(name) = wanted.get(entry.name) else { continue };
            let Some(unit) = entry.chunk.and_then(|id| unit_of.get(&id)) else { continue };
            let (walls, cpus) = columns.entry(name).or_insert_with(|| (zeros(), zeros()));
            if let (Some(wall), Some(cpu)) = (walls.get_mut(*unit), cpus.get_mut(*unit)) {
                *wall += entry.wall_secs;
                *cpu += entry.cpu_secs.unwrap_or(f64::NAN);
            }
        }
        let found: Vec<(Part, String, Series)> = columns
            .into_iter()
            .map(|(name, (wall, cpu))| {
                let net = self.without_waiting(&wall, &cpu);
                (Part::Section, name.to_owned(), Series { wall, net, cpu })
            })
            .collect();
        self.parts.extend(found);
    }

    /// Sections do not know how long they waited for a core, but `process()` does,
    /// and a thread waits where it computes: each second of CPU has its share.
    fn without_waiting(&self, wall: &[f64], cpu: &[f64]) -> Vec<f64> {
        let Some(process) = self.series(Part::Phase, PROCESS) else { return wall.to_vec() };
        let whole = process.wall.iter().zip(&process.net).zip(&process.cpu);
        wall.iter()
            .zip(cpu)
            .zip(whole)
            .map(|((wall, cpu), ((process_wall, process_net), process_cpu))| {
                let share = (cpu / process_cpu).clamp(0.0, 1.0);
                let waited = (process_wall - process_net) * share;
                if waited.is_nan() { *wall } else { (wall - waited).max(0.0) }
            })
            .collect()
    }
}

/// One timed section of one chunk.
struct TimedSection<'a> {
    name: &'a str,
    chunk: Option<i64>,
    wall_secs: f64,
    cpu_secs: Option<f64>,
}

fn timed_sections<'a>(sections: Frame<'a>) -> impl Iterator<Item = TimedSection<'a>> {
    let names = sections.names("section").zip(sections.names("kind"));
    let secs = sections.floats("wall_secs").zip(sections.floats("cpu_secs"));
    names.zip(secs).zip(sections.ints("chunk_id")).filter_map(
        |(((name, kind), (wall, cpu)), chunk)| {
            (kind.unwrap_or("time") == "time").then_some(())?;
            let cpu_secs = cpu.and_then(usable);
            Some(TimedSection { name: name?, chunk, wall_secs: wall.and_then(usable)?, cpu_secs })
        },
    )
}

/// Names of sections that take a share of all chunk time worth looking at, and
/// how many others there are.
pub(crate) fn large_sections(measurement: &Measurement) -> (BTreeSet<&str>, usize) {
    let table = |table| measurement.table(table).map(Frame::new);
    let (Some(rows), Some(sections)) = (table(Table::Chunks), table(Table::Sections)) else {
        return (BTreeSet::new(), 0);
    };
    let total: f64 = chunk_rows::attempt_secs(rows).flatten().sum();
    let mut names = Names::default();
    let mut totals: Vec<f64> = Vec::new();
    for entry in timed_sections(sections) {
        let code = names.code(Some(entry.name));
        if let Some(sum) = slot(&mut totals, code) {
            *sum += entry.wall_secs;
        }
    }
    let large: BTreeSet<&str> = names
        .names()
        .iter()
        .zip(&totals)
        .filter(|(_, secs)| **secs > 0.0 && **secs >= SMALL_SHARE * total)
        .filter_map(|(name, _)| *name)
        .collect();
    let small = totals.len() - large.len();
    (large, small)
}

/// The numbers at these places.
pub(crate) fn pick(numbers: &[f64], places: &[usize]) -> Vec<f64> {
    places.iter().map(|place| numbers.get(*place).copied().unwrap_or(f64::NAN)).collect()
}
