//! Runs of a known character, for tests, benchmarks and to try things on.

use roast_model::UtcNs;

use crate::model::{Cluster, Costs, Simulation, Workload};

/// A run of a known character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Nothing to complain about.
    Healthy,
    /// Small chunks of wide trees: most time goes into opening them.
    SetupDominated,
    /// Columns come slowly.
    IoBound,
    /// A few chunks take so long that the others wait for them at the end.
    TailHeavy,
    /// Attempts on a few files fail, and workers are killed.
    Failing,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 5] =
        [Self::Healthy, Self::SetupDominated, Self::IoBound, Self::TailHeavy, Self::Failing];

    /// The run: some thousand chunks on a small cluster.
    pub fn simulation(self, seed: u64) -> Simulation {
        let mut simulation = healthy(seed);
        let (cluster, work) = (&mut simulation.cluster, &mut simulation.workload);
        match self {
            Self::Healthy => {}
            Self::SetupDominated => {
                work.events = work.chunks * 2_000;
                work.tree_branches = 1600;
                work.costs.tree_secs = 0.9;
                work.costs.events_secs = 0.2;
            }
            Self::IoBound => {
                work.costs.read_us_per_event = 400.0;
                work.costs.bytes_per_event = 4_000.0;
            }
            Self::TailHeavy => {
                work.chunks = 400;
                work.events = work.chunks * 50_000;
                work.stragglers = 0.02;
                work.straggler_factor = 12.0;
                cluster.host_speed_spread = 0.2;
            }
            Self::Failing => {
                work.failures = 0.08;
                work.failing_files = 0.1;
                cluster.worker_lifetime_secs = Some(600.0);
            }
        }
        simulation
    }
}

fn healthy(seed: u64) -> Simulation {
    let chunks = 4_000;
    Simulation {
        name: "simulated".to_owned(),
        seed,
        // The same for the same seed, so that whole measurements can be compared.
        started: UtcNs(1_790_000_000_000_000_000),
        cluster: Cluster {
            workers: 16,
            threads_per_worker: 2,
            workers_per_host: 4,
            host_speed_spread: 0.05,
            slow_hosts: 0.0,
            slow_host_factor: 1.0,
            ramp_up_secs: 5.0,
            worker_lifetime_secs: None,
            memory_limit_bytes: 4 << 30,
        },
        workload: Workload {
            datasets: 4,
            chunks,
            events: chunks * 50_000,
            chunks_per_file: 8,
            tree_branches: 600,
            branches_read: 24,
            sections: 3,
            costs: Costs {
                open_secs: 0.02,
                tree_secs: 0.12,
                events_secs: 0.04,
                process_secs: 0.03,
                cpu_us_per_event: 60.0,
                wait_us_per_event: 1.0,
                read_us_per_event: 5.0,
                decompress_us_per_event: 6.0,
                interpret_us_per_event: 3.0,
                serialize_secs: 0.01,
                reduce_secs: 0.01,
                between_tasks_secs: 0.008,
                bytes_per_event: 400.0,
            },
            noise: 0.1,
            failures: 0.0,
            failing_files: 1.0,
            stragglers: 0.0,
            straggler_factor: 8.0,
            reduced_together: 20,
        },
    }
}
