//! What chunks took: counts, times, memory and events over the attempts that
//! gave a result. Failed, repeated and replayed attempts do not enter.

use roast_model::{FloatCells, Frame, IntCells};

use crate::chunk_identity::{Chunk, Chunks};
use crate::chunk_rows::Outcome;
use crate::number::usable;
use crate::sheet::Sheet;
use crate::statistics::{Moments, correlation, put_in_order, quantile};

const BYTES_PER_MB: f64 = 1_048_576.0;

pub(crate) fn fill(sheet: &mut Sheet, rows: Frame<'_>, outcomes: &[Outcome], chunks: &Chunks) {
    counts(sheet, chunks);
    let good = Good::of(rows, outcomes);
    let mut room = Vec::new();
    times(sheet, good.take(&mut room, |row| good.secs(row)));
    let growth = good.take(&mut room, |row| Some(good.growth_bytes(row)? / BYTES_PER_MB));
    memory(sheet, Moments::of(growth));
    let peaks = rows.int_cells("rss_peak_bytes");
    let peak = good.rows().filter_map(|row| peaks.get(row)).max();
    sheet.real("chunk_peak_memory_max_mb", peak.map(|bytes| bytes as f64 / BYTES_PER_MB));
    per_event(sheet, &good, &mut room);
}

/// The attempts that gave a result, by row.
struct Good<'a> {
    outcomes: &'a [Outcome],
    duration: FloatCells<'a>,
    events: IntCells<'a>,
    rss_start: IntCells<'a>,
    rss_end: IntCells<'a>,
}

impl<'a> Good<'a> {
    fn of(rows: Frame<'a>, outcomes: &'a [Outcome]) -> Self {
        Self {
            outcomes,
            duration: rows.float_cells("duration_secs"),
            events: rows.int_cells("num_events"),
            rss_start: rows.int_cells("rss_start_bytes"),
            rss_end: rows.int_cells("rss_end_bytes"),
        }
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        let rows = self.outcomes.iter().enumerate();
        rows.filter(|(_, outcome)| **outcome == Outcome::Ok).map(|(row, _)| row)
    }

    /// What is known of each, in room that was used before.
    fn take<'r>(
        &self,
        room: &'r mut Vec<f64>,
        number: impl Fn(usize) -> Option<f64>,
    ) -> &'r mut Vec<f64> {
        room.clear();
        room.extend(self.rows().filter_map(number));
        room
    }

    fn secs(&self, row: usize) -> Option<f64> {
        self.duration.get(row).and_then(usable)
    }

    fn events(&self, row: usize) -> Option<f64> {
        self.events.get(row).filter(|events| *events >= 0).map(|events| events as f64)
    }

    fn growth_bytes(&self, row: usize) -> Option<f64> {
        Some(self.rss_end.get(row)? as f64 - self.rss_start.get(row)? as f64)
    }

    fn over_events(&self, row: usize, amount: Option<f64>) -> Option<f64> {
        Some(amount? / self.events(row).filter(|events| *events > 0.0)?)
    }
}

fn counts(sheet: &mut Sheet, chunks: &Chunks) {
    let count = |wanted: fn(&Chunk) -> bool| {
        Some(chunks.chunks.iter().filter(|chunk| wanted(chunk)).count() as f64)
    };
    sheet.whole("num_successful_chunks", count(|chunk| chunk.succeeded));
    sheet.whole("num_failed_chunks", count(|chunk| chunk.never_succeeded()));
    sheet.whole("num_retried_chunks", count(|chunk| chunk.attempts > 1));
    sheet.whole("num_replayed_chunks", count(|chunk| chunk.replayed));
}

fn times(sheet: &mut Sheet, durations: &mut Vec<f64>) {
    put_in_order(durations);
    let ordered = &*durations;
    let moments = Moments::of(ordered);
    sheet.real("chunk_duration_mean", moments.map(|moments| moments.mean));
    sheet.real("chunk_duration_min", moments.map(|moments| moments.min));
    sheet.real("chunk_duration_max", moments.map(|moments| moments.max));
    sheet.real("chunk_duration_std", moments.and_then(|moments| moments.std));
    sheet.real("chunk_duration_p50", quantile(ordered, 0.5));
    sheet.real("chunk_duration_p95", quantile(ordered, 0.95));
    sheet.real("chunk_duration_p99", quantile(ordered, 0.99));
}

fn memory(sheet: &mut Sheet, moments: Option<Moments>) {
    sheet.signed("chunk_mem_delta_mean_mb", moments.map(|moments| moments.mean));
    sheet.signed("chunk_mem_delta_min_mb", moments.map(|moments| moments.min));
    sheet.signed("chunk_mem_delta_max_mb", moments.map(|moments| moments.max));
    sheet.real("chunk_mem_delta_std_mb", moments.and_then(|moments| moments.std));
}

fn per_event(sheet: &mut Sheet, good: &Good<'_>, room: &mut Vec<f64>) {
    let moments = Moments::of(good.take(room, |row| good.events(row)));
    sheet.whole("total_events_from_chunks", moments.map(|moments| moments.total));
    sheet.real("chunk_events_mean", moments.map(|moments| moments.mean));
    sheet.whole("chunk_events_min", moments.map(|moments| moments.min));
    sheet.whole("chunk_events_max", moments.map(|moments| moments.max));

    let time = |row| Some(good.over_events(row, good.secs(row))? * 1e6);
    let time = Moments::of(good.take(room, time));
    sheet.real("time_per_event_mean_us", time.map(|time| time.mean));
    sheet.real("time_per_event_std_us", time.and_then(|time| time.std));
    let memory = Moments::of(good.take(room, |row| good.over_events(row, good.growth_bytes(row))));
    sheet.signed("memory_per_event_mean_bytes", memory.map(|memory| memory.mean));
    sheet.real("memory_per_event_std_bytes", memory.and_then(|memory| memory.std));

    let pairs = || good.rows().filter_map(|row| Some((good.secs(row)?, good.events(row)?)));
    sheet.signed("runtime_events_correlation", correlation(pairs));
}
