//! A run built to trigger each rule, one just below its threshold, and a healthy
//! one that triggers none.

use roast_model::{ColumnData, Measurement, Table, Value};

use super::build::{
    ChunkRow, Row, add_chunks, add_table, add_tasks, add_workers, bare, chunk, phase, task, texts,
};
use crate::analyze;

/// Threads that process the same number of chunks each, one after the other and
/// without a pause, all run long.
fn even(
    threads: usize,
    rounds: usize,
    secs: f64,
    describe: impl Fn(ChunkRow, usize) -> ChunkRow,
) -> Measurement {
    even_from(0.0, threads, rounds, secs, describe)
}

/// The same, from a moment on.
fn even_from(
    first: f64,
    threads: usize,
    rounds: usize,
    secs: f64,
    describe: impl Fn(ChunkRow, usize) -> ChunkRow,
) -> Measurement {
    let rows: Vec<ChunkRow> = (0..threads * rounds)
        .map(|index| {
            let start = first + (index / threads) as f64 * secs;
            let row = chunk(&format!("w{}", index % threads), start, start + secs);
            describe(row.name("outcome", "ok"), index)
        })
        .collect();
    on_threads(threads, first + rounds as f64 * secs, &rows)
}

fn on_threads(threads: usize, wall_secs: f64, rows: &[ChunkRow]) -> Measurement {
    let mut run = bare(wall_secs);
    run.header.phases = vec![phase("process", 0.0, wall_secs)];
    let workers: Vec<Row> = (0..threads)
        .map(|worker| Row {
            threads: Some(1),
            ..Row::new(&format!("w{worker}"), 0.0, wall_secs, 2)
        })
        .collect();
    add_workers(&mut run, &workers);
    add_chunks(&mut run, rows);
    run
}

/// A chunk of a file, with what it spent around and in `process()`.
fn spent(row: ChunkRow, file: &str, events: i64, setup: f64, process: f64) -> ChunkRow {
    row.name("dataset", "d")
        .name("file", file)
        .int("num_events", events)
        .secs("open_secs", 0.25 * setup)
        .secs("tree_secs", 0.5 * setup)
        .secs("events_secs", 0.25 * setup)
        .secs("process_secs", process)
        .secs("process_cpu_secs", process)
}

fn advice(run: &Measurement) -> Vec<Value> {
    let metrics = analyze(run);
    metrics.get("advice").and_then(Value::items).unwrap_or_default().to_vec()
}

fn rules(run: &Measurement) -> Vec<String> {
    advice(run).iter().map(|one| text(one, "rule")).collect()
}

fn verdict(run: &Measurement) -> String {
    analyze(run).get("verdict").and_then(Value::as_str).unwrap().to_owned()
}

fn text(advice: &Value, key: &str) -> String {
    advice.get(key).and_then(Value::as_str).unwrap().to_owned()
}

#[track_caller]
fn only(run: &Measurement, rule: &str) -> Value {
    let mut found = advice(run);
    found.retain(|one| text(one, "rule") == rule);
    assert_eq!(found.len(), 1, "{:?}", rules(run));
    found.remove(0)
}

/// Core-seconds saved, wall time now and then.
#[track_caller]
fn check_gain(advice: &Value, core_secs: f64, now: f64, then: f64) {
    let number = |key| advice.get("gain").unwrap().get(key).and_then(Value::as_f64).unwrap();
    for (key, expected) in
        [("core_seconds", core_secs), ("wall_seconds_now", now), ("wall_seconds_then", then)]
    {
        assert!((number(key) - expected).abs() < 1e-6, "{key}: {} not {expected}", number(key));
    }
}

/// Forty chunks of 1000 events and 2 s on two threads.
fn small_chunks(files: usize, setup: f64) -> Measurement {
    even(2, 10 * files, 2.0, |row, index| {
        spent(row, &format!("f{}", index % files), 1_000, setup, 2.0 - setup)
    })
}

#[test]
fn setup_dominated_chunks() {
    // Two files of 20,000 events: a chunk of all pays 1.6 s + 20 × 0.4 s.
    let run = small_chunks(2, 1.6);
    let found = only(&run, "setup-dominated");
    check_gain(&found, 80.0 - 2.0 * 9.6, 40.0, 9.6);
    assert_eq!(
        text(&found, "headline"),
        "80 % of the core time went into opening files, tree metadata and building events, \
         because chunks have 1,000 events."
    );
    assert_eq!(
        text(&found, "action"),
        "use `chunksize=20_000`: this run would take about 9.6 s instead of 40 s."
    );
    assert!(text(&found, "snippet").contains("chunksize=20_000"));
    assert_eq!(
        verdict(&run),
        "Setting up chunks (files, tree metadata, events) takes 80 % of the core time; \
         worth most: `chunksize=20_000` (about 9.6 s instead of 40 s)."
    );
    // Three files do not divide among two threads: six halves take 3 × 5.6 s, three
    // wholes 2 × 9.6 s.
    let found = only(&small_chunks(3, 1.6), "setup-dominated");
    assert!(text(&found, "action").starts_with("use `chunksize=10_000`"));
    check_gain(&found, 120.0 - 6.0 * 5.6, 60.0, 16.8);
    assert!(rules(&small_chunks(2, 0.38)).iter().all(|rule| rule != "setup-dominated"));
    only(&small_chunks(2, 0.42), "setup-dominated");
}

#[test]
fn files_that_are_one_chunk_can_only_be_merged() {
    let run = even(2, 20, 2.0, |row, index| spent(row, &format!("f{index}"), 1_000, 1.6, 0.4));
    let found = only(&run, "setup-dominated");
    assert!(text(&found, "action").starts_with("merge the files"));
    assert!(found.get("gain").unwrap().is_none());
}

/// Chunks of two threads, after each has had a task of preprocessing.
fn after_preprocessing(
    preprocess_secs: f64,
    rounds: usize,
    secs: f64,
    describe: impl Fn(ChunkRow, usize) -> ChunkRow,
) -> Measurement {
    let mut run = even_from(preprocess_secs, 2, rounds, secs, describe);
    run.header.phases = vec![
        phase("preprocess", 0.0, preprocess_secs),
        phase("process", preprocess_secs, run.header.wall_secs),
    ];
    let tasks = ["w0", "w1"].map(|name| task(name, "automatic_retries", 0.0, preprocess_secs));
    add_tasks(&mut run, &tasks);
    run
}

#[test]
fn preprocessing_is_the_same_for_chunks_of_any_size() {
    // As without it: 9.6 s in chunks of 20,000 events, and those 10 s.
    let run = after_preprocessing(10.0, 20, 2.0, |row, index| {
        spent(row, &format!("f{}", index % 2), 1_000, 1.6, 0.4)
    });
    check_gain(&only(&run, "setup-dominated"), 80.0 - 2.0 * 9.6, 50.0, 10.0 + 9.6);
    // Twice the threads are done with it in half the time: five rounds after 0.5 s.
    let run = after_preprocessing(1.0, 9, 1.0, |row, _| spent(row, "f", 1_000, 0.1, 0.9));
    check_gain(&only(&run, "too-few-workers"), 0.0, 10.0, 0.5 + 5.0);
}

#[test]
fn user_code_that_does_not_grow_and_baskets_read_again() {
    // Chunks of 900 and 1100 events: process() takes 0.4 s for either, of which
    // 0.1 s are reads. Every chunk reads the whole file's basket.
    let mut run = even(2, 20, 2.0, |row, index| {
        let file = index % 2;
        spent(row, &format!("f{file}"), if file == 0 { 900 } else { 1_100 }, 1.6, 0.4)
            .secs("read_secs", 0.1)
            .secs("read_cpu_secs", 0.1)
            .int("read_bytes", 1_000_000)
    });
    add_table(
        &mut run,
        Table::Files,
        vec![
            ("file", texts(["f0", "f1"].map(|name| Some(name.to_owned())))),
            ("branch_bytes_read_compressed", ColumnData::Ints(vec![Some(1_000_000); 2])),
        ],
    );
    // Each file becomes two chunks at 10,000 events, or one at 20,000 and more; one
    // costs 1.6 s + 0.3 s of user code + 0.1 s of reading.
    let found = only(&run, "setup-dominated");
    check_gain(&found, 80.0 - 2.0 * 2.0, 40.0, 2.0);
}

#[test]
fn reading_and_decompression() {
    let reading = |read: f64, decompress: f64| {
        even(2, 4, 2.0, |row, index| {
            spent(row, &format!("f{}", index % 4), 1_000, 0.0, 2.0)
                .secs("read_secs", read)
                .secs("decompress_secs", decompress)
                .int("read_bytes", 10_000_000)
        })
    };
    let found = only(&reading(1.0, 0.0), "reading-bound");
    assert_eq!(
        text(&found, "headline"),
        "50 % of the core time went into waiting for column data, at 10.0 MB/s per core."
    );
    assert!(found.get("gain").unwrap().is_none());
    assert_eq!(rules(&reading(0.59, 0.0)), Vec::<String>::new());

    // 20 MB/s could be 100 MB/s: four fifths of the half second are saved.
    let found = only(&reading(0.5, 0.5), "decompression-bound");
    check_gain(&found, 8.0 * 0.4, 8.0, 6.4);
    assert_eq!(rules(&reading(0.39, 0.39)), Vec::<String>::new());
}

#[test]
fn cores_that_others_have() {
    let waiting = |secs: f64| {
        even(4, 4, 2.0, |row, index| {
            spent(row, &format!("f{}", index % 4), 1_000, 0.0, 2.0)
                .secs("process_run_queue_secs", secs)
        })
    };
    // 2 s on a CPU and two thirds of a second waiting for one: three threads would do.
    let found = only(&waiting(2.0 / 3.0), "cpu-contention");
    check_gain(&found, 16.0 * 2.0 / 3.0, 8.0, 8.0);
    assert!(text(&found, "headline").contains("33 %"), "{found:?}");
    assert!(text(&found, "action").contains("run about 3 task threads instead of 4"));
    assert_eq!(rules(&waiting(0.19)), Vec::<String>::new());
}

#[test]
fn memory_close_to_the_limit() {
    let run = |memory: i64, spilled: i64| {
        let mut run = even(2, 4, 2.0, |row, index| {
            spent(row, &format!("f{}", index % 4), 100_000, 0.0, 2.0)
                .int("rss_start_bytes", 1_000_000_000)
                .int("rss_peak_bytes", 1_400_000_000)
        });
        let workers: Vec<Row> = ["w0", "w1"]
            .map(|worker| Row {
                threads: Some(1),
                memory: Some(memory),
                limit: Some(2_000_000_000),
                spilled: Some(spilled),
                ..Row::new(worker, 0.0, 8.0, 2)
            })
            .to_vec();
        add_workers(&mut run, &workers);
        run
    };
    // 4 kB per event; six tenths of the limit leave 200 MB.
    let found = only(&run(1_700_000_000, 0), "memory-pressure");
    assert!(text(&found, "action").starts_with("use `chunksize=50_000`"), "{found:?}");
    assert_eq!(text(&found, "headline"), "A worker used 85 % of its memory limit of 2.0 GB.");
    only(&run(1_000_000_000, 1), "memory-pressure");
    assert_eq!(rules(&run(1_590_000_000, 0)), Vec::<String>::new());
}

#[test]
fn a_slow_file_a_slow_host_a_slow_dataset() {
    // Two slow chunks on one thread, six others of 1 s on the other.
    let slow = |kind: &'static str, ratio: f64| {
        let row = |worker: &str, start: f64, secs: f64, odd: bool, index: usize| {
            let names = |name: &str| match (name == kind, odd) {
                (true, true) => "odd".to_owned(),
                (true, false) => format!("{name}{}", index % 2),
                _ => name.to_owned(),
            };
            chunk(worker, start, start + secs)
                .name("outcome", "ok")
                .name("dataset", &names("dataset"))
                .name("file", &names("file"))
                .name("host", &names("host"))
                .int("num_events", 1_000)
                .secs("open_secs", 0.0)
                .secs("process_secs", secs)
                .secs("process_cpu_secs", secs)
        };
        let odd = (0..2).map(|index| row("w0", ratio * index as f64, ratio, true, index));
        let even = (0..6).map(|index| row("w1", index as f64, 1.0, false, index));
        on_threads(2, 6.0, &odd.chain(even).collect::<Vec<_>>())
    };
    for kind in ["file", "host", "dataset"] {
        let found = only(&slow(kind, 3.0), "stragglers");
        // Two seconds each beyond the others' speed; then eight chunks of 1 s.
        check_gain(&found, 4.0, 6.0, 4.0);
        assert_eq!(
            text(&found, "headline"),
            format!("Chunks of the {kind} odd take 3.0 times as long as others of their size.")
        );
        assert!(!rules(&slow(kind, 1.45)).contains(&"stragglers".to_owned()));
    }
}

#[test]
fn the_last_chunk_runs_alone() {
    let run = |secs: f64, wall: f64| {
        let part = |worker: &str, start: f64, file: &str| {
            let row = chunk(worker, start, start + secs).name("outcome", "ok");
            spent(row, file, 10_000, 0.1, secs - 0.1)
        };
        on_threads(2, wall, &[part("w0", 0.0, "a"), part("w1", 0.0, "b"), part("w0", secs, "c")])
    };
    // Three chunks of 10 s on two threads; six of 5.05 s; or fifteen of 2.08 s.
    let found = only(&run(10.0, 20.0), "idle-tail");
    assert!(text(&found, "action").starts_with("use `chunksize=5_000`"), "{found:?}");
    check_gain(&found, 9.7, 20.0, 15.15);
    // The same, in a run that goes on for long after.
    assert!(rules(&run(1.0, 20.0)).iter().all(|rule| rule != "idle-tail"));
}

#[test]
fn threads_that_wait_between_tasks() {
    let run = |gap: f64| {
        let rows: Vec<ChunkRow> = (0..20_usize)
            .map(|index| {
                let start = (index / 2) as f64 * (0.5 + gap);
                let row = chunk(&format!("w{}", index % 2), start, start + 0.5);
                spent(row.name("outcome", "ok"), "f", 1_000, 0.05, 0.45)
            })
            .collect();
        on_threads(2, 9.0 * (0.5 + gap) + 0.5, &rows)
    };
    // Nine gaps of 0.5 s on each thread.
    let found = only(&run(0.5), "starved-workers");
    check_gain(&found, 9.0, 9.5, 5.0);
    assert!(text(&found, "action").contains("larger `chunksize`"));
    assert!(!rules(&run(0.05)).contains(&"starved-workers".to_owned()));
}

#[test]
fn files_that_fail() {
    let failing = |lost: bool| {
        even(2, 5, 1.0, |row, index| {
            // The last but one failed; the last is another attempt at the same chunk.
            let row = match index {
                8 => ChunkRow { names: Vec::new(), ..row }
                    .name("outcome", "failed")
                    .name("error", "OSError"),
                _ => row,
            };
            let entries = if lost { index } else { index.min(8) } as i64;
            let file = if index >= 8 { "bad.root" } else { "good.root" };
            spent(row, file, 1_000, 0.1, 0.9)
                .int("entry_start", entries * 1_000)
                .int("entry_stop", (entries + 1) * 1_000)
        })
    };
    let found = only(&failing(true), "failing-files");
    assert!(found.get("gain").unwrap().is_none());
    assert_eq!(
        text(&found, "headline"),
        "1 attempt failed in 1 file and cost 10 % of the core time; 1 chunk never succeeded; \
         most in bad.root (OSError)."
    );
    assert_eq!(text(&found, "snippet"), r#"failing_files = ["bad.root"]"#);
    assert!(text(&found, "action").contains("not in the result"));
    let found = only(&failing(false), "failing-files");
    check_gain(&found, 1.0, 5.0, 4.5);
    assert!(text(&found, "action").contains("the result is whole"));
}

#[test]
fn outputs_that_are_dear_to_add_up() {
    let run = |secs: f64, reductions: usize| {
        let mut run =
            even(2, 4, 2.0, |row, index| spent(row, &format!("f{}", index % 4), 1_000, 0.0, 2.0));
        run.header.wall_secs = 8.0 + secs;
        run.header.phases = vec![phase("process", 0.0, 8.0 + secs)];
        let there = |worker: &str| Row { threads: Some(1), ..Row::new(worker, 0.0, 8.0 + secs, 2) };
        add_workers(&mut run, &[there("w0"), there("w1")]);
        let part = secs / reductions as f64;
        let tasks: Vec<_> = (0..reductions)
            .flat_map(|index| {
                let start = 8.0 + part * index as f64;
                ["w0", "w1"].map(|worker| task(worker, "reduce", start, start + part))
            })
            .collect();
        add_tasks(&mut run, &tasks);
        run
    };
    // Eight outputs in six reductions: 13/6 at a time.
    let found = only(&run(2.0, 3), "reduction-cost");
    let at_once = 13.0 / 6.0_f64;
    let saved = 4.0 * (1.0 - (1.0 + 1.0 / 19.0) / (1.0 + 1.0 / (at_once - 1.0)));
    check_gain(&found, saved, 10.0, 10.0 * (1.0 - saved / 20.0));
    assert!(text(&found, "snippet").contains("treereduction=20"));
    assert!(rules(&run(0.8, 3)).iter().all(|rule| rule != "reduction-cost"));
}

#[test]
fn too_many_and_too_few_workers() {
    // Ten threads, three chunks of 4 s.
    let rows: Vec<ChunkRow> = (0..3)
        .map(|index| {
            let row = chunk(&format!("w{index}"), 0.0, 4.0).name("outcome", "ok");
            spent(row, &format!("f{index}"), 50, 0.1, 3.9)
        })
        .collect();
    let found = only(&on_threads(10, 4.0, &rows), "too-many-workers");
    check_gain(&found, 40.0 * 0.7, 4.0, 4.0);
    assert!(text(&found, "action").starts_with("use about 3 threads instead of 10"));

    let busy = |rounds| even(2, rounds, 1.0, |row, _| spent(row, "f", 1_000, 0.1, 0.9));
    let run = busy(9);
    let found = only(&run, "too-few-workers");
    // Eighteen chunks on four threads: five rounds.
    check_gain(&found, 0.0, 9.0, 5.0);
    assert_eq!(
        verdict(&run),
        "User code takes 90 % of the core time; worth most: 4 instead of 2 threads (about 5.0 s \
         instead of 9.0 s)."
    );
    assert_eq!(rules(&busy(7)), Vec::<String>::new());

    // Where cores are short, more threads would only wait for them.
    let waiting = |cpu: f64| {
        even(2, 9, 1.0, |row, _| {
            let row = row.secs("process_cpu_secs", cpu).secs("process_run_queue_secs", 0.2);
            spent(row, "f", 1_000, 0.1, 0.9)
        })
    };
    assert_eq!(rules(&waiting(0.7)), ["cpu-contention"]);
    assert_eq!(rules(&waiting(0.1)), ["cpu-contention", "too-few-workers"]);
}

#[test]
fn columns_fetched_one_by_one() {
    let run = |latency: f64| {
        // Ten branches; a chunk asks for each once, of 1 MB at 100 MB/s up to 10 MB.
        let branch_secs = |branch: i64| latency + 0.01 * (branch + 1) as f64;
        let read: f64 = (0..10).map(branch_secs).sum();
        let mut run = even(2, 4, 4.0, |row, index| {
            spent(row, &format!("f{}", index % 4), 1_000, 0.1, 3.9).secs("read_secs", read)
        });
        let ints = |get: &dyn Fn(i64) -> i64| {
            ColumnData::Ints((0..10).map(|branch| Some(get(branch))).collect())
        };
        let names = (0..10).map(|branch| Some(format!("B{branch}")));
        let secs = (0..10).map(|branch| Some(8.0 * branch_secs(branch))).collect();
        add_table(
            &mut run,
            Table::Columns,
            vec![
                ("branch", texts(names)),
                ("chunks", ints(&|_| 8)),
                ("requests", ints(&|_| 8)),
                ("bytes", ints(&|branch| 8_000_000 * (branch + 1))),
                ("wall_secs", ColumnData::Floats(secs)),
                // Each read has 2 ms of work.
                ("cpu_secs", ColumnData::Floats(vec![Some(8.0 * 0.002); 10])),
            ],
        );
        run
    };
    // A request takes 102 ms, of which 2 stay: nine of ten are saved in each chunk.
    let found = only(&run(0.102), "preload-columns");
    check_gain(&found, 8.0 * 0.9, 16.0, 12.4);
    let snippet = text(&found, "snippet");
    assert!(snippet.starts_with("preload = [\"B0\", \"B1\","), "{snippet}");
    assert!(snippet.ends_with("dataset[\"preload\"] = preload"));
    assert!(!rules(&run(0.04)).contains(&"preload-columns".to_owned()));
}

#[test]
fn a_healthy_run_has_nothing_to_say() {
    let run = even(4, 5, 10.0, |row, index| {
        spent(row, &format!("f{}", index % 5), 100_000, 0.5, 9.4)
            .secs("read_secs", 1.3)
            .secs("read_cpu_secs", 1.3)
            .secs("decompress_secs", 0.6)
            .secs("interpret_secs", 0.3)
            .int("read_bytes", 50_000_000)
            .int("rss_start_bytes", 500_000_000)
            .int("rss_peak_bytes", 700_000_000)
    });
    assert_eq!(rules(&run), Vec::<String>::new());
    assert_eq!(verdict(&run), "User code takes 81 % of the core time; nothing obvious to change.");
}

#[test]
fn without_a_ledger_only_what_needs_none_is_said() {
    let mut run = bare(10.0);
    assert!(analyze(&run).get("verdict").unwrap().is_none());
    assert!(analyze(&run).get("advice").unwrap().is_none());
    let failed = chunk("w", 0.0, 1.0).name("outcome", "failed").name("error", "OSError");
    add_chunks(&mut run, &[failed.entries("bad.root", 0, 10)]);
    assert_eq!(rules(&run), ["failing-files"]);
    assert_eq!(
        verdict(&run),
        "Where the core time went is not known; worth most: mend 1 file that failed."
    );
}

#[test]
fn a_run_that_was_cut_short_predicts_nothing() {
    let mut run = small_chunks(2, 1.6);
    run.header.error = Some("KeyboardInterrupt: ".into());
    assert_eq!(rules(&run), Vec::<String>::new());
    assert_eq!(
        verdict(&run),
        "Setting up chunks (files, tree metadata, events) takes 80 % of the core time, up to where \
         an error ended the run."
    );
}
