//! Every formula once, against numbers worked out on paper.

use roast_model::{CATALOG, Measurement, Value};

use super::build::{Row, add_ticks, add_workers, bare, span};
use crate::files::FILE_METRICS;
use crate::{Metrics, analyze};

#[track_caller]
fn check(measurement: &Measurement, expected: &[(&str, Option<f64>)]) {
    let metrics = analyze(measurement);
    for (key, number) in expected {
        let found = metrics.get(key).expect("a key of the catalog").as_f64();
        match (found, number) {
            (Some(found), Some(number)) => assert!(
                (found - number).abs() <= 1e-9 * number.abs().max(1.0),
                "{key}: {found} instead of {number}"
            ),
            (found, number) => assert_eq!(found, *number, "{key}"),
        }
    }
}

/// 100 s on 4 → 4 workers with 2 threads each.
fn full() -> Measurement {
    let mut run = bare(100.0);
    run.header.report = Value::map([
        ("bytesread", Value::Int(50_000_000_000)),
        ("entries", Value::Int(2_000_000)),
        ("processtime", Value::Float(400.0)),
        ("chunks", Value::Int(80)),
    ]);
    run.header.spans = span(&[
        ("P", "thread-cpu", "seconds", Value::Float(300.0)),
        ("P", "thread-noncpu", "seconds", Value::Float(100.0)),
        ("P", "memory-read", "bytes", Value::Int(1000)),
        ("P", "memory-read", "count", Value::Int(7)),
        ("P", "failed", "seconds", Value::Float(2.5)),
        ("reduce", "thread-cpu", "seconds", Value::Float(20.0)),
        ("reduce", "thread-noncpu", "seconds", Value::Float(10.0)),
        ("reduce", "memory-read", "bytes", Value::Int(500)),
        ("reduce", "compress", "seconds", Value::Float(1.0)),
        ("reduce", "decompress", "seconds", Value::Float(2.0)),
        ("reduce", "serialize", "seconds", Value::Float(3.0)),
        ("reduce", "deserialize", "seconds", Value::Float(4.0)),
        ("reduce", "disk-write", "bytes", Value::Int(99)),
    ]);
    run.header.processor_prefixes = vec!["P".into()];
    add_ticks(&mut run, &[(0.0, 4), (100.0, 4)]);
    add_workers(&mut run, &[Row { threads: Some(2), ..Row::new("a", 0.0, 100.0, 101) }]);
    run
}

#[test]
fn the_whole_table() {
    check(
        &full(),
        &[
            ("data_rate_gbps", Some(4.0)),
            ("data_rate_mb_per_s", Some(500.0)),
            ("event_rate_wall_khz", Some(20.0)),
            ("event_rate_agg_khz", Some(5.0)),
            ("event_rate_core_hz", Some(2500.0)),
            ("event_rate_core_khz", Some(2.5)),
            ("total_events", Some(2e6)),
            ("total_bytes_compressed", Some(5e10)),
            ("total_bytes_memory_read_dask", Some(1500.0)),
            ("disk_read_bytes", Some(0.0)),
            ("disk_write_bytes", Some(99.0)),
            ("elapsed_time_seconds", Some(100.0)),
            ("total_cpu_time", Some(400.0)),
            ("num_chunks", Some(80.0)),
            ("avg_cpu_time_per_chunk", Some(5.0)),
            ("avg_workers", Some(4.0)),
            ("cores_per_worker", Some(2.0)),
            ("total_cores", Some(8.0)),
            ("cpu_time_seconds", Some(320.0)),
            ("io_time_seconds", Some(110.0)),
            ("processor_cpu_time_seconds", Some(300.0)),
            ("processor_noncpu_time_seconds", Some(100.0)),
            ("processor_cpu_percentage", Some(75.0)),
            ("processor_io_wait_percent", Some(25.0)),
            ("overhead_cpu_time_seconds", Some(20.0)),
            ("overhead_noncpu_time_seconds", Some(10.0)),
            ("total_compression_overhead_seconds", Some(3.0)),
            ("total_serialization_overhead_seconds", Some(7.0)),
            ("failed_time_seconds", Some(2.5)),
            ("cpu_efficiency", Some(0.5)),
            ("cpu_efficiency_fine", Some(0.4)),
            ("speedup_factor", Some(4.0)),
            ("io_overhead_percent", Some(110.0)),
            ("efficiency_ratio_percent", Some(400.0)),
            ("parallel_efficiency_percent", Some(50.0)),
        ],
    );
}

#[test]
fn counts_stay_whole_numbers() {
    let metrics = analyze(&full());
    assert_eq!(metrics.get("total_events"), Some(&Value::Int(2_000_000)));
    assert_eq!(metrics.get("peak_workers"), Some(&Value::Int(4)));
    assert_eq!(metrics.get("disk_read_bytes"), Some(&Value::Int(0)));
}

#[test]
fn every_metric_is_listed_and_nothing_else_is_written() {
    let metrics = analyze(&bare(10.0));
    let keys: Vec<_> = metrics.iter().map(|(key, _)| key).collect();
    let catalog: Vec<_> = CATALOG.iter().map(|metric| metric.key).collect();
    assert_eq!(keys, catalog);
    let known: Vec<_> = metrics.iter().filter(|(_, value)| !value.is_none()).collect();
    assert_eq!(known, [("wall_time", &Value::Float(10.0))]);

    let mut sheet = crate::Sheet::default();
    crate::throughput::fill(&mut sheet, crate::Replayed::default());
    let run = full();
    crate::timing::fill(&mut sheet, &run.header);
    let spans = crate::fine::Spans::read(&run.header.spans).unwrap();
    crate::volume::fill(&mut sheet, &run.header.report, Some(&spans));
    crate::fine::fill(&mut sheet, &spans, &run.header.processor_prefixes);
    crate::efficiency::fill(&mut sheet, crate::Replayed::default());
    assert!(sheet.keys().all(|key| catalog.contains(&key)));
}

#[test]
fn workers_are_weighted_by_time() {
    let mut run = bare(10.0);
    // 0 → 10 over 2 s, then 10 for 8 s: (10 + 80) / 10.
    add_ticks(&mut run, &[(10.0, 10), (0.0, 0), (2.0, 10)]);
    check(
        &run,
        &[
            ("time_avg_workers", Some(9.0)),
            ("mean_workers", Some(20.0 / 3.0)),
            ("peak_workers", Some(10.0)),
            ("total_cores", None),
        ],
    );
}

#[test]
fn one_tick_and_many_at_one_moment() {
    let mut run = bare(10.0);
    add_ticks(&mut run, &[(1.0, 3)]);
    check(&run, &[("avg_workers", Some(3.0)), ("peak_workers", Some(3.0))]);
    add_ticks(&mut run, &[(1.0, 3), (1.0, 5)]);
    check(&run, &[("avg_workers", Some(4.0))]);
    add_ticks(&mut run, &[]);
    check(&run, &[("avg_workers", None), ("mean_workers", None), ("peak_workers", None)]);
}

#[test]
fn rows_weigh_as_many_samples_as_they_stand_for() {
    let mut run = bare(10.0);
    let row = |worker: &str, time, until, samples, memory, limit, threads, cpu| Row {
        memory: Some(memory),
        limit,
        threads: Some(threads),
        cpu: Some(cpu),
        ..Row::new(worker, time, until, samples)
    };
    add_workers(
        &mut run,
        &[
            row("a", 0.0, 8.0, 9, 100, Some(200), 1, 50.0),
            row("a", 9.0, 9.0, 1, 200, Some(200), 1, 90.0),
            row("b", 0.0, 9.0, 10, 300, None, 3, 10.0),
        ],
    );
    check(
        &run,
        &[
            ("cores_per_worker", Some(2.0)),
            ("avg_memory_per_worker_bytes", Some((900.0 + 200.0 + 3000.0) / 20.0)),
            ("peak_memory_bytes", Some(300.0)),
            ("peak_memory_cluster_bytes", Some(500.0)),
            ("memory_utilization_mean_percent", Some((9.0 * 50.0 + 100.0) / 10.0)),
            ("memory_utilization_min_percent", Some(50.0)),
            ("memory_utilization_max_percent", Some(100.0)),
            ("cpu_utilization_mean_percent", Some((450.0 + 90.0 + 100.0) / 20.0)),
            ("cpu_utilization_min_percent", Some(10.0)),
            ("cpu_utilization_max_percent", Some(90.0)),
            ("peak_spilled_bytes", None),
        ],
    );
}

#[test]
fn a_peak_needs_the_workers_at_one_moment() {
    let mut run = bare(10.0);
    let row = |worker: &str, time, until, bytes| Row {
        memory: Some(bytes),
        spilled: Some(bytes / 10),
        ..Row::new(worker, time, until, 1)
    };
    // b comes as a goes: at 5 s both are there; c is alone later.
    add_workers(
        &mut run,
        &[row("a", 0.0, 5.0, 100), row("b", 5.0, 6.0, 50), row("c", 7.0, 9.0, 120)],
    );
    check(&run, &[("peak_memory_cluster_bytes", Some(150.0)), ("peak_spilled_bytes", Some(15.0))]);
    // Rows of one worker that touch or overlap are one worker, not two.
    add_workers(&mut run, &[row("a", 0.0, 5.0, 100), row("a", 5.0, 9.0, 110)]);
    check(&run, &[("peak_memory_cluster_bytes", Some(110.0))]);
}

#[test]
fn a_host_counts_once() {
    let mut run = bare(10.0);
    let row = |worker: &str, host: Option<&str>, time, until, rate| Row {
        host: host.map(Into::into),
        net_read: Some(rate),
        ..Row::new(worker, time, until, 11)
    };
    add_workers(
        &mut run,
        &[
            row("a", Some("x"), 0.0, 10.0, 100.0),
            row("b", Some("x"), 0.0, 10.0, 100.0),
            row("c", Some("y"), 0.0, 10.0, 30.5),
        ],
    );
    check(
        &run,
        &[
            ("host_net_read_bytes_per_s_mean", Some(130.5)),
            ("host_disk_read_bytes_per_s_mean", None),
        ],
    );
    // 100 for 4 s, a straight line to 200 over 2 s, 200 for 4 s.
    add_workers(
        &mut run,
        &[row("a", Some("x"), 0.0, 4.0, 100.0), row("b", Some("x"), 6.0, 10.0, 200.0)],
    );
    check(&run, &[("host_net_read_bytes_per_s_mean", Some(150.0))]);
}

#[test]
fn a_host_that_comes_as_another_goes_adds_up_at_one_sample_only() {
    let mut run = bare(754.0);
    let row = |worker: &str, time, until, samples, rate| Row {
        host: Some(worker.into()),
        net_read: Some(rate),
        ..Row::new(worker, time, until, samples)
    };
    add_workers(&mut run, &[row("x", 10.0, 700.0, 691, 125.0), row("y", 700.0, 754.0, 55, 50.0)]);
    // 125 up to 699 s, 175 at 700 s, 50 from 701 s.
    let area = 689.0 * 125.0 + 150.0 + 112.5 + 53.0 * 50.0;
    check(&run, &[("host_net_read_bytes_per_s_mean", Some(area / 744.0))]);
}

#[test]
fn without_prefixes_the_processor_is_everything_and_the_rest_unknown() {
    let mut run = full();
    run.header.processor_prefixes.clear();
    check(
        &run,
        &[
            ("processor_cpu_time_seconds", Some(320.0)),
            ("processor_noncpu_time_seconds", Some(110.0)),
            ("overhead_cpu_time_seconds", None),
            ("overhead_noncpu_time_seconds", None),
        ],
    );
    run.header.processor_prefixes = vec!["P".into(), "reduce".into()];
    check(&run, &[("overhead_cpu_time_seconds", Some(0.0))]);
}

#[test]
fn a_span_without_an_activity_reports_zero_and_no_span_reports_nothing() {
    let mut run = bare(1.0);
    run.header.spans = span(&[("P", "thread-cpu", "seconds", Value::Float(1.0))]);
    check(&run, &[("failed_time_seconds", Some(0.0)), ("disk_read_bytes", Some(0.0))]);
    let other = Value::Tuple(["p2p", "a", "thread-cpu", "seconds"].map(Value::from).to_vec());
    for nothing in [
        Value::None,
        Value::Map(vec![]),
        Value::Map(vec![(other, Value::Int(1)), ("x".into(), Value::Int(2))]),
    ] {
        run.header.spans = nothing;
        check(&run, &[("failed_time_seconds", None), ("cpu_time_seconds", None)]);
    }
}

#[test]
fn a_report_may_lack_entries_or_hold_nonsense() {
    let mut run = full();
    run.header.report = Value::map([("entries", Value::Int(100))]);
    check(
        &run,
        &[
            ("event_rate_wall_khz", Some(0.001)),
            ("data_rate_gbps", None),
            ("num_chunks", None),
            ("speedup_factor", None),
            ("parallel_efficiency_percent", None),
        ],
    );
    run.header.report = Value::map([
        ("entries", Value::Int(-1)),
        ("bytesread", Value::Float(f64::NAN)),
        ("processtime", Value::from("fast")),
        ("chunks", Value::Int(0)),
    ]);
    check(
        &run,
        &[
            ("event_rate_wall_khz", None),
            ("data_rate_mb_per_s", None),
            ("total_cpu_time", None),
            ("num_chunks", Some(0.0)),
            ("avg_cpu_time_per_chunk", None),
        ],
    );
}

#[test]
fn a_run_of_no_time_has_no_rates() {
    for wall_secs in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut run = full();
        run.header.wall_secs = wall_secs;
        check(
            &run,
            &[
                ("data_rate_gbps", None),
                ("event_rate_core_hz", None),
                ("cpu_efficiency", None),
                ("io_overhead_percent", None),
                ("event_rate_agg_khz", Some(5.0)),
            ],
        );
    }
}

#[test]
fn stored_numbers_fill_gaps_only() {
    let stored = Value::map([
        ("core_efficiency", Value::Float(0.25)),
        ("elapsed_time_seconds", Value::Float(99.0)),
        ("speedup_factor", Value::Float(f64::NAN)),
        ("mine", Value::Int(1)),
    ]);
    let metrics = analyze(&bare(10.0)).or_stored(&stored);
    assert_eq!(metrics.number("cpu_efficiency"), Some(0.25));
    assert_eq!(metrics.number("wall_time"), Some(10.0));
    assert_eq!(metrics.number("speedup_factor"), None);
    assert_eq!(metrics.get("mine"), None);
}

#[test]
fn metrics_are_computed_again_only_where_another_version_saved_them() {
    let mut run = full();
    let computed = analyze(&run);
    let versions = |version: &str| {
        Value::map([("versions", Value::map([("roastcoffea", Value::from(version))]))])
    };
    let mut marked: Vec<_> = computed.iter().map(|(key, value)| (key, value.clone())).collect();
    for (_, value) in marked.iter_mut().filter(|(key, _)| *key == "total_events") {
        *value = Value::Int(7);
    }
    // They are not saved with many files.
    marked.retain(|(key, _)| !FILE_METRICS.contains(key));
    run.header.metrics = Value::map(marked.clone());
    run.header.provenance = versions(env!("CARGO_PKG_VERSION"));
    assert_eq!(Metrics::of(&run).number("total_events"), Some(7.0));
    run.header.provenance = versions("0.0.1");
    assert_eq!(Metrics::of(&run), computed);
    run.header.provenance = versions(env!("CARGO_PKG_VERSION"));
    marked.retain(|(key, _)| *key != "ledger");
    run.header.metrics = Value::map(marked);
    assert_eq!(Metrics::of(&run), computed);
}

#[test]
fn efficiency_follows_from_known_metrics_alone() {
    let known = Value::map([
        ("elapsed_time_seconds", Value::Float(100.0)),
        ("total_cpu_time", Value::Float(400.0)),
        ("total_events", Value::Int(2_000_000)),
        ("time_avg_workers", Value::Float(4.0)),
        ("cores_per_worker", Value::Int(2)),
    ]);
    let efficiency = crate::efficiency_metrics(&known);
    let number = |key| efficiency.get(key).unwrap().as_f64();
    assert_eq!(number("cpu_efficiency"), Some(0.5));
    assert_eq!(number("parallel_efficiency_percent"), Some(50.0));
    assert_eq!(number("io_overhead_percent"), None);
    assert_eq!(efficiency.pairs().len(), 6);
}

#[test]
fn a_stored_split_between_processor_and_other_tasks_is_kept_whole() {
    let mut run = full();
    run.header.processor_prefixes.clear();
    let stored = Value::map([
        ("processor_cpu_time_seconds", Value::Float(300.0)),
        ("overhead_cpu_time_seconds", Value::Float(20.0)),
        ("cpu_time_seconds", Value::Float(1.0)),
    ]);
    let metrics = analyze(&run).or_stored(&stored);
    assert_eq!(metrics.number("processor_cpu_time_seconds"), Some(300.0));
    assert_eq!(metrics.number("overhead_cpu_time_seconds"), Some(20.0));
    assert_eq!(metrics.number("cpu_time_seconds"), Some(320.0));
    run.header.processor_prefixes = vec!["P".into(), "reduce".into()];
    let metrics = analyze(&run).or_stored(&stored);
    assert_eq!(metrics.number("processor_cpu_time_seconds"), Some(320.0));
    assert_eq!(metrics.number("overhead_cpu_time_seconds"), Some(0.0));
}
