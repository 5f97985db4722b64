//! The report for a terminal: aligned columns that follow a given width. What is
//! shown may come from anywhere, so control characters never reach the terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use textwrap::core::display_width;

use roast_analyze::LedgerFamily;

use crate::advice_view::{self, AdviceView};
use crate::data_table::DataTable;
use crate::findings::{Findings, Mood};
use crate::ledger_view::LedgerView;
use crate::report::{Fact, Report, Row, Section};
use crate::text_table;

/// Narrower than this, columns make no sense.
pub const MIN_WIDTH: usize = 40;
/// Wider than this, lines are hard to follow.
pub const MAX_WIDTH: usize = 200;

const MISSING: &str = "–";
const INDENT: &str = "  ";
const GAP: usize = 2;
const FACT_WIDTH: usize = 16;
/// A note in fewer columns than this goes below its row.
const MIN_NOTE_WIDTH: usize = 24;

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const HEADING: Style = AnsiColor::Cyan.on_default().bold();

/// The lines written so far.
struct Page {
    text: String,
    width: usize,
    color: bool,
}

/// Widths of the three columns; the note's is `None` where it goes below.
#[derive(Clone, Copy)]
struct Columns {
    label: usize,
    value: usize,
    note: Option<usize>,
}

pub(crate) fn render(report: &Report, width: usize, color: bool) -> String {
    let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
    let mut page = Page { text: String::new(), width, color };
    page.paragraph(&report.name, "", STRONG);
    page.paragraph(&report.provenance.join(" · "), "", DIM);
    if let Some(error) = &report.error {
        page.end_line();
        page.paragraph(&format!("The run was ended by {error}"), "", BAD);
    }
    page.end_line();
    page.facts(&report.headline);
    if let Some(verdict) = &report.verdict {
        page.end_line();
        page.paragraph(verdict, "", STRONG);
    }
    if !report.advice.is_empty() {
        page.end_line();
        page.advice(&report.advice);
    }
    if let Some(ledger) = &report.ledger {
        page.end_line();
        page.ledger(ledger);
    }
    for table in &report.tables {
        page.end_line();
        page.table(table);
    }
    let columns = Columns::fit(&report.sections, width);
    for section in &report.sections {
        page.end_line();
        page.section(section, columns);
    }
    if !report.notes.is_empty() {
        page.end_line();
        page.paragraph("Notes", "", HEADING);
        for note in &report.notes {
            page.bullet(note);
        }
    }
    page.text
}

/// Findings for a terminal, a blank line between one and the next.
pub(crate) fn render_findings(findings: &[Findings], width: usize, color: bool) -> String {
    let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
    let mut page = Page { text: String::new(), width, color };
    for (index, found) in findings.iter().enumerate() {
        if index > 0 {
            page.end_line();
        }
        page.paragraph(&found.title, "", DIM);
        let style = match found.mood {
            Mood::Bad => BAD,
            Mood::Good => GOOD,
            Mood::Plain => STRONG,
        };
        page.paragraph(&found.verdict, "", style);
        for table in &found.tables {
            page.end_line();
            page.table(table);
        }
        if !found.notes.is_empty() {
            page.end_line();
            for note in &found.notes {
                page.bullet(note);
            }
        }
    }
    page.text
}

impl Columns {
    fn fit(sections: &[Section], width: usize) -> Self {
        let rows = || sections.iter().flat_map(|section| &section.rows);
        let widest = |text: fn(&Row) -> &str| {
            rows().map(|row| display_width(&clean(text(row)))).max().unwrap_or(0)
        };
        let label = widest(|row| &row.label).clamp(1, width * 45 / 100);
        let after_label = width.saturating_sub(INDENT.len() + label + GAP).max(1);
        let value = widest(|row| row.value.as_deref().unwrap_or(MISSING));
        // A single long text of the user's must not push the notes away.
        let value = value.clamp(1, after_label.min(width * 30 / 100));
        let note = after_label.saturating_sub(value + GAP);
        if note >= MIN_NOTE_WIDTH {
            Self { label, value, note: Some(note) }
        } else {
            Self { label, value: after_label, note: None }
        }
    }
}

impl Page {
    fn end_line(&mut self) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
    }

    fn styled(&mut self, text: &str, style: Style) {
        if self.color && style != PLAIN && !text.is_empty() {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        } else {
            self.text.push_str(text);
        }
    }

    fn paragraph(&mut self, text: &str, indent: &str, style: Style) {
        for line in wrap(text, self.width.saturating_sub(indent.len())) {
            self.text.push_str(indent);
            self.styled(&line, style);
            self.end_line();
        }
    }

    fn bullet(&mut self, text: &str) {
        let lines = wrap(text, self.width.saturating_sub(2 * INDENT.len()));
        for (index, line) in lines.iter().enumerate() {
            self.text.push_str(if index == 0 { "  • " } else { "    " });
            self.text.push_str(line);
            self.end_line();
        }
    }

    fn advice(&mut self, advice: &[AdviceView]) {
        self.paragraph("What to change", "", HEADING);
        for (number, one) in (1..).zip(advice.iter().take(advice_view::SHOWN)) {
            let action = match &one.gain {
                Some(gain) => format!("{} ({gain})", one.action),
                None => one.action.clone(),
            };
            self.hanging(&format!("  {number}. "), &one.headline, DIM);
            self.hanging("   → ", &action, PLAIN);
        }
        if let Some(more) = advice_view::left_out(advice) {
            self.paragraph(&more, INDENT, DIM);
        }
    }

    /// A mark, and a paragraph that begins after it on every line.
    fn hanging(&mut self, mark: &str, text: &str, style: Style) {
        let indent = display_width(mark);
        for (index, line) in wrap(text, self.width.saturating_sub(indent)).iter().enumerate() {
            if index == 0 {
                self.text.push_str(mark);
            } else {
                self.pad(0, indent);
            }
            self.styled(line, style);
            self.end_line();
        }
    }

    /// As many facts in a row as fit, labels above values; rows equally full.
    fn facts(&mut self, facts: &[Fact]) {
        let most = (self.width.saturating_sub(INDENT.len()) / FACT_WIDTH).max(1);
        let rows = facts.len().div_ceil(most).max(1);
        for row in facts.chunks(facts.len().div_ceil(rows).max(1)) {
            self.fact_line(row.iter().map(|fact| fact.label.as_str()), DIM);
            self.fact_line(row.iter().map(|fact| fact.value.as_deref().unwrap_or(MISSING)), STRONG);
        }
    }

    fn fact_line<'t>(&mut self, cells: impl Iterator<Item = &'t str>, style: Style) {
        self.text.push_str(INDENT);
        for cell in cells {
            let cell = clean(cell);
            self.styled(&cell, style);
            self.pad(display_width(&cell), FACT_WIDTH);
        }
        self.end_line();
    }

    /// A line of blocks for the families, what each block is, and the rows.
    fn ledger(&mut self, ledger: &LedgerView) {
        self.paragraph(&ledger.table.title, "", HEADING);
        let bar = self.width.saturating_sub(2 * INDENT.len());
        self.text.push_str(INDENT);
        for (share, cells) in ledger.shares.iter().zip(ledger.cells(bar)) {
            let (block, style) = look(share.family);
            self.styled(&String::from(block).repeat(cells), style);
        }
        self.end_line();
        let mut used = 0;
        for share in &ledger.shares {
            let (block, style) = look(share.family);
            let text = format!(" {} {:.1} %", share.label, share.percent);
            let columns = display_width(&text) + 1;
            if used > 0 && used + GAP + columns > bar {
                self.end_line();
                used = 0;
            }
            let gap = if used == 0 { INDENT.len() } else { GAP + 1 };
            self.pad(0, gap);
            self.styled(block, style);
            self.text.push_str(&text);
            used += columns + if used == 0 { 0 } else { gap };
        }
        self.end_line();
        self.rows_of(&ledger.table);
    }

    fn table(&mut self, table: &DataTable) {
        self.paragraph(&table.title, "", HEADING);
        self.rows_of(table);
        let left_out = table.left_out + table.rows.len().saturating_sub(table.text_rows);
        if left_out > 0 {
            self.paragraph(&format!("and {left_out} more"), INDENT, DIM);
        }
    }

    fn rows_of(&mut self, table: &DataTable) {
        let (titles, rows) = text_table::lines(table, self.width.saturating_sub(INDENT.len()));
        if let Some(titles) = titles {
            self.text.push_str(INDENT);
            self.styled(&titles, DIM);
            self.end_line();
        }
        for row in rows {
            self.text.push_str(INDENT);
            self.text.push_str(&row);
            self.end_line();
        }
    }

    fn section(&mut self, section: &Section, columns: Columns) {
        self.paragraph(&section.title, "", HEADING);
        for row in &section.rows {
            self.row(row, columns);
        }
        for sentence in &section.absent {
            self.paragraph(sentence, INDENT, DIM);
        }
    }

    fn row(&mut self, row: &Row, columns: Columns) {
        let labels = wrap(&row.label, columns.label);
        let values = wrap(row.value.as_deref().unwrap_or(MISSING), columns.value);
        let notes = columns.note.map_or_else(Vec::new, |width| wrap_or_nothing(&row.note, width));
        let value_style = if row.value.is_some() { STRONG } else { DIM };
        for line in 0..labels.len().max(values.len()).max(notes.len()) {
            let cell = |cells: &[String]| cells.get(line).cloned().unwrap_or_default();
            let (label, value, note) = (cell(&labels), cell(&values), cell(&notes));
            self.text.push_str(INDENT);
            self.text.push_str(&label);
            self.pad(display_width(&label), columns.label + GAP);
            self.styled(&value, value_style);
            if columns.note.is_some() && !note.is_empty() {
                self.pad(display_width(&value), columns.value + GAP);
                self.styled(&note, DIM);
            }
            self.end_line();
        }
        // The dash says as much as the bare word.
        let told = row.note.is_empty() || row.value.is_none() && row.note == "missing";
        if columns.note.is_none() && !told {
            self.paragraph(&row.note, "    ", DIM);
        }
    }

    fn pad(&mut self, used: usize, width: usize) {
        self.text.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
    }
}

/// Block and colour of a family: told apart without the colour.
fn look(family: LedgerFamily) -> (&'static str, Style) {
    let (block, color) = match family {
        LedgerFamily::User => ("█", AnsiColor::Green),
        LedgerFamily::Reading => ("▓", AnsiColor::Blue),
        LedgerFamily::Handling => ("▒", AnsiColor::Magenta),
        LedgerFamily::Failed => ("▚", AnsiColor::Red),
        LedgerFamily::Idle => ("░", AnsiColor::BrightBlack),
        LedgerFamily::Unexplained => ("?", AnsiColor::Yellow),
    };
    (block, color.on_default())
}

fn wrap_or_nothing(text: &str, width: usize) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { wrap(text, width) }
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = clean(text);
    textwrap::wrap(&text, width.max(2)).into_iter().map(Cow::into_owned).collect()
}

/// Without line breaks, escapes and the marks that turn the direction of text.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let turns = |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !text.chars().any(|letter| letter.is_control() || turns(letter)) {
        return Cow::Borrowed(text);
    }
    let replace = |letter: char| match letter {
        '\n' | '\r' | '\t' => ' ',
        letter if letter.is_control() || turns(letter) => '\u{fffd}',
        letter => letter,
    };
    Cow::Owned(text.chars().map(replace).collect())
}
