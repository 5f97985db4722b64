//! Runs in which every second is known.

use roast_model::{Measurement, Value};

use super::build::{
    ChunkRow, Row, TaskRow, add_chunks, add_second_ticks, add_tasks, add_ticks, add_workers, bare,
    chunk, phase, task,
};
use crate::{LEDGER, analyze};

/// Every row of the ledger: those given, and zero for all others.
#[track_caller]
fn check(run: &Measurement, available: f64, expected: &[(&str, f64)]) {
    let metrics = analyze(run);
    let ledger = metrics.get("ledger").unwrap();
    let keys: Vec<_> = ledger.pairs().iter().filter_map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, LEDGER.iter().map(|row| row.key).collect::<Vec<_>>());
    let known = |key: &str| expected.iter().find(|(name, _)| *name == key).map_or(0.0, |e| e.1);
    assert!(expected.iter().all(|(key, _)| keys.contains(key)));
    for key in keys {
        let found = ledger.get(key).and_then(Value::as_f64).unwrap();
        assert!(
            (found - known(key)).abs() < 1e-6,
            "{key}: {found}, not {}\n{ledger:?}",
            known(key)
        );
    }
    let total: f64 = expected.iter().map(|(_, secs)| secs).sum();
    assert!((total - available).abs() < 1e-6, "the example itself adds up to {total}");
    assert!((metrics.number("ledger_available_core_seconds").unwrap() - available).abs() < 1e-6);
}

/// 100 s in which a worker is there at every tick.
fn one_worker(threads: i64) -> Measurement {
    let mut run = bare(100.0);
    run.header.processor_prefixes = vec!["P".into()];
    run.header.phases = vec![phase("preprocess", 0.0, 10.0), phase("process", 10.0, 90.0)];
    add_second_ticks(&mut run, 100, 75);
    add_workers(&mut run, &[Row { threads: Some(threads), ..Row::new("a", 0.0, 100.0, 101) }]);
    run
}

/// A chunk of 19 s with a second outside of its phases.
fn detailed(worker: &str, start: f64) -> ChunkRow {
    chunk(worker, start, start + 19.0)
        .name("outcome", "ok")
        .secs("unpack_secs", 0.5)
        .secs("open_secs", 1.0)
        .secs("tree_secs", 2.0)
        .secs("events_secs", 1.5)
        .secs("process_secs", 10.0)
        .secs("process_cpu_secs", 5.0)
        .secs("process_run_queue_secs", 1.0)
        .secs("serialize_secs", 3.0)
        .secs("read_secs", 4.0)
        .secs("read_cpu_secs", 2.0)
        .secs("read_run_queue_secs", 0.5)
        .secs("decompress_secs", 1.0)
        .secs("interpret_secs", 0.5)
}

/// What is in it, apart from the 1.5 s of overhead.
const DETAILS: [(&str, f64); 10] = [
    ("user_cpu", 3.0),
    ("user_run_queue_wait", 0.5),
    ("user_wait", 2.5),
    ("column_read", 2.5),
    ("decompress", 1.0),
    ("interpret", 0.5),
    ("file_open", 1.0),
    ("tree_metadata", 2.0),
    ("events_form", 1.5),
    ("serialize_output", 3.0),
];

fn with(details: &[(&'static str, f64)], more: &[(&'static str, f64)]) -> Vec<(&'static str, f64)> {
    details.iter().chain(more).copied().collect()
}

fn erred(task: TaskRow) -> TaskRow {
    TaskRow { outcome: "erred".into(), ..task }
}

fn action(task: TaskRow, action: &str) -> TaskRow {
    TaskRow { action: action.into(), ..task }
}

#[test]
fn one_thread_from_start_to_end() {
    let mut run = one_worker(1);
    add_tasks(
        &mut run,
        &[
            task("a", "automatic_retries", 2.0, 5.0),
            task("a", "P", 20.0, 40.0),
            erred(task("a", "P", 60.0, 68.0)),
            task("a", "reduce", 80.0, 84.0),
            task("a", "lambda", 95.0, 96.0),
        ],
    );
    add_chunks(
        &mut run,
        &[
            detailed("a", 20.5),
            // Dask retries without telling: no task covers this attempt.
            chunk("a", 45.0, 50.0).name("outcome", "failed").name("error", "OSError"),
        ],
    );
    check(
        &run,
        100.0,
        &with(
            &DETAILS,
            &[
                // Preprocessing, the lambda, and around the chunk inside and outside of its row.
                ("overhead", 3.0 + 1.0 + 1.5 + 1.0),
                ("failed_work", 8.0 + 5.0),
                ("reduction", 4.0),
                ("idle_client", 7.0 + 9.0),
                ("idle_ramp_up", 10.0),
                ("idle_starved", 5.0 + 10.0 + 7.0),
                // From the last tick with waiting tasks on, less the reduction.
                ("idle_tail", 5.0 + 6.0),
            ],
        ),
    );
}

#[test]
fn a_straggler_leaves_the_others_in_the_tail() {
    let mut run = one_worker(1);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    let there = |worker| Row { threads: Some(1), ..Row::new(worker, 0.0, 100.0, 101) };
    add_workers(&mut run, &[there("a"), there("b"), there("c")]);
    add_tasks(&mut run, &[task("a", "P", 0.0, 100.0), task("b", "P", 4.0, 30.0)]);
    // Chunk rows were lost; c never got a task, and none ever waited.
    check(
        &run,
        300.0,
        &[("unexplained", 126.0), ("idle_ramp_up", 4.0), ("idle_tail", 70.0 + 100.0)],
    );
    // As long as tasks waited, c was about to get one.
    add_second_ticks(&mut run, 100, 20);
    check(
        &run,
        300.0,
        &[("unexplained", 126.0), ("idle_ramp_up", 24.0), ("idle_tail", 70.0 + 80.0)],
    );
}

#[test]
fn threads_are_counted_one_by_one() {
    let mut run = one_worker(2);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, 100);
    add_tasks(
        &mut run,
        &[
            task("a", "P", 10.0, 30.0),
            task("a", "P", 10.5, 30.5),
            task("a", "reduce", 50.0, 60.0),
            // 40 to 42 both threads are free, 50 to 55 one is, 12 to 14 none.
            action(task("a", "reduce", 40.0, 42.0), "transfer"),
            action(task("a", "reduce", 50.0, 55.0), "transfer"),
            action(task("a", "reduce", 12.0, 14.0), "transfer"),
            action(task("a", "reduce", 41.0, 43.0), "disk-read"),
        ],
    );
    add_chunks(&mut run, &[detailed("a", 10.6), detailed("a", 11.2)]);
    let twice = DETAILS.map(|(key, secs)| (key, 2.0 * secs));
    check(
        &run,
        200.0,
        &with(
            &twice,
            &[
                ("overhead", 2.0 * 2.5 + 2.0),
                ("reduction", 10.0),
                ("transfer", 7.0),
                ("idle_ramp_up", 20.0),
                ("idle_starved", 0.5 + 0.5 + 2.0 * 19.5 - 2.0 - 2.0 + 5.0),
                ("idle_tail", 80.0),
            ],
        ),
    );
}

#[test]
fn rows_find_their_own_tasks_among_those_that_start_together() {
    let mut run = one_worker(2);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    add_tasks(&mut run, &[task("a", "P", 0.0, 20.0), task("a", "P", 0.0, 100.0)]);
    // The short one comes first; in the long task it would take the other's place.
    let long = chunk("a", 0.5, 99.5).secs("open_secs", 99.0).name("outcome", "ok");
    add_chunks(&mut run, &[detailed("a", 0.5), long]);
    let mut expected = DETAILS.to_vec();
    expected.retain(|(key, _)| *key != "file_open");
    let more = [("file_open", 1.0 + 99.0), ("overhead", 2.5 + 1.0), ("idle_starved", 80.0)];
    check(&run, 200.0, &with(&expected, &more));
}

#[test]
fn more_work_than_threads_is_cut_and_never_exceeds_them() {
    let mut run = one_worker(1);
    run.header.phases.clear();
    add_tasks(&mut run, &[task("a", "P", 0.0, 100.0), task("a", "reduce", 0.0, 100.0)]);
    check(&run, 100.0, &[("unexplained", 50.0), ("reduction", 50.0)]);
    // Outside of the run there is nothing to be busy with.
    add_tasks(&mut run, &[task("a", "reduce", -50.0, 20.0), task("a", "P", 90.0, 300.0)]);
    check(&run, 100.0, &[("reduction", 20.0), ("unexplained", 10.0), ("idle_client", 70.0)]);
}

#[test]
fn workers_that_come_and_go_count_while_they_are_there() {
    let mut run = one_worker(1);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    add_workers(
        &mut run,
        &[
            Row { threads: Some(1), ..Row::new("a", 0.0, 39.0, 40) },
            // Threads that nobody told of are those of its other rows.
            Row { threads: None, ..Row::new("b", 61.0, 70.0, 10) },
            Row { threads: Some(2), ..Row::new("b", 71.0, 100.0, 30) },
        ],
    );
    add_tasks(&mut run, &[task("a", "reduce", 30.0, 45.0), task("b", "reduce", 80.0, 90.0)]);
    // a until 39.5, b from 60.5; what a did later is not in the books.
    check(
        &run,
        39.5 + 2.0 * 39.5,
        &[("reduction", 9.5 + 10.0), ("idle_tail", 30.0 + 2.0 * 39.5 - 10.0)],
    );
    // The same address may come back.
    add_workers(
        &mut run,
        &[
            Row { threads: Some(1), ..Row::new("a", 0.0, 9.0, 10) },
            Row { threads: Some(1), ..Row::new("a", 91.0, 100.0, 10) },
        ],
    );
    add_tasks(&mut run, &[task("a", "reduce", 0.0, 100.0)]);
    check(&run, 9.5 + 9.5, &[("reduction", 19.0)]);
}

#[test]
fn without_tasks_the_chunks_are_the_work() {
    let mut run = bare(50.0);
    run.header.backend = "local".into();
    run.header.phases = vec![phase("process", 5.0, 45.0)];
    // No tick says when the process was sampled, and the rows do not name it so.
    add_workers(&mut run, &[Row { threads: Some(1), ..Row::new("4711", 1.0, 49.0, 49) }]);
    add_chunks(&mut run, &[detailed("here", 5.0), detailed("here", 25.0)]);
    let twice = DETAILS.map(|(key, secs)| (key, 2.0 * secs));
    check(
        &run,
        50.0,
        &with(
            &twice,
            &[("overhead", 3.0), ("idle_client", 10.0), ("idle_starved", 1.0), ("idle_tail", 1.0)],
        ),
    );
}

#[test]
fn what_a_row_does_not_tell_is_unexplained() {
    let mut run = one_worker(1);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    add_tasks(&mut run, &[task("a", "P", 0.0, 50.0), task("a", "P", 50.0, 100.0)]);
    // Of process() alone is known how long it took; the second task has no row.
    add_chunks(&mut run, &[chunk("a", 40.0, 49.0).secs("duration_secs", 9.0)]);
    check(&run, 100.0, &[("unexplained", 100.0)]);
    // With CPU time the user's code is known, and with the opening what is around it.
    let row = chunk("a", 40.0, 49.0).secs("duration_secs", 9.0).secs("process_cpu_secs", 6.0);
    add_chunks(&mut run, std::slice::from_ref(&row));
    check(&run, 100.0, &[("user_cpu", 6.0), ("user_wait", 3.0), ("unexplained", 91.0)]);
    add_chunks(&mut run, &[row.secs("open_secs", 0.0)]);
    check(
        &run,
        100.0,
        &[("user_cpu", 6.0), ("user_wait", 3.0), ("overhead", 41.0), ("unexplained", 50.0)],
    );
}

#[test]
fn claims_beyond_the_attempt_are_cut_in_proportion() {
    let mut run = one_worker(1);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    // 20 s of phases in 10 s; decompression on four threads in 4 s of reading.
    let row = chunk("a", 0.0, 10.0)
        .secs("open_secs", 12.0)
        .secs("process_secs", 8.0)
        .secs("process_cpu_secs", 100.0)
        .secs("read_secs", 4.0)
        .secs("read_cpu_secs", 1.0)
        .secs("decompress_secs", 12.0)
        .secs("interpret_secs", 4.0);
    add_chunks(&mut run, &[row]);
    check(
        &run,
        100.0,
        &[
            ("file_open", 6.0),
            ("user_cpu", 2.0),
            ("decompress", 1.5),
            ("interpret", 0.5),
            ("idle_tail", 90.0),
        ],
    );
}

#[test]
fn repeated_and_replayed_rows() {
    let mut run = one_worker(1);
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    add_tasks(&mut run, &[task("a", "P", 0.0, 20.0)]);
    let ended = |start, outcome: &str| {
        let mut row = detailed("a", start);
        row.names = vec![("outcome", outcome.into())];
        row
    };
    add_chunks(&mut run, &[ended(0.5, "repeated"), ended(50.0, "replayed")]);
    check(&run, 100.0, &[("failed_work", 19.0), ("overhead", 1.0), ("idle_tail", 80.0)]);
}

#[test]
fn unlisted_prefixes_are_told_by_their_chunks() {
    let mut run = one_worker(1);
    run.header.processor_prefixes.clear();
    run.header.phases = vec![phase("process", 0.0, 100.0)];
    add_second_ticks(&mut run, 100, -1);
    add_tasks(
        &mut run,
        &[
            task("a", "automatic_retries", 0.0, 20.0),
            task("a", "automatic_retries", 20.0, 25.0),
            task("a", "lambda", 25.0, 26.0),
            task("a", "reduce", 26.0, 100.0),
        ],
    );
    add_chunks(&mut run, &[detailed("a", 0.5)]);
    let more = [("overhead", 3.5), ("unexplained", 5.0), ("reduction", 74.0)];
    check(&run, 100.0, &with(&DETAILS, &more));
    // Without any row nothing tells them apart.
    run.tables.remove(&roast_model::Table::Chunks);
    check(&run, 100.0, &[("unexplained", 26.0), ("reduction", 74.0)]);
}

#[test]
fn no_ledger_without_workers_or_work() {
    let mut run = one_worker(1);
    let ledger = |run: &Measurement| {
        let metrics = analyze(run);
        (metrics.get("ledger").cloned().unwrap(), metrics.number("ledger_available_core_seconds"))
    };
    assert_eq!(ledger(&run), (Value::None, Some(100.0)));
    add_tasks(&mut run, &[task("a", "P", 20.0, 20.0)]);
    assert_eq!(ledger(&run), (Value::None, Some(100.0)));
    add_tasks(&mut run, &[task("a", "P", 20.0, 21.0)]);
    assert!(!ledger(&run).0.is_none());
    // Work on workers that nobody saw, or that have no name.
    add_tasks(&mut run, &[task("b", "P", 20.0, 21.0)]);
    assert_eq!(ledger(&run), (Value::None, Some(100.0)));
    let there = |worker| Row { threads: Some(1), ..Row::new(worker, 0.0, 100.0, 101) };
    add_workers(&mut run, &[there("a"), there("b")]);
    assert!(!ledger(&run).0.is_none());
    add_chunks(&mut run, &[chunk("", 30.0, 40.0).secs("open_secs", 1.0)]);
    assert_eq!(ledger(&run), (Value::None, Some(200.0)));
    // Without tasks, rows of process() alone leave out the opening of files.
    run.tables.remove(&roast_model::Table::Tasks);
    add_chunks(&mut run, &[chunk("a", 30.0, 40.0).secs("duration_secs", 10.0)]);
    assert_eq!(ledger(&run), (Value::None, Some(200.0)));
    add_workers(&mut run, &[Row { threads: None, ..Row::new("a", 0.0, 100.0, 101) }]);
    assert_eq!(ledger(&run), (Value::None, None));
    add_workers(&mut run, &[]);
    add_ticks(&mut run, &[]);
    assert_eq!(ledger(&run), (Value::None, None));
    for wall_secs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut run = one_worker(1);
        run.header.wall_secs = wall_secs;
        assert_eq!(ledger(&run), (Value::None, None));
    }
}
