//! One row per worker: what it did, and what it used.

use roast_analyze::{ByName, Outcome};

use super::panel::no_tracking;
use super::run::{Run, shown_name};
use super::table::{Column, Table, column, heaviest, share};

const WORKERS: &[Column] = &[
    column("worker", "worker", "text", ""),
    column("host", "host", "text", ""),
    column("threads", "threads", "count", "task threads"),
    column("there_secs", "there for", "seconds", "as far as it was sampled"),
    column("chunks", "chunks", "count", "chunks that gave a result"),
    column("events", "events", "count", ""),
    column("busy_secs", "on chunks", "seconds", "time of its attempts at chunks, over threads"),
    column("busy_share", "busy", "share", "time on chunks, of its threads' time"),
    column("wasted", "failed", "count", "attempts that failed or were repeated"),
    column("cpu_percent", "CPU (mean)", "number", "per cent; 100 is one core"),
    column("memory_bytes", "memory (mean)", "bytes", ""),
    column("peak_bytes", "memory (peak)", "bytes", "as sampled"),
    column("limit_bytes", "memory limit", "bytes", ""),
    column("spilled_bytes", "spilled (peak)", "bytes", ""),
];

#[derive(Clone, Copy, Debug, Default)]
struct Sums<'a> {
    host: Option<&'a str>,
    threads: Option<i64>,
    there_secs: Option<f64>,
    thread_secs: Option<f64>,
    chunks: i64,
    events: i64,
    busy_secs: f64,
    wasted: i64,
    cpu: (f64, f64),
    memory: (f64, f64),
    peak_bytes: Option<i64>,
    limit_bytes: Option<i64>,
    spilled_bytes: Option<i64>,
}

pub(crate) fn workers(run: &Run<'_>) -> Table {
    let mut workers: ByName<'_, Sums<'_>> = ByName::default();
    for row in &run.workers {
        workers.update(row.worker, |sums| {
            sums.host = sums.host.or(row.host);
            sums.threads = sums.threads.max(row.threads);
            sums.peak_bytes = sums.peak_bytes.max(row.memory_bytes);
            sums.limit_bytes = sums.limit_bytes.max(row.memory_limit_bytes);
            sums.spilled_bytes = sums.spilled_bytes.max(row.spilled_bytes);
            add(&mut sums.cpu, row.cpu_percent.filter(|percent| percent.is_finite()), row.samples);
            add(&mut sums.memory, row.memory_bytes.map(|bytes| bytes as f64), row.samples);
        });
    }
    for (row, first, last) in run.sampled() {
        let (start, stop) = run.axis.reach(first, last);
        workers.update(row.worker, |sums| {
            sums.there_secs = Some(sums.there_secs.unwrap_or(0.0) + stop - start);
            if let Some(threads) = row.threads {
                let secs = (stop - start) * threads as f64;
                sums.thread_secs = Some(sums.thread_secs.unwrap_or(0.0) + secs);
            }
        });
    }
    let only = match workers.names() {
        [only] => Some(*only),
        _ => None,
    };
    for chunk in run.chunks.iter().filter(|chunk| chunk.outcome != Outcome::Replayed) {
        let worker = run.chunk_workers.get(chunk.worker).copied().flatten();
        // Where there is one worker, it is that one, whatever the chunk calls it.
        workers.update(only.unwrap_or(worker), |sums| {
            sums.busy_secs += chunk.attempt_secs.unwrap_or(0.0);
            if chunk.is_ok() {
                sums.chunks += 1;
                sums.events = sums.events.saturating_add(chunk.events.unwrap_or(0));
            } else {
                sums.wasted += 1;
            }
        });
    }
    let seen = !run.chunks.is_empty();
    let ordered = workers.into_sorted();
    let weights: Vec<f64> = ordered.iter().map(|(_, sums)| sums.busy_secs).collect();
    let rows = heaviest(&weights)
        .into_iter()
        .filter_map(|index| ordered.get(index))
        .map(|(name, sums)| {
            let busy = seen.then_some(sums.busy_secs);
            vec![
                shown_name(*name).into(),
                sums.host.map(super::text::name).into(),
                sums.threads.into(),
                sums.there_secs.into(),
                seen.then_some(sums.chunks).into(),
                seen.then_some(sums.events).into(),
                busy.into(),
                share(busy, sums.thread_secs),
                seen.then_some(sums.wasted).into(),
                mean(sums.cpu).into(),
                mean(sums.memory).into(),
                sums.peak_bytes.into(),
                sums.limit_bytes.into(),
                sums.spilled_bytes.into(),
            ]
        })
        .collect();
    Table::new(("workers", "Workers"), WORKERS, rows, ordered.len(), no_tracking)
}

fn add(sum: &mut (f64, f64), number: Option<f64>, samples: f64) {
    if let Some(number) = number {
        sum.0 += number * samples;
        sum.1 += samples;
    }
}

fn mean((sum, samples): (f64, f64)) -> Option<f64> {
    (samples > 0.0).then(|| sum / samples)
}
