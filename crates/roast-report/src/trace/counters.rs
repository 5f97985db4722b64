//! Numbers over time: workers, tasks and throughput of the cluster; memory, CPU
//! and running tasks of each worker.

use roast_model::{Frame, Measurement, Table};

use super::Workers;
use super::cells;
use super::events::{EventWriter, Process};
use super::window::Moments;
use crate::export::ExportError;

/// Points of a throughput series, at most.
const POINTS: f64 = 2000.0;
const BYTES_PER_MB: f64 = 1e6;

pub(super) fn cluster(
    measurement: &Measurement,
    shown: Moments,
    process: Process,
    events: &mut EventWriter<'_>,
) -> Result<(), ExportError> {
    if let Some(ticks) = measurement.table(Table::Ticks) {
        for (column, name) in [
            ("worker_count", ("workers", "connected")),
            ("tasks_waiting", ("tasks", "waiting")),
            ("tasks_processing", ("tasks", "processing")),
        ] {
            let values = Frame::new(ticks).ints(column);
            let mut last = None;
            // What holds when the window begins.
            let mut before = None;
            for (time, value) in Frame::new(ticks).times("time").zip(values) {
                let (Some(time), Some(value)) = (time, value) else { continue };
                if time.0 < shown.from {
                    before = Some(value);
                } else if time.0 <= shown.until && last.or(before) != Some(value) {
                    events.counter(process, name, time.0, value as f64)?;
                    last = Some(value);
                }
            }
            if let Some(value) = before {
                events.counter(process, name, shown.from, value as f64)?;
            }
        }
    }
    let bytes = (("bytes read", "MB/s"), BYTES_PER_MB);
    throughput(measurement, "num_events", (("events", "kHz"), 1e3), shown, process, events)?;
    throughput(measurement, "bytes_read", bytes, shown, process, events)
}

/// What chunks that succeeded did per second, each spread evenly over its time.
fn throughput(
    measurement: &Measurement,
    column: &str,
    (name, unit): ((&str, &str), f64),
    shown: Moments,
    process: Process,
    events: &mut EventWriter<'_>,
) -> Result<(), ExportError> {
    let header = &measurement.header;
    let Some(batch) = measurement.table(Table::Chunks) else { return Ok(()) };
    if !header.wall_secs.is_finite() || header.wall_secs <= 0.0 {
        return Ok(());
    }
    let width_ns = ((header.wall_secs / POINTS).max(1.0) * 1e9) as i64;
    let bins = ((header.wall_secs * 1e9) as i64 / width_ns) as usize + 1;
    let mut sums = vec![0.0_f64; bins];
    let (starts, stops) = (cells::times(batch, "start"), cells::times(batch, "stop"));
    let (amounts, errors) = (cells::ints(batch, column), cells::names(batch, "error"));
    let outcomes = cells::names(batch, "outcome");
    let mut any = false;
    for row in 0..batch.num_rows() {
        let succeeded = matches!(outcomes.get(row), None | Some("ok")) && errors.get(row).is_none();
        let (Some(start), Some(stop), Some(amount), true) =
            (starts.get(row), stops.get(row), amounts.get(row), succeeded)
        else {
            continue;
        };
        let from = start.saturating_sub(header.started.0).max(0);
        let to = stop.saturating_sub(header.started.0).max(from.saturating_add(1));
        let per_ns = amount as f64 / (to - from) as f64;
        let first = (from / width_ns) as usize;
        for (bin, sum) in sums.iter_mut().enumerate().skip(first) {
            let begin = bin as i64 * width_ns;
            let inside = to.min(begin + width_ns) - from.max(begin);
            if inside <= 0 {
                break;
            }
            *sum += per_ns * inside as f64;
            any = true;
        }
    }
    if !any {
        return Ok(());
    }
    for (bin, sum) in sums.iter().enumerate() {
        let moment = header.started.0.saturating_add(bin as i64 * width_ns);
        if shown.touches(moment, moment.saturating_add(width_ns)) {
            events.counter(process, name, moment, sum / (width_ns as f64 / 1e9) / unit)?;
        }
    }
    Ok(())
}

pub(super) fn workers(
    measurement: &Measurement,
    workers: &Workers<'_>,
    moments: Moments,
    cluster: Process,
    events: &mut EventWriter<'_>,
) -> Result<(), ExportError> {
    let Some(batch) = measurement.table(Table::Workers) else { return Ok(()) };
    let names = cells::names(batch, "worker");
    let (times, untils) = (cells::times(batch, "time"), cells::times(batch, "until"));
    let (memory, executing) = (cells::ints(batch, "memory_bytes"), cells::ints(batch, "executing"));
    let cpu = cells::floats(batch, "cpu_percent");
    // What each worker's counters show now: a value that stays needs no event.
    let mut shown = vec![[None::<f64>; 3]; workers.len()];
    for row in 0..batch.num_rows() {
        let (Some(time), Some(number)) = (times.get(row), workers.get(&names.get(row))) else {
            continue;
        };
        if !moments.touches(time, untils.get(row).unwrap_or(time)) {
            continue;
        }
        let Some(shown) = shown.get_mut(*number as usize) else { continue };
        let process = Process(cluster.0 + 1 + number);
        let values = [
            (("memory", "MB"), memory.get(row).map(|bytes| bytes as f64 / BYTES_PER_MB)),
            (("CPU", "percent"), cpu.get(row)),
            (("tasks", "executing"), executing.get(row).map(|count| count as f64)),
        ];
        for ((name, value), shown) in values.into_iter().zip(shown) {
            if value.is_some() && value != *shown {
                events.counter(process, name, time, value.unwrap_or_default())?;
                *shown = value;
            }
        }
    }
    Ok(())
}
