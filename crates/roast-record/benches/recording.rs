//! What recording costs inside a worker, and what merging rows costs.

#![expect(clippy::unwrap_used, reason = "a benchmark may end in a panic")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use roast_record::{ChunkIdentity, ChunkLog, ChunkPhase, Ending, Recorder, SectionKind};

const BRANCHES: usize = 60;
/// A chunk keeps a thousand sections one by one.
const SECTIONS: usize = 900;

fn start(number: i64) -> Arc<Recorder> {
    let recorder = Recorder::start(ChunkIdentity {
        dataset: Some("ttbar".into()),
        file: Some(format!("root://eos.example.org//store/{}.root", number / 20)),
        tree: Some("Events".into()),
        entry_start: Some(number),
        entry_stop: Some(number + 1),
        ..ChunkIdentity::default()
    })
    .unwrap();
    recorder.start_phase(ChunkPhase::Process);
    recorder
}

fn record(number: i64, branches: &[String]) -> ChunkLog {
    let recorder = start(number);
    for branch in branches {
        let read = recorder.begin_read(branch).unwrap();
        recorder.end_read(read, Some(1_000), Some(1), false);
    }
    recorder.finish(Ending::default()).unwrap()
}

fn branch_names() -> Vec<String> {
    (0..BRANCHES).map(|number| format!("Collection_field_{number}")).collect()
}

fn merged(rows: i64) -> ChunkLog {
    let branches = branch_names();
    let mut log = ChunkLog::new();
    for number in 0..rows {
        log.merge(&record(number, &branches));
    }
    log
}

fn recording(criterion: &mut Criterion) {
    let branches = branch_names();
    criterion.bench_function("a chunk that reads 60 branches", |bencher| {
        bencher.iter(|| record(0, black_box(&branches)));
    });
    criterion.bench_function("900 sections in a chunk", |bencher| {
        bencher.iter_batched(
            || start(0),
            |recorder| {
                for _ in 0..SECTIONS {
                    let open = Arc::clone(&recorder).enter_section(
                        black_box("selection"),
                        SectionKind::Time,
                        None,
                    );
                    open.unwrap().leave(None);
                }
                recorder
            },
            BatchSize::SmallInput,
        );
    });
}

fn merging(criterion: &mut Criterion) {
    let log = merged(2_000);
    let bytes = log.to_bytes();
    criterion.bench_function("2000 rows to bytes", |bencher| {
        bencher.iter(|| black_box(&log).to_bytes());
    });
    criterion.bench_function("2000 rows from bytes and merged", |bencher| {
        bencher.iter(|| {
            let mut sum = ChunkLog::new();
            sum.merge(&ChunkLog::from_bytes(black_box(&bytes)).unwrap());
            sum
        });
    });
    criterion.bench_function("2000 rows to tables", |bencher| {
        bencher.iter(|| black_box(&log).tables().unwrap());
    });
}

criterion_group!(benches, recording, merging);
criterion_main!(benches);
