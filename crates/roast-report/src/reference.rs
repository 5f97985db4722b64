//! What each metric means, from the catalog: the page in `docs/`, and the same
//! for a terminal.

use std::fmt::Write;

use roast_analyze::LEDGER;
use roast_model::{Better, CATALOG, Group, MetricDef};

const INTRODUCTION: &str = "\
# Metrics reference

<!-- Made from the metric catalog: roastcoffea metrics --format markdown -->

`collector.get_metrics()` and `measurement.metrics` hold every metric below under its key. An alias
finds the same value. A metric that could not be measured is `None`, never 0. Times are wall-clock
seconds unless they say CPU; bytes and rates are decimal (1 MB is 10⁶ bytes).

Sources: the *wall clock* runs from entering to leaving the collector; the *coffea report* is what a
Runner returns with `savemetrics=True`; *worker tracking* samples the workers while the run goes on;
the *Dask span* adds up what Dask saw its worker threads do; *task intervals* are when each task ran,
as the scheduler saw it; *chunk*, *section*, *column* and *file rows* are recorded where chunks run.

A metric whose unit is *table* holds several values: a map, or a list of maps. One whose unit is *text* is a sentence.
";

/// The reference as a Markdown page.
pub fn markdown_reference() -> String {
    let mut page = String::from(INTRODUCTION);
    for group in Group::ALL {
        line(&mut page, format_args!("\n## {}\n", group.title()));
        page.push_str("| key | what it is | unit | how it comes about | source | better |\n");
        page.push_str("|---|---|---|---|---|---|\n");
        for metric in of_group(group) {
            let aliases: Vec<_> = metric.aliases.iter().map(|alias| format!("`{alias}`")).collect();
            let also = if aliases.is_empty() {
                String::new()
            } else {
                format!("<br>also {}", aliases.join(", "))
            };
            line(
                &mut page,
                format_args!(
                    "| `{}`{also} | {} | {} | {} | {} | {} |",
                    metric.key,
                    cell(metric.label),
                    metric.unit.name(),
                    cell(metric.formula),
                    metric.source,
                    better(metric)
                ),
            );
        }
        let cautions: Vec<_> =
            of_group(group).filter(|metric| !metric.caution.is_empty()).collect();
        if !cautions.is_empty() {
            page.push_str("\nMind:\n\n");
        }
        for metric in cautions {
            line(&mut page, format_args!("- `{}`: {}", metric.key, metric.caution));
        }
        if group == Group::Ledger {
            ledger_rows(&mut page);
        }
    }
    page
}

fn ledger_rows(page: &mut String) {
    page.push_str("\n### Rows of the ledger\n\n");
    page.push_str("| key | what it is | which seconds |\n|---|---|---|\n");
    for row in LEDGER {
        line(page, format_args!("| `{}` | {} | {} |", row.key, row.label, cell(row.meaning)));
    }
}

/// The reference for a terminal: one line per metric, by family.
pub fn text_reference(width: usize) -> String {
    let widest = CATALOG.iter().map(|metric| metric.key.len()).max().unwrap_or(0);
    let mut text = String::new();
    for group in Group::ALL {
        if !text.is_empty() {
            text.push('\n');
        }
        line(&mut text, format_args!("{}", group.title()));
        for metric in of_group(group) {
            let first = format!("  {:widest$}  ", metric.key);
            let rest = " ".repeat(first.len());
            let meaning = format!("{} [{}]", metric.label, metric.unit.name());
            wrapped(&mut text, &meaning, width, &first, &rest);
        }
    }
    text
}

/// Everything about one metric, for a terminal.
pub fn text_entry(metric: &MetricDef, width: usize) -> String {
    let mut text = String::new();
    wrapped(&mut text, metric.label, width, &format!("{}: ", metric.key), "  ");
    let aliases = metric.aliases.join(", ");
    let entries = [
        ("unit", metric.unit.name()),
        ("formula", metric.formula),
        ("source", metric.source),
        ("better", better(metric)),
        ("aliases", &aliases),
        ("mind", metric.caution),
    ];
    for (name, value) in entries.into_iter().filter(|(_, value)| !value.is_empty()) {
        wrapped(&mut text, value, width, &format!("  {name:8} "), &" ".repeat(11));
    }
    text
}

fn of_group(group: Group) -> impl Iterator<Item = &'static MetricDef> {
    CATALOG.iter().filter(move |metric| metric.group == group)
}

fn better(metric: &MetricDef) -> &'static str {
    match metric.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "",
    }
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn wrapped(text: &mut String, content: &str, width: usize, first: &str, rest: &str) {
    let options = textwrap::Options::new(width).initial_indent(first).subsequent_indent(rest);
    for part in textwrap::wrap(content, options) {
        line(text, format_args!("{part}"));
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    // Writing into a string has no way to fail.
    let _ = writeln!(text, "{content}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_docs_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics-reference.md");
        let page = std::fs::read_to_string(path).unwrap();
        assert!(
            page == markdown_reference(),
            "run: cargo run -p roast-cli -- metrics --format markdown > docs/metrics-reference.md"
        );
    }

    #[test]
    fn every_metric_is_explained() {
        let (page, text) = (markdown_reference(), text_reference(80));
        for metric in CATALOG {
            assert!(page.contains(&format!("| `{}`", metric.key)), "{}", metric.key);
            assert!(text.contains(metric.key), "{}", metric.key);
            assert!(text_entry(metric, 80).lines().all(|line| line.chars().count() <= 80));
        }
    }
}
