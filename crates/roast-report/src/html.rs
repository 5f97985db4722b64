//! The report for a notebook: one fragment with its styles in it, no script, and
//! every text escaped.

use std::fmt::Write;

use roast_analyze::LedgerFamily;

use crate::advice_view::{self, AdviceView};
use crate::data_table::{CellKind, DataTable};
use crate::findings::{Findings, Mood};
use crate::ledger_view::LedgerView;
use crate::report::{Fact, Report, Row, Section};

const MISSING: &str = "–";
const CELL: &str = "text-align:left;padding:0.15em 1em 0.15em 0;vertical-align:top";
const FACT: &str = "text-align:left;padding:0.2em 1.5em 0.2em 0";
const DIM: &str = "opacity:0.65";
/// Parts of the ledger's bar of at least this share have their name in them.
const WIDE_PERCENT: f64 = 14.0;
/// A saved notebook should stay small, whatever a run is called and however many
/// metrics and notes it has.
const MOST_LETTERS: usize = 320;
const MOST_LETTERS_IN_CELL: usize = 80;
const MOST_METRICS: usize = 30;
const MOST_NOTES: usize = 15;

pub(crate) fn render(report: &Report) -> String {
    let mut out = String::from(
        "<div class=\"roastcoffea\" style=\"font-family:sans-serif;font-size:0.9em;max-width:60em\">\n",
    );
    push(&mut out, format_args!("<h3 style=\"margin:0\">{}</h3>\n", escape(&report.name)));
    push(
        &mut out,
        format_args!(
            "<p style=\"margin:0 0 0.5em;{DIM}\">{}</p>\n",
            escape(&report.provenance.join(" · "))
        ),
    );
    if let Some(error) = &report.error {
        push(
            &mut out,
            format_args!(
                "<p role=\"alert\" style=\"color:#d32f2f;font-weight:bold\">The run was ended by {}</p>\n",
                escape(error)
            ),
        );
    }
    headline(&mut out, &report.headline);
    if let Some(verdict) = &report.verdict {
        push(
            &mut out,
            format_args!("<p style=\"margin:0.5em 0\"><b>{}</b></p>\n", escape(verdict)),
        );
    }
    if !report.advice.is_empty() {
        advice(&mut out, &report.advice);
    }
    if let Some(view) = &report.ledger {
        ledger(&mut out, view);
    }
    for part in &report.tables {
        table(&mut out, part);
    }
    for part in &report.sections {
        section(&mut out, part);
    }
    if !report.notes.is_empty() {
        out.push_str("<p style=\"margin:0.5em 0 0\"><b>Notes</b></p>\n<ul style=\"margin:0\">\n");
        for note in report.notes.iter().take(MOST_NOTES) {
            push(&mut out, format_args!("<li>{}</li>\n", escape(note)));
        }
        more(&mut out, report.notes.len(), MOST_NOTES, "li");
        out.push_str("</ul>\n");
    }
    out.push_str("</div>\n");
    out
}

/// Findings for a notebook.
pub(crate) fn render_findings(findings: &[Findings]) -> String {
    let mut out = String::from(
        "<div class=\"roastcoffea\" style=\"font-family:sans-serif;font-size:0.9em;max-width:60em\">\n",
    );
    for found in findings {
        let color = match found.mood {
            Mood::Bad => "#b00020",
            Mood::Good => "#2e7d32",
            Mood::Plain => "inherit",
        };
        push(
            &mut out,
            format_args!(
                "<p style=\"margin:0;{DIM}\">{}</p>\n\
                 <p style=\"margin:0 0 0.5em;font-size:1.1em;color:{color}\"><b>{}</b></p>\n",
                escape(&found.title),
                escape(&found.verdict)
            ),
        );
        for part in &found.tables {
            table(&mut out, part);
        }
        if !found.notes.is_empty() {
            out.push_str("<ul style=\"margin:0.5em 0 0\">\n");
            for note in &found.notes {
                push(&mut out, format_args!("<li>{}</li>\n", escape(note)));
            }
            out.push_str("</ul>\n");
        }
    }
    out.push_str("</div>\n");
    out
}

fn headline(out: &mut String, facts: &[Fact]) {
    open_table(out, "<thead><tr>");
    for fact in facts {
        push(
            out,
            format_args!(
                "<th scope=\"col\" style=\"{FACT};font-weight:normal;{DIM}\">{}</th>",
                escape(&fact.label)
            ),
        );
    }
    out.push_str("</tr></thead><tbody><tr>");
    for fact in facts {
        let value = fact.value.as_deref().unwrap_or(MISSING);
        push(
            out,
            format_args!("<td style=\"{FACT};font-size:1.2em\"><b>{}</b></td>", escape(value)),
        );
    }
    out.push_str("</tr></tbody></table>\n");
}

fn advice(out: &mut String, advice: &[AdviceView]) {
    open_details(out, "What to change");
    out.push_str("<ol style=\"margin:0.2em 0\">\n");
    for one in advice.iter().take(advice_view::SHOWN) {
        push(
            out,
            format_args!(
                "<li><span style=\"{DIM}\">{}</span><br>{}",
                escape(&one.headline),
                escape(&one.action)
            ),
        );
        if let Some(gain) = &one.gain {
            push(out, format_args!(" <span style=\"{DIM}\">({})</span>", escape(gain)));
        }
        if let Some(snippet) = &one.snippet {
            push(
                out,
                format_args!(
                    "<pre style=\"margin:0.2em 0;overflow:auto\">{}</pre>",
                    escape(snippet)
                ),
            );
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n");
    if let Some(more) = advice_view::left_out(advice) {
        push(out, format_args!("<p style=\"margin:0.2em 0;{DIM}\">{}</p>\n", escape(&more)));
    }
    out.push_str("</details>\n");
}

/// A bar of the families, what each colour is, and the rows.
fn ledger(out: &mut String, ledger: &LedgerView) {
    open_details(out, &ledger.table.title);
    out.push_str(
        "<table width=\"100%\" style=\"width:100%;table-layout:fixed;border-collapse:collapse;margin:0.3em 0\"><tr>",
    );
    for share in &ledger.shares {
        // Attributes beside the styles: what shows saved notebooks often drops styles.
        push(
            out,
            format_args!(
                "<td title=\"{0} {1:.1} %\" width=\"{1:.2}%\" bgcolor=\"{2}\" \
                 style=\"width:{1:.2}%;background:{2};color:#fff;padding:0.25em 0;border:0;\
                 text-align:center;overflow:hidden;white-space:nowrap\">{3}</td>",
                escape(share.label),
                share.percent,
                color(share.family),
                if share.percent >= WIDE_PERCENT { escape(share.label) } else { String::new() }
            ),
        );
    }
    out.push_str("</tr></table>\n<p style=\"margin:0.2em 0\">");
    for share in &ledger.shares {
        push(
            out,
            format_args!(
                "<span style=\"margin-right:1em\"><span style=\"color:{}\">■</span> {} {:.1} %</span>",
                color(share.family),
                escape(share.label),
                share.percent
            ),
        );
    }
    out.push_str("</p>\n");
    cells(out, &ledger.table);
    out.push_str("</details>\n");
}

fn color(family: LedgerFamily) -> &'static str {
    match family {
        LedgerFamily::User => "#2e7d32",
        LedgerFamily::Reading => "#1565c0",
        LedgerFamily::Handling => "#7b1fa2",
        LedgerFamily::Failed => "#c62828",
        LedgerFamily::Idle => "#9e9e9e",
        LedgerFamily::Unexplained => "#f9a825",
    }
}

fn table(out: &mut String, table: &DataTable) {
    open_details(out, &table.title);
    cells(out, table);
    if table.left_out > 0 {
        push(
            out,
            format_args!("<p style=\"margin:0.2em 0;{DIM}\">and {} more</p>\n", table.left_out),
        );
    }
    out.push_str("</details>\n");
}

fn cells(out: &mut String, table: &DataTable) {
    let style = |kind: CellKind| match kind {
        CellKind::Number => "text-align:right;padding:0.15em 1em 0.15em 0;white-space:nowrap",
        CellKind::Name | CellKind::Words => CELL,
    };
    open_table(out, "<thead><tr>");
    for column in &table.columns {
        push(
            out,
            format_args!(
                "<th scope=\"col\" style=\"{};font-weight:normal;{DIM}\">{}</th>",
                style(column.kind),
                escape(column.title)
            ),
        );
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (cell, column) in row.iter().zip(&table.columns) {
            push(
                out,
                format_args!(
                    "<td style=\"{}\">{}</td>",
                    style(column.kind),
                    self::cell(cell.as_deref().unwrap_or(MISSING))
                ),
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
}

/// Tables are centred by Jupyter, and black in pages without a document type.
fn open_table(out: &mut String, begin: &str) {
    push(out, format_args!("<table style=\"color:inherit;margin:0\">{begin}"));
}

fn open_details(out: &mut String, title: &str) {
    push(
        out,
        format_args!(
            "<details open><summary style=\"font-weight:bold;margin-top:0.5em\">{}</summary>\n",
            escape(title)
        ),
    );
}

fn section(out: &mut String, section: &Section) {
    open_details(out, &section.title);
    if !section.rows.is_empty() {
        open_table(out, "<tbody>\n");
        for entry in section.rows.iter().take(MOST_METRICS) {
            row(out, entry);
        }
        out.push_str("</tbody></table>\n");
        more(out, section.rows.len(), MOST_METRICS, "p");
    }
    for sentence in &section.absent {
        push(out, format_args!("<p style=\"margin:0.2em 0;{DIM}\">{}</p>\n", escape(sentence)));
    }
    out.push_str("</details>\n");
}

fn row(out: &mut String, row: &Row) {
    let value = row.value.as_deref().unwrap_or(MISSING);
    push(
        out,
        format_args!(
            "<tr><th scope=\"row\" style=\"{CELL};font-weight:normal\">{}</th>\
             <td style=\"{CELL};white-space:nowrap\"><b>{}</b></td>\
             <td style=\"{CELL};{DIM}\">{}</td></tr>\n",
            cell(&row.label),
            cell(value),
            escape(&row.note)
        ),
    );
}

/// Says how many were left out, if any were.
fn more(out: &mut String, there: usize, shown: usize, tag: &str) {
    if there > shown {
        push(out, format_args!("<{tag} style=\"{DIM}\">and {} more</{tag}>\n", there - shown));
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string has no way to fail.
    let _ = out.write_fmt(text);
}

/// A sentence as HTML; of a very long one, its beginning and its end.
fn escape(text: &str) -> String {
    shortened(text, MOST_LETTERS)
}

/// What stands in a table, as HTML.
fn cell(text: &str) -> String {
    shortened(text, MOST_LETTERS_IN_CELL)
}

fn shortened(text: &str, most_letters: usize) -> String {
    let letters = text.chars().count();
    if letters <= most_letters {
        return escape_all(text);
    }
    let end = most_letters / 2;
    let first: String = text.chars().take(end).collect();
    let last: String = text.chars().skip(letters - end).collect();
    format!("{}…{}", escape_all(&first), escape_all(&last))
}

fn escape_all(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
