//! The ledger for people: a bar of a few families, and its rows by size.

use roast_analyze::{LEDGER, LedgerFamily, Metrics};
use roast_model::{Unit, Value};

use crate::data_table::{CellKind, DataColumn, DataTable};
use crate::units;

/// Rows below this share stand in one line; `unexplained` always has its own.
const SMALL_PERCENT: f64 = 0.1;

/// Where the core time went.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerView {
    /// The parts of the bar, in order; those of no size are left out.
    pub shares: Vec<LedgerShare>,
    /// The rows by size; its title says how much there was.
    pub table: DataTable,
}

/// A part of the bar.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerShare {
    /// What it is.
    pub family: LedgerFamily,
    /// What people read.
    pub label: &'static str,
    /// Its share of what was available.
    pub percent: f64,
}

const FAMILIES: [(LedgerFamily, &str); 6] = [
    (LedgerFamily::User, "user code"),
    (LedgerFamily::Reading, "reading"),
    (LedgerFamily::Handling, "output and tasks"),
    (LedgerFamily::Failed, "failed work"),
    (LedgerFamily::Idle, "idle"),
    (LedgerFamily::Unexplained, "unexplained"),
];

/// The ledger, if there is one.
pub(crate) fn view(metrics: &Metrics) -> Option<LedgerView> {
    let ledger = metrics.get("ledger").filter(|ledger| !ledger.is_none())?;
    let available = metrics.number("ledger_available_core_seconds").filter(|secs| *secs > 0.0)?;
    let mut rows: Vec<(&str, LedgerFamily, f64)> = LEDGER
        .iter()
        .filter_map(|row| Some((row.label, row.family, ledger.get(row.key)?.as_f64()?)))
        .collect();
    let percent = |secs: f64| secs / available * 100.0;
    let shares = FAMILIES
        .into_iter()
        .map(|(family, label)| {
            let secs: f64 = rows.iter().filter(|row| row.1 == family).map(|row| row.2).sum();
            LedgerShare { family, label, percent: percent(secs) }
        })
        .filter(|share| share.percent > 0.0)
        .collect();

    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    let line = |label: String, secs: f64| {
        vec![Some(label), Some(core_seconds(secs)), Some(format!("{:.1} %", percent(secs)))]
    };
    let (large, small): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, family, secs)| {
        percent(*secs) >= SMALL_PERCENT || *family == LedgerFamily::Unexplained
    });
    let mut lines: Vec<_> =
        large.into_iter().map(|(label, _, secs)| line(label.to_owned(), secs)).collect();
    let rest: f64 = small.iter().map(|(_, _, secs)| secs).sum();
    if rest > 0.0 {
        lines.push(line("other".to_owned(), rest));
    }
    let column = |title, kind| DataColumn { title, kind };
    Some(LedgerView {
        shares,
        table: DataTable {
            title: format!("Where {} core-seconds went", core_seconds(available)),
            columns: vec![
                column("", CellKind::Words),
                column("core-seconds", CellKind::Number),
                column("share", CellKind::Number),
            ],
            text_rows: lines.len(),
            rows: lines,
            left_out: 0,
        },
    })
}

fn core_seconds(secs: f64) -> String {
    units::show(secs, Unit::Ratio)
}

impl LedgerView {
    /// Divides a line of that many cells among the parts, each to the nearest cell
    /// and all of them together to the whole line.
    pub(crate) fn cells(&self, width: usize) -> Vec<usize> {
        let total: f64 = self.shares.iter().map(|share| share.percent).sum();
        let mut reached = 0.0;
        let mut used = 0;
        self.shares
            .iter()
            .map(|share| {
                reached += share.percent;
                let end = ((reached / total * width as f64).round() as usize).clamp(used, width);
                let cells = end - used;
                used = end;
                cells
            })
            .collect()
    }
}

/// Whether a metric stands in the ledger's own picture.
pub(crate) fn shows(key: &str, metrics: &Metrics) -> bool {
    key == "ledger_available_core_seconds"
        && metrics.get("ledger").is_some_and(|ledger| !matches!(ledger, Value::None))
}
