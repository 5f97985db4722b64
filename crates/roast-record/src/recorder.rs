//! Records one attempt at one chunk while it runs: phases, column reads,
//! sections, memory. It ends as a log with one row.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use roast_model::{UtcNs, Value};

use crate::chunk_log::ChunkLog;
use crate::clock::{self, Stamp, nanos};
use crate::costs::{FileFacts, plus};
use crate::current;
use crate::identity::{ChunkIdentity, Ending, FileKey};
use crate::kinds::{ChunkPhase, SectionKind};
use crate::read_sums::{ReadSum, Sum};
use crate::recorded_row::log_of;
use crate::resident_memory::{self, PeakWatch};
use crate::section_stack::{Gauge, Moment, SectionStack, Token};

/// Readings of costly clocks are reused for this long at both ends of a column
/// read and of work on a basket. What is missed is a wait shorter than this.
const READ_REUSE: Duration = Duration::from_micros(20);
/// The same for both ends of a section, which must cost next to nothing.
const SECTION_REUSE_NS: u64 = 50_000;

/// The two kinds of work on a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasketWork {
    /// Decompressing it.
    Decompress,
    /// Turning it into an array.
    Interpret,
}

/// Everything an attempt has gathered.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) identity: ChunkIdentity,
    pub(crate) thread: ThreadId,
    pub(crate) thread_id: Option<u64>,
    pub(crate) started: Stamp,
    pub(crate) start_utc: UtcNs,
    pub(crate) phase: ChunkPhase,
    pub(crate) phase_began: Stamp,
    pub(crate) phases: [Sum; 6],
    pub(crate) num_events: Option<i64>,
    pub(crate) memory: PeakWatch,
    pub(crate) rss_start_bytes: Option<u64>,
    pub(crate) rss_end_bytes: Option<u64>,
    /// `None` until something watches the columns.
    pub(crate) branches: Option<IndexMap<Arc<str>, ReadSum, RandomState>>,
    pub(crate) total: ReadSum,
    /// Branches being read, by their place among all; innermost last.
    reading: Vec<usize>,
    pub(crate) sections: SectionStack,
    /// Last reading of the CPU clock for a section.
    section_cpu: Option<Moment>,
    pub(crate) custom: Vec<(Value, Value)>,
    pub(crate) extra: Vec<(Value, Value)>,
    pub(crate) files: Vec<(FileKey, FileFacts<Arc<str>>)>,
    pub(crate) own_ns: u64,
}

/// Records one attempt at one chunk.
#[derive(Debug)]
pub struct Recorder {
    nonce: u128,
    finished: AtomicBool,
    state: Mutex<Option<State>>,
}

/// A column read that has begun.
#[derive(Debug)]
pub struct OpenRead {
    /// The branch's place among all.
    branch: usize,
    began: Stamp,
    entered: Instant,
}

/// A section that has been entered.
#[derive(Debug)]
pub struct OpenSection {
    recorder: Arc<Recorder>,
    token: Token,
    kind: SectionKind,
}

/// The system gave no random numbers, so attempts cannot be told apart.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no random numbers: {why}")]
pub struct NoRandomness {
    why: String,
}

impl Recorder {
    /// Starts an attempt, in the phase of unpacking, as this thread's current
    /// chunk.
    pub fn start(identity: ChunkIdentity) -> Result<Arc<Self>, NoRandomness> {
        let entered = Instant::now();
        let mut nonce = [0_u8; 16];
        getrandom::fill(&mut nonce).map_err(|error| NoRandomness { why: error.to_string() })?;
        clock::forget_readings();
        let memory = PeakWatch::start();
        let rss_start_bytes = memory.now_bytes();
        let start_utc = clock::now_utc();
        let started = clock::stamp(Duration::ZERO);
        let state = State {
            identity,
            thread: std::thread::current().id(),
            thread_id: clock::thread_id(),
            started,
            start_utc,
            phase: ChunkPhase::Unpack,
            phase_began: started,
            phases: [Sum::default(); 6],
            num_events: None,
            memory,
            rss_start_bytes,
            rss_end_bytes: None,
            branches: None,
            total: ReadSum::default(),
            reading: Vec::new(),
            sections: SectionStack::default(),
            section_cpu: None,
            custom: Vec::new(),
            extra: Vec::new(),
            files: Vec::new(),
            own_ns: nanos(entered.elapsed()),
        };
        let recorder = Arc::new(Self {
            nonce: u128::from_le_bytes(nonce),
            finished: AtomicBool::new(false),
            state: Mutex::new(Some(state)),
        });
        current::push(&recorder);
        Ok(recorder)
    }

    /// Tells this attempt from every other.
    pub fn nonce(&self) -> u128 {
        self.nonce
    }

    /// The attempt is over.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with what was gathered, unless the attempt is over.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.lock().as_mut().map(act)
    }

    /// Ends the phase that is going on and begins another; a phase that comes
    /// again adds up.
    pub fn start_phase(&self, phase: ChunkPhase) {
        let now = clock::stamp(Duration::ZERO);
        self.with(|state| {
            state.end_phase(&now);
            if phase == ChunkPhase::Process {
                state.rss_start_bytes = state.memory.now_bytes();
            }
            state.phase = phase;
            state.phase_began = clock::stamp(READ_REUSE);
            state.own_ns = state.own_ns.saturating_add(nanos(now.wall.elapsed()));
        });
    }

    /// Takes over what is known of the chunk by now.
    pub fn set_identity(&self, identity: ChunkIdentity) {
        self.with(|state| state.identity.update(identity));
    }

    /// Events handed to `process()`.
    pub fn set_num_events(&self, num_events: i64) {
        self.with(|state| state.num_events = Some(num_events));
    }

    /// A field of the user's own at the top of the row.
    pub fn set_extra(&self, key: &str, value: Value) {
        self.with(|state| put(&mut state.extra, key, value));
    }

    /// One of the row's custom metrics.
    pub fn set_custom(&self, key: &str, value: Value) {
        self.with(|state| put(&mut state.custom, key, value));
    }

    /// What is known of a file.
    pub fn note_file(&self, key: FileKey, facts: FileFacts<Arc<str>>) {
        self.with(|state| state.files.push((key, facts)));
    }

    /// Branches whose columns were read so far, in the order of first use.
    pub fn branches_read(&self) -> Vec<Arc<str>> {
        self.with(|state| state.branches.iter().flat_map(IndexMap::keys).cloned().collect())
            .unwrap_or_default()
    }

    /// From here on column reads are seen, even if there are none.
    pub fn watch_columns(&self) {
        self.with(|state| {
            state.branches.get_or_insert_default();
        });
    }

    /// A column came from the buffer cache; its branch may be unknown.
    pub fn note_cached(&self, branch: Option<&str>) {
        self.with(|state| {
            state.total.cached = state.total.cached.saturating_add(1);
            let branches = state.branches.get_or_insert_default();
            if let Some(branch) = branch {
                let sum = branches.entry(Arc::from(branch)).or_default();
                sum.cached = sum.cached.saturating_add(1);
            }
        });
    }

    /// A column read begins on this thread.
    pub fn begin_read(&self, branch: &str) -> Option<OpenRead> {
        let entered = Instant::now();
        let branch = self.with(|state| {
            let branches = state.branches.get_or_insert_default();
            let place = match branches.get_index_of(branch) {
                Some(place) => place,
                None => branches.insert_full(Arc::from(branch), ReadSum::default()).0,
            };
            state.reading.push(place);
            place
        })?;
        Some(OpenRead { branch, began: clock::stamp(READ_REUSE), entered })
    }

    /// The column read is over, whether it succeeded or not.
    pub fn end_read(
        &self,
        read: OpenRead,
        bytes: Option<u64>,
        requests: Option<u64>,
        preloaded: bool,
    ) {
        let ended = clock::stamp(READ_REUSE);
        let elapsed = ended.since(&read.began);
        self.with(|state| {
            if let Some(position) = state.reading.iter().rposition(|place| *place == read.branch) {
                state.reading.remove(position);
            }
            // A read inside a read is part of the outer one's time.
            let outermost = state.reading.is_empty();
            let branch = state.branches.as_mut().and_then(|all| all.get_index_mut(read.branch));
            let branch = branch.map(|(_, sum)| sum);
            for sum in branch.into_iter().chain(outermost.then_some(&mut state.total)) {
                sum.read.add(elapsed);
                sum.reads = sum.reads.saturating_add(1);
                sum.preloaded = sum.preloaded.saturating_add(u64::from(preloaded));
                sum.bytes = plus(sum.bytes, bytes);
                sum.requests = plus(sum.requests, requests);
            }
            let before = nanos(read.began.wall.saturating_duration_since(read.entered));
            let after = nanos(ended.wall.elapsed());
            state.own_ns = state.own_ns.saturating_add(before).saturating_add(after);
        });
    }

    /// Begins timing work on a basket, on whichever thread does it.
    pub fn begin_work() -> WorkTimer {
        WorkTimer { began: clock::cpu_stamp(READ_REUSE) }
    }

    /// Adds work on a basket of the column that is being read.
    pub fn end_work(&self, timer: &WorkTimer, work: BasketWork) {
        let elapsed = clock::cpu_stamp(READ_REUSE).since(&timer.began);
        self.with(|state| {
            let branches = state.branches.as_mut().zip(state.reading.last());
            let branch = branches.and_then(|(all, &place)| all.get_index_mut(place));
            for sum in branch.map(|(_, sum)| sum).into_iter().chain([&mut state.total]) {
                match work {
                    BasketWork::Decompress => sum.decompress.add(elapsed),
                    BasketWork::Interpret => sum.interpret.add(elapsed),
                }
            }
        });
    }

    /// Enters a section. `requested_bytes` is the source's count, for a section
    /// that measures bytes.
    pub fn enter_section(
        self: Arc<Self>,
        name: &str,
        kind: SectionKind,
        requested_bytes: Option<i64>,
    ) -> Option<OpenSection> {
        let gauge = gauge_for(kind, requested_bytes);
        let token = self.with(|state| {
            // The clock comes last, so that entering is not part of the section.
            let now = state.section_moment();
            state.sections.enter(name, kind, now, gauge)
        })?;
        Some(OpenSection { recorder: self, token, kind })
    }

    /// Ends the attempt and gives its row; nothing the second time.
    pub fn finish(&self, ending: Ending) -> Option<ChunkLog> {
        let now = clock::stamp(Duration::ZERO);
        let mut state = self.lock().take()?;
        self.finished.store(true, Ordering::Relaxed);
        state.end_phase(&now);
        let last = state.moment_of(&now);
        state.sections.leave_all(last);
        let last = state.memory.now_bytes();
        state.rss_end_bytes = state.rss_end_bytes.or(last);
        state.own_ns = state.own_ns.saturating_add(state.memory.cost_ns());
        Some(log_of(self.nonce, state, ending, now.wall))
    }
}

/// Work on a basket that has begun.
#[derive(Debug)]
pub struct WorkTimer {
    began: Stamp,
}

impl OpenSection {
    /// Its chunk has ended, and the section with it.
    pub fn is_over(&self) -> bool {
        self.recorder.is_finished()
    }

    /// Leaves the section. `requested_bytes` is the source's count by now.
    pub fn leave(self, requested_bytes: Option<i64>) {
        let left = Instant::now();
        let gauge = gauge_for(self.kind, requested_bytes);
        self.recorder.with(|state| {
            let left = state.section_moment_at(left);
            state.sections.leave(self.token, left, gauge);
        });
    }
}

impl State {
    fn moment_of(&self, stamp: &Stamp) -> Moment {
        let since_start = stamp.wall.saturating_duration_since(self.started.wall);
        Moment { since_start_ns: nanos(since_start), cpu_ns: stamp.cpu_ns }
    }

    fn section_moment(&mut self) -> Moment {
        self.section_moment_at(Instant::now())
    }

    /// A section's moment. The CPU clock costs many times what the wall clock
    /// costs, so a young reading is carried forward as if the thread had been
    /// running since.
    fn section_moment_at(&mut self, wall: Instant) -> Moment {
        let since_start_ns = nanos(wall.saturating_duration_since(self.started.wall));
        if let Some(Moment { since_start_ns: then, cpu_ns: Some(cpu_ns) }) = self.section_cpu {
            let age = since_start_ns.saturating_sub(then);
            if age < SECTION_REUSE_NS {
                return Moment { since_start_ns, cpu_ns: Some(cpu_ns.saturating_add(age)) };
            }
        }
        let moment = Moment { since_start_ns, cpu_ns: clock::thread_cpu_ns() };
        self.section_cpu = Some(moment);
        moment
    }

    fn end_phase(&mut self, now: &Stamp) {
        let mut elapsed = now.since(&self.phase_began);
        if std::thread::current().id() != self.thread {
            // The other thread's clocks say nothing of this one's work.
            elapsed.cpu_ns = None;
            elapsed.run_queue_ns = None;
        }
        if self.phase == ChunkPhase::Process {
            self.rss_end_bytes = self.memory.now_bytes();
        }
        if let Some(sum) = self.phases.get_mut(self.phase as usize) {
            sum.add(elapsed);
        }
    }
}

fn gauge_for(kind: SectionKind, requested_bytes: Option<i64>) -> Option<Gauge> {
    let rss_bytes = || resident_memory::rss_bytes().and_then(|bytes| i64::try_from(bytes).ok());
    match kind {
        SectionKind::Time => None,
        SectionKind::Memory => Some(Gauge { rss_bytes: rss_bytes(), requested_bytes }),
        SectionKind::Bytes => Some(Gauge { rss_bytes: None, requested_bytes }),
    }
}

fn put(pairs: &mut Vec<(Value, Value)>, key: &str, value: Value) {
    match pairs.iter_mut().find(|(present, _)| present.as_str() == Some(key)) {
        Some((_, present)) => *present = value,
        None => pairs.push((Value::from(key), value)),
    }
}
