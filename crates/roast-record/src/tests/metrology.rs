//! Real work under a real recorder: what is known to happen must be seen.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use roast_model::{Frame, Value};

use super::make::tables;
use crate::identity::{ChunkIdentity, Ending};
use crate::kinds::{ChunkPhase, SectionKind};
use crate::recorder::{BasketWork, Recorder};
use crate::{ChunkLog, FileFacts, FileKey, current_chunk};

fn burn(duration: Duration) {
    let begun = Instant::now();
    let mut work = 1_u64;
    while begun.elapsed() < duration {
        work = std::hint::black_box(work.wrapping_mul(31).wrapping_add(7));
    }
}

fn identity() -> ChunkIdentity {
    ChunkIdentity {
        dataset: Some("ttbar".into()),
        file: Some("a.root".into()),
        entry_start: Some(0),
        entry_stop: Some(100),
        task_key: Some("Analysis-ab-3".into()),
        ..ChunkIdentity::default()
    }
}

fn only_row(log: &ChunkLog) -> Value {
    let rows = log.rows();
    assert_eq!(rows.len(), 1);
    rows.into_iter().next().unwrap()
}

#[test]
fn phases_cover_the_attempt_and_tell_work_from_waiting() {
    let recorder = Recorder::start(identity()).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    recorder.start_phase(ChunkPhase::Open);
    std::thread::sleep(Duration::from_millis(50));
    recorder.start_phase(ChunkPhase::Process);
    recorder.set_num_events(100);
    burn(Duration::from_millis(80));
    let log = recorder.finish(Ending::default()).unwrap();
    assert!(recorder.finish(Ending::default()).is_none());
    let chunks = &tables(&log)[0];
    let frame = Frame::new(chunks);
    let secs = |column: &str| frame.floats(column).next().unwrap().unwrap();
    assert!(secs("unpack_secs") >= 0.02);
    assert!(secs("open_secs") >= 0.05);
    assert!(secs("process_secs") >= 0.08);
    assert!(frame.floats("tree_secs").next().unwrap().is_none(), "never entered, so missing");
    let whole = frame
        .times("stop")
        .next()
        .unwrap()
        .unwrap()
        .secs_since(frame.times("start").next().unwrap().unwrap());
    let phases = secs("unpack_secs") + secs("open_secs") + secs("process_secs");
    assert!((whole - phases).abs() < 0.1 * whole, "{whole} {phases}");
    #[cfg(target_os = "linux")]
    {
        assert!(secs("open_cpu_secs") < 0.5 * secs("open_secs"));
        let busy = secs("process_cpu_secs") + secs("process_run_queue_secs");
        assert!(busy > 0.5 * secs("process_secs"), "{busy}");
        assert!(secs("process_cpu_secs") <= secs("process_secs"));
    }
    assert!(secs("recorder_secs") < whole);
    let row = only_row(&log);
    assert_eq!(row.get("num_events"), Some(&Value::Int(100)));
    assert_eq!(row.get("error"), Some(&Value::None));
    assert_eq!(row.get("accessed_branches"), Some(&Value::None), "nothing watched the columns");
    assert_eq!(frame.texts("task_key").next().unwrap().as_deref(), Some("Analysis-ab-3"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_block_that_comes_and_goes_is_in_the_peak_only() {
    let recorder = Recorder::start(identity()).unwrap();
    recorder.start_phase(ChunkPhase::Process);
    let section = Arc::clone(&recorder).enter_section("fill", SectionKind::Memory, None).unwrap();
    let block = std::hint::black_box(vec![7_u8; 100 << 20]);
    section.leave(None);
    std::thread::sleep(Duration::from_millis(50));
    drop(block);
    let row = only_row(&recorder.finish(Ending::default()).unwrap());
    let mb = |key: &str| row.get(key).and_then(Value::as_f64).unwrap();
    assert!(mb("peak_memory_mb") > mb("mem_before_mb") + 90.0);
    assert!(mb("peak_memory_mb") >= mb("mem_after_mb"));
    let filled = row.get("memory").unwrap().get("fill").and_then(Value::as_f64).unwrap();
    assert!(filled > 90.0, "{filled}");
}

#[test]
fn sections_nest_repeat_and_close_with_the_chunk() {
    let recorder = Recorder::start(identity()).unwrap();
    recorder.start_phase(ChunkPhase::Process);
    let enter =
        |name: &str| Arc::clone(&recorder).enter_section(name, SectionKind::Time, None).unwrap();
    let outer = enter("outer");
    for _ in 0..3 {
        let inner = enter("inner");
        std::thread::sleep(Duration::from_millis(5));
        inner.leave(None);
    }
    outer.leave(None);
    let bytes =
        Arc::clone(&recorder).enter_section("load", SectionKind::Bytes, Some(1_000)).unwrap();
    bytes.leave(Some(1_750));
    let forgotten = enter("forgotten");
    let log =
        recorder.finish(Ending { error: Some("ValueError".into()), ..Ending::default() }).unwrap();
    forgotten.leave(None);
    let sections = &tables(&log)[1];
    let frame = Frame::new(sections);
    let names: Vec<_> = frame.names("section").flatten().collect();
    assert_eq!(names, ["outer", "inner", "inner", "inner", "load", "forgotten"]);
    assert_eq!(frame.ints("depth").flatten().collect::<Vec<_>>(), [0, 1, 1, 1, 0, 0]);
    assert_eq!(frame.ints("parent").collect::<Vec<_>>()[..4], [None, Some(0), Some(0), Some(0)]);
    assert_eq!(frame.ints("occurrence").flatten().collect::<Vec<_>>(), [0, 0, 1, 2, 0, 0]);
    assert_eq!(frame.ints("bytes").collect::<Vec<_>>()[4], Some(750));
    let walls: Vec<f64> = frame.floats("wall_secs").flatten().collect();
    assert_eq!(walls.len(), 6);
    assert!(walls[0] >= walls[1] + walls[2] + walls[3]);
    let row = only_row(&log);
    let timing = row.get("timing").unwrap().get("inner").and_then(Value::as_f64).unwrap();
    assert!(timing >= 0.015);
    assert_eq!(row.get("sections").unwrap().items().unwrap().len(), 5);
    assert_eq!(row.get("error"), Some(&Value::from("ValueError")));
}

#[test]
fn sections_without_end_are_summed_and_then_counted() {
    let recorder = Recorder::start(identity()).unwrap();
    let enter = |name: &str| {
        Arc::clone(&recorder).enter_section(name, SectionKind::Time, None).unwrap().leave(None);
    };
    for _ in 0..5_000 {
        enter("in a loop");
    }
    for number in 0..150 {
        enter(&format!("{number}"));
    }
    enter(&"x".repeat(5_000));
    let log = recorder.finish(Ending::default()).unwrap();
    let sections = &tables(&log)[1];
    let frame = Frame::new(sections);
    assert_eq!(frame.len(), 1_100);
    let counts: Vec<_> = frame.ints("count").flatten().collect();
    assert_eq!(counts[..1_000], [1; 1_000]);
    assert_eq!(counts[1_000], 4_000);
    // 99 of the 150 names found a place beside the loop's.
    assert_eq!(log.dropped_sections(), 52);
    let recorder = Recorder::start(identity()).unwrap();
    let long = "é".repeat(5_000);
    Arc::clone(&recorder).enter_section(&long, SectionKind::Time, None).unwrap().leave(None);
    let row = only_row(&recorder.finish(Ending::default()).unwrap());
    let name =
        row.get("sections").unwrap().items().unwrap()[0].get("section_name").unwrap().clone();
    assert_eq!(name.as_str().unwrap().chars().count(), 200);
    assert!(name.as_str().unwrap().ends_with('…'));
}

#[test]
fn reads_are_summed_per_branch_and_for_the_chunk() {
    let recorder = Recorder::start(identity()).unwrap();
    recorder.start_phase(ChunkPhase::Process);
    for (branch, bytes) in [("Jet_pt", 700), ("nJet", 300), ("Jet_pt", 0)] {
        let read = recorder.begin_read(branch).unwrap();
        let timer = Recorder::begin_work();
        std::thread::sleep(Duration::from_millis(3));
        recorder.end_work(&timer, BasketWork::Decompress);
        recorder.end_read(read, Some(bytes), Some(1), bytes == 0);
    }
    recorder.note_cached(Some("nJet"));
    recorder.note_file(
        FileKey { file: Some("a.root".into()), uuid: None, tree: None },
        FileFacts {
            num_branches: Some(9),
            branch_bytes: BTreeMap::from([("Jet_pt".into(), 5_000), ("MET".into(), 9)]),
            ..FileFacts::default()
        },
    );
    let log = recorder
        .finish(Ending { setup_bytes: Some(50), bytes_read: Some(1_050), ..Ending::default() })
        .unwrap();
    let tables = tables(&log);
    let chunk = Frame::new(&tables[0]);
    let whole = |column: &str| chunk.ints(column).next().unwrap();
    assert_eq!(whole("reads"), Some(3));
    assert_eq!(whole("cached_reads"), Some(1));
    assert_eq!(whole("preloaded_reads"), Some(1));
    assert_eq!(whole("read_bytes"), Some(1_000));
    assert_eq!(whole("bytes_read"), Some(1_050));
    assert_eq!(whole("requests"), Some(3));
    assert_eq!(whole("num_branches"), Some(2));
    let read = chunk.floats("read_secs").next().unwrap().unwrap();
    let decompress = chunk.floats("decompress_secs").next().unwrap().unwrap();
    assert!(decompress >= 0.009 && read >= decompress - 1e-4, "{read} {decompress}");
    assert_eq!(chunk.floats("interpret_secs").next().unwrap(), None);
    let columns = Frame::new(&tables[2]);
    assert_eq!(columns.names("branch").flatten().collect::<Vec<_>>(), ["Jet_pt", "nJet"]);
    assert_eq!(columns.ints("reads").flatten().collect::<Vec<_>>(), [2, 1]);
    assert_eq!(columns.ints("bytes").flatten().collect::<Vec<_>>(), [700, 300]);
    let files = Frame::new(&tables[4]);
    assert_eq!(files.ints("branch_bytes_read_compressed").next().unwrap(), Some(5_000));
    assert_eq!(files.ints("num_branches_read").next().unwrap(), Some(2));
}

#[test]
fn the_current_chunk_is_a_stack_per_thread() {
    assert!(current_chunk().is_none());
    let outer = Recorder::start(identity()).unwrap();
    let inner = Recorder::start(identity()).unwrap();
    assert_eq!(current_chunk().unwrap().nonce(), inner.nonce());
    std::thread::scope(|scope| {
        scope.spawn(|| assert!(current_chunk().is_none()));
    });
    inner.finish(Ending::default());
    assert_eq!(current_chunk().unwrap().nonce(), outer.nonce());
    let dropped = Recorder::start(identity()).unwrap();
    drop(dropped);
    assert_eq!(current_chunk().unwrap().nonce(), outer.nonce());
    outer.finish(Ending::default());
    assert!(current_chunk().is_none());
}

#[test]
fn what_the_user_adds_is_in_the_row() {
    let recorder = Recorder::start(identity()).unwrap();
    recorder.set_extra("weight", Value::Int(1));
    recorder.set_extra("weight", Value::Float(f64::NAN));
    recorder.set_custom("cuts", Value::List(vec![Value::Int(3)]));
    recorder
        .set_identity(ChunkIdentity { tree: Some("Events".into()), ..ChunkIdentity::default() });
    let row = only_row(&recorder.finish(Ending::default()).unwrap());
    assert_eq!(row.get("weight"), Some(&Value::Float(f64::NAN)));
    assert_eq!(
        row.get("custom_metrics").unwrap().get("cuts"),
        Some(&Value::List(vec![Value::Int(3)]))
    );
    assert_eq!(row.get("tree"), Some(&Value::from("Events")));
    assert_eq!(row.get("dataset"), Some(&Value::from("ttbar")));
}
