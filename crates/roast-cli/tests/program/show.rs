//! `roastcoffea show`.

use std::process::Stdio;

use crate::saved::{Saved, outcome, without};

#[test]
fn the_summary() {
    let saved = Saved::new();
    let outcome = saved.run(&["show", "runs/ttbar", "--width", "80"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("show", outcome.stdout);
}

#[test]
fn metrics_as_json() {
    let saved = Saved::new();
    let outcome = saved.run(&["show", "runs/ttbar", "--json"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.starts_with("{\n  \"data_rate_gbps\": 0.003"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("raw_chunk_metrics"));
}

#[test]
fn colour_only_where_wanted() {
    let saved = Saved::new();
    let escape = '\u{1b}';
    assert!(!saved.run(&["show", "runs/ttbar"]).stdout.contains(escape));
    let always = ["show", "runs/ttbar", "--color", "always"];
    assert!(saved.run(&always).stdout.contains(escape));
    let never = ["show", "runs/ttbar", "--color", "never"];
    let mut forced = saved.command(&never);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(!outcome(forced).stdout.contains(escape));
    let mut auto = saved.command(&["show", "runs/ttbar"]);
    auto.env("CLICOLOR_FORCE", "1");
    assert!(outcome(auto).stdout.contains(escape));
    let mut refused = saved.command(&["show", "runs/ttbar"]);
    refused.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!outcome(refused).stdout.contains(escape));
}

#[test]
fn a_wrong_path_says_what_was_meant() {
    let saved = Saved::new();
    for (name, path) in [
        ("show_typo", "runs/tbar"),
        ("show_parent", "runs"),
        ("show_nothing", "elsewhere/entirely"),
    ] {
        let outcome = saved.run(&["show", path]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
        insta::assert_snapshot!(name, without(&outcome.stderr, saved.root.path()));
    }
}

#[test]
fn a_damaged_table_is_named() {
    let saved = Saved::new();
    std::fs::write(saved.path("runs/ttbar/ticks.parquet"), b"x").unwrap();
    let outcome = saved.run(&["show", "runs/ttbar"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(outcome.stderr.contains("ticks"), "{}", outcome.stderr);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let saved = Saved::new();
    let mut command = saved.command(&["export", "runs/ttbar", "-f", "json", "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}
