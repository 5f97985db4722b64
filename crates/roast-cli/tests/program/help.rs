//! Help teaches by example; a snapshot of each page.

use crate::saved::{outcome, program};

#[test]
fn help_pages() {
    for (name, arguments) in [
        ("help", &["--help"][..]),
        ("help_show", &["show", "--help"]),
        ("help_report", &["report", "--help"]),
        ("help_export", &["export", "--help"]),
        ("help_compare", &["compare", "--help"]),
        ("help_scaling", &["scaling", "--help"]),
        ("help_metrics", &["metrics", "--help"]),
        ("help_tables", &["tables", "--help"]),
        ("help_simulate", &["simulate", "--help"]),
    ] {
        let outcome = outcome(program(arguments));
        assert_eq!(outcome.code, Some(0));
        assert_eq!(outcome.stderr, "");
        insta::assert_snapshot!(name, outcome.stdout);
    }
}

#[test]
fn version() {
    let outcome = outcome(program(&["--version"]));
    assert_eq!(outcome.stdout, format!("roastcoffea {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(outcome.code, Some(0));
}

#[test]
fn wrong_usage_is_2() {
    for arguments in [
        &[][..],
        &["brew"],
        &["show"],
        &["show", "x", "--width", "20"],
        &["report"],
        &["export", "x"],
        &["export", "x", "--format", "xml"],
        &["metrics", "wall_time", "--format", "text"],
    ] {
        let outcome = outcome(program(arguments));
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.stdout, "");
        assert!(
            outcome.stderr.contains("--help") || outcome.stderr.contains("Usage"),
            "{outcome:?}"
        );
    }
}

#[test]
fn the_library_gives_the_same_codes() {
    let code = |words: &[&str]| roast_cli::run(words.iter().map(Into::into));
    assert_eq!(code(&["roastcoffea", "metrics", "warp_factor"]), 2);
    assert_eq!(code(&["roastcoffea", "show", "/nowhere/at/all"]), 1);
}
