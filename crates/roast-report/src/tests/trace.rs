//! The trace keeps to the documented event format, its slices nest, and it says
//! what the tables say.

use std::collections::BTreeMap;

use roast_model::{Frame, Measurement, Table};
use roast_simulate::{Preset, simulate};
use serde_json::Value as Json;

use super::fixture;
use crate::{ExportFormat, Part, Window};

fn simulated(preset: Preset, chunks: u64) -> Measurement {
    let mut simulation = preset.simulation(4);
    simulation.workload.chunks = chunks;
    simulation.workload.events = chunks * 5000;
    simulate(&simulation).unwrap()
}

fn trace(measurement: &Measurement) -> Vec<Json> {
    window(measurement, Window::ALL)
}

fn window(measurement: &Measurement, window: Window) -> Vec<Json> {
    let metrics = roast_analyze::analyze(measurement);
    let mut out = Vec::new();
    ExportFormat::Trace(window).write(Part::Whole, measurement, &metrics, &mut out).unwrap();
    let document: Json = serde_json::from_slice(&out).unwrap();
    assert_eq!(document["displayTimeUnit"], "ms");
    assert_eq!(document["otherData"]["measurement"], measurement.header.name.as_str());
    document["traceEvents"].as_array().unwrap().clone()
}

/// Microseconds with three decimals, back to nanoseconds.
fn ns(event: &Json, key: &str) -> i64 {
    (event[key].as_f64().unwrap() * 1000.0).round() as i64
}

fn of<'a>(events: &'a [Json], phase: &str, category: &str) -> Vec<&'a Json> {
    events
        .iter()
        .filter(|event| event["ph"] == phase && (phase == "C" || event["cat"] == category))
        .collect()
}

/// What the format asks of every event.
fn check_format(events: &[Json]) {
    let mut named = std::collections::BTreeSet::new();
    for event in events {
        assert!(event["name"].is_string(), "{event}");
        assert!(event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
        let track = (event["pid"].as_u64(), event["tid"].as_u64());
        match event["ph"].as_str().unwrap() {
            "M" => {
                if event["name"] == "thread_name" {
                    assert!(named.insert(track), "named twice: {event}");
                }
                assert!(event["args"].is_object(), "{event}");
            }
            "X" => {
                assert!(event["ts"].as_f64().unwrap() >= 0.0, "{event}");
                assert!(event["dur"].as_f64().unwrap() >= 0.0, "{event}");
                assert!(event["cat"].is_string(), "{event}");
                assert!(named.contains(&track), "a track without a name: {event}");
            }
            "C" => {
                assert!(event["ts"].as_f64().unwrap() >= 0.0, "{event}");
                let values = event["args"].as_object().unwrap();
                assert!(!values.is_empty() && values.values().all(Json::is_number), "{event}");
            }
            other => panic!("no event of kind {other} is expected"),
        }
    }
}

/// Slices of a track lie beside or inside of one another, outer ones first.
fn check_nesting(events: &[Json]) {
    type Slices<'a> = Vec<(i64, i64, &'a Json)>;
    let mut tracks: BTreeMap<(u64, u64), Slices<'_>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let start = ns(event, "ts");
        tracks.entry(track).or_default().push((start, start + ns(event, "dur"), event));
    }
    for slices in tracks.values() {
        let mut around: Vec<i64> = Vec::new();
        let mut before = 0;
        for (start, stop, event) in slices {
            assert!(*start >= before, "out of order: {event}");
            before = *start;
            while around.last().is_some_and(|outer| outer <= start) {
                around.pop();
            }
            assert!(around.last().is_none_or(|outer| stop <= outer), "not nested: {event}");
            if event["cat"] == "phase" {
                assert_eq!(around.len(), 1, "a phase is inside of a chunk: {event}");
            }
            around.push(*stop);
        }
    }
}

#[test]
fn every_preset_gives_a_well_formed_trace() {
    for preset in Preset::ALL {
        let measurement = simulated(preset, 300);
        let events = trace(&measurement);
        check_format(&events);
        check_nesting(&events);
        let rows = measurement.table(Table::Chunks).unwrap();
        assert_eq!(of(&events, "X", "chunk").len(), rows.num_rows(), "{preset:?}");
    }
}

#[test]
fn slices_are_as_long_as_the_rows_say() {
    let measurement = simulated(Preset::Failing, 300);
    let events = trace(&measurement);
    let rows = Frame::new(measurement.table(Table::Chunks).unwrap());
    let lengths: i64 = rows
        .times("stop")
        .zip(rows.times("start"))
        .map(|(stop, start)| stop.unwrap().0 - start.unwrap().0)
        .sum();
    let shown: i64 = of(&events, "X", "chunk").iter().map(|event| ns(event, "dur")).sum();
    assert_eq!(shown, lengths);
    for phase in ["open", "tree", "events", "process", "serialize"] {
        let secs: f64 = rows.floats(&format!("{phase}_secs")).flatten().sum();
        let shown: i64 = of(&events, "X", "phase")
            .iter()
            .filter(|event| event["name"] == phase)
            .map(|event| ns(event, "dur"))
            .sum();
        assert!((shown as f64 / 1e9 - secs).abs() < 1e-4, "{phase}: {shown} {secs}");
    }
    let sections = Frame::new(measurement.table(Table::Sections).unwrap());
    let secs: f64 = sections.floats("wall_secs").flatten().sum();
    let shown: i64 = of(&events, "X", "section").iter().map(|event| ns(event, "dur")).sum();
    assert!((shown as f64 / 1e9 - secs).abs() < 1e-4, "{shown} {secs}");
}

#[test]
fn failures_are_marked_and_explained() {
    let measurement = simulated(Preset::Failing, 600);
    let events = trace(&measurement);
    let rows = Frame::new(measurement.table(Table::Chunks).unwrap());
    let failed = rows.names("error").flatten().count();
    assert!(failed > 0);
    let marked: Vec<_> =
        of(&events, "X", "chunk").into_iter().filter(|e| e["cname"] == "terrible").collect();
    assert_eq!(marked.len(), failed);
    for event in marked {
        let error = event["args"]["error"].as_str().unwrap();
        assert!(event["name"].as_str().unwrap().ends_with(&format!("({error})")), "{event}");
        for key in ["dataset", "file", "entry_start", "entry_stop", "num_events", "attempt"] {
            assert!(!event["args"][key].is_null(), "{key}: {event}");
        }
    }
}

/// Without thread ids each worker needs no more tracks than it had threads.
#[test]
fn chunks_without_threads_share_tracks() {
    let mut measurement = simulated(Preset::Healthy, 300);
    let rows = measurement.tables.get(&Table::Chunks).unwrap();
    let threads = rows.schema().index_of("thread").unwrap();
    let columns: Vec<usize> = (0..rows.num_columns()).filter(|i| *i != threads).collect();
    let without = rows.project(&columns).unwrap();
    measurement.tables.insert(Table::Chunks, without);
    let events = trace(&measurement);
    check_format(&events);
    check_nesting(&events);
    let mut tracks: BTreeMap<u64, std::collections::BTreeSet<u64>> = BTreeMap::new();
    for event in of(&events, "X", "chunk") {
        let process = event["pid"].as_u64().unwrap();
        tracks.entry(process).or_default().insert(event["tid"].as_u64().unwrap());
    }
    let per_worker = 2;
    assert!(tracks.values().all(|tracks| tracks.len() <= per_worker), "{tracks:?}");
}

#[test]
fn counters_add_up_to_the_events() {
    let measurement = simulated(Preset::Healthy, 300);
    let events = trace(&measurement);
    // One point per second, in kHz.
    let shown: f64 = of(&events, "C", "")
        .iter()
        .filter(|event| event["name"] == "events")
        .map(|event| event["args"]["kHz"].as_f64().unwrap() * 1000.0)
        .sum();
    assert!((shown / (300.0 * 5000.0) - 1.0).abs() < 1e-6, "{shown}");
    for name in ["workers", "tasks", "memory", "CPU", "bytes read"] {
        assert!(of(&events, "C", "").iter().any(|event| event["name"] == name), "{name}");
    }
}

/// Names of the user stay text, and what is missing leaves a gap, not an error.
#[test]
fn hostile_names_and_bare_measurements() {
    for (measurement, _) in
        [fixture::bare(), fixture::full(), fixture::raised(), fixture::hostile()]
    {
        let events = trace(&measurement);
        check_format(&events);
        check_nesting(&events);
    }
}

#[test]
fn a_window_shows_what_touches_it_and_nothing_else() {
    let measurement = simulated(Preset::Failing, 600);
    let wall_ns = (measurement.header.wall_secs * 1e9) as i64;
    let (from, until) = (wall_ns / 3, wall_ns / 2);
    let whole = trace(&measurement);
    let some = window(&measurement, Window { from_ns: from, until_ns: Some(until) });
    check_format(&some);
    check_nesting(&some);
    let touches =
        |event: &&&Json| ns(event, "ts") <= until && ns(event, "ts") + ns(event, "dur") >= from;
    for category in ["chunk", "task"] {
        let all = of(&whole, "X", category);
        let expected = all.iter().filter(touches).count();
        assert!(0 < expected && expected < all.len(), "{category}");
        let found = of(&some, "X", category);
        assert_eq!(found.len(), expected, "{category}");
        assert!(found.iter().all(|event| touches(&event)), "{category}");
    }
    // A counter that does not change in the window has its value in it.
    let counters = |events: &[Json]| -> std::collections::BTreeSet<(u64, String)> {
        let named = |event: &&Json| (event["pid"].as_u64().unwrap(), event["name"].to_string());
        of(events, "C", "").iter().map(named).collect()
    };
    assert!(counters(&some).contains(&(1, "\"workers\"".to_owned())));
    assert!(counters(&some).is_subset(&counters(&whole)));
    assert!(some.len() < whole.len() / 2);
}

#[test]
fn the_size_of_a_trace_is_known_beforehand() {
    for preset in [Preset::Healthy, Preset::Failing] {
        let measurement = simulated(preset, 600);
        let metrics = roast_analyze::analyze(&measurement);
        let wall_ns = (measurement.header.wall_secs * 1e9) as i64;
        let half = Window { from_ns: 0, until_ns: Some(wall_ns / 2) };
        for window in [Window::ALL, half] {
            let mut out = Vec::new();
            let format = ExportFormat::Trace(window);
            format.write(Part::Whole, &measurement, &metrics, &mut out).unwrap();
            let estimate = crate::trace_bytes(&measurement, window) / out.len() as f64;
            assert!((0.6..1.7).contains(&estimate), "{preset:?}, {window:?}: {estimate}");
        }
    }
}
