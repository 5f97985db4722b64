//! The processes of a local run, read from `/proc`. On other systems there is
//! nothing to read and the sampler says so.

/// What the kernel says of one process at one moment.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSample {
    pub(crate) pid: i32,
    pub(crate) rss_bytes: i64,
    /// User and system time since the process began, dead children left out.
    pub(crate) cpu_secs: f64,
}

/// The processes of this run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ProcessTreeError {
    /// There is no `/proc` here.
    #[error("process sampling needs Linux")]
    Unsupported,
    /// `/proc` did not answer.
    #[error("cannot read the state of process {pid}: {why}")]
    Unreadable {
        /// The process.
        pid: i32,
        /// What went wrong.
        why: String,
    },
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{descendants, this_process};

#[cfg(target_os = "linux")]
mod linux {
    use procfs::process::Process;

    use super::{ProcessSample, ProcessTreeError};

    pub(crate) fn this_process() -> Result<ProcessSample, ProcessTreeError> {
        let pid = std::process::id().cast_signed();
        Process::myself()
            .and_then(|process| read(&process))
            .map_err(|error| ProcessTreeError::Unreadable { pid, why: error.to_string() })
    }

    /// Every living descendant of this process, helpers of multiprocessing left
    /// out. One that ends while it is being read is not there.
    pub(crate) fn descendants() -> Result<Vec<ProcessSample>, ProcessTreeError> {
        let pid = std::process::id().cast_signed();
        let myself = Process::myself()
            .map_err(|error| ProcessTreeError::Unreadable { pid, why: error.to_string() })?;
        let mut found = Vec::new();
        let mut open = children(&myself);
        while let Some(pid) = open.pop() {
            let Ok(process) = Process::new(pid) else { continue };
            open.extend(children(&process));
            if is_helper(&process) {
                continue;
            }
            if let Ok(sample) = read(&process) {
                found.push(sample);
            }
        }
        found.sort_by_key(|sample| sample.pid);
        Ok(found)
    }

    fn children(process: &Process) -> Vec<i32> {
        let Ok(tasks) = process.tasks() else { return Vec::new() };
        tasks
            .flatten()
            .filter_map(|task| task.children().ok())
            .flatten()
            .filter_map(|pid| i32::try_from(pid).ok())
            .collect()
    }

    /// Python's resource tracker and fork server work for the pool, not in it.
    fn is_helper(process: &Process) -> bool {
        process.cmdline().is_ok_and(|words| {
            words.iter().any(|word| {
                word.contains("resource_tracker import") || word.contains("forkserver import")
            })
        })
    }

    fn read(process: &Process) -> procfs::ProcResult<ProcessSample> {
        let stat = process.stat()?;
        let ticks_per_sec = procfs::ticks_per_second() as f64;
        Ok(ProcessSample {
            pid: stat.pid,
            rss_bytes: (stat.rss * procfs::page_size()).cast_signed(),
            cpu_secs: (stat.utime + stat.stime) as f64 / ticks_per_sec,
        })
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn this_process() -> Result<ProcessSample, ProcessTreeError> {
    Err(ProcessTreeError::Unsupported)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn descendants() -> Result<Vec<ProcessSample>, ProcessTreeError> {
    Err(ProcessTreeError::Unsupported)
}
