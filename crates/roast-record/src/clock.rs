//! The clocks of a thread: wall, CPU and the time it stood in line for a core.
//! What the system does not tell is missing.

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use roast_model::UtcNs;

use crate::proc_file::ProcFile;

/// A moment on every clock of the thread that took it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) wall: Instant,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) run_queue_ns: Option<u64>,
}

/// What passed between two stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Elapsed {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) run_queue_ns: Option<u64>,
}

impl Stamp {
    /// What passed since `earlier`, a stamp of the same thread.
    pub(crate) fn since(&self, earlier: &Self) -> Elapsed {
        let wall_ns = nanos(self.wall.saturating_duration_since(earlier.wall));
        let gap = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Elapsed {
            wall_ns,
            // A reading that was carried forward may be ahead by a little.
            cpu_ns: gap(self.cpu_ns, earlier.cpu_ns).map(|cpu_ns| cpu_ns.min(wall_ns)),
            run_queue_ns: gap(self.run_queue_ns, earlier.run_queue_ns),
        }
    }
}

/// A thread that was off its core for less than this cannot have waited for it
/// long enough to be worth asking.
const IDLE_SLACK: Duration = Duration::from_micros(5);

/// The CPU clock and the run queue cost a system call each, many times what the
/// wall clock costs. The last reading of each is kept per thread. The CPU clock
/// is carried forward as if the thread had been running when it is young
/// enough; the run queue when the thread has hardly been off its core since.
#[derive(Default)]
struct Readings {
    cpu: Option<(Instant, u64)>,
    run_queue: Option<RunQueue>,
    schedstat: Option<ProcFile>,
}

struct RunQueue {
    at: Instant,
    cpu_ns: Option<u64>,
    waited_ns: u64,
}

thread_local! {
    static READINGS: RefCell<Readings> = RefCell::default();
}

/// Every clock of this thread. Readings younger than `max_age` are reused.
pub(crate) fn stamp(max_age: Duration) -> Stamp {
    let wall = Instant::now();
    let (cpu_ns, run_queue_ns) = READINGS
        .try_with(|readings| {
            readings.try_borrow_mut().map_or((None, None), |mut readings| {
                let cpu_ns = readings.cpu_ns(wall, max_age);
                (cpu_ns, readings.run_queue_ns(wall, cpu_ns))
            })
        })
        .unwrap_or((None, None));
    Stamp { wall, cpu_ns, run_queue_ns }
}

/// Wall and CPU clock only. Readings younger than `max_age` are reused.
pub(crate) fn cpu_stamp(max_age: Duration) -> Stamp {
    let wall = Instant::now();
    let cpu_ns = READINGS
        .try_with(|readings| {
            readings.try_borrow_mut().ok().and_then(|mut readings| readings.cpu_ns(wall, max_age))
        })
        .ok()
        .flatten();
    Stamp { wall, cpu_ns, run_queue_ns: None }
}

/// Forgets what was read before: after a fork this thread is another one.
pub(crate) fn forget_readings() {
    // A thread that is being torn down has nothing to forget.
    let _ = READINGS.try_with(|readings| {
        if let Ok(mut readings) = readings.try_borrow_mut() {
            readings.cpu = None;
            readings.run_queue = None;
            if readings.schedstat.as_ref().is_some_and(ProcFile::is_inherited) {
                readings.schedstat = None;
            }
        }
    });
}

impl Readings {
    fn cpu_ns(&mut self, now: Instant, max_age: Duration) -> Option<u64> {
        if let Some((at, cpu_ns)) = self.cpu {
            let age = now.saturating_duration_since(at);
            if age < max_age {
                return Some(cpu_ns.saturating_add(nanos(age)));
            }
        }
        let cpu_ns = thread_cpu_ns()?;
        self.cpu = Some((now, cpu_ns));
        Some(cpu_ns)
    }

    fn run_queue_ns(&mut self, now: Instant, cpu_ns: Option<u64>) -> Option<u64> {
        if let Some(last) = &self.run_queue
            && let (Some(cpu_ns), Some(cpu_then)) = (cpu_ns, last.cpu_ns)
        {
            let passed = nanos(now.saturating_duration_since(last.at));
            let off_core = passed.saturating_sub(cpu_ns.saturating_sub(cpu_then));
            if off_core < nanos(IDLE_SLACK) {
                return Some(last.waited_ns);
            }
        }
        if self.schedstat.is_none() {
            self.schedstat = Some(ProcFile::open("/proc/thread-self/schedstat"));
        }
        let waited_ns = self.schedstat.as_ref()?.number(1)?;
        self.run_queue = Some(RunQueue { at: now, cpu_ns, waited_ns });
        Some(waited_ns)
    }
}

/// The CPU clock of this thread.
#[cfg(unix)]
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let secs = u64::try_from(time.tv_sec).ok()?;
    let ns = u64::try_from(time.tv_nsec).ok()?;
    secs.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// The CPU clock of this thread.
#[cfg(not(unix))]
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    None
}

/// The system's id of this thread.
#[cfg(target_os = "linux")]
pub(crate) fn thread_id() -> Option<u64> {
    u64::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok()
}

/// The system's id of this thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_id() -> Option<u64> {
    None
}

/// Now, to the microsecond: rows say no more than the clocks of a cluster do.
pub(crate) fn now_utc() -> UtcNs {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UtcNs(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX / 1_000).saturating_mul(1_000))
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    // Cheaper than `as_nanos`, which counts in 128 bits.
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(duration.subsec_nanos().into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_is_cpu_and_sleep_is_not() {
        let begun = stamp(Duration::ZERO);
        let mut work = 1_u64;
        while begun.wall.elapsed() < Duration::from_millis(60) {
            work = std::hint::black_box(work.wrapping_mul(31));
        }
        let worked = stamp(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(60));
        let slept = stamp(Duration::ZERO);
        let (work, sleep) = (worked.since(&begun), slept.since(&worked));
        // On a shared machine part of the work is waiting for a core.
        let busy = work.cpu_ns.unwrap() + work.run_queue_ns.unwrap();
        assert!(busy * 10 > work.wall_ns * 5, "{work:?}");
        assert!(sleep.cpu_ns.unwrap() * 5 < sleep.wall_ns, "{sleep:?}");
    }

    #[test]
    fn a_young_reading_is_carried_forward() {
        let first = stamp(Duration::ZERO);
        let second = stamp(Duration::from_secs(60));
        let elapsed = second.since(&first);
        assert_eq!(elapsed.cpu_ns, Some(elapsed.wall_ns));
        assert_eq!(elapsed.run_queue_ns, Some(0));
    }
}
