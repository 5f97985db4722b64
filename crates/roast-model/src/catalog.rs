//! The metric catalog: each metric once, with everything that is said about it
//! anywhere. The metrics dict, the summary, the reference in `docs/` and the
//! aliases all come from this table.

/// The families in which metrics are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// How fast.
    Throughput,
    /// How much.
    Volume,
    /// How long.
    Timing,
    /// On what.
    Workers,
    /// What the worker threads did.
    Fine,
    /// How well.
    Efficiency,
    /// What the chunks took.
    Chunks,
    /// What was read of the files.
    Files,
    /// Where the core time went.
    Ledger,
    /// What the measuring took.
    Monitoring,
}

impl Group {
    /// Every group, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Throughput,
        Self::Volume,
        Self::Timing,
        Self::Workers,
        Self::Fine,
        Self::Efficiency,
        Self::Chunks,
        Self::Files,
        Self::Ledger,
        Self::Monitoring,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Volume => "Data volume",
            Self::Timing => "Timing",
            Self::Workers => "Workers",
            Self::Fine => "Activity of the worker threads",
            Self::Efficiency => "Efficiency",
            Self::Chunks => "Chunks",
            Self::Files => "Files and branches",
            Self::Ledger => "Core time",
            Self::Monitoring => "The measuring itself",
        }
    }
}

/// The unit in which a metric's value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSec,
    /// 10⁶ bytes per second.
    MegabytesPerSec,
    /// 10⁹ bits per second.
    GigabitsPerSec,
    /// 1000 per second.
    Kilohertz,
    /// Per second and core.
    HertzPerCore,
    /// 1000 per second and core.
    KilohertzPerCore,
    /// A number of things.
    Count,
    /// Hundredths.
    Percent,
    /// A plain ratio.
    Ratio,
    /// Millionths of a second.
    Microseconds,
    /// 2²⁰ bytes.
    Mebibytes,
    /// Seconds of one core.
    CoreSeconds,
    /// Several values: a map or a list, not a number.
    Table,
    /// Words.
    Text,
}

impl Unit {
    /// The unit's name in tables of reference.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Bytes => "bytes",
            Self::BytesPerSec => "bytes/s",
            Self::MegabytesPerSec => "MB/s",
            Self::GigabitsPerSec => "Gbps",
            Self::Kilohertz => "kHz",
            Self::HertzPerCore => "Hz/core",
            Self::KilohertzPerCore => "kHz/core",
            Self::Count => "count",
            Self::Percent => "%",
            Self::Ratio => "ratio",
            Self::Microseconds => "µs",
            Self::Mebibytes => "MB (2²⁰ bytes)",
            Self::CoreSeconds => "core-seconds",
            Self::Table => "table",
            Self::Text => "text",
        }
    }
}

/// Which way a metric should go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither is better: it describes.
    Neither,
}

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct MetricDef {
    /// The key in the metrics dict.
    pub key: &'static str,
    /// What people read.
    pub label: &'static str,
    /// The family.
    pub group: Group,
    /// The unit.
    pub unit: Unit,
    /// How it comes about, in words.
    pub formula: &'static str,
    /// Where the numbers come from.
    pub source: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it does not mean, where that is easily mistaken.
    pub caution: &'static str,
}

/// The metric of that key or alias.
pub fn metric_def(key: &str) -> Option<&'static MetricDef> {
    CATALOG.iter().find(|metric| metric.key == key || metric.aliases.contains(&key))
}

/// The key for a key or alias.
pub fn canonical_key(key: &str) -> Option<&'static str> {
    metric_def(key).map(|metric| metric.key)
}

const REPORT: &str = "coffea report";
const CLOCK: &str = "wall clock";
const TRACKING: &str = "worker tracking";
const SPANS: &str = "Dask span";
const CHUNK_ROWS: &str = "chunk rows";
const FILE_ROWS: &str = "file rows";
const SECTION_ROWS: &str = "section rows";
const COLUMN_ROWS: &str = "column rows";

const fn metric(
    key: &'static str,
    label: &'static str,
    group: Group,
    unit: Unit,
    formula: &'static str,
    source: &'static str,
    better: Better,
) -> MetricDef {
    MetricDef { key, label, group, unit, formula, source, better, aliases: &[], caution: "" }
}

impl MetricDef {
    const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    const fn caution(mut self, caution: &'static str) -> Self {
        self.caution = caution;
        self
    }
}

use Better::{Higher, Lower, Neither};
use Group::{
    Chunks, Efficiency, Files, Fine, Ledger, Monitoring, Throughput, Timing, Volume, Workers,
};
use Unit::{
    Bytes, BytesPerSec, CoreSeconds, Count, GigabitsPerSec, HertzPerCore, Kilohertz,
    KilohertzPerCore, Mebibytes, MegabytesPerSec, Microseconds, Percent, Ratio, Seconds, Table,
    Text,
};

/// Every metric, in the order in which they are shown.
#[rustfmt::skip]
pub const CATALOG: &[MetricDef] = &[
    metric("data_rate_gbps", "Data rate", Throughput, GigabitsPerSec,
        "(total_bytes_read_coffea − replayed bytes) × 8 / wall_time / 10⁹", REPORT, Higher)
        .also(&["overall_rate_gbps"])
        .caution("Counts the byte ranges that were asked for, not what crossed the wire."),
    metric("data_rate_mb_per_s", "Data rate", Throughput, MegabytesPerSec,
        "(total_bytes_read_coffea − replayed bytes) / wall_time / 10⁶", REPORT, Higher)
        .also(&["overall_rate_mbps"])
        .caution("Megabytes per second; the alias's 'mbps' is the original's spelling and does not mean megabits."),
    metric("event_rate_wall_khz", "Event rate (wall clock)", Throughput, Kilohertz,
        "(total_events − replayed events) / wall_time / 1000", REPORT, Higher)
        .also(&["event_rate_elapsed_khz"]),
    metric("event_rate_agg_khz", "Event rate (per processing second)", Throughput, Kilohertz,
        "(total_events − replayed events) / (total_cpu_time − replayed processing time) / 1000", REPORT, Higher)
        .also(&["event_rate_cpu_total_khz"])
        .caution("Leaves out opening files and parsing tree metadata, which coffea does not time."),
    metric("event_rate_core_hz", "Event rate (per core)", Throughput, HertzPerCore,
        "(total_events − replayed events) / (wall_time × total_cores)", "coffea report, worker tracking", Higher),
    metric("event_rate_core_khz", "Event rate (per core)", Throughput, KilohertzPerCore,
        "event_rate_core_hz / 1000", "coffea report, worker tracking", Higher),

    metric("total_events", "Events", Volume, Count,
        "coffea's `entries`", REPORT, Neither),
    metric("total_bytes_read_coffea", "Bytes read (coffea)", Volume, Bytes,
        "coffea's `bytesread`", REPORT, Neither)
        .also(&["total_bytes_read", "total_bytes_compressed"])
        .caution("ROOT input only: compressed ranges requested, tree metadata included. Not comparable with Dask's byte counts."),
    metric("total_bytes_memory_read_dask", "Task data read from memory (Dask)", Volume, Bytes,
        "sum of the span's `memory-read` bytes", SPANS, Neither)
        .also(&["total_bytes_memory_read"])
        .caution("Task inputs that Dask handed over in memory; not what was read from ROOT files."),
    metric("disk_read_bytes", "Task data read back from disk (Dask)", Volume, Bytes,
        "sum of the span's `disk-read` bytes", SPANS, Lower)
        .caution("Spilled task results only; not what was read from ROOT files."),
    metric("disk_write_bytes", "Task data spilled to disk (Dask)", Volume, Bytes,
        "sum of the span's `disk-write` bytes", SPANS, Lower),

    metric("wall_time", "Wall time", Timing, Seconds,
        "time from entering to leaving the collector", CLOCK, Lower)
        .also(&["elapsed_time_seconds"]),
    metric("total_cpu_time", "Processing time (all chunks)", Timing, Seconds,
        "coffea's `processtime`", REPORT, Lower)
        .caution("Wall time inside process(), summed over chunks; not CPU time, and without opening files. True CPU seconds are cpu_time_seconds."),
    metric("num_chunks", "Chunks", Timing, Count,
        "coffea's `chunks`", REPORT, Neither)
        .caution("Chunks that were planned; skipped ones are included."),
    metric("avg_cpu_time_per_chunk", "Processing time per chunk", Timing, Seconds,
        "total_cpu_time / num_chunks", REPORT, Lower),

    metric("avg_workers", "Workers (time-weighted)", Workers, Count,
        "∫ worker count dt / tracked time, by the trapezoidal rule", TRACKING, Neither)
        .also(&["time_avg_workers"]),
    metric("mean_workers", "Workers (mean of samples)", Workers, Count,
        "mean of the sampled worker counts", TRACKING, Neither),
    metric("peak_workers", "Workers (peak)", Workers, Count,
        "largest sampled worker count", TRACKING, Neither),
    metric("cores_per_worker", "Cores per worker", Workers, Count,
        "mean task threads per worker over all samples", TRACKING, Neither),
    metric("total_cores", "Cores (time-weighted)", Workers, Count,
        "avg_workers × cores_per_worker", TRACKING, Neither)
        .caution("Task threads that were there on average; not every worker ever seen."),
    metric("avg_memory_per_worker_bytes", "Memory per worker (mean)", Workers, Bytes,
        "mean of all memory samples of all workers", TRACKING, Neither)
        .caution("Resident memory of the whole process, interpreter and libraries included."),
    metric("peak_memory_bytes", "Memory of one worker (peak)", Workers, Bytes,
        "largest memory sample of any worker", TRACKING, Lower)
        .caution("Sampled: a short peak between two heartbeats is not seen."),
    metric("peak_memory_cluster_bytes", "Memory of all workers (peak)", Workers, Bytes,
        "largest sum over workers at one sample", TRACKING, Lower),
    metric("memory_utilization_mean_percent", "Memory use of limit (mean)", Workers, Percent,
        "mean over samples of memory / memory limit × 100", TRACKING, Neither),
    metric("memory_utilization_min_percent", "Memory use of limit (min)", Workers, Percent,
        "smallest sample of memory / memory limit × 100", TRACKING, Neither),
    metric("memory_utilization_max_percent", "Memory use of limit (max)", Workers, Percent,
        "largest sample of memory / memory limit × 100", TRACKING, Lower)
        .caution("Above 80 % Dask starts to pause workers; spilling begins earlier."),
    metric("cpu_utilization_mean_percent", "CPU use (mean)", Workers, Percent,
        "mean over samples of a worker's CPU percentage", TRACKING, Higher)
        .caution("100 % is one full core: a worker of four threads can reach 400 %."),
    metric("cpu_utilization_min_percent", "CPU use (min)", Workers, Percent,
        "smallest sample of a worker's CPU percentage", TRACKING, Neither),
    metric("cpu_utilization_max_percent", "CPU use (max)", Workers, Percent,
        "largest sample of a worker's CPU percentage", TRACKING, Neither),
    metric("peak_spilled_bytes", "Spilled to disk (peak, all workers)", Workers, Bytes,
        "largest sum over workers of spilled bytes at one sample", TRACKING, Lower),
    metric("host_net_read_bytes_per_s_mean", "Network into hosts (mean)", Workers, BytesPerSec,
        "time-weighted mean of the sum over hosts of received bytes per second", TRACKING, Neither)
        .caution("Everything the hosts received, other users' traffic included; workers of one host are counted once."),
    metric("host_disk_read_bytes_per_s_mean", "Disk reads of hosts (mean)", Workers, BytesPerSec,
        "time-weighted mean of the sum over hosts of disk bytes read per second", TRACKING, Neither)
        .caution("Everything the hosts read; workers of one host are counted once."),

    metric("cpu_time_seconds", "CPU time (all tasks)", Fine, Seconds,
        "sum of the span's `thread-cpu` seconds", SPANS, Lower),
    metric("io_time_seconds", "Non-CPU time (all tasks)", Fine, Seconds,
        "sum of the span's `thread-noncpu` seconds", SPANS, Lower)
        .caution("Whatever was not CPU: reading, waiting, the interpreter lock, a busy machine; not I/O alone."),
    metric("processor_cpu_time_seconds", "CPU time (processor)", Fine, Seconds,
        "`thread-cpu` seconds of the processor's tasks", SPANS, Lower)
        .caution("Includes opening files and building events, which coffea does in the same task."),
    metric("processor_noncpu_time_seconds", "Non-CPU time (processor)", Fine, Seconds,
        "`thread-noncpu` seconds of the processor's tasks", SPANS, Lower)
        .also(&["processor_io_wait_time_seconds"])
        .caution("Reading, waiting, the interpreter lock, a busy machine; not I/O alone."),
    metric("processor_cpu_percentage", "CPU share (processor)", Fine, Percent,
        "processor CPU / (processor CPU + processor non-CPU) × 100", SPANS, Higher)
        .also(&["processor_cpu_percent", "cpu_percentage"]),
    metric("processor_noncpu_percentage", "Non-CPU share (processor)", Fine, Percent,
        "processor non-CPU / (processor CPU + processor non-CPU) × 100", SPANS, Lower)
        .also(&["processor_io_wait_percent", "io_percentage"]),
    metric("overhead_cpu_time_seconds", "CPU time (other tasks)", Fine, Seconds,
        "`thread-cpu` seconds of all other tasks (reduction, preprocessing)", SPANS, Lower),
    metric("overhead_noncpu_time_seconds", "Non-CPU time (other tasks)", Fine, Seconds,
        "`thread-noncpu` seconds of all other tasks", SPANS, Lower)
        .also(&["overhead_io_wait_time_seconds"]),
    metric("compression_time_seconds", "Compressing task data", Fine, Seconds,
        "sum of the span's `compress` seconds", SPANS, Lower)
        .caution("Dask's own transfers and spills; not ROOT's compression."),
    metric("decompression_time_seconds", "Decompressing task data", Fine, Seconds,
        "sum of the span's `decompress` seconds", SPANS, Lower)
        .caution("Dask's own transfers and spills; not ROOT's decompression."),
    metric("total_compression_overhead_seconds", "Compression, both ways", Fine, Seconds,
        "compression_time_seconds + decompression_time_seconds", SPANS, Lower),
    metric("serialization_time_seconds", "Serializing task data", Fine, Seconds,
        "sum of the span's `serialize` seconds", SPANS, Lower),
    metric("deserialization_time_seconds", "Deserializing task data", Fine, Seconds,
        "sum of the span's `deserialize` seconds", SPANS, Lower),
    metric("total_serialization_overhead_seconds", "Serialization, both ways", Fine, Seconds,
        "serialization_time_seconds + deserialization_time_seconds", SPANS, Lower),
    metric("failed_time_seconds", "Spent in failed tasks", Fine, Seconds,
        "sum of the span's `failed` seconds", SPANS, Lower),

    metric("cpu_efficiency", "Core efficiency", Efficiency, Ratio,
        "(total_cpu_time − replayed processing time) / (wall_time × total_cores)", "coffea report, worker tracking", Higher)
        .also(&["core_efficiency"])
        .caution("Share of the available core time inside process(), waiting included; not CPU use."),
    metric("cpu_efficiency_fine", "Core efficiency (CPU only)", Efficiency, Ratio,
        "cpu_time_seconds / (wall_time × total_cores)", "Dask span, worker tracking", Higher),
    metric("speedup_factor", "Speed-up", Efficiency, Ratio,
        "(total_cpu_time − replayed processing time) / wall_time", REPORT, Higher)
        .caution("Against one core doing the same process() calls one after another."),
    metric("io_overhead_percent", "Non-CPU time over wall time", Efficiency, Percent,
        "io_time_seconds / wall_time × 100", SPANS, Lower)
        .also(&["io_overhead_pct"])
        .caution("Summed over all threads, so it exceeds 100 % on more than one core."),
    metric("efficiency_ratio_percent", "Wall rate over processing rate", Efficiency, Percent,
        "event_rate_wall_khz / event_rate_agg_khz × 100", REPORT, Higher)
        .caution("Grows with the number of cores; parallel_efficiency_percent is the one that ends at 100 %."),
    metric("parallel_efficiency_percent", "Parallel efficiency", Efficiency, Percent,
        "efficiency_ratio_percent / total_cores", "coffea report, worker tracking", Higher)
        .caution("100 % is every core inside process() all of the time."),

    metric("num_successful_chunks", "Chunks that succeeded", Chunks, Count,
        "distinct chunks with an attempt that succeeded", CHUNK_ROWS, Neither)
        .caution("A chunk is a dataset, file, tree and entry range; chunks taken from a checkpoint are counted apart."),
    metric("num_failed_chunks", "Chunks that never succeeded", Chunks, Count,
        "distinct chunks of which every attempt failed", CHUNK_ROWS, Lower),
    metric("num_retried_chunks", "Chunks that were tried again", Chunks, Count,
        "distinct chunks with more than one attempt", CHUNK_ROWS, Lower),
    metric("num_replayed_chunks", "Chunks taken from a checkpoint", Chunks, Count,
        "distinct chunks whose result came from a checkpoint", CHUNK_ROWS, Neither)
        .caution("They ran in an earlier run: what they contributed to coffea's report is left out of rates and efficiencies."),
    metric("chunk_duration_mean", "Time in process() (mean)", Chunks, Seconds,
        "mean time in process() of successful chunks", CHUNK_ROWS, Lower)
        .caution("All chunk statistics are over successful chunks; failed, repeated and replayed attempts do not enter."),
    metric("chunk_duration_min", "Time in process() (min)", Chunks, Seconds,
        "shortest time in process()", CHUNK_ROWS, Neither),
    metric("chunk_duration_max", "Time in process() (max)", Chunks, Seconds,
        "longest time in process()", CHUNK_ROWS, Lower),
    metric("chunk_duration_std", "Time in process() (spread)", Chunks, Seconds,
        "sample standard deviation (n − 1) of the time in process()", CHUNK_ROWS, Lower),
    metric("chunk_duration_p50", "Time in process() (median)", Chunks, Seconds,
        "median of the time in process()", CHUNK_ROWS, Lower),
    metric("chunk_duration_p95", "Time in process() (95 % below)", Chunks, Seconds,
        "95th percentile of the time in process(), between neighbours by a straight line", CHUNK_ROWS, Lower),
    metric("chunk_duration_p99", "Time in process() (99 % below)", Chunks, Seconds,
        "99th percentile of the time in process(), between neighbours by a straight line", CHUNK_ROWS, Lower),
    metric("chunk_mem_delta_mean_mb", "Memory growth of a chunk (mean)", Chunks, Mebibytes,
        "mean of resident memory after process() less before", CHUNK_ROWS, Lower)
        .caution("Of the whole process: other threads and what earlier chunks left behind are in it. May be negative."),
    metric("chunk_mem_delta_min_mb", "Memory growth of a chunk (min)", Chunks, Mebibytes,
        "smallest growth", CHUNK_ROWS, Neither),
    metric("chunk_mem_delta_max_mb", "Memory growth of a chunk (max)", Chunks, Mebibytes,
        "largest growth", CHUNK_ROWS, Lower),
    metric("chunk_mem_delta_std_mb", "Memory growth of a chunk (spread)", Chunks, Mebibytes,
        "sample standard deviation (n − 1) of the growth", CHUNK_ROWS, Neither),
    metric("chunk_peak_memory_max_mb", "Memory while a chunk ran (peak)", Chunks, Mebibytes,
        "highest resident memory of a process during any successful chunk", CHUNK_ROWS, Lower),
    metric("total_events_from_chunks", "Events in chunks", Chunks, Count,
        "sum of events over successful chunks", CHUNK_ROWS, Neither),
    metric("chunk_events_mean", "Events per chunk (mean)", Chunks, Count,
        "mean of events per successful chunk", CHUNK_ROWS, Neither),
    metric("chunk_events_min", "Events per chunk (min)", Chunks, Count,
        "fewest events in a chunk", CHUNK_ROWS, Neither),
    metric("chunk_events_max", "Events per chunk (max)", Chunks, Count,
        "most events in a chunk", CHUNK_ROWS, Neither),
    metric("time_per_event_mean_us", "Time per event (mean)", Chunks, Microseconds,
        "mean over chunks of time in process() / events", CHUNK_ROWS, Lower),
    metric("time_per_event_std_us", "Time per event (spread)", Chunks, Microseconds,
        "sample standard deviation (n − 1) over chunks of time in process() / events", CHUNK_ROWS, Lower),
    metric("memory_per_event_mean_bytes", "Memory growth per event (mean)", Chunks, Bytes,
        "mean over chunks of memory growth / events", CHUNK_ROWS, Lower),
    metric("memory_per_event_std_bytes", "Memory growth per event (spread)", Chunks, Bytes,
        "sample standard deviation (n − 1) over chunks of memory growth / events", CHUNK_ROWS, Neither),
    metric("runtime_events_correlation", "Correlation of time and events", Chunks, Ratio,
        "Pearson's correlation of time in process() and events over chunks", CHUNK_ROWS, Neither)
        .caution("From −1 to 1; missing where all chunks have the same size. Far below 1, something other than the number of events sets the time."),
    metric("per_dataset", "Datasets", Chunks, Table,
        "by dataset: num_chunks, total_duration, total_events, mean_duration, mean_events_per_chunk, failed_chunks, bytes_read, time_per_event_us", CHUNK_ROWS, Neither),
    metric("sections", "Sections of user code", Chunks, Table,
        "by section name: count, total_seconds, mean_seconds, share_of_processing_percent, cpu_seconds, per_dataset; for memory sections memory_count, memory_delta_mean_mb, memory_delta_max_mb; for bytes sections bytes", SECTION_ROWS, Neither)
        .caution("A section inside another counts in both, so shares may add up to more than 100 %."),
    metric("slowest_chunks", "Slowest chunks", Chunks, Table,
        "the ten longest successful attempts, with the part of each that exceeds its median over all chunks the most", CHUNK_ROWS, Neither),
    metric("chunk_outliers", "Chunks far slower than the rest", Chunks, Table,
        "successful attempts longer than the median + 5 × 1.4826 × the median absolute deviation; needs 3 chunks", CHUNK_ROWS, Lower),
    metric("failures", "Failed attempts", Chunks, Table,
        "by class of error: attempts, chunks, core_seconds spent in them; `repeated` are successes that a later one replaced", CHUNK_ROWS, Lower),

    metric("avg_compression_ratio", "Compression ratio (mean of files)", Files, Ratio,
        "mean over files of compressed / uncompressed tree size", FILE_ROWS, Neither),
    metric("total_branches_read", "Branches read", Files, Count,
        "distinct branches read by any chunk", COLUMN_ROWS, Neither),
    metric("avg_branches_read_percent", "Branches read (mean of files)", Files, Percent,
        "mean over files of branches read / branches × 100", FILE_ROWS, Neither),
    metric("avg_bytes_read_percent", "Bytes of those branches (mean)", Files, Percent,
        "mean over files of the compressed size of branches read / tree size × 100", FILE_ROWS, Neither)
        .caution("Of the whole file, whether or not every entry of it was processed."),
    metric("file_metadata", "Files", Files, Table,
        "by file: compression_ratio, total_branches, total_tree_bytes", FILE_ROWS, Neither)
        .caution("Of more than 200 files it is not kept with the other metrics, but computed from the table `files` when it is looked up."),
    metric("file_read_metrics", "Reading by file", Files, Table,
        "by file: total_branches, branches_read, branches_read_percent, total_tree_bytes, bytes_read (by the columns of its successful chunks), bytes_read_percent (compressed size of branches read / tree size)", FILE_ROWS, Neither)
        .caution("Of more than 200 files it is not kept with the other metrics, but computed from the table `files` when it is looked up."),
    metric("branches", "Branches", Files, Table,
        "by branch, slowest first: files, chunks, reads, bytes, requests, seconds, cpu_seconds, decompress_seconds, interpret_seconds", COLUMN_ROWS, Neither)
        .caution("Over every attempt. `files` adds up datasets, so a file in two of them counts twice."),

    metric("ledger_available_core_seconds", "Core time available", Ledger, CoreSeconds,
        "∫ task threads dt, summed over workers, from start to end of the run", TRACKING, Neither),
    metric("ledger", "Where the core time went", Ledger, Table,
        "core-seconds by what they were spent on; the rows add up to ledger_available_core_seconds", "worker tracking, task intervals, chunk rows", Neither)
        .caution("`unexplained` is what no record accounts for; it is shown, never spread over other rows. Missing where it is not known which worker was busy when."),
    metric("verdict", "Verdict", Ledger, Text,
        "what takes most of the core time, and the one change that is worth most", "all of the above", Neither),
    metric("advice", "Advice", Ledger, Table,
        "what to change, that worth most first: rule, headline, action, evidence (label, value), threshold (when the rule speaks), gain (core_seconds, wall_seconds_now, wall_seconds_then) where it can be estimated, snippet (code to paste)", "all of the above", Neither)
        .caution("Estimates are about right, not exact. An empty list: nothing to say. Missing: nothing could be judged."),

    metric("monitoring_overhead_seconds", "Time spent on measuring", Monitoring, Seconds,
        "time of recording in chunks and of watching their memory + time of the sampler", "chunk rows, worker tracking", Lower),
    metric("monitoring_overhead_percent", "Core time spent on measuring", Monitoring, Percent,
        "monitoring_overhead_seconds / ledger_available_core_seconds × 100", "chunk rows, worker tracking", Lower),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_one_metric() {
        let mut names: Vec<_> = CATALOG
            .iter()
            .flat_map(|metric| std::iter::once(metric.key).chain(metric.aliases.iter().copied()))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn groups_stand_together_in_order() {
        let groups: Vec<_> = CATALOG.iter().map(|metric| metric.group).collect();
        assert!(groups.is_sorted());
    }

    #[test]
    fn aliases_resolve() {
        assert_eq!(canonical_key("core_efficiency"), Some("cpu_efficiency"));
        assert_eq!(canonical_key("wall_time"), Some("wall_time"));
        assert_eq!(canonical_key("warp_factor"), None);
    }
}
