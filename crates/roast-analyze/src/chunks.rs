//! What chunks took: counts, times, memory and events over the attempts that
//! gave a result. Failed, repeated and replayed attempts do not enter.

use roast_model::Frame;

use crate::chunk_identity::{Chunk, Chunks};
use crate::chunk_rows::Outcome;
use crate::number::usable;
use crate::sheet::Sheet;
use crate::statistics::{Moments, correlation, quantile, sorted};

const BYTES_PER_MB: f64 = 1_048_576.0;

pub(crate) fn fill(sheet: &mut Sheet, rows: Frame<'_>, outcomes: &[Outcome], chunks: &Chunks) {
    counts(sheet, chunks);
    let good = |row: &usize| outcomes.get(*row) == Some(&Outcome::Ok);
    let durations: Vec<Option<f64>> = rows
        .floats("duration_secs")
        .enumerate()
        .filter(|(row, _)| good(row))
        .map(|(_, secs)| secs.and_then(usable))
        .collect();
    times(sheet, durations.iter().copied().flatten());
    let events: Vec<Option<f64>> = rows
        .ints("num_events")
        .enumerate()
        .filter(|(row, _)| good(row))
        .map(|(_, events)| events.filter(|events| *events >= 0).map(|events| events as f64))
        .collect();
    let growths: Vec<Option<f64>> = rows
        .ints("rss_start_bytes")
        .zip(rows.ints("rss_end_bytes"))
        .enumerate()
        .filter(|(row, _)| good(row))
        .map(|(_, (start, end))| Some(end? as f64 - start? as f64))
        .collect();
    memory(sheet, &growths);
    let peak = rows
        .ints("rss_peak_bytes")
        .enumerate()
        .filter(|(row, _)| good(row))
        .filter_map(|(_, bytes)| bytes)
        .max();
    sheet.real("chunk_peak_memory_max_mb", peak.map(|bytes| bytes as f64 / BYTES_PER_MB));
    per_event(sheet, &durations, &growths, &events);
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

fn times(sheet: &mut Sheet, durations: impl Iterator<Item = f64>) {
    let ordered = sorted(durations);
    let moments = Moments::of(&ordered);
    sheet.real("chunk_duration_mean", moments.map(|moments| moments.mean));
    sheet.real("chunk_duration_min", moments.map(|moments| moments.min));
    sheet.real("chunk_duration_max", moments.map(|moments| moments.max));
    sheet.real("chunk_duration_std", moments.and_then(|moments| moments.std));
    sheet.real("chunk_duration_p50", quantile(&ordered, 0.5));
    sheet.real("chunk_duration_p95", quantile(&ordered, 0.95));
    sheet.real("chunk_duration_p99", quantile(&ordered, 0.99));
}

fn memory(sheet: &mut Sheet, growths: &[Option<f64>]) {
    let growths: Vec<f64> = growths.iter().flatten().map(|bytes| bytes / BYTES_PER_MB).collect();
    let moments = Moments::of(&growths);
    sheet.signed("chunk_mem_delta_mean_mb", moments.map(|moments| moments.mean));
    sheet.signed("chunk_mem_delta_min_mb", moments.map(|moments| moments.min));
    sheet.signed("chunk_mem_delta_max_mb", moments.map(|moments| moments.max));
    sheet.real("chunk_mem_delta_std_mb", moments.and_then(|moments| moments.std));
}

fn per_event(
    sheet: &mut Sheet,
    durations: &[Option<f64>],
    growths: &[Option<f64>],
    events: &[Option<f64>],
) {
    let known: Vec<f64> = events.iter().copied().flatten().collect();
    let moments = Moments::of(&known);
    sheet.whole("total_events_from_chunks", moments.map(|moments| moments.total));
    sheet.real("chunk_events_mean", moments.map(|moments| moments.mean));
    sheet.whole("chunk_events_min", moments.map(|moments| moments.min));
    sheet.whole("chunk_events_max", moments.map(|moments| moments.max));

    let over_events = |amounts: &[Option<f64>], scale: f64| -> Option<Moments> {
        let shares: Vec<f64> = amounts
            .iter()
            .zip(events)
            .filter_map(|(amount, events)| {
                Some(((*amount)?, events.filter(|events| *events > 0.0)?))
            })
            .map(|(amount, events)| amount / events * scale)
            .collect();
        Moments::of(&shares)
    };
    let time = over_events(durations, 1e6);
    sheet.real("time_per_event_mean_us", time.map(|time| time.mean));
    sheet.real("time_per_event_std_us", time.and_then(|time| time.std));
    let memory = over_events(growths, 1.0);
    sheet.signed("memory_per_event_mean_bytes", memory.map(|memory| memory.mean));
    sheet.real("memory_per_event_std_bytes", memory.and_then(|memory| memory.std));

    let pairs: Vec<(f64, f64)> = durations
        .iter()
        .zip(events)
        .filter_map(|(duration, events)| Some(((*duration)?, (*events)?)))
        .collect();
    sheet.signed("runtime_events_correlation", correlation(&pairs));
}
