//! From metrics to what people and other programs read.
//!
//! ```text
//! Header + Metrics ──► Report ──► Renderer: text, HTML          (for people)
//! Measurement + Metrics ────────► ExportFormat: JSON, CSV, Parquet (for programs)
//! Measurement + Metrics ──► PageData ──► render_page             (the page)
//! Comparison, Scaling ──► Findings ► text, Markdown, HTML, JSON
//! CATALOG ──────────────────────► reference: Markdown, text     (what it all means)
//! ```
//!
//! Nothing here opens a file: renderers return text and exporters write into
//! what they are given.

mod advice_view;
mod comparison_view;
mod csv;
mod data_table;
mod export;
mod findings;
mod findings_json;
mod html;
mod json;
mod layout;
mod ledger_view;
mod markdown;
mod missing;
mod page;
mod parquet_table;
mod plain_json;
mod provenance;
mod reference;
mod report;
mod scaling_view;
mod table_reference;
mod text;
mod text_table;
mod trace;
mod tracking_json;
mod units;

pub use advice_view::AdviceView;
pub use comparison_view::{comparison_findings, comparison_verdict};
pub use data_table::{CellKind, DataColumn, DataTable};
pub use export::{ExportError, ExportFormat, Part, Window, trace_bytes};
pub use findings::{Findings, FindingsFormat, Mood};
pub use findings_json::{comparisons_json, scaling_json};
pub use json::write_summary;
pub use ledger_view::{LedgerShare, LedgerView};
pub use page::{PageData, render_page};
pub use reference::{markdown_reference, text_entry, text_reference};
pub use report::{Fact, Report, Row, Section};
pub use scaling_view::{scaling_findings, scaling_verdict};
pub use table_reference::{markdown_tables, text_table, text_tables};
pub use text::{MAX_WIDTH, MIN_WIDTH};
pub use units::show;

/// How a [`Report`] is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renderer {
    /// For a terminal.
    Text {
        /// Columns to fill; kept between [`MIN_WIDTH`] and [`MAX_WIDTH`].
        width: usize,
        /// Whether to colour, with ANSI escapes.
        color: bool,
    },
    /// A fragment for a notebook: no script, nothing loaded from elsewhere.
    Html,
}

impl Renderer {
    /// The report as text of this kind.
    pub fn render(self, report: &Report) -> String {
        match self {
            Self::Text { width, color } => text::render(report, width, color),
            Self::Html => html::render(report),
        }
    }
}

#[cfg(test)]
mod tests;
