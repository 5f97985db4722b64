//! Resident memory of this process, now and at its highest while a chunk runs.
//! The system keeps the highest of all times: if that rises during a chunk, it is
//! the chunk's. Otherwise one thread per process looks now and then while some
//! chunk is active, and falls asleep after the last; a forked child starts its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::clock::thread_cpu_ns;
use crate::proc_file::ProcFile;

/// The least and the most time between two looks.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));
/// Looking takes one part in this many of a core's time, as far as the pauses
/// allow. Being woken is most of it, and differs much between machines.
const PAUSE_PER_COST: u32 = 1_000;
/// Time without a chunk before the thread falls asleep. Chunks mostly follow
/// each other closely, and waking a sleeper costs more than its looks do.
const LINGER: Duration = Duration::from_millis(100);

/// The highest resident memory since this was made, until it is dropped.
#[derive(Debug)]
pub(crate) struct PeakWatch {
    seen: Arc<Seen>,
    /// The highest of all times before.
    highest_before: Option<u64>,
    watcher: Option<&'static Watcher>,
}

/// What the thread has seen for one watch, and what that took.
#[derive(Debug, Default)]
struct Seen {
    peak_bytes: AtomicU64,
    cost_ns: AtomicU64,
}

impl PeakWatch {
    /// Starts watching.
    pub(crate) fn start() -> Self {
        let seen = Arc::new(Seen::default());
        let watcher = watcher();
        if let Some(watcher) = watcher {
            let mut watched = watcher.lock();
            watched.active.push(Arc::clone(&seen));
            if std::mem::take(&mut watched.asleep) {
                watcher.wake.notify_one();
            }
        }
        Self { seen, highest_before: highest_bytes(), watcher }
    }

    /// Resident memory now; counts towards the peak.
    pub(crate) fn now_bytes(&self) -> Option<u64> {
        let bytes = self.watcher.and_then(Watcher::rss_bytes)?;
        self.seen.peak_bytes.fetch_max(bytes, Ordering::Relaxed);
        Some(bytes)
    }

    /// The highest so far; missing where nothing could be read.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        let seen = Some(self.seen.peak_bytes.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0);
        let risen =
            highest_bytes().filter(|&now| self.highest_before.is_some_and(|then| then < now));
        seen.max(risen)
    }

    /// CPU time of looking, shared with those who watched at the same time.
    pub(crate) fn cost_ns(&self) -> u64 {
        self.seen.cost_ns.load(Ordering::Relaxed)
    }
}

impl Drop for PeakWatch {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.filter(|watcher| !watcher.statm.is_inherited()) {
            watcher.lock().active.retain(|seen| !Arc::ptr_eq(seen, &self.seen));
        }
    }
}

/// Resident memory of this process now.
pub(crate) fn rss_bytes() -> Option<u64> {
    watcher().and_then(Watcher::rss_bytes)
}

#[derive(Debug)]
struct Watcher {
    statm: ProcFile,
    page_bytes: u64,
    watched: Mutex<Watched>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Watched {
    active: Vec<Arc<Seen>>,
    /// The thread waits to be woken.
    asleep: bool,
}

impl Watcher {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rss_bytes(&self) -> Option<u64> {
        self.statm.number(1)?.checked_mul(self.page_bytes)
    }

    fn watch(&self) {
        let mut pause = PAUSES.0;
        let mut cpu_ns = thread_cpu_ns();
        let mut idle = Duration::ZERO;
        let mut watched = self.lock();
        loop {
            if watched.active.is_empty() {
                idle += pause;
            } else {
                idle = Duration::ZERO;
                if let Some(bytes) = self.rss_bytes() {
                    for seen in &watched.active {
                        seen.peak_bytes.fetch_max(bytes, Ordering::Relaxed);
                    }
                }
            }
            if idle > LINGER {
                idle = Duration::ZERO;
                watched.asleep = true;
                watched = self
                    .wake
                    .wait_while(watched, |watched| watched.asleep)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            watched = self
                .wake
                .wait_timeout(watched, pause)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
            let cpu_before_ns = std::mem::replace(&mut cpu_ns, thread_cpu_ns());
            if let (Some(before), Some(now)) = (cpu_before_ns, cpu_ns) {
                let cost_ns = now.saturating_sub(before);
                for seen in &watched.active {
                    let share = cost_ns / watched.active.len() as u64;
                    seen.cost_ns.fetch_add(share, Ordering::Relaxed);
                }
                // One look alone says little.
                pause = (pause * 7 + Duration::from_nanos(cost_ns) * PAUSE_PER_COST) / 8;
                pause = pause.clamp(PAUSES.0, PAUSES.1);
            }
        }
    }
}

/// The highest resident memory of this process so far.
#[cfg(target_os = "linux")]
fn highest_bytes() -> Option<u64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let kibibytes = getrusage(UsageWho::RUSAGE_SELF).ok()?.max_rss();
    u64::try_from(kibibytes).ok()?.checked_mul(1024)
}

/// The highest resident memory of this process so far.
#[cfg(not(target_os = "linux"))]
fn highest_bytes() -> Option<u64> {
    None
}

/// A fork may catch another thread with a watcher's lock in its hands, so a
/// child never touches its parent's watcher: each generation has a place of
/// its own.
static WATCHERS: [OnceLock<Option<Watcher>>; 64] = [const { OnceLock::new() }; 64];

/// Process id in the upper half, index into `WATCHERS` plus one in the lower.
static GENERATION: AtomicU64 = AtomicU64::new(0);

fn watcher() -> Option<&'static Watcher> {
    let place = WATCHERS.get(generation()?)?;
    let mut is_new = false;
    let watcher = place
        .get_or_init(|| {
            is_new = true;
            open_watcher()
        })
        .as_ref()?;
    if is_new {
        // Without the thread the peak is that of the readings at both ends.
        drop(
            std::thread::Builder::new()
                .name("roast-peak-memory".into())
                .spawn(move || watcher.watch()),
        );
    }
    Some(watcher)
}

fn generation() -> Option<usize> {
    let pid = u64::from(std::process::id());
    loop {
        let seen = GENERATION.load(Ordering::Acquire);
        let (owner, count) = (seen >> 32, seen & 0xffff_ffff);
        if owner == pid {
            return usize::try_from(count).ok()?.checked_sub(1);
        }
        let own = (pid << 32) | (count + 1);
        if GENERATION.compare_exchange(seen, own, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return usize::try_from(count).ok();
        }
    }
}

#[cfg(target_os = "linux")]
fn open_watcher() -> Option<Watcher> {
    let statm = ProcFile::open("/proc/self/statm");
    statm.number(1)?;
    let page_bytes = u64::try_from(rustix::param::page_size()).ok()?;
    Some(Watcher { statm, page_bytes, watched: Mutex::default(), wake: Condvar::new() })
}

#[cfg(not(target_os = "linux"))]
fn open_watcher() -> Option<Watcher> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_watcher_that_fell_asleep_wakes_up() {
        drop(PeakWatch::start());
        std::thread::sleep(LINGER * 4);
        let watch = PeakWatch::start();
        std::thread::sleep(PAUSES.1 * 4);
        assert!(watch.seen.peak_bytes.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn a_peak_between_the_ends_is_seen_by_those_who_were_there() {
        let during = PeakWatch::start();
        let before = during.now_bytes().unwrap();
        let block = vec![1_u8; 100 << 20];
        assert_eq!(block.iter().step_by(4096).map(|&byte| usize::from(byte)).sum::<usize>(), 25600);
        std::thread::sleep(PAUSES.1 * 4);
        drop(block);
        let later = PeakWatch::start();
        std::thread::sleep(PAUSES.1 * 4);
        assert!(during.peak_bytes().unwrap() > before + (90 << 20));
        assert!(
            during.seen.peak_bytes.load(Ordering::Relaxed) > before + (90 << 20),
            "the thread saw it"
        );
        assert!(during.cost_ns() > later.cost_ns(), "looking is not free");
        let low = later.peak_bytes().unwrap();
        assert!(low < during.peak_bytes().unwrap() - (50 << 20), "{low}");
    }

    #[test]
    fn a_new_height_is_seen_however_short() {
        let watch = PeakWatch::start();
        let before = highest_bytes().unwrap();
        // Higher than anything that the other test had at once.
        let block = vec![1_u8; 400 << 20];
        assert_eq!(
            block.iter().step_by(4096).map(|&byte| usize::from(byte)).sum::<usize>(),
            102_400
        );
        drop(block);
        let peak = watch.peak_bytes().unwrap();
        assert!(peak > before + (200 << 20), "{peak} after {before}");
    }
}
