//! A large cluster: 2000 workers, a million chunks, four hours. Times of a shared
//! machine say little, so this only prints them:
//! `cargo test --release -p roast-simulate --test scale -- --ignored --nocapture`

use roast_analyze::analyze;
use roast_simulate::{Preset, needed_bytes, simulate};

#[test]
#[ignore = "takes gigabytes; prints times"]
#[expect(clippy::print_stdout, reason = "it is for people to read")]
fn a_million_chunks_on_two_thousand_workers() {
    let mut simulation = Preset::Failing.simulation(1);
    simulation.cluster.workers = 2000;
    simulation.cluster.worker_lifetime_secs = Some(7200.0);
    simulation.cluster.ramp_up_secs = 600.0;
    simulation.workload.chunks = 1_000_000;
    simulation.workload.events = 50_000_000_000;
    simulation.set_expected_secs(4.0 * 3600.0).unwrap();
    println!("expected {:.2} GB", needed_bytes(&simulation) / 1e9);
    let began = std::time::Instant::now();
    let measurement = simulate(&simulation).unwrap();
    println!("simulated after {:?}, {}", began.elapsed(), peak());
    for (table, rows) in &measurement.tables {
        let bytes = rows.get_array_memory_size() as f64 / 1e6;
        println!("  {table}: {} rows, {bytes:.0} MB", rows.num_rows());
    }
    let metrics = analyze(&measurement);
    println!("analysed after {:?}, {}", began.elapsed(), peak());
    assert_eq!(metrics.number("num_successful_chunks"), Some(1e6));
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned()
}
