//! Families of metrics that do not depend on each other, on several cores at
//! once: a large run is analysed in little more than the time of its dearest
//! family.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::sheet::Sheet;

/// Fills in its part of a sheet.
pub(crate) type Part<'a> = Box<dyn Fn(&mut Sheet) + Send + Sync + 'a>;

/// Lets each part fill a sheet, on as many threads as there are cores: the dearest
/// part should come first, and no more is in memory than is worked on.
pub(crate) fn fill_at_once(sheet: &mut Sheet, parts: &[Part<'_>]) {
    let next = AtomicUsize::new(0);
    let fill = |sheet: &mut Sheet| {
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            part(sheet);
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let others: Vec<_> = (1..cores.min(parts.len()))
            .map_while(|_| {
                let fill = || {
                    let mut filled = Sheet::default();
                    fill(&mut filled);
                    filled
                };
                // Without another thread the others do all of the work.
                thread::Builder::new().spawn_scoped(scope, fill).ok()
            })
            .collect();
        fill(sheet);
        for other in others {
            sheet.take_over(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
    });
}
