//! The seconds of a chunk row by what it did in them.

use roast_model::Frame;

use super::rows::{Entry, Seconds};
use super::sweep::share;
use crate::chunk_rows::Outcome;
use crate::number::usable;

/// More than any attempt lasts; keeps sums of absurd claims in range.
const MAX_CLAIM_NS: f64 = 1e17;

/// What an attempt says it did, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Claims {
    process: Option<i64>,
    process_cpu: Option<i64>,
    process_queue: Option<i64>,
    read: i64,
    read_cpu: i64,
    read_queue: i64,
    decompress: i64,
    interpret: i64,
    open: i64,
    tree: i64,
    events: i64,
    serialize: i64,
}

/// Puts the time that each row was granted into the rows of the ledger.
pub(super) fn rows(
    rows: Frame<'_>,
    outcomes: &[Outcome],
    ns_of_row: &[i64],
    seconds: &mut Seconds,
) {
    let column = |name: &str| {
        rows.floats(name).map(|secs| {
            secs.and_then(usable).map(|secs| (secs * 1e9).round().min(MAX_CLAIM_NS) as i64)
        })
    };
    let mut process = column("process_secs");
    let mut duration = column("duration_secs");
    let mut process_cpu = column("process_cpu_secs");
    let mut process_queue = column("process_run_queue_secs");
    let mut others = [
        "read_secs",
        "read_cpu_secs",
        "read_run_queue_secs",
        "decompress_secs",
        "interpret_secs",
        "open_secs",
        "tree_secs",
        "events_secs",
        "serialize_secs",
    ]
    .map(column);
    let lengths = rows
        .times("start")
        .zip(rows.times("stop"))
        .map(|(start, stop)| Some(stop?.0.saturating_sub(start?.0).max(0)));
    for ((length, outcome), granted) in lengths.zip(outcomes).zip(ns_of_row) {
        let [read, read_cpu, read_queue, decompress, interpret, open, tree, events, serialize] =
            others.each_mut().map(|column| column.next().flatten().unwrap_or(0));
        let duration = duration.next().flatten();
        let claims = Claims {
            process: process.next().flatten().or(duration),
            process_cpu: process_cpu.next().flatten(),
            process_queue: process_queue.next().flatten(),
            read,
            read_cpu,
            read_queue,
            decompress,
            interpret,
            open,
            tree,
            events,
            serialize,
        };
        if *granted <= 0 {
            continue;
        }
        match outcome {
            Outcome::Ok => claims.put(*granted, length.unwrap_or(0), seconds),
            // Whatever it did, it came to nothing.
            _ => seconds.add(Entry::FailedWork, i128::from(*granted)),
        }
    }
}

impl Claims {
    /// Divides what was granted; what no claim covers is the handling of the task.
    fn put(self, granted: i64, length: i64, seconds: &mut Seconds) {
        let claims = self.entries();
        let claimed = claims.iter().fold(0_i64, |total, (_, ns)| total.saturating_add(*ns));
        // Claims beyond the attempt's own length are cut in proportion.
        let whole = length.max(claimed);
        let mut left = granted;
        for (entry, ns) in claims {
            let ns = share(granted, ns, whole);
            left -= ns;
            seconds.add(entry, i128::from(ns));
        }
        seconds.add(Entry::Overhead, i128::from(left));
    }

    fn entries(self) -> [(Entry, i64); 11] {
        let process = self.process.unwrap_or(0);
        // Reads by preloading come before process(); they cannot be cut out of it.
        let read = self.read.min(process);
        // Summed over threads, these may exceed the time in which they were done.
        let inside = self.decompress.saturating_add(self.interpret);
        let whole = inside.max(read);
        let (decompress, interpret) = if inside > read {
            (share(read, self.decompress, whole), share(read, self.interpret, whole))
        } else {
            (self.decompress, self.interpret)
        };
        let user = process - read;
        // Without CPU time there is no telling what the user's code did.
        let (cpu, queue, wait, unknown) = match self.process_cpu {
            None => (0, 0, 0, user),
            Some(cpu) => {
                let cpu = cpu.saturating_sub(self.read_cpu).clamp(0, user);
                let queue = self.process_queue.unwrap_or(0).saturating_sub(self.read_queue);
                let queue = queue.clamp(0, user - cpu);
                (cpu, queue, user - cpu - queue, 0)
            }
        };
        [
            (Entry::UserCpu, cpu),
            (Entry::UserRunQueueWait, queue),
            (Entry::UserWait, wait),
            (Entry::Unexplained, unknown),
            (Entry::ColumnRead, read - decompress - interpret),
            (Entry::Decompress, decompress),
            (Entry::Interpret, interpret),
            (Entry::FileOpen, self.open),
            (Entry::TreeMetadata, self.tree),
            (Entry::EventsForm, self.events),
            (Entry::SerializeOutput, self.serialize),
        ]
    }
}
