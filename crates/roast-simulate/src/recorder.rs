//! What a collector would have recorded while the run went on: rows of chunks,
//! sections and tasks, in batches of columns, and the sums that other tables hold.

use roast_model::{Table, TableBuilder, TableError, both};

use crate::attempt::{Attempt, PROCESS, Step};
use crate::layout::Layout;
use crate::model::Simulation;
use crate::rows;

/// Rows that are collected before they become columns.
const ROWS_PER_BATCH: usize = 16_384;
/// Whose task it is; in the order of their names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Prefix {
    Processor,
    Reduce,
}

/// What was done; in the order of their names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Compute,
    Transfer,
}

/// A row of the table `tasks`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) worker: u32,
    pub(crate) prefix: Prefix,
    pub(crate) action: Action,
    pub(crate) start: i64,
    pub(crate) stop: i64,
    pub(crate) nbytes: Option<i64>,
}

/// A stretch in which a thread was busy, whether or not anyone heard of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    pub(crate) worker: u32,
    pub(crate) start: i64,
    pub(crate) stop: i64,
    /// Share of it on a CPU.
    pub(crate) cpu: f32,
    pub(crate) bytes: f32,
}

/// Sums over attempts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) attempts: i64,
    pub(crate) chunks: i64,
    pub(crate) events: i64,
    /// Bytes of attempts that succeeded.
    pub(crate) bytes: i64,
    /// Of every attempt, from here on.
    pub(crate) read: Step,
    pub(crate) read_bytes: i64,
    pub(crate) decompress: i64,
    pub(crate) interpret: i64,
}

/// Sums over the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) by_dataset: Vec<Sums>,
    pub(crate) by_file: Vec<Sums>,
    /// Time in `process()` of attempts that succeeded.
    pub(crate) process_ns: i64,
    pub(crate) failed_ns: i64,
    pub(crate) attempt_cpu_ns: i64,
    pub(crate) task_ns: i64,
    pub(crate) reduce_ns: i64,
}

/// Collects the rows of a run.
pub(crate) struct Recorder<'s> {
    layout: &'s Layout,
    simulation: &'s Simulation,
    attempts: Vec<Attempt>,
    attempts_seen: i64,
    waiting_tasks: Vec<Task>,
    chunks: TableBuilder,
    sections: TableBuilder,
    tasks: TableBuilder,
    totals: Totals,
    busy: Vec<Busy>,
}

impl<'s> Recorder<'s> {
    pub(crate) fn new(simulation: &'s Simulation, layout: &'s Layout) -> Self {
        Self {
            layout,
            simulation,
            attempts: Vec::with_capacity(ROWS_PER_BATCH),
            attempts_seen: 0,
            waiting_tasks: Vec::with_capacity(ROWS_PER_BATCH),
            chunks: TableBuilder::new(Table::Chunks),
            sections: TableBuilder::new(Table::Sections),
            tasks: TableBuilder::new(Table::Tasks),
            totals: Totals {
                by_dataset: vec![Sums::default(); layout.datasets.len()],
                by_file: vec![Sums::default(); layout.files.len()],
                ..Totals::default()
            },
            busy: Vec::new(),
        }
    }

    pub(crate) fn busy(&mut self, busy: Busy) {
        self.busy.push(busy);
    }

    pub(crate) fn task(&mut self, task: Task) -> Result<(), TableError> {
        let length = task.stop - task.start;
        match (task.prefix, task.action) {
            (Prefix::Processor, Action::Compute) => self.totals.task_ns += length,
            (Prefix::Reduce, Action::Compute) => self.totals.reduce_ns += length,
            (_, Action::Transfer) => {}
        }
        self.waiting_tasks.push(task);
        if self.waiting_tasks.len() == ROWS_PER_BATCH { self.write_tasks() } else { Ok(()) }
    }

    pub(crate) fn attempt(&mut self, attempt: Attempt) -> Result<(), TableError> {
        self.count(&attempt);
        self.attempts.push(attempt);
        if self.attempts.len() == ROWS_PER_BATCH { self.write_attempts() } else { Ok(()) }
    }

    /// The tables, the sums and who was busy when.
    pub(crate) fn finish(mut self) -> Result<(Vec<TableBuilder>, Totals, Vec<Busy>), TableError> {
        self.write_attempts()?;
        self.write_tasks()?;
        Ok((vec![self.chunks, self.sections, self.tasks], self.totals, self.busy))
    }

    fn count(&mut self, attempt: &Attempt) {
        let number = self.layout.file_of(attempt.chunk);
        let dataset = self.layout.files.get(number).map_or(0, |file| file.dataset as usize);
        let totals = &mut self.totals;
        let sums = [totals.by_dataset.get_mut(dataset), totals.by_file.get_mut(number)];
        let succeeded = attempt.error.is_none();
        let (first, last) = self.layout.entries(attempt.chunk);
        for sums in sums.into_iter().flatten() {
            sums.attempts += 1;
            if succeeded {
                sums.chunks += 1;
                sums.events += last - first;
                sums.bytes += attempt.read_bytes + attempt.setup_bytes;
            }
            sums.read.wall += attempt.read.wall;
            sums.read.cpu += attempt.read.cpu;
            sums.read_bytes += attempt.read_bytes;
            sums.decompress += attempt.decompress;
            sums.interpret += attempt.interpret;
        }
        if succeeded {
            totals.process_ns += attempt.step(PROCESS).wall;
            totals.attempt_cpu_ns += attempt.cpu_ns();
        } else {
            totals.failed_ns += attempt.stop - attempt.start;
        }
    }

    fn write_attempts(&mut self) -> Result<(), TableError> {
        let attempts = std::mem::take(&mut self.attempts);
        let first_row = self.attempts_seen;
        self.attempts_seen += attempts.len() as i64;
        let source = rows::Source { simulation: self.simulation, layout: self.layout, first_row };
        let (chunks, sections) = both(
            || source.append_attempts(&mut self.chunks, &attempts),
            || source.append_sections(&mut self.sections, &attempts),
        );
        chunks.and(sections)
    }

    fn write_tasks(&mut self) -> Result<(), TableError> {
        let tasks = std::mem::take(&mut self.waiting_tasks);
        rows::append_tasks(&mut self.tasks, &tasks, self.simulation.started.0)
    }
}
