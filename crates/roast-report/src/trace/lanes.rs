//! Tracks of one worker. A thread has one; where its slices overlap, or where no
//! thread is known, each slice goes to the first track that is free.

use std::collections::BTreeMap;

use super::events::{EventWriter, Process, Span, Track};
use crate::export::ExportError;

/// Slices of one thread may overlap by this much, since starts come from one
/// clock and lengths from another; the later one is then cut.
const TOUCH_NS: i64 = 1_000_000;

/// What is shown on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind<'a> {
    /// Chunks of a thread whose id is known.
    Thread(i64),
    /// Chunks of threads that are not known.
    Chunks,
    /// Something else that workers do.
    Other(&'a str),
}

/// The tracks of one worker.
#[derive(Debug, Default)]
pub(super) struct Lanes<'a> {
    /// Number of the track and when it is free again.
    tracks: BTreeMap<Kind<'a>, Vec<(u32, i64)>>,
    count: u32,
}

impl<'a> Lanes<'a> {
    /// The track for a slice, and what of the slice fits on it. Slices must come
    /// in order of their start.
    pub(super) fn place(
        &mut self,
        process: Process,
        kind: Kind<'a>,
        span: Span,
        events: &mut EventWriter<'_>,
    ) -> Result<(Track, Span), ExportError> {
        let lanes = self.tracks.entry(kind).or_default();
        let is_free = |(_, free): &&mut (u32, i64)| {
            let late = free.saturating_sub(span.start);
            late <= 0 || (late <= TOUCH_NS && *free < span.stop)
        };
        if let Some((thread, free)) = lanes.iter_mut().find(is_free) {
            let start = span.start.max(*free);
            *free = span.stop;
            return Ok((Track { process, thread: *thread }, Span { start, ..span }));
        }
        self.count += 1;
        lanes.push((self.count, span.stop));
        let track = Track { process, thread: self.count };
        let name = match kind {
            Kind::Thread(id) => format!("thread {id}"),
            Kind::Chunks => "chunks".to_owned(),
            Kind::Other(name) => name.to_owned(),
        };
        let name = match lanes.len() {
            1 => name,
            more => format!("{name} ({more})"),
        };
        events.track(track, &name)?;
        Ok((track, span))
    }
}
