//! What is recorded on the machine that runs the analysis, without Python.

mod process_sampler;
mod process_tree;

pub use process_sampler::{ProcessSampler, SampledTables, Scope};
pub use process_tree::ProcessTreeError;
