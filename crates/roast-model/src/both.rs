//! Two things at once, for tables of so many rows that it helps.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// With fewer rows a second thread is not worth its start.
pub const ROWS_WORTH_A_THREAD: usize = 10_000;

/// Does the second on a thread of its own.
pub fn both<A, B: Send>(first: impl FnOnce() -> A, second: impl FnMut() -> B + Send) -> (A, B) {
    let second = Mutex::new(second);
    let second = || second.lock().unwrap_or_else(PoisonError::into_inner)();
    thread::scope(|scope| {
        let running = thread::Builder::new().spawn_scoped(scope, second);
        let first = first();
        let second = match running {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // No thread to be had, so this one does the work.
            Err(_) => second(),
        };
        (first, second)
    })
}
