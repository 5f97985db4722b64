//! Rows become columns. Two threads unpack a batch of rows each, hand it to each
//! other, and write each some of the columns: so a column grows in one place, and
//! no row is unpacked twice.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use roast_model::{Column, ROWS_WORTH_A_THREAD};

use crate::chunk_columns::{CHUNK_COLUMNS, Growing, View, to_i64};
use crate::chunk_log::ChunkLog;
use crate::log_tables::{SetNumbers, added};
use crate::order::{Outcome, Ranked};
use crate::row::Row;
use crate::section_columns::SectionColumns;

/// Rows that are handed over at a time.
const ROWS_PER_BATCH: usize = 256;
/// Of these, so many are gone through column by column while they are close at hand.
const ROWS_IN_CACHE: usize = 64;
/// Batches that a thread may be ahead of the other one, which may be held up.
const BATCHES_AHEAD: usize = 4;
/// So many columns of chunks take as long as the others and all of sections.
const COLUMNS_OF_FIRST: usize = 40;

/// Of so many rows, their sections tell about how many there are in one.
const TYPICAL_ROWS: i64 = 1_000;
/// Rows do not all have as many.
const SPARE_SECTIONS: f64 = 1.05;

/// The columns of the tables of chunks and sections.
pub(crate) struct RowColumns {
    pub(crate) chunks: Vec<Column>,
    pub(crate) sections: Vec<Column>,
    /// Bytes that successful attempts read, by the log's number of their source.
    pub(crate) bytes_of_source: Vec<Option<i64>>,
}

impl RowColumns {
    pub(crate) fn of(log: &ChunkLog, ranked: &[Ranked], numbers: &SetNumbers) -> Self {
        let share = |columns, others| Share::new(log, ranked.len(), numbers, columns, others);
        let mut first = share(0..COLUMNS_OF_FIRST, None);
        let mut second =
            share(COLUMNS_OF_FIRST..CHUNK_COLUMNS.len(), Some(Others::new(log, ranked.len())));
        if ranked.len() < ROWS_WORTH_A_THREAD || !together(ranked, &mut first, &mut second) {
            let mut rows = Vec::new();
            for (batch, ranked) in (0..).step_by(ROWS_PER_BATCH).zip(ranked.chunks(ROWS_PER_BATCH))
            {
                unpack(log, ranked, &mut rows);
                first.write(batch, ranked, &rows);
                second.write(batch, ranked, &rows);
            }
        }
        let others = second.others.take().unwrap_or_else(|| Others::new(log, 0));
        let chunks = first.chunks.into_iter().chain(second.chunks);
        Self {
            chunks: chunks.map(|column| column.finish(log)).collect(),
            sections: others.sections.finish(log),
            bytes_of_source: others.bytes_of_source,
        }
    }
}

/// Unpacks rows in place of those that were there.
fn unpack(log: &ChunkLog, ranked: &[Ranked], rows: &mut Vec<Row>) {
    rows.resize_with(ranked.len(), Row::default);
    for (row, ranked) in rows.iter_mut().zip(ranked) {
        if let Some(stored) = log.content.rows.get(ranked.index as usize) {
            log.content.rows.unpack_into(stored, row);
        }
    }
}

/// Does it on two threads; `false` if there is none to be had.
fn together(ranked: &[Ranked], first: &mut Share<'_>, second: &mut Share<'_>) -> bool {
    let (to_second, from_first) = channel();
    let (to_first, from_second) = channel();
    // Both ends move in: one that fails lets go of its own, and the other ends.
    thread::scope(move |scope| {
        let other = thread::Builder::new().spawn_scoped(scope, move || {
            second.write_all(ranked, Side::Second, &to_first, &from_first);
        });
        let Ok(other) = other else { return false };
        first.write_all(ranked, Side::First, &to_second, &from_second);
        other.join().unwrap_or_else(|panic| resume_unwind(panic));
        true
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Second,
}

/// Unpacked rows that both threads look at.
type Batch = Arc<Vec<Row>>;

/// The columns that one thread writes.
struct Share<'a> {
    log: &'a ChunkLog,
    numbers: &'a SetNumbers,
    chunks: Vec<Growing>,
    others: Option<Others>,
}

impl<'a> Share<'a> {
    fn new(
        log: &'a ChunkLog,
        rows: usize,
        numbers: &'a SetNumbers,
        columns: Range<usize>,
        others: Option<Others>,
    ) -> Self {
        let getters = CHUNK_COLUMNS.iter().skip(columns.start).take(columns.len());
        let chunks = getters.map(|(_, get)| Growing::new(*get, rows)).collect();
        Self { log, numbers, chunks, others }
    }

    /// Unpacks every second batch, some ahead of time, and writes them all.
    fn write_all(
        &mut self,
        ranked: &[Ranked],
        side: Side,
        give: &Sender<Batch>,
        take: &Receiver<Batch>,
    ) {
        let pairs = || {
            let pairs = ranked.chunks(2 * ROWS_PER_BATCH);
            pairs.map(|pair| pair.split_at(pair.len().min(ROWS_PER_BATCH)))
        };
        let mut to_unpack =
            pairs().map(|(first, second)| if side == Side::First { first } else { second });
        let (mut ahead, mut written) = (VecDeque::<Batch>::new(), VecDeque::<Batch>::new());
        let mut start = 0;
        // There is nobody to give to or take from only if the other thread failed,
        // which shows where it is waited for.
        for (first, second) in pairs() {
            while ahead.len() < BATCHES_AHEAD
                && let Some(ranked) = to_unpack.next()
            {
                // One that the other thread has written, too, is used again.
                let is_free =
                    written.front_mut().is_some_and(|batch| Arc::get_mut(batch).is_some());
                let used = if is_free { written.pop_front() } else { None };
                let mut batch = used.unwrap_or_default();
                unpack(self.log, ranked, Arc::make_mut(&mut batch));
                let Ok(()) = give.send(Arc::clone(&batch)) else { return };
                ahead.push_back(batch);
            }
            let (Some(own), Ok(others)) = (ahead.pop_front(), take.recv()) else { return };
            let (of_first, of_second) =
                if side == Side::First { (&own, &others) } else { (&others, &own) };
            self.write(start, first, of_first);
            self.write(start + first.len(), second, of_second);
            start += first.len() + second.len();
            written.push_back(own);
        }
    }

    /// Writes rows, of which the first is row number `start`.
    fn write(&mut self, start: usize, ranked: &[Ranked], rows: &[Row]) {
        let mut views = Vec::with_capacity(ROWS_IN_CACHE);
        let blocks = rows.chunks(ROWS_IN_CACHE).zip(ranked.chunks(ROWS_IN_CACHE));
        for (start, (rows, ranked)) in (start..).step_by(ROWS_IN_CACHE).zip(blocks) {
            views.clear();
            views.extend((start..).zip(rows.iter().zip(ranked)).map(|(number, (row, &ranked))| {
                View::new(self.log, row, ranked, to_i64(number as u64), self.numbers)
            }));
            for column in &mut self.chunks {
                column.extend(&views);
            }
            if let Some(others) = &mut self.others {
                views.iter().for_each(|view| others.push(view));
            }
        }
    }
}

/// What is written beside the columns of chunks.
struct Others {
    sections: SectionColumns,
    bytes_of_source: Vec<Option<i64>>,
    rows: usize,
}

impl Others {
    fn new(log: &ChunkLog, rows: usize) -> Self {
        Self {
            sections: SectionColumns::default(),
            bytes_of_source: vec![None; log.palettes.sources.len()],
            rows,
        }
    }

    fn push(&mut self, view: &View<'_>) {
        self.sections.push(view);
        if view.chunk_id + 1 == TYPICAL_ROWS {
            let per_row = self.sections.len() as f64 / TYPICAL_ROWS as f64;
            self.sections.expect_rows((self.rows as f64 * per_row * SPARE_SECTIONS) as usize);
        }
        let sum = self.bytes_of_source.get_mut(view.row.source as usize);
        if let (Outcome::Ok, Some(sum)) = (view.ranked.outcome, sum) {
            *sum = added(*sum, view.row.bytes_read);
        }
    }
}
