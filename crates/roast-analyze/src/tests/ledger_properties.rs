//! What must hold for the ledger of any run.

use proptest::prelude::*;
use roast_model::{Measurement, Value};

use super::build::{
    ChunkRow, Row, TaskRow, add_chunks, add_second_ticks, add_tasks, add_workers, bare, chunk,
    phase, task,
};
use crate::analyze;

#[derive(Clone, Debug)]
struct Run {
    workers: Vec<Row>,
    tasks: Vec<TaskRow>,
    chunks: Vec<ChunkRow>,
    waiting_until: i64,
    phases: Vec<(bool, f64, f64)>,
    listed: bool,
}

fn worker_rows() -> impl Strategy<Value = Vec<Row>> {
    let worker = (0_i64..50, prop::collection::vec((1_i64..20, 0_i64..4, 0_i64..3), 1..4));
    prop::collection::vec(worker, 1..4).prop_map(|workers| {
        let mut rows = Vec::new();
        for (index, (mut tick, states)) in workers.into_iter().enumerate() {
            for (samples, threads, gap) in states {
                rows.push(Row {
                    threads: (threads > 0).then_some(threads),
                    ..Row::new(
                        &format!("w{index}"),
                        tick as f64,
                        (tick + samples - 1) as f64,
                        samples,
                    )
                });
                tick += samples + gap;
            }
        }
        rows
    })
}

fn tasks() -> impl Strategy<Value = Vec<TaskRow>> {
    let one = (0..4_usize, 0..3_usize, 0..6_usize, any::<bool>(), -10.0..110.0_f64, -1.0..40.0_f64);
    prop::collection::vec(one, 0..30).prop_map(|tasks| {
        tasks
            .into_iter()
            .map(|(worker, prefix, action, erred, start, length)| TaskRow {
                action: ["compute", "compute", "compute", "compute", "transfer", "disk-read"]
                    [action]
                    .into(),
                outcome: if erred { "erred" } else { "memory" }.into(),
                ..task(
                    &format!("w{worker}"),
                    ["P", "reduce", "lambda"][prefix],
                    start,
                    start + length,
                )
            })
            .collect()
    })
}

fn chunks() -> impl Strategy<Value = Vec<ChunkRow>> {
    const COLUMNS: [&str; 13] = [
        "duration_secs",
        "process_secs",
        "process_cpu_secs",
        "process_run_queue_secs",
        "read_secs",
        "read_cpu_secs",
        "read_run_queue_secs",
        "decompress_secs",
        "interpret_secs",
        "open_secs",
        "tree_secs",
        "events_secs",
        "serialize_secs",
    ];
    let secs = prop_oneof![
        4 => (0.0..10.0_f64).prop_map(Some),
        2 => Just(None),
        1 => any::<f64>().prop_map(Some),
    ];
    let one = (
        0..4_usize,
        0..5_usize,
        -10.0..110.0_f64,
        0.0..30.0_f64,
        prop::collection::vec(secs, COLUMNS.len()),
    );
    prop::collection::vec(one, 0..20).prop_map(|chunks| {
        chunks
            .into_iter()
            .map(|(worker, outcome, start, length, secs)| {
                let mut row = chunk(&format!("w{worker}"), start, start + length);
                if let Some(outcome) =
                    ["ok", "failed", "repeated", "replayed"].get(outcome).copied()
                {
                    row = row.name("outcome", outcome);
                }
                for (column, secs) in COLUMNS.into_iter().zip(secs) {
                    if let Some(secs) = secs {
                        row = row.secs(column, secs);
                    }
                }
                row
            })
            .collect()
    })
}

fn runs() -> impl Strategy<Value = Run> {
    let phases = prop::collection::vec((any::<bool>(), -5.0..100.0_f64, 0.0..60.0_f64), 0..3);
    (worker_rows(), tasks(), chunks(), -1_i64..100, phases, any::<bool>()).prop_map(
        |(workers, tasks, chunks, waiting_until, phases, listed)| Run {
            workers,
            tasks,
            chunks,
            waiting_until,
            phases,
            listed,
        },
    )
}

impl Run {
    fn measurement(&self) -> Measurement {
        let mut run = bare(100.0);
        if self.listed {
            run.header.processor_prefixes = vec!["P".into()];
        }
        run.header.phases = self
            .phases
            .iter()
            .map(|(process, start, length)| {
                phase(if *process { "process" } else { "preprocess" }, *start, start + length)
            })
            .collect();
        add_second_ticks(&mut run, 100, self.waiting_until);
        add_workers(&mut run, &self.workers);
        add_tasks(&mut run, &self.tasks);
        add_chunks(&mut run, &self.chunks);
        run
    }

    fn ledger(&self) -> (Value, Option<f64>) {
        let metrics = analyze(&self.measurement());
        let available = metrics.number("ledger_available_core_seconds");
        (metrics.get("ledger").cloned().unwrap(), available)
    }
}

proptest! {
    #[test]
    fn rows_add_up_and_none_is_negative(run in runs()) {
        let (ledger, available) = run.ledger();
        if ledger.is_none() {
            return Ok(());
        }
        let secs: Vec<f64> =
            ledger.pairs().iter().map(|(_, secs)| secs.as_f64().unwrap()).collect();
        prop_assert!(secs.iter().all(|secs| *secs >= 0.0), "{ledger:?}");
        let (total, available) = (secs.iter().sum::<f64>(), available.unwrap());
        prop_assert!((total - available).abs() <= 1e-9 * available, "{total} of {available}");
    }

    #[test]
    fn order_changes_nothing(
        (run, shuffled) in runs().prop_flat_map(|run| {
            let parts = (
                Just(run.workers.clone()).prop_shuffle(),
                Just(run.tasks.clone()).prop_shuffle(),
                Just(run.chunks.clone()).prop_shuffle(),
                Just(run.phases.clone()).prop_shuffle(),
            );
            let again = run.clone();
            let shuffled = parts.prop_map(move |(workers, tasks, chunks, phases)| Run {
                workers, tasks, chunks, phases, ..again.clone()
            });
            (Just(run), shuffled)
        })
    ) {
        prop_assert_eq!(run.ledger(), shuffled.ledger());
    }

    #[test]
    fn a_stretch_of_a_worker_may_be_split(run in runs(), at in any::<prop::sample::Index>()) {
        let long: Vec<_> =
            (0..run.workers.len()).filter(|index| run.workers[*index].samples > 1).collect();
        if long.is_empty() {
            return Ok(());
        }
        let index = long[at.index(long.len())];
        let mut split = run.clone();
        let mut tail = split.workers[index].clone();
        split.workers[index].samples = 1;
        split.workers[index].until = split.workers[index].time;
        tail.samples -= 1;
        tail.time += 1.0;
        split.workers.push(tail);
        prop_assert_eq!(run.ledger(), split.ledger());
    }
}
