//! Large runs, and long names: the page stays small.

use roast_model::Table;

use super::build::{chunk_table, page, run_of, tick_table, worker_table};
use crate::render_page;
use crate::tests::fixture::Run;

/// An hour of that many chunks and workers; workers send their state every 6 s.
fn large(chunks: i64, workers: i64) -> Run {
    let rows: Vec<(i64, i64, i64)> = (0..chunks)
        .map(|row| {
            let start = row * 3_560_000 / chunks;
            (start, start + 20_000 + row * 7919 % 20_000, 50_000 + row % 1000)
        })
        .collect();
    let name = |worker: i64| format!("tcp://10.0.{}.{}:41234", worker / 250, worker % 250);
    let samples: Vec<_> = (0..workers)
        .flat_map(|worker| {
            (0..600).map(move |beat| {
                let memory = 1_000_000_000 + worker * beat % 977 * 1_000_000;
                (name(worker), beat * 6, (beat * 6 + 5).min(3600), memory, 4)
            })
        })
        .collect();
    run_of(
        3600.0,
        vec![
            (Table::Chunks, chunk_table(&rows, &|row| name(row as i64 * 31 % workers))),
            (Table::Workers, worker_table(&samples)),
            (Table::Ticks, tick_table(3600, workers)),
        ],
    )
}

#[test]
fn a_large_run_gives_a_page_of_few_megabytes() {
    let run = large(100_000, 1000);
    let data = serde_json::to_string(&page(&run)).unwrap();
    assert!(data.len() < 4_500_000, "{} bytes of data", data.len());
    assert!(render_page(&page(&run)).len() > data.len());
}

#[test]
fn names_of_ten_kilobytes_do_not_fill_the_page() {
    let mut run = large(2000, 2);
    run.0.header.name = "n".repeat(10_000);
    run.0.header.error = Some("e".repeat(100_000));
    let data = serde_json::to_string(&page(&run)).unwrap();
    assert!(data.contains("9,840 letters left out"));
    assert!(data.len() < 1_500_000, "{} bytes of data", data.len());
}
