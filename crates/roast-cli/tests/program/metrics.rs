//! `roastcoffea metrics`.

use roast_model::CATALOG;

use crate::saved::{outcome, program};

#[test]
fn one_metric_by_key_or_alias() {
    let by_alias = outcome(program(&["metrics", "core_efficiency"]));
    assert_eq!(by_alias.code, Some(0));
    assert_eq!(by_alias.stdout, outcome(program(&["metrics", "cpu_efficiency"])).stdout);
    insta::assert_snapshot!(by_alias.stdout, @"
    cpu_efficiency: Core efficiency
      unit     ratio
      formula  (total_cpu_time − replayed processing time) / (wall_time × total_cores)
      source   coffea report, worker tracking
      better   higher
      aliases  core_efficiency
      mind     Share of the available core time inside process(), waiting included; not CPU use.
    ");
}

#[test]
fn an_unknown_key_suggests_the_nearest() {
    let outcome = outcome(program(&["metrics", "core_eficiency"]));
    assert_eq!(outcome.code, Some(2));
    insta::assert_snapshot!(outcome.stderr, @r#"
    error: there is no metric "core_eficiency"
    hint: did you mean core_efficiency?
    "#);
}

#[test]
fn the_whole_list() {
    let text = outcome(program(&["metrics"]));
    let markdown = outcome(program(&["metrics", "--format", "markdown"]));
    for metric in CATALOG {
        assert!(text.stdout.contains(metric.key));
        assert!(markdown.stdout.contains(metric.key));
    }
}
