//! Findings as Markdown, with tables as GitHub and GitLab know them. Names come
//! from anywhere, so whatever would be read as markup is escaped.

use crate::data_table::{CellKind, DataTable};
use crate::findings::Findings;
use crate::text::clean;

const MISSING: &str = "–";

pub(crate) fn render(findings: &[Findings]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for found in findings {
        parts.push(format!("## {}", escape(&found.title)));
        parts.push(format!("**{}**", escape(&found.verdict)));
        for part in &found.tables {
            parts.push(format!("### {}", escape(&part.title)));
            parts.push(table(part));
        }
        if !found.notes.is_empty() {
            let notes: Vec<String> =
                found.notes.iter().map(|note| format!("- {}", escape(note))).collect();
            parts.push(notes.join("\n"));
        }
    }
    parts.join("\n\n") + "\n"
}

fn table(table: &DataTable) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines = vec![
        line(&mut table.columns.iter().map(|column| escape(column.title))),
        line(&mut table.columns.iter().map(|column| match column.kind {
            CellKind::Number => "---:".to_owned(),
            CellKind::Name | CellKind::Words => ":---".to_owned(),
        })),
    ];
    for row in &table.rows {
        lines.push(line(&mut row.iter().map(|cell| escape(cell.as_deref().unwrap_or(MISSING)))));
    }
    if table.left_out > 0 {
        lines.push(format!("\nand {} more", table.left_out));
    }
    lines.join("\n")
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        if matches!(letter, '\\' | '|' | '<' | '>' | '`' | '*' | '[' | ']' | '&' | '~' | '#') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
