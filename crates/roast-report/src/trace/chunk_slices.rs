//! Chunks as slices, with their phases and sections inside.

use arrow_array::RecordBatch;
use roast_model::{Measurement, Table};
use serde_json::{Map, Value as Json};

use super::Workers;
use super::cells::{self, Floats, Ints, Names, Times};
use super::events::{EventWriter, Process, Slice, Span, Track};
use super::lanes::{Kind, Lanes};
use super::window::Moments;
use crate::export::ExportError;

/// Phases of a chunk in the order in which they happen.
const PHASES: [(&str, &str); 6] = [
    ("unpack", "unpack_secs"),
    ("open", "open_secs"),
    ("tree", "tree_secs"),
    ("events", "events_secs"),
    ("process", "process_secs"),
    ("serialize", "serialize_secs"),
];
const PROCESS: usize = 4;
/// A section may seem to begin this much before the one before it ended: both are
/// rounded.
const ROUNDING_NS: i64 = 2_000;

/// The chunk rows that have a place in time.
pub(super) struct Chunks<'a> {
    columns: Option<Columns<'a>>,
    sections: Option<Sections<'a>>,
    /// Worker, start and row of those shown, in order.
    order: Vec<(u32, i64, usize)>,
    are_unknown: bool,
}

struct Columns<'a> {
    chunk_id: Ints<'a>,
    start: Times<'a>,
    stop: Times<'a>,
    thread: Ints<'a>,
    outcome: Names<'a>,
    error: Names<'a>,
    duration: Floats<'a>,
    phases: [Floats<'a>; PHASES.len()],
    names: [(&'static str, Names<'a>); 4],
    numbers: [(&'static str, Ints<'a>); 8],
    seconds: [(&'static str, Floats<'a>); 4],
}

struct Sections<'a> {
    names: Names<'a>,
    starts: Floats<'a>,
    walls: Floats<'a>,
    counts: Ints<'a>,
    /// Chunk and row, in order.
    order: Vec<(i64, usize)>,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(measurement: &'a Measurement, workers: &Workers<'a>, shown: Moments) -> Self {
        let columns = measurement.table(Table::Chunks).map(Columns::new);
        let mut order = Vec::new();
        let mut are_unknown = true;
        if let (Some(columns), Some(batch)) = (&columns, measurement.table(Table::Chunks)) {
            let names = cells::names(batch, "worker");
            for row in 0..batch.num_rows() {
                // What a replayed row tells of happened in an earlier run.
                let replayed = columns.outcome.get(row) == Some("replayed");
                let number = workers.get(&names.get(row));
                if let (Some(span), Some(number), false) = (columns.span(row), number, replayed) {
                    are_unknown = false;
                    if shown.touches(span.start, span.stop) {
                        order.push((*number, span.start, row));
                    }
                }
            }
            order.sort_unstable();
        }
        let sections = measurement.table(Table::Sections).map(Sections::new);
        Self { columns, sections, order, are_unknown }
    }

    /// Whether no chunk of the run has a place in time.
    pub(super) fn are_unknown(&self) -> bool {
        self.are_unknown
    }

    /// Writes the chunks of one worker.
    pub(super) fn write(
        &self,
        worker: u32,
        process: Process,
        lanes: &mut Lanes<'a>,
        events: &mut EventWriter<'_>,
    ) -> Result<(), ExportError> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let first = self.order.partition_point(|(number, ..)| *number < worker);
        let rows = self.order.get(first..).unwrap_or_default().iter();
        for (_, _, row) in rows.take_while(|(number, ..)| *number == worker) {
            let Some(span) = columns.span(*row) else { continue };
            let kind = columns.thread.get(*row).map_or(Kind::Chunks, Kind::Thread);
            let (track, span) = lanes.place(process, kind, span, events)?;
            self.chunk(columns, *row, track, span, events)?;
        }
        Ok(())
    }

    fn chunk(
        &self,
        columns: &Columns<'a>,
        row: usize,
        track: Track,
        span: Span,
        events: &mut EventWriter<'_>,
    ) -> Result<(), ExportError> {
        let failed = columns.error.get(row).is_some() || columns.outcome.get(row) == Some("failed");
        let dataset = columns.names.first().and_then(|(_, names)| names.get(row));
        let dataset = dataset.unwrap_or("chunk");
        let name = match (failed, columns.error.get(row)) {
            (true, Some(error)) => format!("{dataset} ({error})"),
            (true, None) => format!("{dataset} (failed)"),
            (false, _) => dataset.to_owned(),
        };
        let details = columns.details(row);
        let slice = Slice { name: &name, category: "chunk", span, failed, details: Some(&details) };
        events.slice(track, slice)?;
        // Where something begins that a chunk cut short has no room for, it ends.
        let clamp = |start: i64, stop: i64, within: Span| Span {
            start: start.clamp(within.start, within.stop),
            stop: stop.clamp(within.start, within.stop),
        };
        let began = columns.span(row).map_or(span.start, |whole| whole.start);
        let mut reached = began;
        let mut processing = None;
        let mut phases = Vec::with_capacity(PHASES.len());
        for (index, (name, _)) in PHASES.into_iter().enumerate() {
            let Some(secs) = columns.phase(row, index) else { continue };
            let stop = reached.saturating_add(ns(secs));
            let phase = clamp(reached, stop, span);
            reached = stop;
            if index == PROCESS {
                processing = Some(phase);
            }
            phases.push((name, phase));
        }
        let around = processing.unwrap_or(span);
        let sections = match (&self.sections, columns.chunk_id.get(row)) {
            (Some(sections), Some(chunk)) => sections.of_chunk(chunk, |start, stop| {
                clamp(began.saturating_add(start), began.saturating_add(stop), around)
            }),
            _ => Vec::new(),
        };
        let mut sections = Some(sections);
        for (name, phase) in phases {
            slice_of(name, "phase", phase, None, track, events)?;
            if Some(phase) == processing {
                write_sections(sections.take(), track, events)?;
            }
        }
        write_sections(sections, track, events)
    }
}

fn write_sections(
    sections: Option<Vec<(String, Span, i64)>>,
    track: Track,
    events: &mut EventWriter<'_>,
) -> Result<(), ExportError> {
    for (name, span, count) in sections.unwrap_or_default() {
        let details =
            (count != 1).then(|| Json::from(Map::from_iter([("count".into(), count.into())])));
        slice_of(&name, "section", span, details.as_ref(), track, events)?;
    }
    Ok(())
}

/// A slice that takes any time.
fn slice_of(
    name: &str,
    category: &'static str,
    span: Span,
    details: Option<&Json>,
    track: Track,
    events: &mut EventWriter<'_>,
) -> Result<(), ExportError> {
    if span.start >= span.stop {
        return Ok(());
    }
    events.slice(track, Slice { name, category, span, failed: false, details })
}

impl<'a> Columns<'a> {
    fn new(batch: &'a RecordBatch) -> Self {
        let named = |column| (column, cells::names(batch, column));
        let number = |column| (column, cells::ints(batch, column));
        let second = |column| (column, cells::floats(batch, column));
        Self {
            chunk_id: cells::ints(batch, "chunk_id"),
            start: cells::times(batch, "start"),
            stop: cells::times(batch, "stop"),
            thread: cells::ints(batch, "thread"),
            outcome: cells::names(batch, "outcome"),
            error: cells::names(batch, "error"),
            duration: cells::floats(batch, "duration_secs"),
            phases: PHASES.map(|(_, column)| cells::floats(batch, column)),
            names: ["dataset", "file", "outcome", "error"].map(named),
            numbers: [
                "chunk_id",
                "entry_start",
                "entry_stop",
                "num_events",
                "attempt",
                "bytes_read",
                "rss_peak_bytes",
                "num_branches",
            ]
            .map(number),
            seconds: ["process_cpu_secs", "read_secs", "decompress_secs", "interpret_secs"]
                .map(second),
        }
    }

    fn span(&self, row: usize) -> Option<Span> {
        let (start, stop) = (self.start.get(row)?, self.stop.get(row)?);
        (start <= stop).then_some(Span { start, stop })
    }

    fn phase(&self, row: usize, index: usize) -> Option<f64> {
        let secs = self.phases.get(index).and_then(|phase| phase.get(row));
        // A row of process() alone says so under another name.
        let secs = if index == PROCESS { secs.or_else(|| self.duration.get(row)) } else { secs };
        secs.filter(|secs| *secs > 0.0)
    }

    fn details(&self, row: usize) -> Json {
        let mut details = Map::new();
        for (key, names) in self.names {
            if let Some(name) = names.get(row) {
                details.insert(key.to_owned(), name.into());
            }
        }
        for (key, numbers) in self.numbers {
            if let Some(number) = numbers.get(row) {
                details.insert(key.to_owned(), number.into());
            }
        }
        for (key, seconds) in self.seconds {
            if let Some(secs) = seconds.get(row) {
                details.insert(key.to_owned(), secs.into());
            }
        }
        Json::Object(details)
    }
}

impl<'a> Sections<'a> {
    fn new(batch: &'a RecordBatch) -> Self {
        let chunks = cells::ints(batch, "chunk_id");
        let kinds = cells::names(batch, "kind");
        let starts = cells::floats(batch, "start_secs");
        let mut order: Vec<(i64, usize)> = (0..batch.num_rows())
            .filter(|row| kinds.get(*row) == Some("time") && starts.get(*row).is_some())
            .filter_map(|row| Some((chunks.get(row)?, row)))
            .collect();
        order.sort_unstable();
        Self {
            names: cells::names(batch, "section"),
            starts,
            walls: cells::floats(batch, "wall_secs"),
            counts: cells::ints(batch, "count"),
            order,
        }
    }

    /// The sections of a chunk, each inside of the ones around it. `place` turns
    /// nanoseconds since the start of the chunk into what there is room for.
    fn of_chunk(&self, chunk: i64, place: impl Fn(i64, i64) -> Span) -> Vec<(String, Span, i64)> {
        let first = self.order.partition_point(|(of, _)| *of < chunk);
        let rows = self.order.get(first..).unwrap_or_default().iter();
        let mut sections: Vec<(Span, usize)> = rows
            .take_while(|(of, _)| *of == chunk)
            .filter_map(|(_, row)| {
                let start = ns(self.starts.get(*row)?);
                let stop = start.saturating_add(ns(self.walls.get(*row)?.max(0.0)));
                Some((place(start, stop), *row))
            })
            .collect();
        // Those around others first; of equals the one that was entered first.
        sections.sort_by_key(|(span, row)| (span.start, std::cmp::Reverse(span.stop), *row));
        let mut around: Vec<i64> = Vec::new();
        sections
            .into_iter()
            .map(|(span, row)| {
                let mut start = span.start;
                let is_over = |stop: i64| {
                    stop <= span.start || stop <= span.start + ROUNDING_NS && stop < span.stop
                };
                while let Some(stop) = around.pop_if(|stop| is_over(*stop)) {
                    start = start.max(stop);
                }
                let stop = around.last().map_or(span.stop, |outer| span.stop.min(*outer));
                around.push(stop);
                let name = self.names.get(row).unwrap_or("section").to_owned();
                (name, Span { start, stop }, self.counts.get(row).unwrap_or(1))
            })
            .collect()
    }
}

fn ns(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}
