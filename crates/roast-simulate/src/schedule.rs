//! Who does what when: free threads take what is ready, earliest first, until
//! every chunk has succeeded and the outputs are added up. Times are nanoseconds
//! from the start of the run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use roast_model::TableError;

use crate::attempt::{Attempt, Place, ns};
use crate::draw::Draw;
use crate::layout::Layout;
use crate::model::Simulation;
use crate::recorder::{Action, Busy, Prefix, Recorder, Task};
use crate::reduction::{Reduction, Tree};

/// Time between two samples of the cluster.
pub(crate) const TICK_NS: i64 = 1_000_000_000;

/// Attempts that may fail; coffea retries three times, and the run shall succeed.
pub(crate) const FAILING_ATTEMPTS: u32 = 3;
const PREPROCESS_NS: i64 = 2_000_000_000;
const POSTPROCESS_NS: i64 = 500_000_000;
const REPLACEMENT_SECS: f64 = 45.0;
const TASK_HEAD_SECS: f64 = 0.001;
const TASK_TAIL_SECS: f64 = 0.002;
const TRANSFER_SECS_PER_INPUT: f64 = 0.001;
const OUTPUT_BYTES: f64 = 40_000.0;

/// A worker, from joining to leaving.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Worker {
    pub(crate) host: u32,
    pub(crate) start: i64,
    pub(crate) stop: i64,
    slowness: f64,
}

/// What happened, apart from the rows.
#[derive(Debug)]
pub(crate) struct Run {
    /// Every worker that ever was.
    pub(crate) workers: Vec<Worker>,
    pub(crate) process: (i64, i64),
    pub(crate) wall_ns: i64,
    /// Chunks that wait, and tasks that run: changes by tick.
    pub(crate) waiting: Changes,
    pub(crate) running: Changes,
}

/// Changes of a number, summed up by the first tick that sees them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) by_tick: Vec<i64>,
}

impl Changes {
    fn at(&mut self, moment: i64, change: i64) {
        let tick = usize::try_from(moment.div_euclid(TICK_NS) + 1).unwrap_or(0);
        if self.by_tick.len() <= tick {
            self.by_tick.resize(tick + 1, 0);
        }
        if let Some(sum) = self.by_tick.get_mut(tick) {
            *sum += change;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Chunk { chunk: u64, attempt: u32 },
    Reduction(Reduction),
}

/// A thread that is free from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Thread {
    free: i64,
    slot: u32,
    number: u32,
    worker: u32,
}

struct Scheduler<'s, 'r> {
    simulation: &'s Simulation,
    layout: &'s Layout,
    recorder: &'r mut Recorder<'s>,
    draw: Draw,
    workers: Vec<Worker>,
    /// The worker that is, or last was, in each place of the cluster.
    slots: Vec<u32>,
    threads: BinaryHeap<Reverse<Thread>>,
    ready: BinaryHeap<Reverse<(i64, Item)>>,
    tree: Tree,
    waiting: Changes,
    running: Changes,
    last_stop: i64,
}

pub(crate) fn run<'s>(
    simulation: &'s Simulation,
    layout: &'s Layout,
    recorder: &mut Recorder<'s>,
) -> Result<Run, TableError> {
    let work = &simulation.workload;
    let mut scheduler = Scheduler {
        simulation,
        layout,
        recorder,
        draw: Draw::new(simulation.seed, 2),
        workers: Vec::new(),
        slots: Vec::new(),
        threads: BinaryHeap::new(),
        ready: BinaryHeap::new(),
        tree: Tree::new(work.chunks, work.reduced_together),
        waiting: Changes::default(),
        running: Changes::default(),
        last_stop: PREPROCESS_NS,
    };
    scheduler.join();
    scheduler.waiting.at(PREPROCESS_NS, work.chunks as i64);
    scheduler.work()?;
    let process = (PREPROCESS_NS, scheduler.last_stop + ns(0.02));
    let wall_ns = process.1 + POSTPROCESS_NS;
    let workers = scheduler
        .workers
        .into_iter()
        .map(|worker| Worker { stop: worker.stop.min(wall_ns), ..worker })
        .collect();
    Ok(Run { workers, process, wall_ns, waiting: scheduler.waiting, running: scheduler.running })
}

impl Scheduler<'_, '_> {
    /// The workers that the cluster starts with, one after the other.
    fn join(&mut self) {
        let cluster = &self.simulation.cluster;
        let per_host = cluster.workers_per_host;
        let hosts = cluster.workers.div_ceil(per_host);
        let slow = (f64::from(hosts) * cluster.slow_hosts).round() as u32;
        let mut draw = Draw::new(self.simulation.seed, 3);
        let slowness: Vec<f64> = (0..hosts)
            .map(|host| {
                let usual = draw.factor(cluster.host_speed_spread);
                if host < slow { usual * cluster.slow_host_factor } else { usual }
            })
            .collect();
        for slot in 0..cluster.workers {
            let host = slot / per_host;
            let when = cluster.ramp_up_secs * f64::from(slot) / f64::from(cluster.workers);
            let worker = Worker {
                host,
                start: ns(when * draw.between(0.8, 1.0)),
                stop: i64::MAX,
                slowness: slowness.get(host as usize).copied().unwrap_or(1.0),
            };
            let worker = self.add(worker);
            self.slots.push(worker);
            for number in 0..cluster.threads_per_worker {
                let start = self.worker(worker).start;
                let free = start.max(PREPROCESS_NS);
                self.threads.push(Reverse(Thread { free, slot, number, worker }));
            }
        }
    }

    /// Adds a worker, and decides when it will be killed.
    fn add(&mut self, mut worker: Worker) -> u32 {
        if let Some(mean) = self.simulation.cluster.worker_lifetime_secs {
            worker.stop = worker.start + ns(30.0 + self.draw.waiting(mean - 30.0));
        }
        self.workers.push(worker);
        self.workers.len() as u32 - 1
    }

    fn worker(&self, worker: u32) -> Worker {
        let nowhere = Worker { host: 0, start: 0, stop: 0, slowness: 1.0 };
        self.workers.get(worker as usize).copied().unwrap_or(nowhere)
    }

    fn work(&mut self) -> Result<(), TableError> {
        let chunks = self.simulation.workload.chunks;
        let mut next = 0;
        while let Some(Reverse(mut thread)) = self.threads.pop() {
            let left = next < chunks;
            let soonest = self.ready.peek().map(|Reverse((moment, _))| *moment);
            if soonest.is_none() && !left {
                continue;
            }
            if thread.free >= self.worker(thread.worker).stop {
                self.replace(&mut thread);
                self.threads.push(Reverse(thread));
                continue;
            }
            let item = match soonest {
                Some(moment) if moment <= thread.free => self.ready.pop().map(|ready| ready.0.1),
                _ if left => {
                    next += 1;
                    Some(Item::Chunk { chunk: next - 1, attempt: 1 })
                }
                // Nothing to do until then, or until the worker is gone.
                Some(moment) => {
                    thread.free = moment.min(self.worker(thread.worker).stop);
                    None
                }
                None => None,
            };
            match item {
                Some(Item::Chunk { chunk, attempt }) => self.chunk(&mut thread, chunk, attempt)?,
                Some(Item::Reduction(reduction)) => self.reduce(&mut thread, reduction)?,
                None => {}
            }
            self.threads.push(Reverse(thread));
        }
        Ok(())
    }

    /// Moves a thread of a killed worker to the one that takes its place.
    fn replace(&mut self, thread: &mut Thread) {
        let gone = self.worker(thread.worker);
        let slot = thread.slot as usize;
        let mut current = self.slots.get(slot).copied().unwrap_or(thread.worker);
        if current == thread.worker {
            let delay = ns(self.draw.between(0.5, 1.5) * REPLACEMENT_SECS);
            current = self.add(Worker { start: gone.stop + delay, stop: i64::MAX, ..gone });
            if let Some(slot) = self.slots.get_mut(slot) {
                *slot = current;
            }
        }
        thread.worker = current;
        thread.free = thread.free.max(self.worker(current).start);
    }

    fn chunk(&mut self, thread: &mut Thread, chunk: u64, attempt: u32) -> Result<(), TableError> {
        let worker = self.worker(thread.worker);
        self.waiting.at(thread.free, -1);
        let start = thread.free + self.between_tasks(worker);
        let place = Place {
            worker: thread.worker,
            host: worker.host,
            thread: self.thread_id(thread),
            slowness: worker.slowness,
            start: start + ns(TASK_HEAD_SECS),
        };
        let may_fail = attempt <= FAILING_ATTEMPTS;
        let (simulation, layout) = (self.simulation, self.layout);
        let made =
            Attempt::draw(simulation, layout, chunk, attempt, may_fail, place, &mut self.draw);
        let stop = made.stop + ns(TASK_TAIL_SECS);
        if stop > worker.stop {
            // Nobody hears of it: the worker is killed before it can tell.
            self.busy(thread.worker, start, worker.stop, 0.9, 0.0);
            self.again(worker.stop, chunk, attempt);
            thread.free = worker.stop;
            return Ok(());
        }
        let cpu = made.cpu_ns() as f64 / (stop - start) as f64;
        self.busy(thread.worker, start, stop, cpu, (made.read_bytes + made.setup_bytes) as f64);
        thread.free = stop;
        if made.error.is_some() {
            self.again(stop, chunk, attempt + 1);
        } else {
            let nbytes = (OUTPUT_BYTES * self.draw.factor(0.1)) as i64;
            self.recorder.task(Task {
                worker: thread.worker,
                prefix: Prefix::Processor,
                action: Action::Compute,
                start,
                stop,
                nbytes: Some(nbytes),
            })?;
            self.arrived(0, chunk, stop);
        }
        self.recorder.attempt(made)
    }

    fn reduce(&mut self, thread: &mut Thread, reduction: Reduction) -> Result<(), TableError> {
        let worker = self.worker(thread.worker);
        let inputs = f64::from(reduction.inputs);
        let noise = self.draw.factor(self.simulation.workload.noise) * worker.slowness;
        let fetch = thread.free + self.between_tasks(worker);
        let start = fetch + ns(inputs * TRANSFER_SECS_PER_INPUT * noise);
        let stop = start + ns(inputs * self.simulation.workload.costs.reduce_secs * noise) + 1_000;
        if stop > worker.stop {
            self.ready.push(Reverse((worker.stop, Item::Reduction(reduction))));
            thread.free = worker.stop;
            return Ok(());
        }
        let task = Task {
            worker: thread.worker,
            prefix: Prefix::Reduce,
            action: Action::Transfer,
            start: fetch,
            stop: start,
            nbytes: None,
        };
        self.recorder.task(task)?;
        let nbytes = Some((OUTPUT_BYTES * inputs.sqrt()) as i64);
        self.recorder.task(Task { action: Action::Compute, start, stop, nbytes, ..task })?;
        self.busy(thread.worker, start, stop, 0.9, 0.0);
        thread.free = stop;
        self.arrived(reduction.level + 1, reduction.number, stop);
        Ok(())
    }

    fn between_tasks(&mut self, worker: Worker) -> i64 {
        let costs = &self.simulation.workload.costs;
        ns(costs.between_tasks_secs * worker.slowness * self.draw.factor(0.3))
    }

    fn again(&mut self, moment: i64, chunk: u64, attempt: u32) {
        self.waiting.at(moment, 1);
        self.ready.push(Reverse((moment, Item::Chunk { chunk, attempt })));
    }

    fn arrived(&mut self, level: u32, output: u64, moment: i64) {
        self.last_stop = self.last_stop.max(moment);
        if let Some((ready, reduction)) = self.tree.arrived(level, output, moment) {
            self.ready.push(Reverse((ready, Item::Reduction(reduction))));
        }
    }

    fn busy(&mut self, worker: u32, start: i64, stop: i64, cpu: f64, bytes: f64) {
        self.running.at(start, 1);
        self.running.at(stop, -1);
        self.recorder.busy(Busy { worker, start, stop, cpu: cpu as f32, bytes: bytes as f32 });
    }

    /// As a system would number it: no two threads alike.
    fn thread_id(&self, thread: &Thread) -> i64 {
        let threads = i64::from(self.simulation.cluster.threads_per_worker);
        10_000 + i64::from(thread.worker) * threads + i64::from(thread.number)
    }
}
