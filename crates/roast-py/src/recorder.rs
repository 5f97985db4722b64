//! The recorder of a chunk as Python drives it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use roast_record::{ChunkIdentity, ChunkPhase, Ending, FileFacts, FileKey, Recorder};

use crate::chunk_log::ChunkLog;
use crate::convert::to_value;

/// Records one attempt at one chunk, from its making to `finish`.
#[pyclass(frozen, module = "roastcoffea._core")]
pub(crate) struct ChunkRecorder {
    inner: Arc<Recorder>,
}

impl ChunkRecorder {
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.inner)
    }
}

/// The chunk this thread is working on.
#[pyfunction]
pub(crate) fn current_chunk() -> Option<ChunkRecorder> {
    roast_record::current_chunk().map(|inner| ChunkRecorder { inner })
}

#[pymethods]
impl ChunkRecorder {
    /// Starts in the phase `unpack`, as this thread's current chunk.
    #[new]
    #[pyo3(signature = (*, dataset=None, file=None, uuid=None, tree=None, entry_start=None,
        entry_stop=None, worker=None, host=None, task_key=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python constructor")]
    fn new(
        dataset: Option<String>,
        file: Option<String>,
        uuid: Option<String>,
        tree: Option<String>,
        entry_start: Option<i64>,
        entry_stop: Option<i64>,
        worker: Option<String>,
        host: Option<String>,
        task_key: Option<String>,
    ) -> PyResult<Self> {
        let identity = ChunkIdentity {
            dataset,
            file,
            uuid,
            tree,
            entry_start,
            entry_stop,
            worker,
            host,
            task_key,
        };
        let inner = Recorder::start(identity)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { inner })
    }

    /// Ends the phase that is going on and begins another.
    fn start_phase(&self, name: &str) -> PyResult<()> {
        let phase = ChunkPhase::from_name(name).ok_or_else(|| {
            let known = ChunkPhase::ALL.map(ChunkPhase::name).join(", ");
            PyValueError::new_err(format!("no phase {name:?}; the phases are {known}"))
        })?;
        self.inner.start_phase(phase);
        Ok(())
    }

    /// Takes over what is known of the chunk by now; `None` changes nothing.
    #[pyo3(signature = (*, dataset=None, file=None, uuid=None, tree=None, entry_start=None,
        entry_stop=None, worker=None, host=None, task_key=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn set_identity(
        &self,
        dataset: Option<String>,
        file: Option<String>,
        uuid: Option<String>,
        tree: Option<String>,
        entry_start: Option<i64>,
        entry_stop: Option<i64>,
        worker: Option<String>,
        host: Option<String>,
        task_key: Option<String>,
    ) {
        self.inner.set_identity(ChunkIdentity {
            dataset,
            file,
            uuid,
            tree,
            entry_start,
            entry_stop,
            worker,
            host,
            task_key,
        });
    }

    /// Events handed to `process()`.
    fn set_num_events(&self, num_events: i64) {
        self.inner.set_num_events(num_events);
    }

    /// A field of the user's own at the top of the row.
    fn set_extra(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.set_extra(key, to_value(value)?);
        Ok(())
    }

    /// One of the row's custom metrics.
    fn set_custom(&self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.inner.set_custom(key, to_value(value)?);
        Ok(())
    }

    /// A column came from the buffer cache.
    #[pyo3(signature = (branch=None))]
    fn note_cached(&self, branch: Option<&str>) {
        self.inner.note_cached(branch);
    }

    /// What is known of a file and its tree. `branch_bytes` has the sizes of branches,
    /// of which those that were read by now are kept. Returns those that it has not:
    /// then nothing is kept, and this can be called again.
    #[pyo3(signature = (file, uuid=None, tree=None, num_branches=None, compressed_bytes=None,
        uncompressed_bytes=None, branch_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python method")]
    fn note_file(
        &self,
        file: Option<String>,
        uuid: Option<String>,
        tree: Option<String>,
        num_branches: Option<u64>,
        compressed_bytes: Option<u64>,
        uncompressed_bytes: Option<u64>,
        branch_bytes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<String>> {
        let mut lacking = Vec::new();
        let mut facts = FileFacts {
            num_branches,
            compressed_bytes,
            uncompressed_bytes,
            branch_bytes: BTreeMap::new(),
        };
        if let Some(sizes) = branch_bytes {
            for branch in self.inner.branches_read() {
                match sizes.get_item(&*branch)? {
                    None => lacking.push(branch.to_string()),
                    Some(size) => {
                        if let Some(size) = size.extract()? {
                            facts.branch_bytes.insert(branch, size);
                        }
                    }
                }
            }
        }
        if lacking.is_empty() {
            self.inner.note_file(FileKey { file, uuid, tree }, facts);
        }
        Ok(lacking)
    }

    /// Ends the attempt: a log with its row, or an empty one the second time.
    #[pyo3(signature = (*, error=None, replayed=false, bytes_read=None, setup_bytes=None,
        requests=None))]
    fn finish(
        &self,
        error: Option<String>,
        replayed: bool,
        bytes_read: Option<i64>,
        setup_bytes: Option<i64>,
        requests: Option<u64>,
    ) -> ChunkLog {
        let ending = Ending { error, replayed, bytes_read, setup_bytes, requests };
        ChunkLog::wrap(self.inner.finish(ending).unwrap_or_default())
    }

    /// Tells this attempt from every other.
    #[getter]
    fn nonce<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.nonce().to_le_bytes())
    }

    /// `finish` was called.
    #[getter]
    fn finished(&self) -> bool {
        self.inner.is_finished()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner.nonce() == self.inner.nonce())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.inner.nonce().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let state = if self.inner.is_finished() { "finished" } else { "recording" };
        format!("<ChunkRecorder {:032x} {state}>", self.inner.nonce())
    }
}
