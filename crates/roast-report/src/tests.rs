//! A snapshot per format for runs of which everything, next to nothing, a
//! failure or something hostile is known.

mod comparing;
pub(crate) mod fixture;
mod trace;

use fixture::{bare, csv, full, hostile, json, raised, rendered};

use crate::Renderer;

#[test]
fn text_of_a_full_run() {
    insta::assert_snapshot!(
        "full_text_60",
        rendered(&full(), Renderer::Text { width: 60, color: false })
    );
    insta::assert_snapshot!(
        "full_text_100",
        rendered(&full(), Renderer::Text { width: 100, color: false })
    );
}

#[test]
fn text_of_a_run_with_a_wall_time_only() {
    insta::assert_snapshot!(
        "bare_text_60",
        rendered(&bare(), Renderer::Text { width: 60, color: false })
    );
    insta::assert_snapshot!(
        "bare_text_100",
        rendered(&bare(), Renderer::Text { width: 100, color: false })
    );
}

#[test]
fn text_of_a_run_that_raised() {
    insta::assert_snapshot!(
        "raised_text_60",
        rendered(&raised(), Renderer::Text { width: 60, color: false })
    );
    insta::assert_snapshot!(
        "raised_text_100",
        rendered(&raised(), Renderer::Text { width: 100, color: false })
    );
}

#[test]
fn text_of_hostile_names() {
    insta::assert_snapshot!(
        "hostile_text_60",
        rendered(&hostile(), Renderer::Text { width: 60, color: false })
    );
    insta::assert_snapshot!(
        "hostile_text_100",
        rendered(&hostile(), Renderer::Text { width: 100, color: false })
    );
}

#[test]
fn html() {
    insta::assert_snapshot!("full_html", rendered(&full(), Renderer::Html));
    insta::assert_snapshot!("bare_html", rendered(&bare(), Renderer::Html));
    insta::assert_snapshot!("raised_html", rendered(&raised(), Renderer::Html));
    insta::assert_snapshot!("hostile_html", rendered(&hostile(), Renderer::Html));
}

#[test]
fn json_documents() {
    insta::assert_snapshot!("full_json", json(&full()));
    insta::assert_snapshot!("bare_json", json(&bare()));
    insta::assert_snapshot!("raised_json", json(&raised()));
    insta::assert_snapshot!("hostile_json", json(&hostile()));
}

#[test]
fn csv_files() {
    insta::assert_snapshot!("full_csv", csv(&full()));
    insta::assert_snapshot!("bare_csv", csv(&bare()));
    insta::assert_snapshot!("raised_csv", csv(&raised()));
    insta::assert_snapshot!("hostile_csv", csv(&hostile()));
}

#[test]
fn no_line_is_longer_than_asked_for() {
    for run in [full(), bare(), raised(), hostile()] {
        for width in (40..=200).chain([0, 10_000]) {
            let text = rendered(&run, Renderer::Text { width, color: false });
            let limit = width.clamp(crate::MIN_WIDTH, crate::MAX_WIDTH);
            for line in text.lines() {
                let columns = textwrap::core::display_width(line);
                assert!(columns <= limit, "{columns} columns instead of {limit}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn colour_changes_no_letter() {
    let plain = rendered(&full(), Renderer::Text { width: 80, color: false });
    let colored = rendered(&full(), Renderer::Text { width: 80, color: true });
    assert!(!plain.contains('\u{1b}'));
    assert!(colored.contains('\u{1b}'));
    let mut stripped = String::new();
    let mut parts = colored.split('\u{1b}');
    stripped.push_str(parts.next().unwrap());
    for part in parts {
        stripped.push_str(part.split_once('m').unwrap().1);
    }
    // Blanks that end a line stay where a style ended before them.
    let trimmed: String = stripped.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    assert_eq!(trimmed, plain);
}

#[test]
fn hostile_names_reach_neither_the_terminal_nor_the_page() {
    let text = rendered(&hostile(), Renderer::Text { width: 100, color: false });
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains('\u{7}'));
    let html = rendered(&hostile(), Renderer::Html);
    assert!(!html.contains("<script") && !html.contains("<img"));
}

#[test]
fn json_is_strict() {
    for run in [full(), bare(), raised(), hostile()] {
        let text = json(&run);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(parsed["wall_time"].is_number());
        assert!(!text.contains("NaN") && !text.contains("$tuple"));
    }
}

#[test]
fn parquet_tables_are_written() {
    use crate::{ExportFormat, Part};
    let (run, metrics) = full();
    let parts = ExportFormat::Parquet.parts(&run);
    assert_eq!(parts.len(), run.tables.len());
    for part in parts {
        let mut bytes = Vec::new();
        ExportFormat::Parquet.write(part, &run, &metrics, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        assert!(matches!(part, Part::Table(_)));
    }
}
