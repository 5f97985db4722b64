//! `roastcoffea scaling`: throughput against cores over several runs.

use roast_analyze::{Metrics, Run};
use roast_model::Measurement;
use roast_report::{scaling_findings, scaling_json};

use crate::arguments::ScalingArguments;
use crate::failure::Failure;
use crate::{findings, show};

pub(crate) fn run(arguments: &ScalingArguments) -> Result<(), Failure> {
    findings::refuse_twice(&arguments.directories)?;
    let target = findings::Target::begin(&arguments.output)?;
    let loaded: Vec<(Measurement, Metrics)> = arguments
        .directories
        .iter()
        .map(|path| show::load_computed(path))
        .collect::<Result<_, _>>()?;
    let runs: Vec<Run<'_>> =
        loaded.iter().map(|(measurement, metrics)| Run { measurement, metrics }).collect();
    let scaling = roast_analyze::scaling(&runs).map_err(anyhow::Error::new)?;
    let findings = [scaling_findings(&scaling)];
    target.write(&arguments.output, |format| format.render(&findings), || scaling_json(&scaling))
}
