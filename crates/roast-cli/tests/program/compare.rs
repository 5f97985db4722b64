//! `compare` and `scaling`: exit codes, files, and what is refused.

use roast_store::SaveOptions;

use crate::saved::{Saved, measurement};

/// `ttbar` and, beside it, `slow` of twice its wall time.
fn two() -> Saved {
    let saved = Saved::new();
    let mut slow = measurement(1);
    slow.header.id = "0191".into();
    slow.header.name = "slow".into();
    slow.header.wall_secs *= 2.0;
    roast_store::save(&slow, &saved.path("runs"), "slow", SaveOptions::default()).unwrap();
    saved
}

#[test]
fn a_comparison_is_printed_or_written() {
    let saved = two();
    let outcome = saved.run(&["compare", "runs/ttbar", "runs/slow"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("compare", outcome.stdout);
    let written = saved.run(&["compare", "runs/ttbar", "runs/slow", "-f", "json", "-o", "c.json"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    let text = std::fs::read_to_string(saved.path("c.json")).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["comparisons"][0]["new"]["name"], "slow");
    let again = saved.run(&["compare", "runs/ttbar", "runs/slow", "-o", "c.json"]);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(std::fs::read_to_string(saved.path("c.json")).unwrap(), text);
}

#[test]
fn worse_than_allowed_is_3() {
    let saved = two();
    let compare =
        |limit: &str| saved.run(&["compare", "runs/ttbar", "runs/slow", "--fail-on", limit]);
    // Without chunk times the noise is not known: only what is asked for by name fails.
    assert_eq!(compare("worse").code, Some(0));
    assert_eq!(compare("wall_time:150%").code, Some(0));
    let failed = compare("wall_time:5%");
    assert_eq!(failed.code, Some(3));
    assert!(failed.stderr.contains("slow: metric wall_time +100.0 %"), "{}", failed.stderr);
    assert!(!failed.stdout.is_empty());
    assert_eq!(compare("wall_tme:5%").code, Some(2));
    assert_eq!(compare("worse:lots").code, Some(2));
}

#[test]
fn nonsense_is_refused() {
    let saved = two();
    for (arguments, code, told) in [
        (&["compare", "runs/ttbar"][..], 2, "NEW"),
        (&["compare", "runs/ttbar", "runs/../runs/ttbar"], 2, "given twice"),
        (&["compare", "runs/ttbar", "runs/nowhere"], 1, "runs/nowhere"),
        (&["scaling", "runs/ttbar"], 2, "2"),
        (&["scaling", "runs/ttbar", "runs/ttbar"], 2, "given twice"),
        (&["scaling", "runs/ttbar", "runs/slow"], 1, "track_workers"),
    ] {
        let outcome = saved.run(arguments);
        assert_eq!(outcome.code, Some(code), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(told), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
}
