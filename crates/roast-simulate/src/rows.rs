//! Rows of chunks, sections and tasks as columns of their tables.

use roast_model::{ColumnData, TableBuilder, TableError};

use crate::attempt::{Attempt, ERRORS, PROCESS};
use crate::columns::{append, names, seconds};
use crate::layout::Layout;
use crate::model::Simulation;
use crate::recorder::Task;
use crate::worker_tables;

/// How the tasks of the processor are called.
pub(crate) const PROCESSOR: &str = "SimulatedProcessor";
pub(crate) const TREE: &str = "Events";
/// Requests that opening a file and its tree makes.
const SETUP_REQUESTS: i64 = 3;
/// Share of the user's code that is inside of sections.
const INSIDE_SECTIONS: f64 = 0.9;
/// Share of the first section that the second one, inside of it, takes.
const NESTED: f64 = 0.5;

/// Wall, CPU and run-queue time of each step, in the order of the steps.
const STEP_COLUMNS: [[&str; 3]; 6] = [
    ["unpack_secs", "unpack_cpu_secs", "unpack_run_queue_secs"],
    ["open_secs", "open_cpu_secs", "open_run_queue_secs"],
    ["tree_secs", "tree_cpu_secs", "tree_run_queue_secs"],
    ["events_secs", "events_cpu_secs", "events_run_queue_secs"],
    ["process_secs", "process_cpu_secs", "process_run_queue_secs"],
    ["serialize_secs", "serialize_cpu_secs", "serialize_run_queue_secs"],
];

/// What the rows of a batch refer to.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) simulation: &'s Simulation,
    pub(crate) layout: &'s Layout,
    /// Rows before this batch.
    pub(crate) first_row: i64,
}

impl Source<'_> {
    pub(crate) fn append_attempts(
        self,
        chunks: &mut TableBuilder,
        rows: &[Attempt],
    ) -> Result<(), TableError> {
        let Self { simulation, layout, first_row } = self;
        let started = simulation.started.0;
        let ints = |get: &dyn Fn(&Attempt) -> i64| {
            ColumnData::Ints(rows.iter().map(|row| Some(get(row))).collect())
        };
        let secs = |get: &dyn Fn(&Attempt) -> i64| seconds(rows.iter().map(get));
        let texts = |get: &dyn Fn(&Attempt) -> Option<String>| {
            ColumnData::Texts(rows.iter().map(get).collect())
        };
        let of_file = |get: &dyn Fn(&crate::layout::File) -> String| {
            names(rows.iter().map(|row| layout.file_of(row.chunk) as u32), |number| {
                layout.files.get(number as usize).map(get).unwrap_or_default()
            })
        };
        let last_row = first_row + rows.len() as i64;
        let mut batch = vec![
            ("chunk_id", ColumnData::Ints((first_row..last_row).map(Some).collect())),
            ("dataset", self.datasets(rows.iter())),
            ("file", of_file(&|file| file.name.clone())),
            ("uuid", of_file(&|file| file.uuid.clone())),
            ("tree", names(rows.iter().map(|_| 0), |_| TREE.to_owned())),
            ("entry_start", ints(&|row| layout.entries(row.chunk).0)),
            ("entry_stop", ints(&|row| layout.entries(row.chunk).1)),
            (
                "num_events",
                ints(&|row| {
                    let (first, last) = layout.entries(row.chunk);
                    last - first
                }),
            ),
            ("worker", names(rows.iter().map(|row| row.worker), worker_tables::address)),
            ("host", names(rows.iter().map(|row| row.host), worker_tables::host)),
            ("thread", ints(&|row| row.thread)),
            ("start", ints(&|row| started + row.start)),
            ("stop", ints(&|row| started + row.stop)),
            ("attempt", ints(&|row| row.number.into())),
            ("error", texts(&|row| Some((*ERRORS.get(row.error? as usize)?).to_owned()))),
            (
                "outcome",
                names(rows.iter().map(|row| row.error.is_some().into()), |failed| {
                    if failed == 0 { "ok" } else { "failed" }.to_owned()
                }),
            ),
            ("task_key", texts(&|row| Some(task_key(simulation.seed, row.chunk)))),
            ("duration_secs", secs(&|row| row.step(PROCESS).wall)),
            ("rss_start_bytes", ints(&|row| row.rss_start)),
            ("rss_end_bytes", ints(&|row| row.rss_end)),
            ("rss_peak_bytes", ints(&|row| row.rss_peak)),
            ("bytes_read", ints(&|row| row.read_bytes + row.setup_bytes)),
            ("setup_bytes", ints(&|row| row.setup_bytes)),
            ("read_bytes", ints(&|row| row.read_bytes)),
            ("requests", ints(&|row| row.reads + SETUP_REQUESTS)),
            ("reads", ints(&|row| row.reads)),
            ("cached_reads", ints(&|_| 0)),
            ("preloaded_reads", ints(&|_| 0)),
            ("read_secs", secs(&|row| row.read.wall)),
            ("read_cpu_secs", secs(&|row| row.read.cpu)),
            ("read_run_queue_secs", secs(&|row| row.read.run_queue)),
            ("decompress_secs", secs(&|row| row.decompress)),
            ("decompress_cpu_secs", secs(&|row| row.decompress)),
            ("interpret_secs", secs(&|row| row.interpret)),
            ("interpret_cpu_secs", secs(&|row| row.interpret)),
            ("recorder_secs", secs(&|row| row.recorder)),
            ("branch_set", ints(&|_| 0)),
            ("num_branches", ints(&|_| layout.branches.len() as i64)),
            ("dropped_sections", ints(&|_| 0)),
        ];
        for (index, [wall, cpu, run_queue]) in STEP_COLUMNS.into_iter().enumerate() {
            batch.push((wall, secs(&|row| row.step(index).wall)));
            batch.push((cpu, secs(&|row| row.step(index).cpu)));
            batch.push((run_queue, secs(&|row| row.step(index).run_queue)));
        }
        append(chunks, batch)
    }

    /// Sections of the attempts that succeeded: the second one inside of the
    /// first, the others one after another.
    pub(crate) fn append_sections(
        self,
        sections: &mut TableBuilder,
        rows: &[Attempt],
    ) -> Result<(), TableError> {
        struct Row<'a> {
            chunk_id: i64,
            attempt: &'a Attempt,
            section: u32,
            start: i64,
            wall: i64,
            cpu: i64,
        }
        let count = self.layout.sections.len();
        let at_top = count - usize::from(count > 1);
        let mut inside = Vec::with_capacity(rows.len() * count);
        for (chunk_id, attempt) in (self.first_row..).zip(rows) {
            if attempt.error.is_some() || count == 0 {
                continue;
            }
            let process = attempt.step(PROCESS);
            let part = |whole: i64, share: f64| (whole as f64 * share) as i64;
            let share = INSIDE_SECTIONS / at_top as f64;
            let (wall, cpu) = (part(process.wall, share), part(process.cpu, share));
            let before: i64 = attempt.steps.iter().take(PROCESS).map(|step| step.wall).sum();
            let mut start = before;
            for section in 0..count as u32 {
                if section == 1 {
                    let (wall, cpu) = (part(wall, NESTED), part(cpu, NESTED));
                    inside.push(Row { chunk_id, attempt, section, start: before, wall, cpu });
                } else {
                    inside.push(Row { chunk_id, attempt, section, start, wall, cpu });
                    start += wall;
                }
            }
        }
        let ints = |get: &dyn Fn(&Row<'_>) -> Option<i64>| {
            ColumnData::Ints(inside.iter().map(get).collect())
        };
        let batch = vec![
            ("chunk_id", ints(&|row| Some(row.chunk_id))),
            ("dataset", self.datasets(inside.iter().map(|row| row.attempt))),
            (
                "section",
                names(inside.iter().map(|row| row.section), |section| {
                    self.layout.sections.get(section as usize).cloned().unwrap_or_default()
                }),
            ),
            ("kind", names(inside.iter().map(|_| 0), |_| "time".to_owned())),
            ("depth", ints(&|row| Some(i64::from(row.section == 1)))),
            ("parent", ints(&|row| (row.section == 1).then_some(0))),
            ("occurrence", ints(&|_| Some(0))),
            ("start_secs", seconds(inside.iter().map(|row| row.start))),
            ("wall_secs", seconds(inside.iter().map(|row| row.wall))),
            ("cpu_secs", seconds(inside.iter().map(|row| row.cpu))),
            ("count", ints(&|_| Some(1))),
        ];
        append(sections, batch)
    }

    fn datasets<'a>(self, rows: impl Iterator<Item = &'a Attempt>) -> ColumnData {
        let layout = self.layout;
        let dataset = |row: &Attempt| {
            layout.files.get(layout.file_of(row.chunk)).map_or(0, |file| file.dataset)
        };
        names(rows.map(dataset), |dataset| {
            layout.datasets.get(dataset as usize).cloned().unwrap_or_default()
        })
    }
}

pub(crate) fn append_tasks(
    tasks: &mut TableBuilder,
    rows: &[Task],
    started: i64,
) -> Result<(), TableError> {
    let ints =
        |get: &dyn Fn(&Task) -> Option<i64>| ColumnData::Ints(rows.iter().map(get).collect());
    let named = |get: fn(&Task) -> u32, words: &[&str]| {
        names(rows.iter().map(get), |number| {
            words.get(number as usize).copied().unwrap_or_default().to_owned()
        })
    };
    let batch = vec![
        ("worker", names(rows.iter().map(|row| row.worker), worker_tables::address)),
        ("prefix", named(|row| row.prefix as u32, &[PROCESSOR, "reduce"])),
        ("action", named(|row| row.action as u32, &["compute", "transfer"])),
        ("start", ints(&|row| Some(started + row.start))),
        ("stop", ints(&|row| Some(started + row.stop))),
        ("nbytes", ints(&|row| row.nbytes)),
        ("outcome", named(|_| 0, &["memory"])),
    ];
    append(tasks, batch)
}

/// As Dask makes them for a call that is not pure: an id of the call, and a number.
fn task_key(seed: u64, chunk: u64) -> String {
    let mixed = |number: u64| {
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    };
    format!("{PROCESSOR}-{:016x}{:016x}-{chunk}", mixed(seed), mixed(!seed))
}
