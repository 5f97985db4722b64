//! Workers and time as a raster, for runs with more intervals than a screen can
//! show: how busy the threads were, and where work failed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::lanes::{Interval, Roster, What};
use super::number::moment;
use super::run::{Run, shown_name};
use super::spread::Spread;

/// Columns of the raster.
const COLUMNS: usize = 1000;
/// The mark of a cell in which every thread was busy.
const FULL: f64 = 254.0;
/// The mark of a cell in which no worker was there.
const NOBODY: u8 = 255;

/// Rows of workers by columns of time.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RasterLanes {
    end_secs: f64,
    rows: Vec<RasterRow>,
    columns: usize,
    #[serde(serialize_with = "as_base64")]
    pub(crate) busy: Vec<u8>,
    #[serde(serialize_with = "as_base64")]
    pub(crate) failed: Vec<u8>,
}

#[derive(Clone, Debug, Serialize)]
struct RasterRow {
    name: String,
    workers: usize,
}

fn as_base64<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

/// Draws the raster with at most that many rows.
pub(crate) fn of(
    run: &Run<'_>,
    roster: &Roster<'_>,
    intervals: &[Interval],
    most_rows: usize,
) -> RasterLanes {
    let end = run.end_secs();
    let columns = if end > 0.0 { COLUMNS } else { 1 };
    let edges: Vec<f64> = (0..=columns).map(|edge| end * edge as f64 / columns as f64).collect();
    let width = end / columns as f64;
    let per_row = roster.names.len().div_ceil(most_rows.max(1)).max(1);
    let groups: Vec<&[Option<&str>]> = roster.names.chunks(per_row).collect();

    let mut there: Vec<Spread<'_>> = vec![Spread::new(&edges); groups.len()];
    for (row, first, last) in run.sampled() {
        let Some(lane) = roster.lane(row.worker) else { continue };
        let (start, stop) = run.axis.reach(first, last);
        let threads = row.threads.unwrap_or(1).max(0) as f64;
        if let Some(there) = there.get_mut(lane / per_row) {
            there.add((start, stop), (stop - start) * threads);
        }
    }
    let mut worked: Vec<Spread<'_>> = vec![Spread::new(&edges); groups.len()];
    let mut failed = vec![0_u8; groups.len() * columns];
    for interval in intervals.iter().filter(|interval| interval.what != What::Transfer) {
        let row = interval.lane / per_row;
        if let Some(worked) = worked.get_mut(row) {
            worked.add((interval.start, interval.stop), interval.stop - interval.start);
        }
        if interval.what == What::Failed {
            let from = super::axis::cell_of(&edges, interval.start);
            let to = super::axis::cell_of(&edges, interval.stop);
            let cells = failed.get_mut(row * columns + from..=row * columns + to);
            cells.into_iter().flatten().for_each(|cell| *cell = 1);
        }
    }
    let mut busy = Vec::with_capacity(groups.len() * columns);
    for (worked, there) in worked.iter().zip(&there) {
        marks(&worked.amounts(), &there.amounts(), width, &mut busy);
    }
    let rows = groups
        .iter()
        .map(|group| {
            let name = |worker: Option<&Option<&str>>| shown_name(worker.copied().flatten());
            let (first, last) = (name(group.first()), name(group.last()));
            let name = if group.len() > 1 { format!("{first} … {last}") } else { first };
            RasterRow { name, workers: group.len() }
        })
        .collect();
    RasterLanes { end_secs: moment(end), rows, columns, busy, failed }
}

/// The busy share of what was there. Of workers that were not sampled, there was
/// as much as they were seen to use at once.
fn marks(worked: &[f64], there: &[f64], width: f64, out: &mut Vec<u8>) {
    let sampled = there.iter().any(|secs| *secs > 0.0);
    let most = worked.iter().copied().fold(0.0, f64::max);
    let threads = if width > 0.0 { (most / width).ceil() } else { 1.0 };
    out.extend(worked.iter().zip(there).map(|(worked, there)| {
        let there = if sampled { *there } else { threads * width };
        if there <= 0.0 && *worked <= 0.0 {
            NOBODY
        } else if there <= *worked {
            FULL as u8
        } else {
            (worked / there * FULL).round() as u8
        }
    }));
}
