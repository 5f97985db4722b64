//! How well: what was used of the time and the cores that were there.

use crate::number::{product, ratio};
use crate::replays::Replayed;
use crate::sheet::Sheet;

pub(crate) fn fill(sheet: &mut Sheet, replayed: Replayed) {
    let wall_secs = sheet.get("wall_time");
    let cores = sheet.get("total_cores");
    let processing_secs = replayed.processing_of_run(sheet.get("total_cpu_time"));
    let core_secs = product(wall_secs, cores);
    sheet.real("cpu_efficiency", ratio(processing_secs, core_secs));
    sheet.real("cpu_efficiency_fine", ratio(sheet.get("cpu_time_seconds"), core_secs));
    sheet.real("speedup_factor", ratio(processing_secs, wall_secs));
    sheet.real(
        "io_overhead_percent",
        ratio(sheet.get("io_time_seconds"), wall_secs).map(|share| share * 100.0),
    );
    let rates = ratio(sheet.get("event_rate_wall_khz"), sheet.get("event_rate_agg_khz"))
        .map(|share| share * 100.0);
    sheet.real("efficiency_ratio_percent", rates);
    sheet.real("parallel_efficiency_percent", ratio(rates, cores));
}
