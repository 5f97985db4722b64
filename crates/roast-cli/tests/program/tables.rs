//! `roastcoffea tables`.

use crate::saved::{outcome, program};

#[test]
fn one_table_or_all() {
    let ticks = outcome(program(&["tables", "ticks"]));
    assert_eq!(ticks.code, Some(0));
    insta::assert_snapshot!(ticks.stdout, @"
    ticks: one row per sampling tick: the cluster as a whole
      time              when the sample was taken, on the scheduler's clock [ns since 1970-01-01 UTC]
      worker_count      workers connected
      threads_total     task threads of all workers
      tasks_waiting     runnable tasks that no worker has been given yet
      tasks_processing  tasks assigned to workers
      tick_secs         time the sampler itself took [s]
    ");
    let all = outcome(program(&["tables"]));
    assert!(all.stdout.contains(&ticks.stdout));
    let unknown = outcome(program(&["tables", "chairs"]));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("the tables are chunks,"), "{}", unknown.stderr);
}
