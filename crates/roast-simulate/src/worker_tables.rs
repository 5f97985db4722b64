//! The tables of ticks and workers: what a sampler on the scheduler would have
//! seen, host by host so that one host's series are in memory at a time.

use roast_model::{ColumnData, Table, TableBuilder, TableError};

use crate::columns::{append, names};
use crate::draw::Draw;
use crate::model::Simulation;
use crate::recorder::Busy;
use crate::schedule::{Changes, Run, TICK_NS};

const IDLE_BYTES: f64 = 150e6;
const RESIDENT_BYTES: f64 = 450e6;
const RUNNING_BYTES: f64 = 200e6;
const PAGE_BYTES: i64 = 4096;
const LOOP_INTERVAL_SECS: f64 = 0.02;
/// What a worker that runs nothing uses.
const IDLE_CPU_PERCENT: f64 = 2.0;
const ROWS_PER_BATCH: usize = 16_384;

/// A worker's address; no two workers that ever were have the same.
pub(crate) fn address(worker: u32) -> String {
    let [_, b, c, d] = worker.to_be_bytes();
    format!("tcp://10.{b}.{c}.{d}:{}", 40_000 + worker % 20_000)
}

/// A host's name.
pub(crate) fn host(host: u32) -> String {
    format!("node{host:04}")
}

/// Ticks between two heartbeats: Dask makes them rarer as workers get more.
pub(crate) fn heartbeat_ticks(workers: u32) -> i64 {
    let secs = match workers {
        0..50 => 1,
        50..200 => 2,
        more => i64::from(more) / 200 + 1,
    };
    secs * 1_000_000_000 / TICK_NS
}

pub(crate) fn make(
    simulation: &Simulation,
    run: &Run,
    busy: Vec<Busy>,
) -> Result<Vec<TableBuilder>, TableError> {
    Ok(vec![ticks(simulation, run)?, workers(simulation, run, busy)?])
}

/// When samples are taken: regularly, and once more at the end.
fn tick_times(run: &Run) -> impl Iterator<Item = i64> + use<> {
    let wall_ns = run.wall_ns;
    (0..=(wall_ns - 1) / TICK_NS).map(|tick| tick * TICK_NS).chain([wall_ns])
}

fn ticks(simulation: &Simulation, run: &Run) -> Result<TableBuilder, TableError> {
    let mut joined: Vec<i64> = run.workers.iter().map(|worker| worker.start).collect();
    let mut left: Vec<i64> = run.workers.iter().map(|worker| worker.stop).collect();
    joined.sort_unstable();
    left.sort_unstable();
    let mut draw = Draw::new(simulation.seed, 4);
    let (mut waiting, mut running) = (Level::new(&run.waiting), Level::new(&run.running));
    let rows: Vec<[i64; 4]> = tick_times(run)
        .map(|time| {
            // At the very end every worker is still there.
            let moment = time.min(run.wall_ns - 1);
            let there = joined.partition_point(|join| *join <= moment)
                - left.partition_point(|leave| *leave <= moment);
            // The last sample comes after all that happened in its second.
            let seen = if time == run.wall_ns { time + TICK_NS } else { time };
            [time, there as i64, waiting.at(seen), running.at(seen)]
        })
        .collect();
    let threads = i64::from(simulation.cluster.threads_per_worker);
    let column = |get: &dyn Fn(&[i64; 4]) -> i64| {
        ColumnData::Ints(rows.iter().map(|row| Some(get(row))).collect())
    };
    let tick_secs = 2e-5 + 4e-7 * f64::from(simulation.cluster.workers);
    let costs = rows.iter().map(|_| Some(tick_secs * draw.factor(0.2))).collect();
    let started = simulation.started.0;
    let batch = vec![
        ("time", column(&|[time, ..]| started + time)),
        ("worker_count", column(&|[_, there, ..]| *there)),
        ("threads_total", column(&|[_, there, ..]| there * threads)),
        ("tasks_waiting", column(&|[_, _, waiting, _]| *waiting)),
        ("tasks_processing", column(&|[.., running]| *running)),
        ("tick_secs", ColumnData::Floats(costs)),
    ];
    let mut builder = TableBuilder::new(Table::Ticks);
    append(&mut builder, batch)?;
    Ok(builder)
}

/// A number that is followed through its changes.
struct Level<'a> {
    changes: &'a [i64],
    seen: usize,
    level: i64,
}

impl<'a> Level<'a> {
    fn new(changes: &'a Changes) -> Self {
        Self { changes: &changes.by_tick, seen: 0, level: 0 }
    }

    /// The number at a tick; ticks must come in order.
    fn at(&mut self, time: i64) -> i64 {
        let upto = usize::try_from(time.div_euclid(TICK_NS)).unwrap_or(0).saturating_add(1);
        let upto = upto.clamp(self.seen, self.changes.len().max(self.seen));
        self.level += self.changes.get(self.seen..upto).unwrap_or_default().iter().sum::<i64>();
        self.seen = upto;
        self.level
    }
}

/// What workers report at their heartbeats, the run divided evenly among those.
#[derive(Clone, Copy)]
struct Beats {
    length_ns: i64,
    count: usize,
}

impl Beats {
    /// Calls with each beat that a stretch reaches into, and how many nanoseconds
    /// of it lie there.
    fn spread(self, start: i64, stop: i64, mut each: impl FnMut(usize, i64)) {
        let mut from = start.max(0);
        while from < stop {
            let beat = from / self.length_ns;
            let to = stop.min((beat + 1) * self.length_ns);
            each(beat as usize, to - from);
            from = to;
        }
    }
}

#[derive(Clone, Copy)]
struct Row {
    worker: u32,
    first: i64,
    last: i64,
    samples: i64,
    memory: i64,
    cpu_percent: f64,
    executing: i64,
    net_read: f64,
    loop_interval: f64,
    seen: i64,
}

fn workers(
    simulation: &Simulation,
    run: &Run,
    mut busy: Vec<Busy>,
) -> Result<TableBuilder, TableError> {
    let length_ns = heartbeat_ticks(simulation.cluster.workers) * TICK_NS;
    let beats = Beats { length_ns, count: (run.wall_ns / length_ns) as usize + 1 };
    busy.sort_unstable_by_key(|busy| (busy.worker, busy.start));
    let mut by_host: Vec<(u32, u32)> =
        (0..).zip(&run.workers).map(|(number, worker)| (worker.host, number)).collect();
    by_host.sort_unstable();
    let mut builder = TableBuilder::new(Table::Workers);
    let mut draw = Draw::new(simulation.seed, 5);
    let mut rows: Vec<Row> = Vec::with_capacity(ROWS_PER_BATCH);
    let mut net_bytes = vec![0.0_f64; beats.count];
    for same_host in by_host.chunk_by(|a, b| a.0 == b.0) {
        net_bytes.fill(0.0);
        for (_, worker) in same_host {
            for busy in of_worker(&busy, *worker) {
                let per_ns = f64::from(busy.bytes) / (busy.stop - busy.start).max(1) as f64;
                beats.spread(busy.start, busy.stop, |beat, ns| {
                    if let Some(sum) = net_bytes.get_mut(beat) {
                        *sum += per_ns * ns as f64;
                    }
                });
            }
        }
        for (host, worker) in same_host {
            sample(
                *worker,
                run,
                beats,
                of_worker(&busy, *worker),
                &net_bytes,
                &mut draw,
                &mut rows,
            );
            if rows.len() >= ROWS_PER_BATCH {
                write(simulation, *host, &mut rows, &mut builder)?;
            }
        }
        if let Some((host, _)) = same_host.first() {
            write(simulation, *host, &mut rows, &mut builder)?;
        }
    }
    Ok(builder)
}

fn of_worker(busy: &[Busy], worker: u32) -> &[Busy] {
    let from = busy.partition_point(|busy| busy.worker < worker);
    let to = busy.partition_point(|busy| busy.worker <= worker);
    busy.get(from..to).unwrap_or_default()
}

/// The rows of one worker: one for each heartbeat.
fn sample(
    number: u32,
    run: &Run,
    beats: Beats,
    busy: &[Busy],
    net_bytes: &[f64],
    draw: &mut Draw,
    rows: &mut Vec<Row>,
) {
    let Some(worker) = run.workers.get(number as usize).filter(|w| w.start < run.wall_ns) else {
        return;
    };
    let first_beat = (worker.start / beats.length_ns) as usize;
    let mut cpu_ns = vec![0.0_f64; beats.count.saturating_sub(first_beat)];
    let mut executing = vec![0_i64; cpu_ns.len() + 1];
    for stretch in busy {
        beats.spread(stretch.start, stretch.stop, |beat, ns| {
            if let Some(sum) = cpu_ns.get_mut(beat.saturating_sub(first_beat)) {
                *sum += f64::from(stretch.cpu) * ns as f64;
            }
        });
        // What runs when a beat begins.
        let begins = |moment: i64| {
            let beat = (moment.max(0) as u64).div_ceil(beats.length_ns as u64) as usize;
            beat.saturating_sub(first_beat).min(cpu_ns.len())
        };
        for (moment, change) in [(stretch.start, 1), (stretch.stop, -1)] {
            if let Some(sum) = executing.get_mut(begins(moment)) {
                *sum += change;
            }
        }
    }
    let base = RESIDENT_BYTES * draw.factor(0.1);
    let mut running = 0;
    let mut worked = false;
    for (index, (cpu_ns, change)) in cpu_ns.iter().zip(&executing).enumerate() {
        running += change;
        worked |= running > 0;
        let beat = (first_beat + index) as i64;
        let begin = (beat * beats.length_ns).max(worker.start);
        let end = ((beat + 1) * beats.length_ns).min(worker.stop);
        // Ticks within; the one at the very end belongs to the last beat.
        let first = begin.div_euclid(TICK_NS) + i64::from(begin.rem_euclid(TICK_NS) > 0);
        let mut last = (end - 1).div_euclid(TICK_NS);
        let at_end = end == run.wall_ns;
        let (first_time, mut last_time) = (first * TICK_NS, last * TICK_NS);
        if at_end {
            last += 1;
            last_time = run.wall_ns;
        }
        if last < first || first_time >= run.wall_ns {
            continue;
        }
        let resident = if worked { base } else { IDLE_BYTES };
        let memory = (resident + RUNNING_BYTES * running as f64 * draw.factor(0.1)) as i64;
        let secs = (end - begin).max(1) as f64;
        let cpu_percent = (100.0 * cpu_ns / secs + IDLE_CPU_PERCENT * draw.unit()) * 10.0;
        let net_read =
            net_bytes.get(beat as usize).copied().unwrap_or(0.0) / (beats.length_ns as f64 / 1e9);
        rows.push(Row {
            worker: number,
            first: first_time,
            last: last_time,
            samples: last - first + 1,
            memory: memory / PAGE_BYTES * PAGE_BYTES,
            cpu_percent: cpu_percent.round() / 10.0,
            executing: running,
            net_read,
            loop_interval: LOOP_INTERVAL_SECS * (1.0 + 0.1 * draw.unit()),
            seen: first_time - (draw.unit() * 5e8) as i64,
        });
    }
}

fn write(
    simulation: &Simulation,
    host_number: u32,
    rows: &mut Vec<Row>,
    builder: &mut TableBuilder,
) -> Result<(), TableError> {
    let started = simulation.started.0;
    let ints = |get: &dyn Fn(&Row) -> i64| {
        ColumnData::Ints(rows.iter().map(|row| Some(get(row))).collect())
    };
    let floats = |get: &dyn Fn(&Row) -> f64| {
        ColumnData::Floats(rows.iter().map(|row| Some(get(row))).collect())
    };
    let chunk_secs = simulation.chunk_secs();
    let batch = vec![
        ("worker", names(rows.iter().map(|row| row.worker), address)),
        ("host", names(rows.iter().map(|_| host_number), host)),
        ("time", ints(&|row| started + row.first)),
        ("until", ints(&|row| started + row.last)),
        ("samples", ints(&|row| row.samples)),
        ("memory_bytes", ints(&|row| row.memory)),
        ("memory_limit_bytes", ints(&|_| simulation.cluster.memory_limit_bytes)),
        ("cpu_percent", floats(&|row| row.cpu_percent)),
        ("threads", ints(&|_| i64::from(simulation.cluster.threads_per_worker))),
        ("processing", ints(&|row| row.executing)),
        ("executing", ints(&|row| row.executing)),
        ("stored_bytes", ints(&|row| row.executing * 40_000)),
        ("occupancy_secs", floats(&|row| row.executing as f64 * chunk_secs)),
        ("last_seen", ints(&|row| started + row.seen)),
        ("spilled_bytes", ints(&|_| 0)),
        ("host_net_read_bps", floats(&|row| row.net_read)),
        ("host_net_write_bps", floats(&|row| row.net_read * 0.01)),
        ("host_disk_read_bps", floats(&|_| 0.0)),
        ("host_disk_write_bps", floats(&|_| 0.0)),
        ("event_loop_interval_secs", floats(&|row| row.loop_interval)),
    ];
    append(builder, batch)?;
    rows.clear();
    Ok(())
}
