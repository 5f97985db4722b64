//! What must hold for the advice on any run.

use proptest::prelude::*;
use roast_model::{Measurement, Value};

use super::build::{ChunkRow, Row, add_chunks, add_workers, bare, chunk};
use crate::analyze;

const SECS: [&str; 8] = [
    "open_secs",
    "tree_secs",
    "events_secs",
    "process_secs",
    "read_secs",
    "decompress_secs",
    "process_run_queue_secs",
    "process_cpu_secs",
];

fn secs() -> impl Strategy<Value = f64> {
    prop_oneof![8 => 0.0..5.0_f64, 1 => Just(0.0), 1 => Just(1e12), 1 => Just(-1.0), 1 => Just(f64::NAN)]
}

fn rows() -> impl Strategy<Value = Vec<ChunkRow>> {
    let numbers = (0_i64..2_000_000, -1_i64..2_000_000_000, 0_i64..4_000_000_000);
    let one = (
        (0..3_usize, 0..4_usize, 0..2_usize, 0..5_usize),
        (0.0..100.0_f64, 0.0..20.0_f64),
        numbers,
        prop::collection::vec(prop::option::of(secs()), SECS.len()),
    );
    prop::collection::vec(one, 0..40).prop_map(|rows| {
        rows.into_iter()
            .map(|((worker, file, dataset, outcome), (start, length), numbers, secs)| {
                let outcome = if outcome == 0 { "failed" } else { "ok" };
                let mut row = chunk(&format!("w{worker}"), start, start + length)
                    .name("outcome", outcome)
                    .name("dataset", &format!("d{dataset}"))
                    .name("host", &format!("h{worker}"))
                    .int("num_events", numbers.0)
                    .int("read_bytes", numbers.1)
                    .int("rss_start_bytes", numbers.2)
                    .int("rss_peak_bytes", numbers.2 + numbers.0)
                    .entries(&format!("f{file}"), 0, numbers.0);
                for (column, secs) in SECS.into_iter().zip(secs) {
                    if let Some(secs) = secs {
                        row = row.secs(column, secs);
                    }
                }
                row
            })
            .collect()
    })
}

fn run(wall_secs: f64, threads: i64, rows: &[ChunkRow]) -> Measurement {
    let mut run = bare(wall_secs);
    let workers: Vec<Row> = (0..3)
        .map(|worker| Row {
            threads: Some(threads),
            memory: Some(1_900_000_000),
            limit: Some(2_000_000_000),
            ..Row::new(&format!("w{worker}"), 0.0, wall_secs, 2)
        })
        .collect();
    add_workers(&mut run, &workers);
    add_chunks(&mut run, rows);
    run
}

proptest! {
    #[test]
    fn gains_are_finite_and_never_losses(
        rows in rows(), wall_secs in 0.001..200.0_f64, threads in 1_i64..5,
    ) {
        let metrics = analyze(&run(wall_secs, threads, &rows));
        let advice = metrics.get("advice").and_then(Value::items).unwrap_or_default().to_vec();
        prop_assert!(advice.is_empty() || metrics.get("verdict").unwrap().as_str().is_some());
        for one in &advice {
            for key in ["rule", "headline", "action", "threshold"] {
                prop_assert!(!one.get(key).unwrap().as_str().unwrap().is_empty());
            }
            prop_assert!(!one.get("evidence").unwrap().items().unwrap().is_empty());
            let gain = one.get("gain").unwrap();
            if gain.is_none() {
                continue;
            }
            let number = |key| gain.get(key).and_then(Value::as_f64).unwrap();
            let (core, now, then) =
                (number("core_seconds"), number("wall_seconds_now"), number("wall_seconds_then"));
            prop_assert!(core.is_finite() && now.is_finite() && then.is_finite(), "{one:?}");
            prop_assert!(core >= 0.0 && then >= 0.0 && then <= now, "{one:?}");
        }
    }

    #[test]
    fn order_changes_nothing(
        (rows, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let rules = |rows: &[ChunkRow]| -> Vec<String> {
            let metrics = analyze(&run(100.0, 1, rows));
            let advice = metrics.get("advice").and_then(Value::items).unwrap_or_default().to_vec();
            advice.iter().map(|one| one.get("rule").unwrap().as_str().unwrap().to_owned()).collect()
        };
        prop_assert_eq!(rules(&rows), rules(&shuffled));
    }
}
