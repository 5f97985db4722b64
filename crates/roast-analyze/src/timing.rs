//! How long: the wall clock, and the time that coffea reports for its chunks.

use roast_model::Header;

use crate::number::{ratio, reported};
use crate::sheet::Sheet;

pub(crate) fn fill(sheet: &mut Sheet, header: &Header) {
    let processing_secs = reported(&header.report, "processtime");
    let chunks = reported(&header.report, "chunks");
    sheet.real("wall_time", Some(header.wall_secs));
    sheet.real("total_cpu_time", processing_secs);
    sheet.whole("num_chunks", chunks);
    sheet.real("avg_cpu_time_per_chunk", ratio(processing_secs, chunks));
}
