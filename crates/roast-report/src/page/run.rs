//! The tables of a measurement as the panels look at them: times as seconds from
//! the start of the run, names as numbers.

use roast_analyze::{Names, Outcome, WorkerRow, attempt_secs, outcomes, worker_rows};
use roast_model::{Frame, Header, Measurement, Table, UtcNs};

use super::axis::Axis;
use super::number;
use super::text::{self, UNKNOWN};

/// An attempt at a chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkRow {
    /// Its row in the table.
    pub(crate) row: usize,
    /// Into [`Run::datasets`], [`Run::files`] and [`Run::chunk_workers`].
    pub(crate) dataset: usize,
    pub(crate) file: usize,
    pub(crate) worker: usize,
    pub(crate) outcome: Outcome,
    /// Start and stop, from the start of the run.
    pub(crate) span: Option<(f64, f64)>,
    /// Wall time of `process()`.
    pub(crate) duration_secs: Option<f64>,
    /// Wall time of the attempt.
    pub(crate) attempt_secs: Option<f64>,
    pub(crate) events: Option<i64>,
    pub(crate) entry_start: Option<i64>,
    pub(crate) bytes_read: Option<i64>,
}

impl ChunkRow {
    /// Ran in this run, and to no effect.
    pub(crate) fn is_wasted(&self) -> bool {
        matches!(self.outcome, Outcome::Failed | Outcome::Repeated)
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}

/// A measurement as the panels look at it.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) measurement: &'a Measurement,
    pub(crate) chunks: Vec<ChunkRow>,
    /// Most chunks first, so that colours go to those that matter.
    pub(crate) datasets: Vec<Option<&'a str>>,
    pub(crate) files: Vec<Option<&'a str>>,
    pub(crate) chunk_workers: Vec<Option<&'a str>>,
    pub(crate) workers: Vec<WorkerRow<'a>>,
    /// The first and the last sample that each row of a worker stands for.
    samples: Vec<Option<(usize, usize)>>,
    pub(crate) axis: Axis,
}

impl<'a> Run<'a> {
    pub(crate) fn read(measurement: &'a Measurement) -> Self {
        let header = &measurement.header;
        let workers: Vec<WorkerRow<'a>> =
            measurement.table(Table::Workers).map(worker_rows).unwrap_or_default();
        let mut names = [Names::default(), Names::default(), Names::default()];
        let table = measurement.table(Table::Chunks).map(Frame::new);
        let mut chunks =
            table.map(|frame| read_chunks(frame, header, &mut names)).unwrap_or_default();
        let [datasets, files, chunk_workers] = names.map(|names| names.names().to_vec());
        let datasets = by_use(datasets, &mut chunks);
        let axis = Axis::of(measurement, &workers, end_secs(header, &chunks));
        let samples = workers
            .iter()
            .map(|row| {
                let (first, last) = row.span?;
                let first = axis.nearest_tick(first.secs_since(header.started))?;
                let last = axis.nearest_tick(last.secs_since(header.started))?;
                Some((first, last.max(first)))
            })
            .collect();
        Self { measurement, chunks, datasets, files, chunk_workers, workers, samples, axis }
    }

    pub(crate) fn header(&self) -> &'a Header {
        &self.measurement.header
    }

    /// The rows of workers, each with the first and the last sample it stands for;
    /// without those that do not say when.
    pub(crate) fn sampled(&self) -> impl Iterator<Item = (&WorkerRow<'a>, usize, usize)> {
        self.workers.iter().zip(&self.samples).filter_map(|(row, samples)| {
            let (first, last) = (*samples)?;
            Some((row, first, last))
        })
    }

    /// Seconds from the start of the run.
    pub(crate) fn secs(&self, moment: UtcNs) -> f64 {
        moment.secs_since(self.header().started)
    }

    /// Until when there is something to show.
    pub(crate) fn end_secs(&self) -> f64 {
        self.axis.end_secs()
    }
}

/// The names under these numbers, for people.
pub(crate) fn shown(names: &[Option<&str>]) -> Vec<String> {
    names.iter().map(|name| shown_name(*name)).collect()
}

pub(crate) fn shown_name(name: Option<&str>) -> String {
    text::name(name.unwrap_or(UNKNOWN))
}

fn read_chunks<'a>(
    frame: Frame<'a>,
    header: &Header,
    [datasets, files, workers]: &mut [Names<'a>; 3],
) -> Vec<ChunkRow> {
    let mut of_dataset = frame.names("dataset");
    let mut of_file = frame.names("file");
    let mut on_worker = frame.names("worker");
    let (mut starts, mut stops) = (frame.times("start"), frame.times("stop"));
    let mut durations = frame.floats("duration_secs");
    let mut attempts = attempt_secs(frame);
    let mut events = frame.ints("num_events");
    let mut entries = frame.ints("entry_start");
    let mut bytes = frame.ints("bytes_read");
    let secs = |moment: UtcNs| moment.secs_since(header.started);
    outcomes(frame)
        .into_iter()
        .enumerate()
        .map(|(row, outcome)| {
            let span = starts.next().flatten().zip(stops.next().flatten());
            ChunkRow {
                row,
                dataset: datasets.code(of_dataset.next().flatten()),
                file: files.code(of_file.next().flatten()),
                worker: workers.code(on_worker.next().flatten()),
                outcome,
                span: span
                    .filter(|(start, stop)| start <= stop)
                    .map(|(start, stop)| (secs(start), secs(stop))),
                duration_secs: durations.next().flatten().and_then(number::known),
                attempt_secs: attempts.next().flatten().and_then(number::known),
                events: events.next().flatten().filter(|events| *events >= 0),
                entry_start: entries.next().flatten(),
                bytes_read: bytes.next().flatten().filter(|bytes| *bytes >= 0),
            }
        })
        .collect()
}

/// Numbers the datasets anew, the one with most rows first.
fn by_use<'a>(names: Vec<Option<&'a str>>, chunks: &mut [ChunkRow]) -> Vec<Option<&'a str>> {
    let mut uses: Vec<(usize, usize)> = (0..names.len()).map(|code| (0, code)).collect();
    for chunk in chunks.iter() {
        if let Some((count, _)) = uses.get_mut(chunk.dataset) {
            *count += 1;
        }
    }
    let name = |code: usize| names.get(code).copied().flatten();
    uses.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| name(a.1).cmp(&name(b.1))));
    let mut place = vec![0; names.len()];
    for (new, (_, old)) in uses.iter().enumerate() {
        if let Some(slot) = place.get_mut(*old) {
            *slot = new;
        }
    }
    for chunk in chunks {
        chunk.dataset = place.get(chunk.dataset).copied().unwrap_or(chunk.dataset);
    }
    uses.into_iter().map(|(_, code)| name(code)).collect()
}

/// The wall time; of a run that has none, the end of its last chunk.
fn end_secs(header: &Header, chunks: &[ChunkRow]) -> f64 {
    number::known(header.wall_secs).filter(|secs| *secs > 0.0).unwrap_or_else(|| {
        let ran = chunks.iter().filter(|chunk| chunk.outcome != Outcome::Replayed);
        ran.filter_map(|chunk| chunk.span).map(|(_, stop)| stop).fold(0.0, f64::max)
    })
}
