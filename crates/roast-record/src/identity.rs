//! Which chunk is recorded, which file is described, and how an attempt ended:
//! what callers tell a recorder.

/// Which chunk an attempt is at, and where it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkIdentity {
    /// Dataset the chunk belongs to.
    pub dataset: Option<String>,
    /// File name as coffea was given it.
    pub file: Option<String>,
    /// The file's own UUID.
    pub uuid: Option<String>,
    /// TTree or RNTuple name.
    pub tree: Option<String>,
    /// First entry.
    pub entry_start: Option<i64>,
    /// Entry after the last one.
    pub entry_stop: Option<i64>,
    /// Worker that runs the chunk.
    pub worker: Option<String>,
    /// Host of that worker.
    pub host: Option<String>,
    /// Dask key of the task.
    pub task_key: Option<String>,
}

impl ChunkIdentity {
    /// Takes over what the other one knows.
    pub fn update(&mut self, other: Self) {
        fn take<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        take(&mut self.dataset, other.dataset);
        take(&mut self.file, other.file);
        take(&mut self.uuid, other.uuid);
        take(&mut self.tree, other.tree);
        take(&mut self.entry_start, other.entry_start);
        take(&mut self.entry_stop, other.entry_stop);
        take(&mut self.worker, other.worker);
        take(&mut self.host, other.host);
        take(&mut self.task_key, other.task_key);
    }
}

/// A file and tree about which something is known.
#[derive(Clone, Debug, Default)]
pub struct FileKey {
    /// File name as coffea was given it.
    pub file: Option<String>,
    /// The file's own UUID.
    pub uuid: Option<String>,
    /// TTree or RNTuple name.
    pub tree: Option<String>,
}

/// How an attempt ended.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Class of the error that ended it.
    pub error: Option<String>,
    /// The result came from a checkpoint.
    pub replayed: bool,
    /// Bytes requested in the whole attempt.
    pub bytes_read: Option<i64>,
    /// Part of them that went into opening the file and its tree.
    pub setup_bytes: Option<i64>,
    /// Requests made to the file in the whole attempt.
    pub requests: Option<u64>,
}
