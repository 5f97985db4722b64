//! A simulated measurement is consistent with itself and with what it was asked
//! to be.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::BTreeMap;

use roast_analyze::{LEDGER, Metrics, analyze};
use roast_model::{Frame, Measurement, Table, Value};
use roast_simulate::{Preset, Simulation, SimulationError, needed_bytes, simulate};

const PHASES: [&str; 6] =
    ["unpack_secs", "open_secs", "tree_secs", "events_secs", "process_secs", "serialize_secs"];

fn made(preset: Preset) -> (Simulation, Measurement, Metrics) {
    let simulation = preset.simulation(7);
    let measurement = simulate(&simulation).unwrap();
    let metrics = analyze(&measurement);
    (simulation, measurement, metrics)
}

/// The share of the ledger that these rows have, in percent.
fn share(metrics: &Metrics, keys: &[&str]) -> f64 {
    let ledger = metrics.get("ledger").unwrap();
    let secs = |key: &str| ledger.get(key).unwrap().as_f64().unwrap();
    let all: f64 = LEDGER.iter().map(|row| secs(row.key)).sum();
    keys.iter().map(|key| secs(key)).sum::<f64>() / all * 100.0
}

fn chunks(measurement: &Measurement) -> Frame<'_> {
    Frame::new(measurement.table(Table::Chunks).unwrap())
}

#[test]
fn the_ledger_explains_every_preset() {
    for preset in Preset::ALL {
        let (_, _, metrics) = made(preset);
        let available = metrics.number("ledger_available_core_seconds").unwrap();
        let ledger = metrics.get("ledger").unwrap();
        let sum: f64 =
            LEDGER.iter().map(|row| ledger.get(row.key).unwrap().as_f64().unwrap()).sum();
        assert!((sum / available - 1.0).abs() < 1e-6, "{preset:?}: {sum} of {available}");
        assert!(share(&metrics, &["unexplained"]) < 5.0, "{preset:?}");
    }
}

#[test]
fn events_are_as_many_as_were_asked_for() {
    for preset in Preset::ALL {
        let mut simulation = preset.simulation(3);
        simulation.workload.chunks = 333;
        simulation.workload.events = 1_234_567;
        let measurement = simulate(&simulation).unwrap();
        let rows = chunks(&measurement);
        let events: i64 = rows
            .ints("num_events")
            .zip(rows.names("outcome"))
            .filter(|(_, outcome)| *outcome == Some("ok"))
            .map(|(events, _)| events.unwrap())
            .sum();
        assert_eq!(events, 1_234_567, "{preset:?}");
        let metrics = analyze(&measurement);
        assert_eq!(metrics.number("total_events"), Some(1_234_567.0));
        assert_eq!(metrics.number("total_events_from_chunks"), Some(1_234_567.0));
        assert_eq!(metrics.number("num_successful_chunks"), Some(333.0));
    }
}

#[test]
fn a_thread_does_one_thing_at_a_time() {
    for preset in Preset::ALL {
        let (_, measurement, _) = made(preset);
        let rows = chunks(&measurement);
        let mut by_thread: BTreeMap<(&str, i64), Vec<(i64, i64)>> = BTreeMap::new();
        let spans = rows.times("start").zip(rows.times("stop"));
        for ((worker, thread), (start, stop)) in
            rows.names("worker").zip(rows.ints("thread")).zip(spans)
        {
            let span = (start.unwrap().0, stop.unwrap().0);
            by_thread.entry((worker.unwrap(), thread.unwrap())).or_default().push(span);
        }
        for spans in by_thread.values_mut() {
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{preset:?}");
        }
    }
}

#[test]
fn phases_fill_their_chunk_and_cpu_fits_into_them() {
    let (_, measurement, _) = made(Preset::Failing);
    let rows = chunks(&measurement);
    let mut phases = PHASES.map(|phase| rows.floats(phase));
    let mut reads = rows.floats("read_secs");
    for (start, stop) in rows.times("start").zip(rows.times("stop")) {
        let secs = phases.each_mut().map(|phase| phase.next().unwrap().unwrap());
        let length = stop.unwrap().secs_since(start.unwrap());
        assert!((secs.iter().sum::<f64>() - length).abs() < 1e-6);
        assert!(reads.next().unwrap().unwrap() <= secs[4]);
    }
}

#[test]
fn the_columns_table_adds_up_to_the_chunks() {
    let (_, measurement, _) = made(Preset::Failing);
    let sum = |table: Table, column: &str| {
        Frame::new(measurement.table(table).unwrap()).floats(column).flatten().sum::<f64>()
    };
    for (of_chunks, of_columns) in [
        ("read_secs", "wall_secs"),
        ("read_cpu_secs", "cpu_secs"),
        ("decompress_secs", "decompress_secs"),
        ("interpret_secs", "interpret_secs"),
    ] {
        let ratio = sum(Table::Chunks, of_chunks) / sum(Table::Columns, of_columns);
        assert!((ratio - 1.0).abs() < 1e-6, "{of_chunks}: {ratio}");
    }
}

#[test]
fn the_seed_decides() {
    let simulation = Preset::Failing.simulation(11);
    assert_eq!(simulate(&simulation).unwrap(), simulate(&simulation).unwrap());
    let other = Simulation { seed: 12, ..simulation.clone() };
    assert_ne!(simulate(&simulation).unwrap(), simulate(&other).unwrap());
}

#[test]
fn presets_have_their_character() {
    let setup = ["file_open", "tree_metadata", "events_form"];
    let reading = ["column_read"];
    let (_, _, healthy) = made(Preset::Healthy);
    assert!(share(&healthy, &["user_cpu"]) > 60.0);
    assert!(share(&healthy, &setup) < 15.0);
    assert!(share(&healthy, &["failed_work"]) == 0.0);

    let (_, _, small) = made(Preset::SetupDominated);
    assert!(share(&small, &setup) > 50.0);

    let (_, _, slow) = made(Preset::IoBound);
    assert!(share(&slow, &reading) > 50.0);

    let (_, _, tail) = made(Preset::TailHeavy);
    assert!(share(&tail, &["idle_tail"]) > 4.0 * share(&healthy, &["idle_tail"]));

    let (simulation, measurement, failing) = made(Preset::Failing);
    assert!(share(&failing, &["failed_work"]) > 1.0);
    assert!(failing.number("num_retried_chunks").unwrap() > 0.0);
    let chunks = simulation.workload.chunks as f64;
    assert_eq!(failing.number("num_successful_chunks"), Some(chunks));
    let workers: std::collections::BTreeSet<_> =
        Frame::new(measurement.table(Table::Workers).unwrap()).names("worker").collect();
    assert!(workers.len() > simulation.cluster.workers as usize, "some were replaced");
}

#[test]
fn attempts_fail_as_often_as_was_asked_for() {
    for (failures, failing_files) in [(0.02, 1.0), (0.08, 0.1), (0.2, 0.5)] {
        let mut simulation = Preset::Healthy.simulation(9);
        simulation.workload.failures = failures;
        simulation.workload.failing_files = failing_files;
        let measurement = simulate(&simulation).unwrap();
        let rows = chunks(&measurement);
        let failed = rows.names("error").flatten().count() as f64 / rows.len() as f64;
        assert!((0.75..1.25).contains(&(failed / failures)), "{failures}: {failed}");
        let files: std::collections::BTreeSet<_> =
            rows.names("file").zip(rows.names("error")).filter(|row| row.1.is_some()).collect();
        let all = Frame::new(measurement.table(Table::Files).unwrap()).len() as f64;
        assert!(files.len() as f64 <= 2.0 * (failing_files * all).ceil());
    }
}

#[test]
fn every_table_is_there_and_survives_the_store() {
    let mut simulation = Preset::Failing.simulation(5);
    simulation.workload.chunks = 200;
    simulation.workload.events = 200_000;
    let measurement = simulate(&simulation).unwrap();
    for table in Table::ALL {
        assert!(measurement.table(table).is_some_and(|rows| rows.num_rows() > 0), "{table}");
    }
    let folder = tempfile::tempdir().unwrap();
    let options = roast_store::SaveOptions::default();
    let path = roast_store::save(&measurement, folder.path(), "run", options).unwrap();
    assert_eq!(roast_store::load(&path).unwrap(), measurement);
    assert!(measurement.header.notes[0].starts_with("Simulated"));
}

#[test]
fn a_run_takes_about_as_long_as_was_asked_for() {
    let mut simulation = Preset::Healthy.simulation(1);
    simulation.set_expected_secs(1800.0).unwrap();
    let wall_secs = simulate(&simulation).unwrap().header.wall_secs;
    assert!((0.7..1.3).contains(&(wall_secs / 1800.0)), "{wall_secs}");
    let shortest = simulation.set_expected_secs(1.0).unwrap_err();
    assert!(shortest > 1.0);
}

#[test]
fn the_memory_it_needs_is_known_before() {
    for preset in Preset::ALL {
        let (simulation, measurement, _) = made(preset);
        let held: usize = measurement.tables.values().map(|t| t.get_array_memory_size()).sum();
        let ratio = needed_bytes(&simulation) / held as f64;
        assert!((1.0..4.0).contains(&ratio), "{preset:?}: {ratio}");
    }
}

#[test]
fn numbers_without_sense_are_refused_by_name() {
    let refused = |change: fn(&mut Simulation)| {
        let mut simulation = Preset::Healthy.simulation(1);
        change(&mut simulation);
        match simulate(&simulation) {
            Err(SimulationError::BadNumber { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|s| s.cluster.workers = 0), "workers");
    assert_eq!(refused(|s| s.workload.chunks = 0), "chunks");
    assert_eq!(refused(|s| s.workload.events = 1), "events");
    assert_eq!(refused(|s| s.workload.failures = 0.9), "failures");
    assert_eq!(refused(|s| s.workload.noise = f64::NAN), "noise");
    assert_eq!(refused(|s| s.workload.costs.tree_secs = -1.0), "tree cost");
    assert_eq!(refused(|s| s.workload.branches_read = 10_000), "branches read");
    assert_eq!(refused(|s| s.cluster.worker_lifetime_secs = Some(1.0)), "worker lifetime");
}

/// One chunk on one thread is a run, too; so are many threads for few chunks.
#[test]
fn small_and_lopsided_runs() {
    for (workers, threads, chunks) in [(1, 1, 1), (1, 1, 2), (50, 8, 3), (1, 4, 21)] {
        let mut simulation = Preset::Failing.simulation(2);
        simulation.cluster.workers = workers;
        simulation.cluster.threads_per_worker = threads;
        simulation.workload.chunks = chunks;
        simulation.workload.events = chunks * 1000;
        let metrics = analyze(&simulate(&simulation).unwrap());
        assert_eq!(metrics.number("num_successful_chunks"), Some(chunks as f64));
        assert!(share(&metrics, &["unexplained"]) < 5.0);
    }
}

#[test]
fn a_tail_of_slow_chunks_gets_advice_that_holds() {
    let mut judged = 0;
    for seed in 1..=6 {
        let simulation = Preset::TailHeavy.simulation(seed);
        let metrics = analyze(&simulate(&simulation).unwrap());
        if share(&metrics, &["idle_tail"]) < 10.0 {
            continue;
        }
        judged += 1;
        let advice = metrics.get("advice").unwrap().items().unwrap();
        let is_tail = |advice: &&Value| advice.get("rule").unwrap().as_str() == Some("idle-tail");
        let gain = advice.iter().find(is_tail).unwrap().get("gain").unwrap();
        let then = gain.get("wall_seconds_then").unwrap().as_f64().unwrap();
        // The same run without those chunks tells what it would have been.
        let mut without = simulation.clone();
        without.workload.stragglers = 0.0;
        let truth = analyze(&simulate(&without).unwrap()).number("wall_time").unwrap();
        let now = metrics.number("wall_time").unwrap();
        assert!((then / truth - 1.0).abs() < 0.15, "seed {seed}: {now} → {then}, not {truth}");
    }
    assert!(judged >= 2);
}
