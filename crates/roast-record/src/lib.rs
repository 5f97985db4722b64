//! What is recorded on the machine that runs the analysis, without Python: the
//! processes of a local run, and every attempt at a chunk.

mod branch_tables;
mod chunk_columns;
mod chunk_log;
mod clock;
mod content;
mod costs;
mod current;
mod few;
mod identity;
mod kinds;
mod log_bytes;
mod log_rows;
mod log_tables;
mod order;
mod palette;
mod palettes;
mod proc_file;
mod process_sampler;
mod process_tree;
mod read_sums;
mod recorded_row;
mod recorder;
mod resident_memory;
mod row;
mod row_columns;
mod row_store;
mod section_columns;
mod section_stack;
mod spool;
#[cfg(test)]
mod tests;
mod wire;

pub use chunk_log::ChunkLog;
pub use costs::FileFacts;
pub use current::current_chunk;
pub use identity::{ChunkIdentity, Ending, FileKey};
pub use kinds::{ChunkPhase, SectionKind};
pub use order::RowOrder;
pub use process_sampler::{ProcessSampler, SampledTables, Scope};
pub use process_tree::ProcessTreeError;
pub use recorder::{BasketWork, NoRandomness, OpenRead, OpenSection, Recorder, WorkTimer};
pub use spool::spooled_rows;
pub use wire::LogError;
