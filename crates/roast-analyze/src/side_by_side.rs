//! Families of metrics that do not depend on each other, on several cores at
//! once: a large run is analysed in little more than the time of its dearest
//! family.

use std::panic::resume_unwind;
use std::thread;

use crate::sheet::Sheet;

/// Fills in its part of a sheet.
pub(crate) type Part<'a> = Box<dyn Fn(&mut Sheet) + Send + Sync + 'a>;

/// Lets each part fill a sheet of its own, then puts them together.
pub(crate) fn fill_at_once(sheet: &mut Sheet, parts: &[Part<'_>]) {
    let fill = |part: &Part<'_>| {
        let mut filled = Sheet::default();
        part(&mut filled);
        filled
    };
    let Some((own, others)) = parts.split_first() else { return };
    thread::scope(|scope| {
        let running: Vec<_> = others
            .iter()
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || fill(part))))
            .collect();
        own(sheet);
        for (part, thread) in running {
            sheet.take_over(match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // No thread to be had, so this one does the work.
                Err(_) => fill(part),
            });
        }
    });
}
