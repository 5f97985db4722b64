//! Resident memory of this process, now and at its highest while a chunk runs.
//! One thread per process looks every 2 ms while some chunk is active and falls
//! asleep after the last; a forked child starts its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::proc_file::ProcFile;

const INTERVAL: Duration = Duration::from_millis(2);
/// Intervals without a chunk before the thread falls asleep. Chunks mostly
/// follow each other closely, and waking a thread costs more than its looks do.
const LINGER: u32 = 50;

/// The highest resident memory since this was made, until it is dropped.
#[derive(Debug)]
pub(crate) struct PeakWatch {
    peak: Arc<AtomicU64>,
    watcher: Option<&'static Watcher>,
}

impl PeakWatch {
    /// Starts watching.
    pub(crate) fn start() -> Self {
        let peak = Arc::new(AtomicU64::new(0));
        let watcher = watcher();
        if let Some(watcher) = watcher {
            let mut watched = watcher.lock();
            watched.active.push(Arc::clone(&peak));
            if std::mem::take(&mut watched.asleep) {
                watcher.wake.notify_one();
            }
        }
        Self { peak, watcher }
    }

    /// Resident memory now; counts towards the peak.
    pub(crate) fn now_bytes(&self) -> Option<u64> {
        let bytes = self.watcher.and_then(Watcher::rss_bytes)?;
        self.peak.fetch_max(bytes, Ordering::Relaxed);
        Some(bytes)
    }

    /// The highest so far; missing where nothing could be read.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        Some(self.peak.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
    }
}

impl Drop for PeakWatch {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.filter(|watcher| !watcher.statm.is_inherited()) {
            watcher.lock().active.retain(|peak| !Arc::ptr_eq(peak, &self.peak));
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
    active: Vec<Arc<AtomicU64>>,
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
        let mut watched = self.lock();
        let mut idle_intervals = 0;
        loop {
            if watched.active.is_empty() {
                idle_intervals += 1;
            } else {
                idle_intervals = 0;
                if let Some(bytes) = self.rss_bytes() {
                    for peak in &watched.active {
                        peak.fetch_max(bytes, Ordering::Relaxed);
                    }
                }
            }
            if idle_intervals > LINGER {
                idle_intervals = 0;
                watched.asleep = true;
                watched = self
                    .wake
                    .wait_while(watched, |watched| watched.asleep)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            watched = self
                .wake
                .wait_timeout(watched, INTERVAL)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
        }
    }
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
        std::thread::sleep(INTERVAL * (LINGER * 4));
        let watch = PeakWatch::start();
        std::thread::sleep(INTERVAL * 100);
        assert!(watch.peak_bytes().is_some());
    }

    #[test]
    fn a_peak_between_the_ends_is_seen_by_those_who_were_there() {
        let during = PeakWatch::start();
        let before = during.now_bytes().unwrap();
        let block = vec![1_u8; 100 << 20];
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(block.iter().step_by(4096).map(|&byte| usize::from(byte)).sum::<usize>(), 25600);
        drop(block);
        let later = PeakWatch::start();
        std::thread::sleep(Duration::from_millis(30));
        assert!(during.peak_bytes().unwrap() > before + (90 << 20));
        let low = later.peak_bytes().unwrap();
        assert!(low < during.peak_bytes().unwrap() - (50 << 20), "{low}");
    }
}
