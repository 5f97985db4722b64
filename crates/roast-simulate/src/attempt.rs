//! What one attempt at a chunk costs, step by step.

use crate::draw::Draw;
use crate::layout::Layout;
use crate::model::Simulation;

/// Which of the steps is the user's code.
pub(crate) const PROCESS: usize = 4;

/// What a thread pays to be scheduled, as a share of its CPU time.
const RUN_QUEUE_SHARE: f64 = 0.015;
const UNPACK_SECS: f64 = 0.001;
const RECORDER_SECS: f64 = 0.0003;
/// Bytes that opening a file and its tree asks for.
pub(crate) const SETUP_BYTES: i64 = 300_000;
const RESIDENT_BYTES: f64 = 450e6;
const RESIDENT_BYTES_PER_EVENT: f64 = 4_000.0;
const PAGE_BYTES: i64 = 4096;
/// Failures while reading are the more common ones.
const READ_ERRORS: f64 = 0.8;
pub(crate) const ERRORS: [&str; 2] = ["OSError", "ValueError"];

/// What a step took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) wall: i64,
    pub(crate) cpu: i64,
    pub(crate) run_queue: i64,
}

/// One attempt at a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) chunk: u64,
    pub(crate) number: u32,
    pub(crate) worker: u32,
    pub(crate) host: u32,
    pub(crate) thread: i64,
    pub(crate) start: i64,
    pub(crate) stop: i64,
    /// Index into [`ERRORS`] if it failed.
    pub(crate) error: Option<u32>,
    /// Unpacking, opening, tree, events, process, packing.
    pub(crate) steps: [Step; 6],
    pub(crate) read: Step,
    pub(crate) decompress: i64,
    pub(crate) interpret: i64,
    pub(crate) read_bytes: i64,
    pub(crate) setup_bytes: i64,
    pub(crate) reads: i64,
    pub(crate) rss_start: i64,
    pub(crate) rss_end: i64,
    pub(crate) rss_peak: i64,
    pub(crate) recorder: i64,
}

/// Where and when an attempt is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) worker: u32,
    pub(crate) host: u32,
    pub(crate) thread: i64,
    /// How slow the host is.
    pub(crate) slowness: f64,
    pub(crate) start: i64,
}

impl Attempt {
    pub(crate) fn draw(
        simulation: &Simulation,
        layout: &Layout,
        chunk: u64,
        number: u32,
        may_fail: bool,
        place: Place,
        draw: &mut Draw,
    ) -> Self {
        let (work, costs) = (&simulation.workload, &simulation.workload.costs);
        let (first, last) = layout.entries(chunk);
        let events = (last - first) as f64;
        let file = layout.files.get(layout.file_of(chunk));
        let dataset = file.map_or(0, |file| file.dataset as usize);
        let heavy = layout.dataset_factors.get(dataset).copied().unwrap_or(1.0);
        let straggles = draw.chance(work.stragglers);
        let factor = if straggles { work.straggler_factor } else { 1.0 };
        let slow = place.slowness * factor;
        let mut noise = || draw.factor(work.noise);

        let cpu_bound = |secs: f64, share: f64| step(secs * share, secs * (1.0 - share));
        let unpack = cpu_bound(UNPACK_SECS * slow * noise(), 0.95);
        let open = cpu_bound(costs.open_secs * slow * noise(), 0.2);
        let tree = cpu_bound(costs.tree_secs * slow * noise(), 0.9);
        let form = cpu_bound(costs.events_secs * slow * noise(), 0.95);
        let secs = |us_per_event: f64| us_per_event * events / 1e6;
        let waiting = secs(costs.read_us_per_event) * slow * noise();
        let decompress = secs(costs.decompress_us_per_event) * slow * noise();
        let interpret = secs(costs.interpret_us_per_event) * slow * noise();
        let read = step(decompress + interpret, waiting);
        let user_cpu = (costs.process_secs + secs(costs.cpu_us_per_event) * heavy) * slow * noise();
        let user = step(user_cpu, secs(costs.wait_us_per_event) * slow * noise());
        let serialize = cpu_bound(costs.serialize_secs * slow * noise(), 0.9);
        let bytes = costs.bytes_per_event * events * noise();

        let mut attempt = Self {
            chunk,
            number,
            worker: place.worker,
            host: place.host,
            thread: place.thread,
            start: place.start,
            stop: place.start,
            error: None,
            steps: [unpack, open, tree, form, read.plus(user), serialize],
            read,
            decompress: ns(decompress),
            interpret: ns(interpret),
            read_bytes: bytes as i64,
            setup_bytes: SETUP_BYTES,
            reads: work.branches_read.into(),
            rss_start: pages(RESIDENT_BYTES * noise().sqrt()),
            rss_end: 0,
            rss_peak: 0,
            recorder: ns(RECORDER_SECS * slow * noise()),
        };
        attempt.rss_end = attempt.rss_start + pages(draw.between(0.0, 200_000.0));
        attempt.rss_peak = attempt.rss_end + pages(events * RESIDENT_BYTES_PER_EVENT);
        let fails = file.is_some_and(|file| file.fails);
        if fails && may_fail && draw.chance(layout.failure_probability) {
            let error = u32::from(!draw.chance(READ_ERRORS));
            attempt.fail(draw.unit(), error);
        }
        let length: i64 = attempt.steps.iter().map(|step| step.wall).sum();
        attempt.stop = attempt.start + length;
        attempt
    }

    /// Ends it in the middle of the user's code.
    fn fail(&mut self, done: f64, error: u32) {
        self.error = Some(error);
        let [.., process, serialize] = &mut self.steps;
        *process = process.part(done);
        *serialize = Step::default();
        self.read = self.read.part(done);
        let part = |whole: i64| (whole as f64 * done) as i64;
        self.decompress = part(self.decompress);
        self.interpret = part(self.interpret);
        self.read_bytes = part(self.read_bytes);
        self.reads = part(self.reads);
    }

    pub(crate) fn step(&self, index: usize) -> Step {
        self.steps.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn cpu_ns(&self) -> i64 {
        self.steps.iter().map(|step| step.cpu).sum()
    }
}

impl Step {
    fn plus(self, other: Self) -> Self {
        Self {
            wall: self.wall + other.wall,
            cpu: self.cpu + other.cpu,
            run_queue: self.run_queue + other.run_queue,
        }
    }

    fn part(self, done: f64) -> Self {
        let part = |whole: i64| ns(whole as f64 / 1e9 * done);
        Self { wall: part(self.wall), cpu: part(self.cpu), run_queue: part(self.run_queue) }
    }
}

fn step(cpu_secs: f64, waiting_secs: f64) -> Step {
    let (cpu, run_queue) = (ns(cpu_secs), ns(cpu_secs * RUN_QUEUE_SHARE));
    Step { wall: cpu + run_queue + ns(waiting_secs), cpu, run_queue }
}

/// Nanoseconds, to the microsecond as a recorder tells them.
pub(crate) fn ns(secs: f64) -> i64 {
    (secs * 1e6).round() as i64 * 1_000
}

fn pages(bytes: f64) -> i64 {
    bytes as i64 / PAGE_BYTES * PAGE_BYTES
}
