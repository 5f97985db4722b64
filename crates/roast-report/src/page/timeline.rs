//! The run over time: workers, throughput, CPU, memory, tasks and spilled data, on
//! one axis.

use roast_model::{Frame, Table};
use serde::Serialize;

use super::number::{moment, short};
use super::panel::{Panel, no_chunks, no_times, no_tracking};
use super::run::{ChunkRow, Run};
use super::spread::Spread;
use super::worker_series::{Reduced, of_ticks, over_workers, summed};

/// Series that share one axis.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Timeline {
    time: Vec<f64>,
    bin_secs: Option<f64>,
    charts: Vec<Chart>,
}

#[derive(Clone, Debug, Serialize)]
struct Chart {
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    series: Vec<Series>,
    missing: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Series {
    label: &'static str,
    kind: &'static str,
    mean: Vec<Option<f64>>,
    low: Option<Vec<Option<f64>>>,
    high: Option<Vec<Option<f64>>>,
}

pub(crate) fn panel(run: &Run<'_>) -> Panel<Timeline> {
    let charts = vec![
        workers(run),
        throughput(run),
        data_rate(run),
        cpu(run),
        memory(run),
        tasks(run),
        spill(run),
    ];
    if charts.iter().all(|chart| chart.series.is_empty()) {
        return Panel::missing(format!("{} {}", no_tracking(), no_chunks()));
    }
    Panel::Data(Timeline {
        time: run.axis.time().iter().map(|secs| moment(*secs)).collect(),
        bin_secs: run.axis.bin_secs().map(moment),
        charts,
    })
}

fn workers(run: &Run<'_>) -> Chart {
    let ticks = run.measurement.table(Table::Ticks).map(Frame::new);
    let counted = |column: &str| {
        let numbers = ticks.into_iter().flat_map(|ticks| {
            ticks.times("time").zip(ticks.ints(column)).filter_map(|(time, count)| {
                let tick = run.axis.nearest_tick(run.secs(time?))?;
                Some((tick, count.filter(|count| *count >= 0).map(|count| count as f64)))
            })
        });
        of_ticks(run, numbers)
    };
    let count = counted("worker_count");
    // A backend may know workers without counting them.
    let count = if count.is_known() { count } else { summed(run, |_| Some(1)) };
    let threads = counted("threads_total");
    let threads = if threads.is_known() { threads } else { summed(run, |row| row.threads) };
    let series = [value("workers", count), value("task threads", threads)];
    chart("workers", "Workers", "count", series, no_tracking)
}

fn throughput(run: &Run<'_>) -> Chart {
    let rates = of_chunks(run, |chunk| {
        chunk.is_ok().then_some(chunk.events).flatten().map(|events| events as f64 / 1e3)
    });
    let series = [exact("events", rates)];
    chart("throughput", "Throughput", "kilohertz", series, || no_rate(run))
}

fn data_rate(run: &Run<'_>) -> Chart {
    let rates = of_chunks(run, |chunk| {
        chunk.is_ok().then_some(chunk.bytes_read).flatten().map(|bytes| bytes as f64 * 8e-9)
    });
    let series = [exact("read", rates)];
    chart("data_rate", "Data rate", "gigabits_per_second", series, || {
        if run.chunks.iter().any(|chunk| chunk.span.is_some()) {
            "The chunk rows do not say how many bytes they read: uproot counts them for ROOT \
             input only."
                .to_owned()
        } else {
            no_rate(run)
        }
    })
}

fn cpu(run: &Run<'_>) -> Chart {
    let used = over_workers(run, |row| row.cpu_percent.filter(|percent| *percent >= 0.0));
    let all = over_workers(run, |row| row.threads.map(|threads| threads as f64 * 100.0));
    let series = if used.is_known() {
        vec![value("of a worker", used), limit("all its task threads", all)]
    } else {
        Vec::new()
    };
    chart("cpu", "CPU", "percent", series, no_tracking)
}

fn memory(run: &Run<'_>) -> Chart {
    let used = over_workers(run, |row| row.memory_bytes.map(|bytes| bytes as f64));
    let most = over_workers(run, |row| row.memory_limit_bytes.map(|bytes| bytes as f64));
    let series = if used.is_known() {
        vec![value("of a worker", used), limit("its limit", most)]
    } else {
        Vec::new()
    };
    chart("memory", "Memory", "bytes", series, no_tracking)
}

fn tasks(run: &Run<'_>) -> Chart {
    let sampled = summed(run, |row| row.executing);
    let running = of_chunks(run, |chunk| {
        (chunk.outcome != roast_analyze::Outcome::Replayed)
            .then_some(chunk.span)
            .flatten()
            .map(|(start, stop)| stop - start)
    });
    let mut series =
        vec![value("tasks executing, as sampled", sampled), exact("chunks running", running)];
    if series.iter().any(|series| !series.mean.is_empty()) {
        series.push(limit("task threads", summed(run, |row| row.threads)));
    }
    chart("tasks", "Executing tasks", "count", series, || {
        format!("{} {}", no_tracking(), no_chunks())
    })
}

fn spill(run: &Run<'_>) -> Chart {
    let series = [value("spilled to disk, all workers", summed(run, |row| row.spilled_bytes))];
    chart("spill", "Spilled data", "bytes", series, || {
        if run.workers.is_empty() {
            no_tracking()
        } else {
            "The samples do not say how much was spilled: Dask's workers tell it where roastcoffea \
             itself tracks them."
                .to_owned()
        }
    })
}

/// Amounts of chunks spread over the time in which they ran, per second.
fn of_chunks(run: &Run<'_>, amount: impl Fn(&ChunkRow) -> Option<f64>) -> Option<Vec<Option<f64>>> {
    let mut spread = Spread::new(run.axis.edges());
    let mut any = false;
    for chunk in &run.chunks {
        if let (Some(span), Some(amount)) = (chunk.span, amount(chunk)) {
            spread.add(span, amount);
            any = true;
        }
    }
    any.then(|| spread.rates().into_iter().map(|rate| rate.map(short)).collect())
}

fn no_rate(run: &Run<'_>) -> String {
    if run.chunks.is_empty() { no_chunks() } else { no_times() }
}

fn value(label: &'static str, reduced: Reduced) -> Series {
    series(label, "value", reduced)
}

fn limit(label: &'static str, reduced: Reduced) -> Series {
    series(label, "limit", reduced)
}

/// Without numbers where nothing is known; [`chart`] leaves it out then.
fn series(label: &'static str, kind: &'static str, reduced: Reduced) -> Series {
    let has_band = reduced.has_band();
    let Reduced { mean, low, high } = if reduced.is_known() {
        reduced
    } else {
        Reduced { mean: vec![], low: vec![], high: vec![] }
    };
    Series { label, kind, mean, low: has_band.then_some(low), high: has_band.then_some(high) }
}

/// A series without a band.
fn exact(label: &'static str, mean: Option<Vec<Option<f64>>>) -> Series {
    Series { label, kind: "value", mean: mean.unwrap_or_default(), low: None, high: None }
}

fn chart(
    key: &'static str,
    title: &'static str,
    unit: &'static str,
    series: impl IntoIterator<Item = Series>,
    missing: impl FnOnce() -> String,
) -> Chart {
    let series: Vec<Series> =
        series.into_iter().filter(|series| series.mean.iter().any(Option::is_some)).collect();
    let missing = series.is_empty().then(missing);
    Chart { key, title, unit, series, missing }
}
