//! The report for a notebook: one fragment with its styles in it, no script, and
//! every text escaped.

use std::fmt::Write;

use roast_analyze::LedgerFamily;

use crate::data_table::{CellKind, DataTable};
use crate::findings::{Findings, Mood};
use crate::ledger_view::LedgerView;
use crate::report::{Fact, Report, Row, Section};

const MISSING: &str = "–";
const CELL: &str = "text-align:left;padding:0.15em 1em 0.15em 0;vertical-align:top";
const FACT: &str = "text-align:left;padding:0.2em 1.5em 0.2em 0";
const DIM: &str = "opacity:0.65";

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
                "<p role=\"alert\" style=\"color:#b00020;font-weight:bold\">The run was ended by {}</p>\n",
                escape(error)
            ),
        );
    }
    headline(&mut out, &report.headline);
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
        for note in &report.notes {
            push(&mut out, format_args!("<li>{}</li>\n", escape(note)));
        }
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
    out.push_str("<table><thead><tr>");
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

/// A bar of the families, what each colour is, and the rows.
fn ledger(out: &mut String, ledger: &LedgerView) {
    open_details(out, &ledger.table.title);
    out.push_str("<div style=\"display:flex;height:1.2em;margin:0.3em 0\">");
    for share in &ledger.shares {
        push(
            out,
            format_args!(
                "<div title=\"{0} {1:.1} %\" style=\"width:{1:.3}%;background:{2}\"></div>",
                escape(share.label),
                share.percent,
                color(share.family)
            ),
        );
    }
    out.push_str("</div>\n<p style=\"margin:0.2em 0\">");
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
    out.push_str("<table><thead><tr>");
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
                    escape(cell.as_deref().unwrap_or(MISSING))
                ),
            );
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
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
        out.push_str("<table><tbody>\n");
        for entry in &section.rows {
            row(out, entry);
        }
        out.push_str("</tbody></table>\n");
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
            escape(&row.label),
            escape(value),
            escape(&row.note)
        ),
    );
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string has no way to fail.
    let _ = out.write_fmt(text);
}

fn escape(text: &str) -> String {
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
