//! How fast: bytes and events over wall, processing and core time.

use crate::number::{product, ratio};
use crate::replays::Replayed;
use crate::sheet::Sheet;

pub(crate) fn fill(sheet: &mut Sheet, replayed: Replayed) {
    let wall_secs = sheet.get("wall_time");
    let events = replayed.events_of_run(sheet.get("total_events"));
    let processing_secs = replayed.processing_of_run(sheet.get("total_cpu_time"));
    let core_secs = product(wall_secs, sheet.get("total_cores"));
    let bytes = replayed.bytes_of_run(sheet.get("total_bytes_read_coffea"));
    let bytes_per_sec = ratio(bytes, wall_secs);
    let core_hz = ratio(events, core_secs);
    sheet.real("data_rate_gbps", bytes_per_sec.map(|rate| rate * 8.0 / 1e9));
    sheet.real("data_rate_mb_per_s", bytes_per_sec.map(|rate| rate / 1e6));
    sheet.real("event_rate_wall_khz", ratio(events, wall_secs).map(|hz| hz / 1e3));
    sheet.real("event_rate_agg_khz", ratio(events, processing_secs).map(|hz| hz / 1e3));
    sheet.real("event_rate_core_hz", core_hz);
    sheet.real("event_rate_core_khz", core_hz.map(|hz| hz / 1e3));
}
