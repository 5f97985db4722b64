//! Which chunk a thread is working on. Chunks may nest, so it is a stack; one
//! that was dropped without being finished falls out by itself.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use crate::recorder::Recorder;

thread_local! {
    static STACK: RefCell<Vec<Weak<Recorder>>> = const { RefCell::new(Vec::new()) };
}

/// Makes a chunk this thread's current one.
pub(crate) fn push(recorder: &Arc<Recorder>) {
    // A thread that is being torn down has no current chunk.
    let _ = STACK.try_with(|stack| {
        if let Ok(mut stack) = stack.try_borrow_mut() {
            stack.retain(|chunk| chunk.strong_count() > 0);
            stack.push(Arc::downgrade(recorder));
        }
    });
}

/// The chunk this thread is working on.
pub fn current_chunk() -> Option<Arc<Recorder>> {
    STACK
        .try_with(|stack| {
            let mut stack = stack.try_borrow_mut().ok()?;
            while let Some(top) = stack.last() {
                if let Some(recorder) = top.upgrade()
                    && !recorder.is_finished()
                {
                    return Some(recorder);
                }
                stack.pop();
            }
            None
        })
        .ok()
        .flatten()
}
