//! A snapshot per format of comparisons and of scaling.

use roast_analyze::{
    Basis, ComparedRow, Comparison, Difference, Fit, Headline, NoFit, Part, RunFacts, Scaling,
    ScalingPoint, Stopper, Told, Verdict,
};
use roast_model::{Better, Unit};

use crate::{
    FindingsFormat, comparison_findings, comparison_verdict, comparisons_json, scaling_findings,
    scaling_json, scaling_verdict,
};

fn row(part: Part, name: &str, values: (f64, f64), verdict: Verdict) -> ComparedRow {
    ComparedRow {
        part,
        name: name.into(),
        label: name.into(),
        unit: Unit::Microseconds,
        better: Better::Lower,
        base: Some(values.0),
        new: Some(values.1),
        change: Some(values.1 / values.0 - 1.0),
        noise: Some((-0.031, 0.042)),
        basis: Basis::PairedChunks,
        verdict,
        note: String::new(),
    }
}

fn facts(name: &str) -> RunFacts {
    RunFacts { id: name.into(), name: name.into(), events: Some(123_456.0) }
}

/// One section slower, one gone, one metric that cannot be compared.
fn slower() -> Comparison {
    let metric = |name: &str, unit, values, verdict| ComparedRow {
        unit,
        noise: None,
        basis: Basis::Unknown,
        ..row(Part::Metric, name, values, verdict)
    };
    Comparison {
        base: facts("old"),
        new: facts("new"),
        headline: Headline { overall: Some(0), culprits: vec![1], gains: vec![] },
        differences: vec![
            Difference {
                what: "cores".into(),
                base: Told::Number(4.0, Unit::Count),
                new: Told::Number(8.0, Unit::Count),
            },
            Difference {
                what: "coffea".into(),
                base: Told::Words("2026.8.0".into()),
                new: Told::Words("2026.9.0".into()),
            },
            Difference {
                what: "datasets only there".into(),
                base: Told::Nothing,
                new: Told::Words("ttbar".into()),
            },
        ],
        rows: vec![
            row(Part::Phase, "chunk", (100.0, 112.0), Verdict::Worse),
            row(Part::Section, "jet_selection", (80.0, 88.0), Verdict::Worse),
            row(Part::Section, "muons", (10.0, 10.1), Verdict::Same),
            ComparedRow {
                new: None,
                change: None,
                ..row(Part::Section, "old_cuts", (2.0, 2.0), Verdict::Missing)
            },
            ComparedRow {
                unit: Unit::Bytes,
                label: "Jet_pt (bytes)".into(),
                noise: Some((0.0, 0.0)),
                basis: Basis::Exact,
                ..row(Part::Branch, "Jet_pt", (100.0, 50.0), Verdict::Better)
            },
            metric("peak_memory_bytes", Unit::Bytes, (2e9, 4e9), Verdict::Changed),
            metric("failed_time_seconds", Unit::Seconds, (1.0, 30.0), Verdict::Changed),
            ComparedRow {
                note: "the runs have different numbers of events".into(),
                ..metric("wall_time", Unit::Seconds, (10.0, 30.0), Verdict::NotComparable)
            },
        ],
        paired_chunks: Some(80),
        seed: 7,
        notes: vec!["Chunks were compared pair by pair: 80 that both runs have.".into()],
    }
}

fn hostile() -> Comparison {
    let mut comparison = slower();
    comparison.new.name = "<img src=x>\u{1b}[31m| **b** `c`\n# h".into();
    let name = "sel|ect <script>alert(1)</script> \u{202e} 🎯";
    let mut bad = row(Part::Section, name, (1.0, 2.0), Verdict::Worse);
    bad.label = name.into();
    comparison.rows[1] = bad;
    comparison
}

fn runs() -> Scaling {
    let point = |name: &str, cores: f64, rate: f64| ScalingPoint {
        name: name.into(),
        workers: Some(cores / 2.0),
        cores,
        events: 1e6,
        wall_secs: 1e6 / rate,
        events_per_sec: rate,
        speedup: rate / 1000.0,
        efficiency: rate / 1000.0 / (cores / 2.0),
        fitted_events_per_sec: Some(rate * 1.01),
    };
    Scaling {
        points: vec![
            point("two", 2.0, 1000.0),
            point("four", 4.0, 1800.0),
            point("eight", 7.98, 2800.0),
        ],
        fit: Ok(Fit {
            serial_fraction: 0.075,
            error: 0.008,
            single_core_secs_per_event: 0.0018,
            at_limit: false,
        }),
        stoppers: Some(vec![Stopper {
            key: "idle_starved",
            label: "idle: starved",
            share_smallest: 0.02,
            share_largest: 0.3,
            added_core_secs_per_event: 0.000_5,
            share_of_added: Some(0.62),
        }]),
        notes: vec!["The runs have different numbers of events.".into()],
    }
}

const TEXT: FindingsFormat = FindingsFormat::Text { width: 100, color: false };

#[test]
fn comparisons_in_every_format() {
    let findings = [comparison_findings(&slower(), false), comparison_findings(&hostile(), false)];
    insta::assert_snapshot!("comparison_text", TEXT.render(&findings));
    insta::assert_snapshot!("comparison_markdown", FindingsFormat::Markdown.render(&findings));
    insta::assert_snapshot!("comparison_html", FindingsFormat::Html.render(&findings));
    insta::assert_snapshot!("comparison_all", TEXT.render(&[comparison_findings(&slower(), true)]));
    insta::assert_snapshot!("comparison_json", format!("{:#}", comparisons_json(&[slower()])));
}

#[test]
fn scaling_in_every_format() {
    let findings = [scaling_findings(&runs())];
    insta::assert_snapshot!("scaling_text", TEXT.render(&findings));
    insta::assert_snapshot!("scaling_markdown", FindingsFormat::Markdown.render(&findings));
    insta::assert_snapshot!("scaling_json", format!("{:#}", scaling_json(&runs())));
    let without = Scaling { fit: Err(NoFit::TooFew), stoppers: None, notes: Vec::new(), ..runs() };
    insta::assert_snapshot!("scaling_without_fit", TEXT.render(&[scaling_findings(&without)]));
    assert!(!scaling_verdict(&without).contains("serial"));
}

#[test]
fn hostile_names_stay_text() {
    let findings = [comparison_findings(&hostile(), true)];
    let html = FindingsFormat::Html.render(&findings);
    assert!(!html.contains("<script") && !html.contains("<img"));
    let text = TEXT.render(&findings);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
    let markdown = FindingsFormat::Markdown.render(&findings);
    assert!(
        !markdown.contains("\n# h") && !markdown.contains(" <img") && !markdown.contains("sel|")
    );
}

#[test]
fn each_outcome_has_its_sentence() {
    let mut comparison = slower();
    comparison.rows[0].verdict = Verdict::Same;
    let mut sentence = |edit: &dyn Fn(&mut Comparison)| {
        edit(&mut comparison);
        comparison_verdict(&comparison)
    };
    let sentences = [
        sentence(&|_| {}),
        sentence(&|found| found.headline.culprits.clear()),
        sentence(&|found| found.headline.gains = vec![1]),
        sentence(&|found| found.rows[0].verdict = Verdict::Better),
        sentence(&|found| {
            found.headline.gains.clear();
            found.rows[0].verdict = Verdict::Worse;
        }),
        sentence(&|found| found.headline.overall = None),
        sentence(&|found| found.rows.clear()),
    ];
    insta::assert_snapshot!("sentences", sentences.join("\n"));
}
