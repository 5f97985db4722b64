//! Logs to test with: made by hand, without clocks.

use std::sync::Arc;

use arrow_array::RecordBatch;

use crate::chunk_log::ChunkLog;
use crate::costs::{BranchCost, FileFacts};
use crate::kinds::{ChunkPhase, SectionKind};
use crate::palettes::{Place, Source};
use crate::row::{Reading, Row, Section, Times};

/// A log with one row. Equal numbers give equal logs.
pub(crate) fn single(number: u64) -> ChunkLog {
    single_with(number, &["Jet_pt", "nJet"])
}

/// A log with one row that read these branches.
pub(crate) fn single_with(number: u64, branches: &[&str]) -> ChunkLog {
    // Every third chunk is tried twice, and some attempts fail.
    let chunk = if number % 3 == 2 { number - 1 } else { number };
    let mut log = ChunkLog::new();
    let noise = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let dataset = Some(log.name(if chunk % 2 == 0 { "ttbar" } else { "zmumu" }));
    let file = format!("root://host.example//store/mc/nano_{}.root", chunk % 8);
    let source = Source {
        dataset,
        file: Some(log.name(&file)),
        uuid: Some(log.name(&format!("6a1e5e0c-77aa-11ef-9c1d-0000000000{:02}", chunk % 8))),
        tree: Some(log.name("Events")),
    };
    let worker = format!("tcp://10.0.0.{}:4{:04}", number % 16, number % 16);
    let place = Place {
        worker: Some(log.name(&worker)),
        host: Some(log.name(&format!("node{}", number % 16))),
        thread: Some(140_000 + number % 16),
    };
    let times = |wall_us: u64, off_cpu: u64| Times {
        wall_us: Some(wall_us),
        cpu_us: Some(wall_us - off_cpu.min(wall_us)),
        run_queue_us: Some(off_cpu / 3),
    };
    let entry_start = (chunk / 8) as i64 * 50_000;
    let start_ns =
        1_794_765_736_000_000_000 + (number as i64 * 11_731 + noise as i64 % 9_000) * 1_000;
    let mut row = Row {
        source: log.palettes.sources.code_of(source),
        place: log.palettes.places.code_of(place),
        entry_start: Some(entry_start),
        entry_stop: Some(entry_start + 50_000),
        num_events: Some(50_000),
        start_ns: Some(start_ns),
        phases: [
            times(900 + noise % 500, noise % 60),
            times(1_400 + noise % 900, noise % 700),
            times(221_000 + noise % 40_000, noise % 3_000),
            times(19_000 + noise % 9_000, noise % 900),
            times(310_000 + noise % 90_000, noise % 80_000),
            Times::default(),
        ],
        reading: Some(Reading {
            read: times(120_000 + noise % 50_000, noise % 40_000),
            decompress: Times { run_queue_us: None, ..times(50_000 + noise % 9_000, noise % 300) },
            interpret: Times { run_queue_us: None, ..times(20_000 + noise % 9_000, noise % 300) },
            bytes: Some(2_000_000 + (noise % 90_000) as i64),
            reads: branches.len() as u64,
            cached: 0,
            preloaded: 0,
        }),
        requests: Some(branches.len() as u64 + 3),
        rss_start_bytes: Some(512 << 20 | (noise as i64 % 9_000) << 12),
        rss_end_bytes: Some(530 << 20 | (noise as i64 % 7_000) << 12),
        rss_peak_bytes: Some(620 << 20 | (noise as i64 % 9_000) << 12),
        setup_bytes: Some(412_000 + noise as i64 % 900),
        bytes_read: Some(2_412_000 + (noise % 90_000) as i64 + noise as i64 % 900),
        recorder_us: Some(300 + noise % 200),
        ..Row::default()
    };
    row.stop_ns = Some(start_ns + 600_000_000 + (noise as i64 % 9_000) * 1_000);
    log.set_task_key(&mut row, &format!("Analysis-2b1f-4e0f-{number}"));
    if number % 7 == 3 {
        row.error = Some(log.name("OSError"));
    }
    let mut start = 2_400_000;
    for (index, name) in ["selection", "corrections", "histograms"].into_iter().enumerate() {
        let wall = 600_000 + noise % 300_000;
        row.sections.push(Section {
            name: log.name(name),
            kind: SectionKind::Time,
            parent: (index == 2).then_some(1),
            start: Some(start),
            wall: Some(wall),
            cpu: Some(wall - noise % 20_000),
            rss_start_bytes: None,
            rss_end_bytes: None,
            bytes: None,
            count: 1,
        });
        start += wall + noise % 100;
    }
    let set: Vec<u32> = branches.iter().map(|branch| log.name(branch)).collect();
    for &branch in &set {
        log.content.costs.insert(
            (dataset, branch),
            BranchCost {
                reads: 1,
                wall_us: Some(1_200 + noise % 900),
                cpu_us: Some(1_100 + noise % 800),
                bytes: Some(20_000 + noise % 9_000),
                requests: Some(1),
                decompress_us: Some(500 + noise % 90),
                interpret_us: Some(200 + noise % 90),
                ..BranchCost::default()
            },
        );
    }
    row.branch_set = Some(log.palettes.branch_sets.code_of(Arc::from(set.clone())));
    log.content.files.insert(
        Source { dataset: None, ..source },
        FileFacts {
            num_branches: Some(1600),
            compressed_bytes: Some(40_000_000),
            uncompressed_bytes: Some(100_000_000),
            branch_bytes: set.iter().map(|&branch| (branch, 25_000)).collect(),
        },
    );
    let nonce = u128::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    log.push(nonce, row);
    log
}

/// The nonce of the row in a log of one.
pub(crate) fn nonce(log: &ChunkLog) -> u128 {
    log.content.rows.all().first().unwrap().nonce()
}

/// Every table of a log.
pub(crate) fn tables(log: &ChunkLog) -> Vec<RecordBatch> {
    log.tables().unwrap().into_iter().map(|builder| builder.finish().unwrap()).collect()
}

/// The wall time of serializing the first row.
pub(crate) fn serialize_us(log: &ChunkLog) -> Option<u64> {
    log.unpacked().next().unwrap().phase(ChunkPhase::Serialize).wall_us
}
