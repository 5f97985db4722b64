//! On what: the workers, their cores and their memory over the tracked time.
//!
//! A row of the `workers` table stands for several equal samples, so means are
//! weighted by them. Sums over workers are taken at one moment, and what a host
//! reports is counted once however many of its workers repeat it.

use arrow_array::RecordBatch;
use roast_model::{Frame, UtcNs};

use crate::number::{Summary, product, usable};
use crate::sheet::Sheet;
use crate::sweep::{Stretch, places, sums, time_weighted_mean};
use crate::worker_rows::WorkerRow;

/// Host rates are summed in thousandths of a byte per second, as whole numbers.
const PER_RATE: f64 = 1e3;

pub(crate) fn fill(sheet: &mut Sheet, ticks: Option<&RecordBatch>, rows: &[WorkerRow<'_>]) {
    if let Some(ticks) = ticks {
        counts(sheet, ticks);
    }
    cores(sheet, rows);
    cpu(sheet, rows);
}

/// What is summed over workers and hosts, moment by moment.
pub(crate) fn fill_sums(sheet: &mut Sheet, ticks: Option<&RecordBatch>, rows: &[WorkerRow<'_>]) {
    let workers = places(rows.iter().map(|row| row.worker));
    memory(sheet, rows, &workers);
    let ticks: Vec<UtcNs> =
        ticks.map(|ticks| Frame::new(ticks).times("time").flatten().collect()).unwrap_or_default();
    hosts(sheet, rows, &workers, &ticks);
}

fn counts(sheet: &mut Sheet, ticks: &RecordBatch) {
    let frame = Frame::new(ticks);
    let mut points: Vec<(UtcNs, i128)> = frame
        .times("time")
        .zip(frame.ints("worker_count"))
        .filter_map(|(time, count)| Some((time?, i128::from(count.filter(|count| *count >= 0)?))))
        .collect();
    points.sort_unstable();
    let mean = Summary::of(points.iter().map(|(_, count)| (*count as f64, 1.0)));
    sheet.real("avg_workers", time_weighted_mean(&points));
    sheet.real("mean_workers", mean.map(|mean| mean.mean));
    sheet.whole("peak_workers", mean.map(|mean| mean.max));
}

fn cores(sheet: &mut Sheet, rows: &[WorkerRow<'_>]) {
    let threads = weighted(rows, |row| row.threads.map(|threads| threads as f64));
    sheet.real("cores_per_worker", threads.map(|threads| threads.mean));
    total_cores(sheet);
}

/// The cores that were there on average.
pub(crate) fn total_cores(sheet: &mut Sheet) {
    let cores = product(sheet.get("avg_workers"), sheet.get("cores_per_worker"));
    sheet.real("total_cores", cores);
}

fn memory(sheet: &mut Sheet, rows: &[WorkerRow<'_>], workers: &[u32]) {
    let memory = weighted(rows, |row| row.memory_bytes.map(|bytes| bytes as f64));
    sheet.real("avg_memory_per_worker_bytes", memory.map(|memory| memory.mean));
    sheet.whole("peak_memory_bytes", memory.map(|memory| memory.max));
    sheet.whole("peak_memory_cluster_bytes", peak_sum(rows, workers, |row| row.memory_bytes));
    sheet.whole("peak_spilled_bytes", peak_sum(rows, workers, |row| row.spilled_bytes));

    let used = weighted(rows, |row| {
        Some(row.memory_bytes? as f64 / row.memory_limit_bytes? as f64 * 100.0)
    });
    sheet.real("memory_utilization_mean_percent", used.map(|used| used.mean));
    sheet.real("memory_utilization_min_percent", used.map(|used| used.min));
    sheet.real("memory_utilization_max_percent", used.map(|used| used.max));
}

fn cpu(sheet: &mut Sheet, rows: &[WorkerRow<'_>]) {
    let cpu = weighted(rows, |row| row.cpu_percent);
    sheet.real("cpu_utilization_mean_percent", cpu.map(|cpu| cpu.mean));
    sheet.real("cpu_utilization_min_percent", cpu.map(|cpu| cpu.min));
    sheet.real("cpu_utilization_max_percent", cpu.map(|cpu| cpu.max));
}

fn hosts(sheet: &mut Sheet, rows: &[WorkerRow<'_>], workers: &[u32], ticks: &[UtcNs]) {
    let hosts = places(rows.iter().map(|row| row.host.or(row.worker)));
    let net_read = host_mean(rows, (&hosts, workers), ticks, |row| row.host_net_read_bps);
    let disk_read = host_mean(rows, (&hosts, workers), ticks, |row| row.host_disk_read_bps);
    sheet.real("host_net_read_bytes_per_s_mean", net_read);
    sheet.real("host_disk_read_bytes_per_s_mean", disk_read);
}

fn weighted(
    rows: &[WorkerRow<'_>],
    number: impl Fn(&WorkerRow<'_>) -> Option<f64>,
) -> Option<Summary> {
    Summary::of(rows.iter().filter_map(|row| Some((number(row)?, row.samples))))
}

/// The largest sum over workers at one moment.
fn peak_sum(
    rows: &[WorkerRow<'_>],
    workers: &[u32],
    amount: impl Fn(&WorkerRow<'_>) -> Option<i64>,
) -> Option<f64> {
    let stretches: Vec<_> = rows
        .iter()
        .zip(workers)
        .filter_map(|(row, worker)| {
            let (start, stop) = row.span?;
            Some(Stretch { owner: *worker, witness: 0, start, stop, amount: amount(row)? })
        })
        .collect();
    // What nobody has adds up to nothing.
    if stretches.iter().all(|stretch| stretch.amount == 0) {
        return (!stretches.is_empty()).then_some(0.0);
    }
    sums(&stretches, Vec::new()).into_iter().map(|(_, sum)| sum).max().map(|peak| peak as f64)
}

/// The time-weighted mean of the sum over hosts, by the trapezoidal rule over the
/// samples. At any moment a host counts once, with what one of its workers reports;
/// a worker of which no host is known counts as a host of its own.
fn host_mean(
    rows: &[WorkerRow<'_>],
    (hosts, workers): (&[u32], &[u32]),
    ticks: &[UtcNs],
    rate: impl Fn(&WorkerRow<'_>) -> Option<f64>,
) -> Option<f64> {
    let mut moments = ticks.to_vec();
    let mut stretches = Vec::new();
    for (row, (owner, witness)) in rows.iter().zip(hosts.iter().zip(workers)) {
        let (Some((start, stop)), Some(rate)) = (row.span, rate(row).and_then(usable)) else {
            continue;
        };
        // Where one host comes as another goes, both were there at one sample only.
        // The samples next to a row's ends, about evenly spaced, keep the sum of
        // that one from spreading over the whole row.
        if row.samples > 2.0 {
            let step_secs = stop.secs_since(start) / (row.samples - 1.0);
            moments.extend([start.after_secs(step_secs), stop.after_secs(-step_secs)]);
        }
        let amount = (rate * PER_RATE).round() as i64;
        stretches.push(Stretch { owner: *owner, witness: *witness, start, stop, amount });
    }
    time_weighted_mean(&sums(&stretches, moments)).map(|mean| mean / PER_RATE)
}
