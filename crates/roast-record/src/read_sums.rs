//! Sums of time and of column reads while a chunk runs, in nanoseconds.

use crate::clock::Elapsed;
use crate::costs::plus;

/// Sums on the clocks of one or more threads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    pub(crate) wall_ns: Option<u64>,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) run_queue_ns: Option<u64>,
}

impl Sum {
    pub(crate) fn add(&mut self, elapsed: Elapsed) {
        self.wall_ns = plus(self.wall_ns, Some(elapsed.wall_ns));
        self.cpu_ns = plus(self.cpu_ns, elapsed.cpu_ns);
        self.run_queue_ns = plus(self.run_queue_ns, elapsed.run_queue_ns);
    }
}

/// Reads of one branch, or of all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadSum {
    pub(crate) read: Sum,
    pub(crate) decompress: Sum,
    pub(crate) interpret: Sum,
    pub(crate) bytes: Option<u64>,
    pub(crate) requests: Option<u64>,
    pub(crate) reads: u64,
    pub(crate) cached: u64,
    pub(crate) preloaded: u64,
}
