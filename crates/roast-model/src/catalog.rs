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
}

impl Group {
    /// Every group, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::Throughput, Self::Volume, Self::Timing, Self::Workers, Self::Fine, Self::Efficiency];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Volume => "Data volume",
            Self::Timing => "Timing",
            Self::Workers => "Workers",
            Self::Fine => "Activity of the worker threads",
            Self::Efficiency => "Efficiency",
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
use Group::{Efficiency, Fine, Throughput, Timing, Volume, Workers};
use Unit::{
    Bytes, BytesPerSec, Count, GigabitsPerSec, HertzPerCore, Kilohertz, KilohertzPerCore,
    MegabytesPerSec, Percent, Ratio, Seconds,
};

/// Every metric, in the order in which they are shown.
#[rustfmt::skip]
pub const CATALOG: &[MetricDef] = &[
    metric("data_rate_gbps", "Data rate", Throughput, GigabitsPerSec,
        "total_bytes_read_coffea × 8 / wall_time / 10⁹", REPORT, Higher)
        .also(&["overall_rate_gbps"])
        .caution("Counts the byte ranges that were asked for, not what crossed the wire."),
    metric("data_rate_mb_per_s", "Data rate", Throughput, MegabytesPerSec,
        "total_bytes_read_coffea / wall_time / 10⁶", REPORT, Higher)
        .also(&["overall_rate_mbps"])
        .caution("Megabytes per second; the alias's 'mbps' is the original's spelling and does not mean megabits."),
    metric("event_rate_wall_khz", "Event rate (wall clock)", Throughput, Kilohertz,
        "total_events / wall_time / 1000", REPORT, Higher)
        .also(&["event_rate_elapsed_khz"]),
    metric("event_rate_agg_khz", "Event rate (per processing second)", Throughput, Kilohertz,
        "total_events / total_cpu_time / 1000", REPORT, Higher)
        .also(&["event_rate_cpu_total_khz"])
        .caution("Leaves out opening files and parsing tree metadata, which coffea does not time."),
    metric("event_rate_core_hz", "Event rate (per core)", Throughput, HertzPerCore,
        "total_events / (wall_time × total_cores)", "coffea report, worker tracking", Higher),
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
        "total_cpu_time / (wall_time × total_cores)", "coffea report, worker tracking", Higher)
        .also(&["core_efficiency"])
        .caution("Share of the available core time inside process(), waiting included; not CPU use."),
    metric("cpu_efficiency_fine", "Core efficiency (CPU only)", Efficiency, Ratio,
        "cpu_time_seconds / (wall_time × total_cores)", "Dask span, worker tracking", Higher),
    metric("speedup_factor", "Speed-up", Efficiency, Ratio,
        "total_cpu_time / wall_time", REPORT, Higher)
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
