//! A thread that samples the processes of a local run at a steady pace. It
//! needs no interpreter lock, so a busy analysis does not stop the clock.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use roast_model::{ColumnData, Table, TableBuilder, TableError, UtcNs};

use crate::process_tree::{self, ProcessSample, ProcessTreeError};

/// Which processes are the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// This process, with so many threads that run chunks.
    ThisProcess {
        /// Threads that run chunks.
        threads: i64,
    },
    /// The processes that this one started, one chunk at a time each.
    Children {
        /// Leave out those that were there before: a cluster of the same
        /// program, say, beside a pool that is yet to start.
        new_only: bool,
    },
}

/// What a sampler recorded.
#[derive(Debug)]
pub struct SampledTables {
    /// One row per sample.
    pub ticks: TableBuilder,
    /// One row per sample and process.
    pub workers: TableBuilder,
    /// Samples that could not be taken.
    pub missed: u64,
}

/// Samples until it is stopped or dropped.
#[derive(Debug)]
pub struct ProcessSampler {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<Result<SampledTables, TableError>>>,
}

impl ProcessSampler {
    /// Starts sampling. Fails at once where processes cannot be read.
    pub fn start(interval: Duration, scope: Scope) -> Result<Self, ProcessTreeError> {
        process_tree::this_process()?;
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let signal = Arc::clone(&stop);
        let recording = Recording::new(scope);
        let thread = std::thread::Builder::new()
            .name("roast-sampler".into())
            .spawn(move || sample_until_stopped(&signal, interval, recording))
            .map_err(|error| ProcessTreeError::Unreadable {
                pid: std::process::id().cast_signed(),
                why: error.to_string(),
            })?;
        Ok(Self { stop, thread: Some(thread) })
    }

    /// Takes a last sample and hands over what was recorded. `None` if the
    /// thread was lost.
    pub fn stop(mut self) -> Option<Result<SampledTables, TableError>> {
        self.signal_stop();
        self.thread.take().and_then(|thread| thread.join().ok())
    }

    fn signal_stop(&self) {
        let (stopped, wake) = &*self.stop;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wake.notify_all();
    }
}

impl Drop for ProcessSampler {
    fn drop(&mut self) {
        self.signal_stop();
        if let Some(thread) = self.thread.take() {
            // The thread's result is of no use to anyone any more.
            drop(thread.join());
        }
    }
}

fn sample_until_stopped(
    signal: &(Mutex<bool>, Condvar),
    interval: Duration,
    mut recording: Recording,
) -> Result<SampledTables, TableError> {
    let (stopped, wake) = signal;
    let mut next = Instant::now();
    loop {
        recording.sample()?;
        next += interval;
        let mut done = stopped.lock().unwrap_or_else(PoisonError::into_inner);
        while !*done {
            let now = Instant::now();
            if now >= next {
                break;
            }
            done = wake
                .wait_timeout(done, next - now)
                .map_or_else(|poisoned| poisoned.into_inner().0, |(guard, _)| guard);
        }
        if *done {
            drop(done);
            recording.sample()?;
            return Ok(recording.tables);
        }
    }
}

struct Recording {
    scope: Scope,
    host: String,
    tables: SampledTables,
    last: HashMap<i32, (Instant, f64)>,
    /// Processes that are not workers of this run.
    others: HashSet<i32>,
}

impl Recording {
    fn new(scope: Scope) -> Self {
        let before = match scope {
            Scope::Children { new_only: true } => process_tree::descendants().unwrap_or_default(),
            _ => Vec::new(),
        };
        Self {
            others: before.iter().map(|process| process.pid).collect(),
            scope,
            host: host_name(),
            tables: SampledTables {
                ticks: TableBuilder::new(Table::Ticks),
                workers: TableBuilder::new(Table::Workers),
                missed: 0,
            },
            last: HashMap::new(),
        }
    }

    fn sample(&mut self) -> Result<(), TableError> {
        let begun = Instant::now();
        let time = now_utc();
        let (threads, read) = match self.scope {
            Scope::ThisProcess { threads } => {
                (threads, process_tree::this_process().map(|process| vec![process]))
            }
            Scope::Children { .. } => (1, process_tree::descendants()),
        };
        let Ok(mut processes) = read else {
            self.tables.missed += 1;
            return Ok(());
        };
        processes.retain(|process| !self.others.contains(&process.pid));
        let count = processes.len();
        self.append_workers(time, begun, threads, &processes)?;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.tables.ticks.append(vec![
            ("time".into(), ColumnData::Ints(vec![Some(time.0)])),
            ("worker_count".into(), ColumnData::Ints(vec![Some(count)])),
            ("threads_total".into(), ColumnData::Ints(vec![Some(count * threads)])),
            ("tick_secs".into(), ColumnData::Floats(vec![Some(begun.elapsed().as_secs_f64())])),
        ])
    }

    fn append_workers(
        &mut self,
        time: UtcNs,
        now: Instant,
        threads: i64,
        processes: &[ProcessSample],
    ) -> Result<(), TableError> {
        let cpu_percent: Vec<Option<f64>> =
            processes.iter().map(|process| self.cpu_percent(now, process)).collect();
        self.last.retain(|pid, _| processes.iter().any(|process| process.pid == *pid));
        let rows = processes.len();
        let all = |value: i64| ColumnData::Ints(vec![Some(value); rows]);
        self.tables.workers.append(vec![
            (
                "worker".into(),
                ColumnData::Texts(
                    processes.iter().map(|process| Some(format!("pid {}", process.pid))).collect(),
                ),
            ),
            ("host".into(), ColumnData::Texts(vec![Some(self.host.clone()); rows])),
            ("time".into(), all(time.0)),
            ("until".into(), all(time.0)),
            ("last_seen".into(), all(time.0)),
            ("samples".into(), all(1)),
            ("threads".into(), all(threads)),
            (
                "memory_bytes".into(),
                ColumnData::Ints(processes.iter().map(|p| Some(p.rss_bytes)).collect()),
            ),
            ("cpu_percent".into(), ColumnData::Floats(cpu_percent)),
        ])
    }

    /// CPU use since the last sample; missing at the first one.
    fn cpu_percent(&mut self, now: Instant, process: &ProcessSample) -> Option<f64> {
        let before = self.last.insert(process.pid, (now, process.cpu_secs))?;
        let elapsed = now.duration_since(before.0).as_secs_f64();
        // The kernel counts in ticks of 10 ms: over less than a few of them
        // the quotient would be noise.
        (elapsed >= 0.05).then(|| ((process.cpu_secs - before.1) / elapsed * 100.0).max(0.0))
    }
}

fn now_utc() -> UtcNs {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UtcNs(i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX))
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "localhost".to_owned(), |name| name.trim().to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use roast_model::Frame;

    use super::*;

    #[test]
    fn a_busy_process_shows_its_cpu_and_memory() {
        let sampler =
            ProcessSampler::start(Duration::from_millis(60), Scope::ThisProcess { threads: 1 })
                .unwrap();
        let begun = Instant::now();
        let mut work = 0_u64;
        while begun.elapsed() < Duration::from_millis(400) {
            work = work.wrapping_mul(31).wrapping_add(1);
        }
        assert!(work != 1);
        let tables = sampler.stop().unwrap().unwrap();
        let ticks = tables.ticks.finish().unwrap();
        assert!(ticks.num_rows() >= 3);
        assert!(Frame::new(&ticks).ints("worker_count").all(|count| count == Some(1)));
        let workers = tables.workers.finish().unwrap();
        let frame = Frame::new(&workers);
        assert!(frame.ints("memory_bytes").flatten().all(|bytes| bytes > 100_000));
        let busiest = frame.floats("cpu_percent").flatten().fold(0.0, f64::max);
        assert!(busiest > 20.0, "{busiest}");
    }

    #[test]
    fn children_are_seen_while_they_live() {
        let mut earlier = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let sampler =
            ProcessSampler::start(Duration::from_millis(20), Scope::Children { new_only: true })
                .unwrap();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let name = format!("pid {}", child.id());
        std::thread::sleep(Duration::from_millis(200));
        child.kill().unwrap();
        child.wait().unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let tables = sampler.stop().unwrap().unwrap();
        earlier.kill().unwrap();
        earlier.wait().unwrap();
        let workers = tables.workers.finish().unwrap();
        assert!(Frame::new(&workers).names("worker").any(|worker| worker == Some(&name)));
        let ticks = tables.ticks.finish().unwrap();
        let counts: Vec<_> = Frame::new(&ticks).ints("worker_count").flatten().collect();
        assert_eq!(counts.last(), Some(&0));
        assert!(counts.contains(&1));
    }
}
