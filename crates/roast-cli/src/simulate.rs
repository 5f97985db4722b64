//! `roastcoffea simulate`: a measurement of a run that never was.

use std::io::Write;

use anyhow::Context;
use roast_analyze::analyze;
use roast_simulate::{Preset, Simulation, SimulationError, needed_bytes, simulate};
use roast_store::{SaveOptions, Shortage, check_memory};

use crate::arguments::{Character, SimulateArguments};
use crate::failure::Failure;
use crate::progress::Progress;

/// What analysing and saving needs beside the tables.
const WORKING_ROOM: f64 = 1.5;

pub(crate) fn run(arguments: &SimulateArguments) -> Result<(), Failure> {
    let simulation = simulation(arguments)?;
    simulation.check().map_err(told)?;
    check_memory(needed_bytes(&simulation) * WORKING_ROOM).map_err(too_large)?;
    let (output, name) = (&arguments.output, arguments.name.as_str());
    roast_store::check_writable(output, Some(name), arguments.force)
        .map_err(|error| unwritable(error, arguments))?;
    let progress = Progress::reading();
    progress.file("simulating");
    let mut measurement = simulate(&simulation).map_err(told)?;
    progress.file("computing the metrics");
    measurement.header.metrics = analyze(&measurement).into_value();
    progress.file("saving");
    let options = SaveOptions { overwrite: arguments.force };
    let path = roast_store::save(&measurement, output, name, options)
        .map_err(|error| unwritable(error, arguments))?;
    drop(progress);
    writeln!(std::io::stdout(), "{}", path.display())
        .context("could not print where it was written")
        .map_err(Failure::from)
}

fn simulation(arguments: &SimulateArguments) -> Result<Simulation, Failure> {
    let mut simulation = Preset::from(arguments.preset).simulation(arguments.seed);
    simulation.name.clone_from(&arguments.name);
    let (cluster, work) = (&mut simulation.cluster, &mut simulation.workload);
    let set = |slot: &mut u32, given: Option<u32>| *slot = given.unwrap_or(*slot);
    set(&mut cluster.workers, arguments.workers);
    set(&mut cluster.threads_per_worker, arguments.threads);
    set(&mut work.datasets, arguments.datasets);
    set(&mut work.sections, arguments.sections);
    cluster.ramp_up_secs = arguments.ramp_up.unwrap_or(cluster.ramp_up_secs);
    cluster.worker_lifetime_secs = arguments.worker_lifetime.or(cluster.worker_lifetime_secs);
    work.failures = arguments.failures.unwrap_or(work.failures);
    work.stragglers = arguments.stragglers.unwrap_or(work.stragglers);
    if let (Some(_), Some(_), Some(_)) = (arguments.chunks, arguments.events, arguments.chunksize) {
        return Err(Failure::usage(
            "--chunks, --events and --chunksize say too much".to_owned(),
            "give two of them; the third follows".to_owned(),
        ));
    }
    let chunksize = arguments.chunksize.unwrap_or(work.events / work.chunks);
    (work.chunks, work.events) = match (arguments.chunks, arguments.events) {
        (Some(chunks), Some(events)) => (chunks, events),
        (None, Some(events)) => (events.div_ceil(chunksize), events),
        (chunks, None) => {
            let chunks = chunks.unwrap_or(work.chunks);
            (chunks, chunks.saturating_mul(chunksize))
        }
    };
    if let Some(hours) = arguments.hours {
        simulation.set_expected_secs(hours * 3600.0).map_err(|shortest| {
            Failure::usage(
                format!("this run takes {:.2} hours or more, not {hours}", shortest / 3600.0),
                "raise --hours or --workers, or lower --chunks".to_owned(),
            )
        })?;
    }
    Ok(simulation)
}

fn too_large(shortage: Shortage) -> Failure {
    Failure::from(anyhow::Error::new(shortage).context("this run is too large for this machine"))
        .hint(Some(
            "lower --chunks, --workers, --hours or --sections; a chunk takes about 3 kB, and a \
             worker up to 1 MB for each hour"
                .to_owned(),
        ))
}

fn told(error: SimulationError) -> Failure {
    match error {
        SimulationError::BadNumber { .. } => Failure::usage(
            error.to_string(),
            "roastcoffea simulate --help tells what each option means".to_owned(),
        ),
        SimulationError::Table { .. } => Failure::from(anyhow::Error::new(error)),
    }
}

fn unwritable(error: roast_store::StoreError, arguments: &SimulateArguments) -> Failure {
    let exists = arguments.output.join(&arguments.name).exists();
    let hint = "pass --force to replace it, or choose another name with --name".to_owned();
    Failure::from(anyhow::Error::new(error).context("could not save the measurement"))
        .hint((exists && !arguments.force).then_some(hint))
}

impl From<Character> for Preset {
    fn from(character: Character) -> Self {
        match character {
            Character::Healthy => Self::Healthy,
            Character::SetupDominated => Self::SetupDominated,
            Character::IoBound => Self::IoBound,
            Character::TailHeavy => Self::TailHeavy,
            Character::Failing => Self::Failing,
        }
    }
}
