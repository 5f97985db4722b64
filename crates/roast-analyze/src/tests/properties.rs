//! What must hold for any rows: order, splitting and absurd numbers.

use proptest::prelude::*;
use roast_model::Value;

use super::build::{Row, add_ticks, add_workers, bare};
use crate::{Metrics, analyze};

/// Rows of a few workers on a few hosts, on whole ticks and without overlap in a
/// worker, as the sampler makes them.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let state = (
        1_i64..5,
        prop::option::of(0_i64..1_000_000),
        prop::option::of(1_i64..1_000_000),
        prop::option::of(0.0..400.0_f64),
        prop::option::of(0_i64..8),
        prop::option::of(0.0..1e9_f64),
    );
    let worker = (0_i64..5, prop::collection::vec(state, 0..6));
    prop::collection::vec(worker, 0..5).prop_map(|workers| {
        let mut rows = Vec::new();
        for (index, (first, states)) in workers.into_iter().enumerate() {
            let mut tick = first;
            for (samples, memory, limit, cpu, threads, net_read) in states {
                rows.push(Row {
                    host: Some(format!("host{}", index % 2)),
                    memory,
                    limit,
                    cpu,
                    threads,
                    spilled: memory.map(|bytes| bytes / 3),
                    net_read,
                    ..Row::new(
                        &format!("w{index}"),
                        tick as f64,
                        (tick + samples - 1) as f64,
                        samples,
                    )
                });
                tick += samples;
            }
        }
        rows
    })
}

fn metrics_of(rows: &[Row]) -> Metrics {
    let mut run = bare(60.0);
    let ticks: Vec<_> = (0..40).map(|tick| (f64::from(tick), 2)).collect();
    add_ticks(&mut run, &ticks);
    add_workers(&mut run, rows);
    analyze(&run)
}

fn same(a: &Metrics, b: &Metrics) -> Result<(), TestCaseError> {
    for ((key, a), (_, b)) in a.iter().zip(b.iter()) {
        match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => {
                prop_assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{key}: {a} and {b}");
            }
            (a, b) => prop_assert_eq!(a, b, "{}", key),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_average_of_workers_lies_between_the_extremes(
        ticks in prop::collection::vec((0.0..1e5_f64, 0_i64..10_000), 1..50)
    ) {
        let mut run = bare(1.0);
        add_ticks(&mut run, &ticks);
        let metrics = analyze(&run);
        let least = ticks.iter().map(|tick| tick.1).min().unwrap() as f64;
        let most = ticks.iter().map(|tick| tick.1).max().unwrap() as f64;
        for key in ["avg_workers", "mean_workers"] {
            let average = metrics.number(key).unwrap();
            prop_assert!(average >= least - 1e-9 && average <= most + 1e-9, "{key} {average}");
        }
    }

    #[test]
    fn order_does_not_matter(
        (sorted, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
    ) {
        same(&metrics_of(&sorted), &metrics_of(&shuffled))?;
    }

    #[test]
    fn a_row_may_be_split_at_a_sample(rows in rows(), at in any::<prop::sample::Index>()) {
        let whole = metrics_of(&rows);
        let long: Vec<_> = (0..rows.len()).filter(|index| rows[*index].samples > 1).collect();
        if long.is_empty() {
            return Ok(());
        }
        let index = long[at.index(long.len())];
        let mut split = rows.clone();
        let mut tail = split[index].clone();
        split[index].samples = 1;
        split[index].until = split[index].time;
        tail.samples -= 1;
        tail.time += 1.0;
        split.push(tail);
        same(&whole, &metrics_of(&split))?;
    }

    #[test]
    fn means_lie_between_extremes_and_peaks_add_up(rows in rows()) {
        let metrics = metrics_of(&rows);
        for family in ["memory_utilization", "cpu_utilization"] {
            let get = |which| metrics.number(&format!("{family}_{which}_percent"));
            prop_assert_eq!(get("mean").is_some(), get("max").is_some());
            if let (Some(mean), Some(min), Some(max)) = (get("mean"), get("min"), get("max")) {
                prop_assert!(min <= mean && mean <= max);
            }
        }
        let one = metrics.number("peak_memory_bytes");
        let all = metrics.number("peak_memory_cluster_bytes");
        prop_assert!(one <= all);
    }

    #[test]
    fn nothing_absurd_comes_out_or_panics(
        wall in any::<f64>(),
        ticks in prop::collection::vec((any::<i32>(), any::<i64>()), 0..6),
        spans in prop::collection::vec((any::<f64>(), 0..3_i32, any::<i64>()), 0..6),
        report in prop::collection::vec(any::<f64>(), 4),
    ) {
        let mut run = bare(wall);
        let ticks: Vec<_> = ticks.iter().map(|tick| (f64::from(tick.0), tick.1)).collect();
        add_ticks(&mut run, &ticks);
        let rows: Vec<_> = spans
            .iter()
            .map(|(number, worker, whole)| Row {
                memory: Some(*whole),
                limit: Some(*whole),
                cpu: Some(*number),
                threads: Some(*whole),
                spilled: Some(*whole),
                net_read: Some(*number),
                ..Row::new(&worker.to_string(), *number % 1e9, *number % 7e8, *whole)
            })
            .collect();
        add_workers(&mut run, &rows);
        run.header.report = Value::map(
            ["bytesread", "entries", "processtime", "chunks"]
                .into_iter()
                .zip(report.into_iter().map(Value::Float)),
        );
        for (key, value) in analyze(&run).iter() {
            if let Some(number) = value.as_f64() {
                prop_assert!(number.is_finite() && number >= 0.0, "{key}: {number}");
            }
        }
    }
}
