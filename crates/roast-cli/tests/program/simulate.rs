//! `roastcoffea simulate`.

use crate::saved::Saved;

#[test]
fn a_simulated_run_is_a_measurement_like_any_other() {
    let saved = Saved::new();
    let small = ["--workers", "4", "--threads", "2", "--chunks", "100", "--chunksize", "1000"];
    let simulate = [&["simulate", "-o", "runs", "--name", "made-up"][..], &small].concat();
    let made = saved.run(&simulate);
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), "runs/made-up\n"), "{}", made.stderr);
    let shown = saved.run(&["show", "runs/made-up"]);
    assert!(shown.stdout.contains("Simulated, not measured"), "{}", shown.stdout);
    let metrics = saved.run(&["show", "runs/made-up", "--json"]).stdout;
    assert!(metrics.contains("\"total_events\": 100000"), "{metrics}");

    let again = saved.run(&simulate);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    let before = std::fs::read(saved.path("runs/made-up/chunks.parquet")).unwrap();
    assert_eq!(saved.run(&[&simulate[..], &["--force"]].concat()).code, Some(0));
    assert!(before == std::fs::read(saved.path("runs/made-up/chunks.parquet")).unwrap());
    let other = saved.run(&[&simulate[..], &["--force", "--seed", "2"]].concat());
    assert_eq!(other.code, Some(0));
    assert!(before != std::fs::read(saved.path("runs/made-up/chunks.parquet")).unwrap());
}

#[test]
fn sizes_are_given_in_three_ways() {
    let saved = Saved::new();
    for (sizes, chunks, events) in [
        (&["--events", "1001", "--chunksize", "100"][..], 11, 1001),
        (&["--chunks", "7", "--events", "700"], 7, 700),
        (&["--chunks", "7", "--chunksize", "10"], 7, 70),
    ] {
        let made = saved.run(&[&["simulate", "-o", "runs", "--force"][..], sizes].concat());
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let metrics = saved.run(&["show", "runs/simulated", "--json"]).stdout;
        assert!(metrics.contains(&format!("\"num_successful_chunks\": {chunks}")), "{metrics}");
        assert!(metrics.contains(&format!("\"total_events\": {events}")), "{metrics}");
    }
    let all = ["--events", "10", "--chunksize", "5", "--chunks", "2"];
    let refused = saved.run(&[&["simulate", "-o", "runs"][..], &all].concat());
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("give two of them"), "{}", refused.stderr);
}

#[test]
fn what_makes_no_sense_or_does_not_fit_is_refused_before_anything_is_done() {
    let saved = Saved::new();
    for (arguments, code, words) in [
        (&["--workers", "0"][..], 2, "workers must be from 1"),
        (&["--failures", "90%"], 2, "failures must be"),
        (&["--failures", "many"], 2, "as 0.01 or as 1%"),
        (&["--stragglers", "300%"], 2, "share of all"),
        (&["--hours", "0.001"], 2, "raise --hours"),
        (&["--chunks", "1000000000"], 1, "GB of memory"),
        (&["--name", "a/b"], 1, "a/b"),
    ] {
        let refused = saved.run(&[&["simulate", "-o", "new"][..], arguments].concat());
        assert_eq!(refused.code, Some(code), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains(words), "{arguments:?}: {}", refused.stderr);
        assert_eq!(saved.entries("."), ["runs"], "{arguments:?}");
    }
}
