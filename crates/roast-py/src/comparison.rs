//! Comparisons and scaling as Python holds them: rendered here, and handed over as
//! JSON for everything else.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use roast_analyze::{Comparison, Metrics, Run, Scaling};
use roast_model::Measurement;
use roast_report::{
    FindingsFormat, comparison_findings, comparisons_json, scaling_findings, scaling_json,
};

use crate::measurement::CoreMeasurement;

/// One or more runs compared with a base.
#[pyclass(frozen, name = "Comparison", module = "roastcoffea._core")]
pub(crate) struct CoreComparison {
    comparisons: Vec<Comparison>,
}

/// Several runs by size.
#[pyclass(frozen, name = "Scaling", module = "roastcoffea._core")]
pub(crate) struct CoreScaling {
    scaling: Scaling,
}

/// Compares runs with a base.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    base: Py<CoreMeasurement>,
    new: Vec<Py<CoreMeasurement>>,
    seed: u64,
) -> PyResult<CoreComparison> {
    py.detach(|| {
        let (base, of_base) = analyzed(base.get())?;
        let base = Run { measurement: &base, metrics: &of_base };
        let mut comparisons = Vec::new();
        for run in &new {
            let (new, of_new) = analyzed(run.get())?;
            let new = Run { measurement: &new, metrics: &of_new };
            comparisons.push(roast_analyze::compare(base, new, seed));
        }
        Ok(CoreComparison { comparisons })
    })
}

/// Puts runs in a row by their cores.
#[pyfunction]
pub(crate) fn scaling(py: Python<'_>, runs: Vec<Py<CoreMeasurement>>) -> PyResult<CoreScaling> {
    py.detach(|| {
        let analyzed: Vec<(Measurement, Metrics)> =
            runs.iter().map(|run| analyzed(run.get())).collect::<PyResult<_>>()?;
        let runs: Vec<Run<'_>> =
            analyzed.iter().map(|(measurement, metrics)| Run { measurement, metrics }).collect();
        let scaling = roast_analyze::scaling(&runs)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(CoreScaling { scaling })
    })
}

fn analyzed(run: &CoreMeasurement) -> PyResult<(Measurement, Metrics)> {
    let measurement = run.whole()?;
    // One definition for all of them, whichever version saved them.
    let metrics = Metrics::computed(&measurement);
    Ok((measurement, metrics))
}

#[pymethods]
impl CoreComparison {
    /// Everything, as JSON.
    fn to_json(&self) -> String {
        format!("{:#}", comparisons_json(&self.comparisons))
    }

    /// For a terminal.
    fn text(&self, width: usize, color: bool, everything: bool) -> String {
        self.render(FindingsFormat::Text { width, color }, everything)
    }

    /// For a page.
    fn markdown(&self, everything: bool) -> String {
        self.render(FindingsFormat::Markdown, everything)
    }

    /// For a notebook.
    fn html(&self) -> String {
        self.render(FindingsFormat::Html, false)
    }
}

impl CoreComparison {
    fn render(&self, format: FindingsFormat, everything: bool) -> String {
        let findings: Vec<_> = self
            .comparisons
            .iter()
            .map(|comparison| comparison_findings(comparison, everything))
            .collect();
        format.render(&findings)
    }
}

#[pymethods]
impl CoreScaling {
    /// Everything, as JSON.
    fn to_json(&self) -> String {
        format!("{:#}", scaling_json(&self.scaling))
    }

    /// For a terminal.
    fn text(&self, width: usize, color: bool) -> String {
        self.render(FindingsFormat::Text { width, color })
    }

    /// For a page.
    fn markdown(&self) -> String {
        self.render(FindingsFormat::Markdown)
    }

    /// For a notebook.
    fn html(&self) -> String {
        self.render(FindingsFormat::Html)
    }
}

impl CoreScaling {
    fn render(&self, format: FindingsFormat) -> String {
        format.render(&[scaling_findings(&self.scaling)])
    }
}
