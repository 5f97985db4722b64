//! How much: events and bytes. coffea and Dask count different bytes, so each
//! has its own metric and none is derived from the other.

use roast_model::Value;

use crate::fine::Spans;
use crate::number::reported;
use crate::sheet::Sheet;

pub(crate) fn fill(sheet: &mut Sheet, report: &Value, spans: Option<&Spans<'_>>) {
    sheet.whole("total_events", reported(report, "entries"));
    sheet.whole("total_bytes_read_coffea", reported(report, "bytesread"));
    if let Some(spans) = spans {
        sheet.whole("total_bytes_memory_read_dask", Some(spans.total("memory-read", "bytes")));
        sheet.whole("disk_read_bytes", Some(spans.total("disk-read", "bytes")));
        sheet.whole("disk_write_bytes", Some(spans.total("disk-write", "bytes")));
    }
}
