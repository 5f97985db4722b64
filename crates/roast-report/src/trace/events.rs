//! Events of the Chrome trace format, one per line. Times are microseconds from
//! the start of the run, written to the nanosecond so that nesting stays exact.

use std::io::{self, Write};

use roast_model::Header;
use serde_json::{Value as Json, json};

use crate::export::ExportError;

/// A process of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process(pub(super) u32);

/// A track of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Track {
    pub(super) process: Process,
    pub(super) thread: u32,
}

/// From one moment to a later one, in nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) stop: i64,
}

/// A slice of a track.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'a> {
    pub(super) name: &'a str,
    pub(super) category: &'static str,
    pub(super) span: Span,
    pub(super) failed: bool,
    pub(super) details: Option<&'a Json>,
}

/// Writes events.
pub(super) struct EventWriter<'w> {
    out: &'w mut dyn Write,
    started: i64,
    any: bool,
}

impl<'w> EventWriter<'w> {
    pub(super) fn begin(out: &'w mut dyn Write, header: &Header) -> Result<Self, ExportError> {
        let about = json!({
            "tool": format!("roastcoffea {}", env!("CARGO_PKG_VERSION")),
            "measurement": header.name,
            "id": header.id,
            "started": header.started.to_string(),
            "wall_secs": header.wall_secs,
            "backend": header.backend,
            "error": header.error,
        });
        write!(out, "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[")
            .map_err(ExportError::Write)?;
        Ok(Self { out, started: header.started.0, any: false })
    }

    pub(super) fn finish(self) -> Result<(), ExportError> {
        self.out.write_all(b"\n]}\n").map_err(ExportError::Write)
    }

    /// Names a process; they are listed by number.
    pub(super) fn process(&mut self, process: Process, name: &str) -> Result<(), ExportError> {
        let Process(pid) = process;
        self.event(|out| {
            let name = Json::from(name);
            write!(
                out,
                r#"{{"name":"process_name","ph":"M","pid":{pid},"tid":0,"args":{{"name":{name}}}}}"#
            )
        })?;
        self.event(|out| {
            write!(
                out,
                r#"{{"name":"process_sort_index","ph":"M","pid":{pid},"tid":0,"args":{{"sort_index":{pid}}}}}"#
            )
        })
    }

    /// Names a track; they are listed by number.
    pub(super) fn track(&mut self, track: Track, name: &str) -> Result<(), ExportError> {
        let Track { process: Process(pid), thread: tid } = track;
        self.event(|out| {
            let name = Json::from(name);
            write!(out, r#"{{"name":"thread_name","ph":"M","pid":{pid},"tid":{tid},"args":{{"name":{name}}}}}"#)
        })?;
        self.event(|out| {
            write!(
                out,
                r#"{{"name":"thread_sort_index","ph":"M","pid":{pid},"tid":{tid},"args":{{"sort_index":{tid}}}}}"#
            )
        })
    }

    /// A slice. One that contains others must be written before them.
    pub(super) fn slice(&mut self, track: Track, slice: Slice<'_>) -> Result<(), ExportError> {
        let Track { process: Process(pid), thread: tid } = track;
        let start = slice.span.start.saturating_sub(self.started).max(0);
        let stop = slice.span.stop.saturating_sub(self.started).max(start);
        let (ts, dur) = (Micros(start), Micros(stop - start));
        self.event(|out| {
            let (name, category) = (Json::from(slice.name), slice.category);
            write!(
                out,
                r#"{{"name":{name},"cat":"{category}","ph":"X","ts":{ts},"dur":{dur},"pid":{pid},"tid":{tid}"#
            )?;
            if slice.failed {
                out.write_all(br#","cname":"terrible""#)?;
            }
            if let Some(details) = slice.details {
                write!(out, r#","args":{details}"#)?;
            }
            out.write_all(b"}")
        })
    }

    /// A value of a counter, which holds until the next one.
    pub(super) fn counter(
        &mut self,
        process: Process,
        (name, unit): (&str, &str),
        moment: i64,
        value: f64,
    ) -> Result<(), ExportError> {
        let Process(pid) = process;
        let ts = Micros(moment.saturating_sub(self.started).max(0));
        self.event(|out| {
            let (name, unit, value) = (Json::from(name), Json::from(unit), Json::from(value));
            write!(
                out,
                r#"{{"name":{name},"ph":"C","ts":{ts},"pid":{pid},"tid":0,"args":{{{unit}:{value}}}}}"#
            )
        })
    }

    fn event(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let comma: &[u8] = if self.any { b",\n" } else { b"\n" };
        self.any = true;
        self.out.write_all(comma).and_then(|()| write(&mut *self.out)).map_err(ExportError::Write)
    }
}

/// Nanoseconds, shown as microseconds.
struct Micros(i64);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 % 1000 {
            0 => write!(f, "{}", self.0 / 1000),
            rest => write!(f, "{}.{rest:03}", self.0 / 1000),
        }
    }
}
