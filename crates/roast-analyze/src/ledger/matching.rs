//! Which task a chunk row ran in. Rows carry no worker-side name of the task that
//! intervals carry too, so they are matched by worker and time.

use std::cmp::Reverse;

use super::work::{Span, Task};

/// Clocks of a worker and the scheduler agree to about this much.
const SKEW_NS: i64 = 100_000_000;
/// Attempts that follow one another in one task may touch by this much.
const TOUCH_NS: i64 = 1_000_000;

/// The task of each row, if there is one. Both must be in order of their start.
///
/// A row goes to the task that covers most of it, at least half, and in which no
/// other row runs at that time; of equals to the shortest, since a task lasts
/// little longer than its chunk.
pub(super) fn assign(tasks: &[Task], rows: &[Span]) -> Vec<Option<usize>> {
    let mut taken_until = vec![i64::MIN; tasks.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    rows.iter()
        .map(|row| {
            let length = row.stop.saturating_sub(row.start);
            let reach = row.start.saturating_add((length / 2).min(SKEW_NS));
            while tasks.get(next).is_some_and(|task| task.span.start <= reach) {
                open.push(next);
                next += 1;
            }
            open.retain(|task| tasks.get(*task).is_some_and(|task| task.span.stop > row.start));
            let best = open
                .iter()
                .filter_map(|index| {
                    let task = tasks.get(*index)?;
                    let free_from = taken_until.get(*index)?.saturating_sub(TOUCH_NS);
                    let covered =
                        row.stop.min(task.span.stop).saturating_sub(row.start.max(task.span.start));
                    (free_from <= row.start && covered.saturating_mul(2) >= length).then_some((
                        covered,
                        Reverse(task.span.length()),
                        *index,
                    ))
                })
                .max()?;
            if let Some(taken) = taken_until.get_mut(best.2) {
                *taken = row.stop;
            }
            Some(best.2)
        })
        .collect()
}
