//! What a comparison or a look at several runs found: one sentence first, then
//! what it rests on. Free of any format, like the report of a single run.

use crate::data_table::DataTable;
use crate::{html, markdown, text};

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// What was looked at.
    pub title: String,
    /// The one sentence to read.
    pub verdict: String,
    /// How to take the verdict.
    pub mood: Mood,
    /// What it rests on, the most telling first.
    pub tables: Vec<DataTable>,
    /// What to keep in mind.
    pub notes: Vec<String>,
}

/// How to take a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Something got worse.
    Bad,
    /// Something got better, and nothing worse.
    Good,
    /// Neither.
    Plain,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingsFormat {
    /// For a terminal.
    Text {
        /// Columns to fill; kept between [`crate::MIN_WIDTH`] and [`crate::MAX_WIDTH`].
        width: usize,
        /// Whether to colour, with ANSI escapes.
        color: bool,
    },
    /// For a comment on a change, or a page.
    Markdown,
    /// A fragment for a notebook: no script, nothing loaded from elsewhere.
    Html,
}

impl FindingsFormat {
    /// The findings as text of this kind, one after the other.
    pub fn render(self, findings: &[Findings]) -> String {
        match self {
            Self::Text { width, color } => text::render_findings(findings, width, color),
            Self::Markdown => markdown::render(findings),
            Self::Html => html::render_findings(findings),
        }
    }
}
