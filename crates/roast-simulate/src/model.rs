//! What is simulated: a cluster, and the work it is given.

use roast_model::{TableError, UtcNs};

/// A run to simulate.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// What the measurement is called.
    pub name: String,
    /// The same seed gives the same run.
    pub seed: u64,
    /// When the run starts.
    pub started: UtcNs,
    /// Who works.
    pub cluster: Cluster,
    /// What there is to do.
    pub workload: Workload,
}

/// A cluster of Dask workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Workers that are there at the same time.
    pub workers: u32,
    /// Task threads of each.
    pub threads_per_worker: u32,
    /// Workers that share one host.
    pub workers_per_host: u32,
    /// How much hosts differ in speed: sigma of a lognormal distribution.
    pub host_speed_spread: f64,
    /// Fraction of hosts that are slow beyond that.
    pub slow_hosts: f64,
    /// How much slower those are.
    pub slow_host_factor: f64,
    /// Seconds until the last worker has joined.
    pub ramp_up_secs: f64,
    /// Mean seconds after which a worker is killed and replaced; missing if they
    /// all stay.
    pub worker_lifetime_secs: Option<f64>,
    /// Memory a worker may use.
    pub memory_limit_bytes: i64,
}

/// The work of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// Datasets, between which the files are divided.
    pub datasets: u32,
    /// Chunks, each of which succeeds in the end.
    pub chunks: u64,
    /// Events in all of them together.
    pub events: u64,
    /// Chunks of each file; the last file may have fewer.
    pub chunks_per_file: u32,
    /// Branches in a tree.
    pub tree_branches: u32,
    /// Branches that are read.
    pub branches_read: u32,
    /// Sections of the user's code in each chunk.
    pub sections: u32,
    /// What each step takes on a host of usual speed.
    pub costs: Costs,
    /// How much equal steps differ: sigma of a lognormal distribution.
    pub noise: f64,
    /// Fraction of attempts that fail.
    pub failures: f64,
    /// Fraction of the files in which all failures happen.
    pub failing_files: f64,
    /// Fraction of attempts that take much longer.
    pub stragglers: f64,
    /// How much longer those take.
    pub straggler_factor: f64,
    /// Outputs that one reduction task adds up, as coffea's `treereduction`.
    pub reduced_together: u32,
}

/// What each step of the work takes on a host of usual speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    /// Opening a file.
    pub open_secs: f64,
    /// Reading the description of the tree.
    pub tree_secs: f64,
    /// Building the events.
    pub events_secs: f64,
    /// The user's code, once per chunk.
    pub process_secs: f64,
    /// The user's code on a CPU, for each event.
    pub cpu_us_per_event: f64,
    /// The user's code waiting, for each event.
    pub wait_us_per_event: f64,
    /// Waiting for bytes of columns, for each event.
    pub read_us_per_event: f64,
    /// Decompressing, for each event.
    pub decompress_us_per_event: f64,
    /// Turning baskets into arrays, for each event.
    pub interpret_us_per_event: f64,
    /// Packing the output.
    pub serialize_secs: f64,
    /// Adding one output to another.
    pub reduce_secs: f64,
    /// Between two tasks of a thread.
    pub between_tasks_secs: f64,
    /// Compressed bytes read for each event.
    pub bytes_per_event: f64,
}

/// A run cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// A number of the model makes no sense.
    #[error("{name} must be {allowed}, not {given}")]
    BadNumber {
        /// Which one.
        name: &'static str,
        /// What it may be.
        allowed: &'static str,
        /// What it is.
        given: f64,
    },
    /// Rows did not fit their table.
    #[error("a simulated table could not be put together")]
    Table {
        /// Why.
        source: TableError,
    },
}

/// More of anything than tables can number.
const MAX_COUNT: f64 = 2e9;

impl Simulation {
    /// Refuses numbers that make no sense.
    pub fn check(&self) -> Result<(), SimulationError> {
        let (cluster, work, costs) = (&self.cluster, &self.workload, &self.workload.costs);
        for (name, given) in [
            ("workers", f64::from(cluster.workers)),
            ("threads per worker", f64::from(cluster.threads_per_worker)),
            ("workers per host", f64::from(cluster.workers_per_host)),
            ("datasets", f64::from(work.datasets)),
            ("chunks", work.chunks as f64),
            ("chunks per file", f64::from(work.chunks_per_file)),
        ] {
            require(name, given, "from 1 to 2e9", (1.0..=MAX_COUNT).contains(&given))?;
        }
        let threads = f64::from(cluster.workers) * f64::from(cluster.threads_per_worker);
        require("the number of threads", threads, "up to 1e8", threads <= 1e8)?;
        let events = work.events as f64;
        require("events", events, "at least one per chunk and up to 1e15", {
            work.events >= work.chunks && events <= 1e15
        })?;
        let sections = f64::from(work.sections);
        require("sections", sections, "from 0 to 100", sections <= 100.0)?;
        let branches = f64::from(work.branches_read);
        require("branches read", branches, "from 1 to the branches of the tree", {
            work.branches_read >= 1 && work.branches_read <= work.tree_branches
        })?;
        let together = f64::from(work.reduced_together);
        require("outputs reduced together", together, "at least 2", together >= 2.0)?;
        for (name, given) in [("failures", work.failures), ("stragglers", work.stragglers)] {
            require(name, given, "a fraction from 0 to 0.5", (0.0..=0.5).contains(&given))?;
        }
        for (name, given) in
            [("failing files", work.failing_files), ("slow hosts", cluster.slow_hosts)]
        {
            require(name, given, "a fraction from 0 to 1", (0.0..=1.0).contains(&given))?;
        }
        for (name, given) in [
            ("straggler factor", work.straggler_factor),
            ("slow host factor", cluster.slow_host_factor),
        ] {
            require(name, given, "from 1 to 1000", (1.0..=1000.0).contains(&given))?;
        }
        for (name, given) in
            [("noise", work.noise), ("host speed spread", cluster.host_speed_spread)]
        {
            require(name, given, "from 0 to 2", (0.0..=2.0).contains(&given))?;
        }
        let lifetime = cluster.worker_lifetime_secs.unwrap_or(1e3);
        require("worker lifetime", lifetime, "at least 60 seconds", lifetime >= 60.0)?;
        let memory = cluster.memory_limit_bytes as f64;
        require("memory limit", memory, "a number of bytes", memory > 0.0)?;
        for (name, given) in [
            ("ramp-up", cluster.ramp_up_secs),
            ("open cost", costs.open_secs),
            ("tree cost", costs.tree_secs),
            ("events cost", costs.events_secs),
            ("process cost", costs.process_secs),
            ("CPU cost per event", costs.cpu_us_per_event),
            ("wait cost per event", costs.wait_us_per_event),
            ("read cost per event", costs.read_us_per_event),
            ("decompression cost per event", costs.decompress_us_per_event),
            ("interpretation cost per event", costs.interpret_us_per_event),
            ("serialize cost", costs.serialize_secs),
            ("reduction cost", costs.reduce_secs),
            ("cost between tasks", costs.between_tasks_secs),
            ("bytes per event", costs.bytes_per_event),
        ] {
            require(name, given, "from 0 to 1e6", (0.0..=1e6).contains(&given))?;
        }
        Ok(())
    }

    /// About how many seconds chunks are processed, if nothing holds them up.
    pub fn expected_secs(&self) -> f64 {
        let threads = f64::from(self.cluster.workers) * f64::from(self.cluster.threads_per_worker);
        let work = &self.workload;
        let slowness = (1.0 + self.cluster.slow_hosts * (self.cluster.slow_host_factor - 1.0))
            * (1.0 + work.stragglers * (work.straggler_factor - 1.0))
            * (1.0 + work.failures);
        let rounds = (work.chunks as f64 / threads).max(1.0);
        self.cluster.ramp_up_secs / 2.0 + rounds * slowness * self.chunk_secs()
    }

    /// Changes the costs per event so that chunks are processed for about that
    /// long. If even events that cost nothing take longer: how long those take.
    pub fn set_expected_secs(&mut self, secs: f64) -> Result<(), f64> {
        let now = self.expected_secs();
        let mut without = self.clone();
        without.workload.costs.scale_events(0.0);
        let shortest = without.expected_secs();
        if !secs.is_finite() || secs <= shortest || now <= shortest {
            return Err(shortest);
        }
        self.workload.costs.scale_events((secs - shortest) / (now - shortest));
        Ok(())
    }

    /// Seconds of a chunk of mean size on a host of usual speed.
    pub fn chunk_secs(&self) -> f64 {
        let work = &self.workload;
        let events = work.events as f64 / work.chunks as f64;
        work.costs.secs_per_chunk() + events * work.costs.us_per_event() / 1e6
    }
}

impl Costs {
    /// What a chunk takes whatever its size.
    pub fn secs_per_chunk(&self) -> f64 {
        self.open_secs
            + self.tree_secs
            + self.events_secs
            + self.process_secs
            + self.serialize_secs
            + self.between_tasks_secs
    }

    /// What each event adds.
    pub fn us_per_event(&self) -> f64 {
        self.cpu_us_per_event
            + self.wait_us_per_event
            + self.read_us_per_event
            + self.decompress_us_per_event
            + self.interpret_us_per_event
    }

    /// Changes all costs per event by one factor.
    pub fn scale_events(&mut self, factor: f64) {
        for cost in [
            &mut self.cpu_us_per_event,
            &mut self.wait_us_per_event,
            &mut self.read_us_per_event,
            &mut self.decompress_us_per_event,
            &mut self.interpret_us_per_event,
        ] {
            *cost *= factor;
        }
    }
}

fn require(
    name: &'static str,
    given: f64,
    allowed: &'static str,
    holds: bool,
) -> Result<(), SimulationError> {
    if holds { Ok(()) } else { Err(SimulationError::BadNumber { name, allowed, given }) }
}
