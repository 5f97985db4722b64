//! The tables of a measurement and their columns: the one place where a
//! column's name, type, unit and meaning are written down.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// How a column is held in memory and on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Nanoseconds since the epoch, UTC.
    Time,
    /// A whole number.
    Int,
    /// A real number.
    Float,
    /// A name that repeats: dictionary-encoded.
    Name,
    /// The key of a task: as a name, held as what it shares with others and a number.
    Key,
    /// Text that rarely repeats (JSON of what has no column of its own).
    Text,
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct ColumnDef {
    /// Its name, with the unit in it where there is one.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnKind,
    /// What a value means.
    pub doc: &'static str,
}

/// The tables of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row per chunk and attempt.
    Chunks,
    /// One row per section of user code that was entered while a chunk ran.
    Sections,
    /// One row per dataset and branch that was read.
    Columns,
    /// One row per branch of each set of branches that some chunk read.
    BranchSets,
    /// One row per input file and tree.
    Files,
    /// One row per sampling tick: the cluster as a whole.
    Ticks,
    /// One row per worker and stretch of time in which its state did not change.
    Workers,
    /// One row per interval that a worker spent on a task.
    Tasks,
}

impl Table {
    /// Every table, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Chunks,
        Self::Sections,
        Self::Columns,
        Self::BranchSets,
        Self::Files,
        Self::Ticks,
        Self::Workers,
        Self::Tasks,
    ];

    /// The table's name, which is also its file's stem.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chunks => "chunks",
            Self::Sections => "sections",
            Self::Columns => "columns",
            Self::BranchSets => "branch_sets",
            Self::Files => "files",
            Self::Ticks => "ticks",
            Self::Workers => "workers",
            Self::Tasks => "tasks",
        }
    }

    /// The table of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name() == name)
    }

    /// What a row of it is.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Chunks => "one row per chunk and attempt",
            Self::Sections => "one row per section of user code that was entered while a chunk ran",
            Self::Columns => "one row per dataset and branch that was read",
            Self::BranchSets => "one row per branch of each set of branches that some chunk read",
            Self::Files => "one row per input file and tree",
            Self::Ticks => "one row per sampling tick: the cluster as a whole",
            Self::Workers => {
                "one row per worker and stretch of time in which its state did not change"
            }
            Self::Tasks => "one row per interval that a worker spent on a task",
        }
    }

    /// The table's columns, in order.
    pub fn columns(self) -> &'static [ColumnDef] {
        match self {
            Self::Chunks => CHUNKS,
            Self::Sections => SECTIONS,
            Self::Columns => COLUMNS,
            Self::BranchSets => BRANCH_SETS,
            Self::Files => FILES,
            Self::Ticks => TICKS,
            Self::Workers => WORKERS,
            Self::Tasks => TASKS,
        }
    }

    /// The Arrow schema; each field carries its meaning and unit as metadata.
    pub fn schema(self) -> SchemaRef {
        let fields: Vec<Field> = self
            .columns()
            .iter()
            .map(|column| {
                let mut about = HashMap::from([("description".to_owned(), column.doc.to_owned())]);
                about.extend(column.unit().map(|unit| ("unit".to_owned(), unit.to_owned())));
                Field::new(column.name, column.kind.data_type(), true).with_metadata(about)
            })
            .collect();
        Arc::new(Schema::new(fields))
    }

    /// Bytes that a row takes in memory, without its texts, about: columns are held
    /// as narrow as their values allow.
    pub fn row_bytes(self) -> f64 {
        self.columns().iter().map(cell_bytes).sum()
    }
}

/// What a cell usually takes, and one more bit that says whether there is a value.
fn cell_bytes(column: &ColumnDef) -> f64 {
    let width = match column.kind {
        // Measured in microseconds.
        Float if column.name.ends_with("_secs") => 4.0,
        Time | Float => 8.0,
        Int | Name | Text => 4.0,
        Key => 5.0,
    };
    width + 0.125
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ColumnDef {
    /// The unit of its numbers; none for names, texts and plain numbers.
    pub fn unit(&self) -> Option<&'static str> {
        let name = self.name;
        match self.kind {
            ColumnKind::Name | ColumnKind::Key | ColumnKind::Text => None,
            ColumnKind::Time => Some("ns since 1970-01-01 UTC"),
            _ if name.ends_with("_secs") => Some("s"),
            _ if name.ends_with("_percent") => Some("%"),
            _ if name.ends_with("_bps") => Some("bytes/s"),
            _ if name.split('_').any(|word| word == "bytes" || word == "nbytes") => Some("bytes"),
            ColumnKind::Int | ColumnKind::Float => None,
        }
    }
}

impl ColumnKind {
    /// The Arrow type of such a column.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Time => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            Self::Int => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Name | Self::Key => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
            }
            Self::Text => DataType::Utf8,
        }
    }
}

const fn column(name: &'static str, kind: ColumnKind, doc: &'static str) -> ColumnDef {
    ColumnDef { name, kind, doc }
}

use ColumnKind::{Float, Int, Key, Name, Text, Time};

const CHUNKS: &[ColumnDef] = &[
    column("chunk_id", Int, "the row's number in this measurement, from 0"),
    column("dataset", Name, "dataset the chunk belongs to"),
    column("file", Name, "file name as coffea was given it"),
    column("uuid", Name, "the file's own UUID; copies of a file share it"),
    column("tree", Name, "TTree or RNTuple name"),
    column("entry_start", Int, "first entry of the chunk in its file"),
    column("entry_stop", Int, "entry after the last one"),
    column("num_events", Int, "events handed to process()"),
    column("worker", Name, "worker that ran the chunk"),
    column("start", Time, "start of the attempt, file opening included where it was seen"),
    column("stop", Time, "end of the attempt"),
    column("duration_secs", Float, "wall time of process(), monotonic clock"),
    column("rss_start_bytes", Int, "resident memory of the process before process()"),
    column("rss_end_bytes", Int, "resident memory of the process after process()"),
    column("bytes_read", Int, "bytes requested for this chunk, opening the file included"),
    column("error", Name, "class of the error that ended the chunk; missing if it succeeded"),
    column("extra", Text, "JSON of every other field the chunk carried"),
    column("attempt", Int, "number of this attempt at the chunk, from 1, by start"),
    column(
        "outcome",
        Name,
        "ok, failed, replayed (taken from a checkpoint) or repeated (succeeded, and so did a later attempt)",
    ),
    column("host", Name, "host the worker runs on"),
    column("thread", Int, "the system's id of the thread that ran the chunk"),
    column("task_key", Key, "Dask key of the task that ran the chunk"),
    column("unpack_secs", Float, "wall time of unpacking the processor"),
    column("unpack_cpu_secs", Float, "CPU time of the thread in unpacking the processor"),
    column(
        "unpack_run_queue_secs",
        Float,
        "time the thread waited for a core in unpacking the processor",
    ),
    column("open_secs", Float, "wall time of opening the file"),
    column("open_cpu_secs", Float, "CPU time of the thread in opening the file"),
    column("open_run_queue_secs", Float, "time the thread waited for a core in opening the file"),
    column("tree_secs", Float, "wall time of reading the tree's metadata"),
    column("tree_cpu_secs", Float, "CPU time of the thread in reading the tree's metadata"),
    column(
        "tree_run_queue_secs",
        Float,
        "time the thread waited for a core in reading the tree's metadata",
    ),
    column("events_secs", Float, "wall time of building the events"),
    column("events_cpu_secs", Float, "CPU time of the thread in building the events"),
    column(
        "events_run_queue_secs",
        Float,
        "time the thread waited for a core in building the events",
    ),
    column("process_secs", Float, "wall time of process()"),
    column("process_cpu_secs", Float, "CPU time of the thread in process()"),
    column("process_run_queue_secs", Float, "time the thread waited for a core in process()"),
    column("serialize_secs", Float, "wall time of packing the output"),
    column("serialize_cpu_secs", Float, "CPU time of the thread in packing the output"),
    column(
        "serialize_run_queue_secs",
        Float,
        "time the thread waited for a core in packing the output",
    ),
    column(
        "read_secs",
        Float,
        "wall time of column reads, decompression and interpretation included",
    ),
    column("read_cpu_secs", Float, "CPU time of the thread in column reads"),
    column("read_run_queue_secs", Float, "time the thread waited for a core in column reads"),
    column("decompress_secs", Float, "wall time of decompressing baskets, summed over threads"),
    column("decompress_cpu_secs", Float, "CPU time of decompressing baskets"),
    column(
        "interpret_secs",
        Float,
        "wall time of turning baskets into arrays, summed over threads",
    ),
    column("interpret_cpu_secs", Float, "CPU time of turning baskets into arrays"),
    column("read_bytes", Int, "bytes requested by column reads"),
    column("requests", Int, "requests made to the file"),
    column("reads", Int, "column reads"),
    column("cached_reads", Int, "columns that came from the buffer cache"),
    column("preloaded_reads", Int, "column reads that preloaded arrays answered"),
    column("setup_bytes", Int, "part of bytes_read that went into opening the file and its tree"),
    column("rss_peak_bytes", Int, "highest resident memory of the process during the attempt"),
    column("recorder_secs", Float, "time the recording itself took, with watching the memory"),
    column("branch_set", Int, "which set of branches was read; see the table branch_sets"),
    column("num_branches", Int, "branches in that set"),
    column("dropped_sections", Int, "sections beyond what is kept for one chunk"),
];

const SECTIONS: &[ColumnDef] = &[
    column("chunk_id", Int, "chunk the section belongs to"),
    column("dataset", Name, "dataset of that chunk"),
    column("section", Name, "the section's name"),
    column("kind", Name, "time, memory or bytes"),
    column("depth", Int, "sections that were open around this one"),
    column("parent", Int, "position in its chunk of the section around it; missing at the top"),
    column(
        "occurrence",
        Int,
        "how often the chunk had entered a section of this name and kind before",
    ),
    column("start_secs", Float, "start, from the start of the attempt; missing for a sum"),
    column("wall_secs", Float, "wall time"),
    column(
        "cpu_secs",
        Float,
        "CPU time of the thread; between two readings at most 50 us apart it counts as running",
    ),
    column(
        "rss_start_bytes",
        Int,
        "resident memory of the process when entered; memory sections only",
    ),
    column("rss_end_bytes", Int, "resident memory of the process when left; memory sections only"),
    column("bytes", Int, "bytes requested from the source; bytes sections only"),
    column("count", Int, "sections summed in this row; 1 unless the chunk had too many to keep"),
];

const COLUMNS: &[ColumnDef] = &[
    column("dataset", Name, "dataset"),
    column("branch", Name, "branch or field"),
    column("chunks", Int, "chunks that read it"),
    column("files", Int, "files in which it was read"),
    column("reads", Int, "reads, over every attempt"),
    column("cached_reads", Int, "times it came from the buffer cache"),
    column("preloaded_reads", Int, "reads that preloaded arrays answered"),
    column("wall_secs", Float, "wall time of its reads, decompression and interpretation included"),
    column("cpu_secs", Float, "CPU time of the reading thread"),
    column("bytes", Int, "bytes requested for it"),
    column("requests", Int, "requests made for it"),
    column("decompress_secs", Float, "wall time of decompressing its baskets"),
    column("interpret_secs", Float, "wall time of turning its baskets into arrays"),
];

const BRANCH_SETS: &[ColumnDef] = &[
    column("branch_set", Int, "the set, from 0 in the order of first use"),
    column("branch", Name, "a branch in it"),
];

const FILES: &[ColumnDef] = &[
    column("file", Name, "file name as coffea was given it"),
    column("num_branches", Int, "branches in the tree"),
    column("compressed_bytes", Int, "compressed size of the tree"),
    column("uncompressed_bytes", Int, "size of the tree after decompression"),
    column("compression_ratio", Float, "compressed over uncompressed size"),
    column("extra", Text, "JSON of every other field the file carried"),
    column("uuid", Name, "the file's own UUID; copies of a file share it"),
    column("tree", Name, "TTree or RNTuple name"),
    column("chunks", Int, "chunks of the file that were seen"),
    column("num_branches_read", Int, "distinct branches read, over all of its chunks"),
    column("bytes_read", Int, "bytes requested by its successful chunks"),
    column(
        "branch_bytes_read_compressed",
        Int,
        "compressed size of the branches read, as far as it was looked up",
    ),
];

const TICKS: &[ColumnDef] = &[
    column("time", Time, "when the sample was taken, on the scheduler's clock"),
    column("worker_count", Int, "workers connected"),
    column("threads_total", Int, "task threads of all workers"),
    column("tasks_waiting", Int, "runnable tasks that no worker has been given yet"),
    column("tasks_processing", Int, "tasks assigned to workers"),
    column("tick_secs", Float, "time the sampler itself took"),
];

const WORKERS: &[ColumnDef] = &[
    column("worker", Name, "worker address, or process id for local executors"),
    column("host", Name, "host the worker runs on"),
    column("time", Time, "first sample with this state"),
    column("until", Time, "last sample with this state"),
    column("samples", Int, "samples from `time` to `until`, both included"),
    column("memory_bytes", Int, "resident memory of the worker process"),
    column("memory_limit_bytes", Int, "memory the worker may use; missing if unlimited"),
    column("cpu_percent", Float, "CPU use of the process; 100 is one full core"),
    column("threads", Int, "task threads"),
    column("processing", Int, "tasks assigned to the worker"),
    column("executing", Int, "tasks running, as of the worker's last heartbeat"),
    column("stored_bytes", Int, "task results the worker holds"),
    column("occupancy_secs", Float, "expected seconds of work assigned to the worker"),
    column("last_seen", Time, "last heartbeat"),
    column("spilled_bytes", Int, "task results spilled to disk"),
    column("host_net_read_bps", Float, "network bytes per second into the host"),
    column("host_net_write_bps", Float, "network bytes per second out of the host"),
    column("host_disk_read_bps", Float, "disk bytes per second read on the host"),
    column("host_disk_write_bps", Float, "disk bytes per second written on the host"),
    column(
        "event_loop_interval_secs",
        Float,
        "mean time between turns of the worker's event loop; the excess over Dask's tick of 20 ms is delay",
    ),
];

const TASKS: &[ColumnDef] = &[
    column("worker", Name, "worker that did the work"),
    column("prefix", Name, "task name without its unique part"),
    column("action", Name, "what the interval was: compute, transfer, disk-read, ..."),
    column("start", Time, "start, on the scheduler's clock"),
    column("stop", Time, "end, on the scheduler's clock"),
    column("nbytes", Int, "size of the task's result; only on compute rows"),
    column("outcome", Name, "memory if the task succeeded, erred if it failed"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_from_names() {
        let unit = |table: Table, name: &str| {
            table.columns().iter().find(|column| column.name == name).unwrap().unit()
        };
        assert_eq!(unit(Table::Chunks, "process_secs"), Some("s"));
        assert_eq!(unit(Table::Chunks, "bytes_read"), Some("bytes"));
        assert_eq!(unit(Table::Tasks, "nbytes"), Some("bytes"));
        assert_eq!(unit(Table::Workers, "host_net_read_bps"), Some("bytes/s"));
        assert_eq!(unit(Table::Workers, "cpu_percent"), Some("%"));
        assert_eq!(unit(Table::Chunks, "num_events"), None);
        // Real numbers that are no seconds: each has a unit or is a plain ratio.
        for table in Table::ALL {
            for column in table.columns().iter().filter(|c| c.kind == Float) {
                let plain = column.name == "compression_ratio";
                assert_eq!(column.unit().is_none(), plain, "{table}.{}", column.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_round_trip() {
        for table in Table::ALL {
            assert_eq!(Table::from_name(table.name()), Some(table));
            let mut names: Vec<_> = table.columns().iter().map(|c| c.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns().len(), "{table}");
        }
    }
}
