//! `roastcoffea export`.

use std::process::Stdio;

use roast_store::SaveOptions;

use crate::saved::{Saved, measurement};

#[test]
fn json_goes_to_a_file_or_to_standard_output() {
    let saved = Saved::new();
    let to_file = saved.run(&["export", "runs/ttbar", "--format", "json"]);
    assert_eq!((to_file.code, to_file.stdout.as_str()), (Some(0), "ttbar.json\n"));
    let written = std::fs::read_to_string(saved.path("ttbar.json")).unwrap();
    let to_stdout = saved.run(&["export", "runs/ttbar", "-f", "json", "-o", "-"]);
    assert_eq!(to_stdout.stdout, written);
    assert!(written.contains("\"raw_chunk_metrics\": ["));
    assert_eq!(saved.entries("."), ["runs", "ttbar.json"]);
}

#[test]
fn a_trace_goes_to_a_file_or_to_standard_output() {
    let saved = Saved::new();
    let to_file = saved.run(&["export", "runs/ttbar", "-f", "trace"]);
    assert_eq!((to_file.code, to_file.stdout.as_str()), (Some(0), "ttbar-trace.json\n"));
    let written = std::fs::read_to_string(saved.path("ttbar-trace.json")).unwrap();
    let to_stdout = saved.run(&["export", "runs/ttbar", "-f", "trace", "-o", "-"]);
    assert_eq!(to_stdout.stdout, written);
    assert!(written.contains("\"traceEvents\":["));
    assert_eq!(saved.entries("."), ["runs", "ttbar-trace.json"]);
}

#[test]
fn csv_and_parquet_go_to_directories() {
    let saved = Saved::new();
    let csv = saved.run(&["export", "runs/ttbar", "-f", "csv"]);
    assert_eq!((csv.code, csv.stdout.as_str()), (Some(0), "ttbar-csv\n"), "{}", csv.stderr);
    assert_eq!(saved.entries("ttbar-csv"), ["chunks.csv", "metrics.csv", "ticks.csv"]);
    let chunks = std::fs::read_to_string(saved.path("ttbar-csv/chunks.csv")).unwrap();
    assert_eq!(chunks.lines().count(), 1001);
    let parquet = saved.run(&["export", "runs/ttbar", "-f", "parquet", "-o", "tables"]);
    assert_eq!(parquet.code, Some(0), "{}", parquet.stderr);
    assert_eq!(saved.entries("tables"), ["chunks.parquet", "ticks.parquet"]);
    assert_eq!(saved.entries("."), ["runs", "tables", "ttbar-csv"]);
}

#[test]
fn what_exists_is_replaced_only_when_told() {
    let saved = Saved::new();
    for (format, place) in [("json", "ttbar.json"), ("csv", "ttbar-csv")] {
        let export = ["export", "runs/ttbar", "-f", format];
        assert_eq!(saved.run(&export).code, Some(0));
        let refused = saved.run(&export);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
        assert_eq!(
            refused.stderr,
            format!(
                "error: {place} exists already\n\
                 hint: pass --force to replace it, or choose another place with -o\n"
            )
        );
        let forced = saved.run(&["export", "runs/ttbar", "-f", format, "--force"]);
        assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    }
    assert_eq!(saved.entries("."), ["runs", "ttbar-csv", "ttbar.json"]);
}

#[test]
fn force_does_not_destroy_what_is_not_an_export() {
    let saved = Saved::new();
    std::fs::create_dir(saved.path("thesis")).unwrap();
    std::fs::write(saved.path("thesis/chapter.tex"), "years of work").unwrap();
    for (format, word) in [("csv", "chapter.tex"), ("json", "is a directory")] {
        let outcome = saved.run(&["export", "runs/ttbar", "-f", format, "-o", "thesis", "--force"]);
        assert_eq!(outcome.code, Some(1));
        assert!(outcome.stderr.contains(word), "{}", outcome.stderr);
    }
    assert_eq!(saved.entries("thesis"), ["chapter.tex"]);
    assert_eq!(saved.entries("."), ["runs", "thesis"]);
}

#[test]
fn several_files_do_not_fit_standard_output() {
    let saved = Saved::new();
    let outcome = saved.run(&["export", "runs/ttbar", "-f", "csv", "-o", "-"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--format json"), "{}", outcome.stderr);
    assert_eq!(saved.entries("."), ["runs"]);
}

#[test]
fn a_place_that_is_not_there_is_an_error() {
    let saved = Saved::new();
    let outcome = saved.run(&["export", "runs/ttbar", "-f", "json", "-o", "no/such/place.json"]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.contains("no/such/place.json"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn permissions_follow_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let saved = Saved::new();
    saved.run(&["export", "runs/ttbar", "-f", "json"]);
    saved.run(&["export", "runs/ttbar", "-f", "csv"]);
    std::fs::write(saved.path("plain"), "").unwrap();
    std::fs::create_dir(saved.path("folder")).unwrap();
    let mode = |name| std::fs::metadata(saved.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("ttbar.json"), mode("plain"));
    assert_eq!(mode("ttbar-csv"), mode("folder"));
}

/// Interrupted while it writes: a pipe that nobody reads holds it there.
#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_and_exits_130() {
    let saved = Saved::new();
    let runs = saved.path("runs");
    roast_store::save(&measurement(20), &runs, "large", SaveOptions::default()).unwrap();
    let mut command = saved.command(&["export", "runs/large", "-f", "json", "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // One byte has come, so it is writing and listening.
    std::io::Read::read_exact(&mut stdout, &mut [0]).unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    // Reading on lets the blocked write return.
    let reader = std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let output = child.wait_with_output().unwrap();
    reader.join().unwrap().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "interrupted before it was complete\n");
    assert_eq!(saved.entries("."), ["runs"]);
}

#[test]
fn a_trace_may_be_of_a_part_of_the_run() {
    let saved = Saved::new();
    let made = saved.run(&["simulate", "-o", "runs", "--chunks", "60", "--workers", "2"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let export = |more: &[&str]| {
        let mut arguments = vec!["export", "runs/simulated", "-o", "-"];
        arguments.extend(more);
        saved.run(&arguments)
    };
    let whole = export(&["-f", "trace"]);
    let part = export(&["-f", "trace", "--from", "10", "--until", "20"]);
    assert_eq!(part.code, Some(0), "{}", part.stderr);
    assert!(part.stdout.len() < whole.stdout.len() / 2);
    for (arguments, told) in [
        (vec!["-f", "trace", "--from", "5", "--until", "5"], "nothing lies between"),
        (vec!["-f", "trace", "--from", "1e8"], "the run ended after"),
        (vec!["-f", "json", "--from", "5"], "--format trace"),
        (vec!["-f", "trace", "--from", "-5"], "--from"),
        (vec!["-f", "trace", "--until", "soon"], "in seconds"),
    ] {
        let refused = export(&arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}");
        assert!(refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
        assert_eq!(refused.stdout, "");
    }
}
