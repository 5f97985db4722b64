//! The report page: one HTML file that needs nothing else. Here a measurement
//! becomes [`PageData`], reduced to what a screen can show; the page itself is
//! written in TypeScript (`web/`), and its `data.ts` describes the same document.
//!
//! ```text
//! Measurement + Metrics ──► Run ──► one panel per file ──► PageData ──► render_page
//! ```

mod advice;
mod axis;
mod chunk_tables;
mod facts;
mod lanes;
mod ledger;
mod metric_tables;
mod number;
mod panel;
mod provenance;
mod raster;
mod render;
mod run;
mod runtimes;
mod scatter;
mod sections;
mod spread;
mod table;
mod task_intervals;
mod text;
mod timeline;
mod worker_series;
mod worker_table;

use roast_analyze::Metrics;
use roast_model::Measurement;
use serde::Serialize;

use crate::Report;
use panel::Panel;
pub use render::render_page;
use run::Run;

/// The version of the document that the page reads.
const FORMAT: u32 = 1;

/// Everything the page shows, as `web/src/data.ts` describes it.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    format: u32,
    version: &'static str,
    name: String,
    started: Option<String>,
    wall_secs: Option<f64>,
    error: Option<String>,
    verdict: String,
    headline: Vec<facts::Fact>,
    advice: Vec<advice::Advice>,
    ledger: Panel<ledger::Ledger>,
    timeline: Panel<timeline::Timeline>,
    lanes: Panel<lanes::Lanes>,
    runtimes: Panel<runtimes::Runtimes>,
    scatter: Panel<scatter::Scatter>,
    sections: Panel<Vec<sections::SectionNode>>,
    tables: Vec<table::Table>,
    metrics: Vec<facts::MetricFamily>,
    provenance: Vec<(String, String)>,
    notes: Vec<String>,
}

impl PageData {
    /// Reduces a measurement to what the page shows of it.
    pub fn new(measurement: &Measurement, metrics: &Metrics) -> Self {
        let header = &measurement.header;
        let run = Run::read(measurement);
        let ledger = ledger::panel(metrics, &run);
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            name: text::name(&header.name),
            started: Some(header.started.to_string()),
            wall_secs: number::known(header.wall_secs),
            error: header.error.as_deref().map(text::passage),
            verdict: advice::verdict(metrics, &ledger),
            headline: facts::headline(metrics),
            advice: advice::advice(metrics),
            timeline: timeline::panel(&run),
            lanes: lanes::panel(&run),
            runtimes: runtimes::panel(&run, metrics),
            scatter: scatter::panel(&run),
            sections: sections::panel(&run),
            tables: vec![
                metric_tables::datasets(metrics),
                chunk_tables::files(&run),
                metric_tables::branches(metrics, &run),
                chunk_tables::slowest(&run),
                chunk_tables::failures(&run),
                worker_table::workers(&run),
            ],
            metrics: facts::families(&Report::new(header, metrics)),
            provenance: provenance::pairs(header),
            notes: header.notes.iter().map(|note| text::passage(note)).collect(),
            ledger,
        }
    }
}

#[cfg(test)]
mod tests;
