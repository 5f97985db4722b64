//! The rows of the `workers` table as the analysis sees them: each says that one
//! worker was in one state at a number of samples, from a first to a last moment.

use arrow_array::RecordBatch;
use roast_model::{Frame, UtcNs};

/// A stretch of time in which a worker's state did not change.
#[derive(Clone, Copy, Debug)]
pub struct WorkerRow<'a> {
    /// Address or process id.
    pub worker: Option<&'a str>,
    /// Where it runs.
    pub host: Option<&'a str>,
    /// First and last sample.
    pub span: Option<(UtcNs, UtcNs)>,
    /// How many samples the row stands for; one if it does not say.
    pub samples: f64,
    /// Resident memory.
    pub memory_bytes: Option<i64>,
    /// Memory it may use.
    pub memory_limit_bytes: Option<i64>,
    /// CPU use; 100 is one core.
    pub cpu_percent: Option<f64>,
    /// Task threads.
    pub threads: Option<i64>,
    /// Tasks running, as of the last heartbeat.
    pub executing: Option<i64>,
    /// Results spilled to disk.
    pub spilled_bytes: Option<i64>,
    /// Bytes per second into the host.
    pub host_net_read_bps: Option<f64>,
    /// Bytes per second read from disk on the host.
    pub host_disk_read_bps: Option<f64>,
}

/// Reads the table. Rows may come in any order and lie outside of the run.
pub fn read(batch: &RecordBatch) -> Vec<WorkerRow<'_>> {
    let frame = Frame::new(batch);
    let mut workers = frame.names("worker");
    let mut hosts = frame.names("host");
    let mut starts = frame.times("time");
    let mut stops = frame.times("until");
    let mut samples = frame.ints("samples");
    let mut memory = frame.ints("memory_bytes");
    let mut limits = frame.ints("memory_limit_bytes");
    let mut cpu = frame.floats("cpu_percent");
    let mut threads = frame.ints("threads");
    let mut executing = frame.ints("executing");
    let mut spilled = frame.ints("spilled_bytes");
    let mut net_read = frame.floats("host_net_read_bps");
    let mut disk_read = frame.floats("host_disk_read_bps");
    let count = |number: Option<i64>| number.filter(|number| *number >= 0);
    (0..frame.len())
        .map(|_| {
            let start = starts.next().flatten();
            let stop = stops.next().flatten();
            WorkerRow {
                worker: workers.next().flatten(),
                host: hosts.next().flatten(),
                span: start.map(|start| (start, stop.unwrap_or(start).max(start))),
                samples: samples.next().flatten().unwrap_or(1).max(0) as f64,
                memory_bytes: count(memory.next().flatten()),
                memory_limit_bytes: limits.next().flatten().filter(|limit| *limit > 0),
                cpu_percent: cpu.next().flatten(),
                threads: count(threads.next().flatten()),
                executing: count(executing.next().flatten()),
                spilled_bytes: count(spilled.next().flatten()),
                host_net_read_bps: net_read.next().flatten(),
                host_disk_read_bps: disk_read.next().flatten(),
            }
        })
        .collect()
}
