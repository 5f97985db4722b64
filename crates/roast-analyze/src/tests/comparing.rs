//! Runs of which the truth is known: the same thing twice, one section slower, and
//! what cannot be compared.

use fastrand::Rng;
use roast_model::{ColumnData, Measurement, Table, Value};

use super::build::{add_table, at, bare};
use crate::{Basis, Comparison, Part, Run, Told, Verdict, analyze, compare};

const SECTIONS: [(&str, f64); 3] = [("muons", 0.03), ("jet_selection", 0.05), ("histograms", 0.02)];
const WORKERS: usize = 4;

/// How a run is drawn.
#[derive(Clone, Debug)]
struct Scene {
    seed: u64,
    chunks: usize,
    events_per_chunk: i64,
    /// By how much each section is slower.
    slower: [f64; 3],
    /// Spread of the factors that chunks, workers and the run as a whole have.
    chunk_noise: f64,
    worker_noise: f64,
    run_noise: f64,
    files: &'static str,
    datasets: usize,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            seed: 1,
            chunks: 80,
            events_per_chunk: 1000,
            slower: [1.0; 3],
            chunk_noise: 0.08,
            worker_noise: 0.03,
            run_noise: 0.03,
            files: "file",
            datasets: 2,
        }
    }
}

fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// Chunks on a machine whose speed drifts, with workers of unlike speed.
fn run(scene: &Scene) -> Measurement {
    let mut random = Rng::with_seed(scene.seed);
    let factor = |random: &mut Rng, spread: f64| (spread * normal(random)).exp();
    let of_run = factor(&mut random, scene.run_noise);
    let of_worker: Vec<f64> =
        (0..WORKERS).map(|_| factor(&mut random, scene.worker_noise)).collect();
    let (mut clock, mut drift, mut processing) = ([0.0_f64; WORKERS], 0.0_f64, 0.0_f64);
    let mut workers = Vec::new();
    let (mut starts, mut stops) = (Vec::new(), Vec::new());
    let (mut trees, mut durations, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    let mut sections: Vec<(i64, usize, f64)> = Vec::new();
    for chunk in 0..scene.chunks {
        let worker = (0..WORKERS).min_by(|a, b| clock[*a].total_cmp(&clock[*b])).unwrap();
        drift = 0.8 * drift + 0.02 * normal(&mut random);
        let speed = of_run * of_worker[worker] * f64::exp(drift);
        let size = if chunk % scene.datasets == 0 { 1.0 } else { 1.6 };
        let tree = 0.08 * speed * factor(&mut random, scene.chunk_noise);
        let read = 0.02 * speed * size * factor(&mut random, scene.chunk_noise);
        let mut duration = read;
        for (index, (_, secs)) in SECTIONS.iter().enumerate() {
            let noise = factor(&mut random, scene.chunk_noise);
            let secs = secs * speed * size * noise * scene.slower[index];
            sections.push((chunk as i64, index, secs));
            duration += secs;
        }
        workers.push(Some(worker as u32));
        starts.push(Some(at(clock[worker])));
        clock[worker] += tree + duration + 0.001;
        stops.push(Some(at(clock[worker])));
        trees.push(Some(tree));
        durations.push(Some(duration));
        reads.push(Some(read));
        processing += duration;
    }
    let wall = clock.iter().copied().fold(0.0, f64::max) + 1.0;
    let mut run = bare(wall);
    run.header.id = scene.seed.to_string();
    run.header.name = format!("run-{}", scene.seed);
    let events = scene.events_per_chunk * scene.chunks as i64;
    run.header.report = Value::map([
        ("entries", Value::Int(events)),
        ("processtime", Value::Float(processing)),
        ("chunks", Value::Int(scene.chunks as i64)),
        ("bytesread", Value::Int(100 * events)),
    ]);
    let places: Vec<i64> = (0..scene.chunks as i64).collect();
    let ints = |get: &dyn Fn(i64) -> i64| {
        ColumnData::Ints(places.iter().map(|place| Some(get(*place))).collect())
    };
    let codes = |count: usize, prefix: &str| {
        let codes = places.iter().map(|place| Some(*place as u32 % count as u32)).collect();
        ColumnData::Codes(codes, (0..count).map(|code| format!("{prefix}{code}")).collect())
    };
    let names = (0..WORKERS).map(|worker| format!("w{worker}")).collect();
    add_table(
        &mut run,
        Table::Chunks,
        vec![
            ("chunk_id", ints(&|place| place)),
            ("dataset", codes(scene.datasets, "dataset")),
            ("file", codes(scene.datasets, scene.files)),
            ("entry_start", ints(&|place| place * scene.events_per_chunk)),
            ("entry_stop", ints(&|place| (place + 1) * scene.events_per_chunk)),
            ("num_events", ints(&|_| scene.events_per_chunk)),
            ("bytes_read", ints(&|_| 100 * scene.events_per_chunk)),
            ("worker", ColumnData::Codes(workers, names)),
            ("start", ColumnData::Ints(starts)),
            ("stop", ColumnData::Ints(stops)),
            ("tree_secs", ColumnData::Floats(trees.clone())),
            ("tree_cpu_secs", ColumnData::Floats(trees)),
            ("duration_secs", ColumnData::Floats(durations.clone())),
            ("process_cpu_secs", ColumnData::Floats(durations)),
            ("read_secs", ColumnData::Floats(reads.clone())),
            ("read_cpu_secs", ColumnData::Floats(reads)),
        ],
    );
    let secs: Vec<Option<f64>> = sections.iter().map(|(_, _, secs)| Some(*secs)).collect();
    add_table(
        &mut run,
        Table::Sections,
        vec![
            ("chunk_id", ColumnData::Ints(sections.iter().map(|entry| Some(entry.0)).collect())),
            (
                "section",
                ColumnData::Codes(
                    sections.iter().map(|entry| Some(entry.1 as u32)).collect(),
                    SECTIONS.iter().map(|(name, _)| (*name).to_owned()).collect(),
                ),
            ),
            ("kind", ColumnData::Texts(sections.iter().map(|_| Some("time".into())).collect())),
            ("wall_secs", ColumnData::Floats(secs.clone())),
            ("cpu_secs", ColumnData::Floats(secs)),
        ],
    );
    run
}

fn compared(base: &Measurement, new: &Measurement) -> Comparison {
    let (of_base, of_new) = (analyze(base), analyze(new));
    compare(
        Run { measurement: base, metrics: &of_base },
        Run { measurement: new, metrics: &of_new },
        7,
    )
}

fn named(comparison: &Comparison, verdict: Verdict) -> Vec<(Part, &str)> {
    let rows = comparison.rows.iter().filter(|row| row.verdict == verdict);
    rows.map(|row| (row.part, row.name.as_str())).collect()
}

fn verdict(comparison: &Comparison, part: Part, name: &str) -> Verdict {
    let row = comparison.rows.iter().find(|row| row.part == part && row.name == name);
    row.unwrap_or_else(|| panic!("no row {name}")).verdict
}

#[test]
fn the_same_thing_twice_is_not_worse() {
    for scene in [
        Scene::default(),
        Scene { chunks: 12, ..Scene::default() },
        Scene { chunks: 1000, chunk_noise: 0.3, ..Scene::default() },
    ] {
        let alarms = (0..20)
            .filter(|trial| {
                let base = run(&Scene { seed: 100 + 2 * trial, ..scene.clone() });
                let new = run(&Scene { seed: 101 + 2 * trial, ..scene.clone() });
                !named(&compared(&base, &new), Verdict::Worse).is_empty()
            })
            .count();
        assert!(alarms <= 1, "{alarms} of 20 trials with {} chunks", scene.chunks);
    }
}

#[test]
fn the_same_thing_on_other_files_is_not_worse() {
    let scene = Scene { chunks: 200, run_noise: 0.01, worker_noise: 0.01, ..Scene::default() };
    let alarms = (0..20)
        .filter(|trial| {
            let base = run(&Scene { seed: 500 + 2 * trial, ..scene.clone() });
            let new = run(&Scene { seed: 501 + 2 * trial, files: "other", ..scene.clone() });
            let comparison = compared(&base, &new);
            assert_eq!(comparison.paired_chunks, None);
            !named(&comparison, Verdict::Worse).is_empty()
        })
        .count();
    assert!(alarms <= 1, "{alarms} of 20 trials");
}

#[test]
fn a_section_ten_percent_slower_is_found_and_named() {
    // A machine that got faster meanwhile may hide a slow-down; it is not added to it.
    let scene = Scene { chunks: 400, run_noise: 0.02, worker_noise: 0.02, ..Scene::default() };
    let found = (0..20)
        .filter(|trial| {
            let base = run(&Scene { seed: 900 + 2 * trial, ..scene.clone() });
            let slower = [1.0, 1.1, 1.0];
            let new = run(&Scene { seed: 901 + 2 * trial, slower, ..scene.clone() });
            let comparison = compared(&base, &new);
            let culprit = comparison.headline.culprits.first();
            let name = culprit.map(|row| comparison.rows[*row].name.as_str());
            for (part, name) in named(&comparison, Verdict::Worse) {
                assert!(part != Part::Section || name == "jet_selection", "{name}");
            }
            name == Some("jet_selection")
        })
        .count();
    assert!(found >= 18, "{found} of 20 trials");
}

#[test]
fn a_section_that_got_faster_is_better() {
    let base = run(&Scene::default());
    let new = run(&Scene { seed: 2, slower: [1.0, 0.5, 1.0], ..Scene::default() });
    let comparison = compared(&base, &new);
    assert_eq!(verdict(&comparison, Part::Section, "jet_selection"), Verdict::Better);
    assert_eq!(verdict(&comparison, Part::Section, "muons"), Verdict::Same);
    assert!(named(&comparison, Verdict::Worse).is_empty());
    assert_eq!(comparison.headline.gains.len(), 1);
}

#[test]
fn the_result_depends_on_the_seed_alone() {
    let (base, new) = (run(&Scene::default()), run(&Scene { seed: 2, ..Scene::default() }));
    assert_eq!(compared(&base, &new), compared(&base, &new));
}

#[test]
fn a_slower_machine_is_not_put_down_to_the_analysis() {
    let base = run(&Scene { run_noise: 0.0, ..Scene::default() });
    let mut random = Rng::with_seed(3);
    // The seed whose run has a factor well above 1.
    let seed = (0..).map(|_| random.u64(..)).find(|seed| {
        let mut first = Rng::with_seed(*seed);
        normal(&mut first) > 1.5
    });
    let new = run(&Scene { seed: seed.unwrap(), run_noise: 0.2, ..Scene::default() });
    let comparison = compared(&base, &new);
    assert!(named(&comparison, Verdict::Worse).is_empty(), "{:?}", comparison.rows);
    let machine = comparison.differences.iter().find(|told| told.what.contains("trees")).unwrap();
    assert!(matches!(machine.new, Told::Number(percent, _) if percent > 120.0));
}

#[test]
fn totals_of_unlike_runs_are_not_compared() {
    let base = run(&Scene::default());
    let mut new = run(&Scene { seed: 2, chunks: 160, ..Scene::default() });
    new.header.provenance = Value::map([("versions", Value::map([("coffea", Value::from("1"))]))]);
    new.header.error = Some("KeyError: 'x'".into());
    let comparison = compared(&base, &new);
    assert_eq!(verdict(&comparison, Part::Metric, "wall_time"), Verdict::NotComparable);
    assert_eq!(verdict(&comparison, Part::Metric, "total_cpu_time"), Verdict::NotComparable);
    // The chunks that both have are compared all the same.
    assert_eq!(comparison.paired_chunks, Some(80));
    assert_eq!(verdict(&comparison, Part::Section, "muons"), Verdict::Same);
    let what: Vec<_> = comparison.differences.iter().map(|told| told.what.as_str()).collect();
    for expected in ["events", "chunks", "coffea", "ended by"] {
        assert!(what.contains(&expected), "{expected} is not in {what:?}");
    }
}

#[test]
fn what_one_run_lacks_is_missing() {
    let base = run(&Scene::default());
    let mut new = run(&Scene { seed: 2, ..Scene::default() });
    new.tables.remove(&Table::Sections);
    new.header.report = Value::None;
    let comparison = compared(&base, &new);
    assert_eq!(verdict(&comparison, Part::Section, "muons"), Verdict::Missing);
    assert_eq!(verdict(&comparison, Part::Metric, "event_rate_wall_khz"), Verdict::Missing);
    assert!(named(&comparison, Verdict::Worse).is_empty());
}

#[test]
fn without_chunks_a_change_is_just_a_change() {
    let (base, new) = (bare(10.0), bare(20.0));
    let comparison = compared(&base, &new);
    assert_eq!(verdict(&comparison, Part::Metric, "wall_time"), Verdict::Changed);
    let row = comparison.rows.iter().find(|row| row.name == "wall_time").unwrap();
    assert_eq!((row.change, row.noise, row.basis), (Some(1.0), None, Basis::Unknown));
    assert_eq!(comparison.headline.overall, None);
    assert!(comparison.notes[0].contains("no chunks"));
}

#[test]
fn one_chunk_has_no_noise() {
    let base = run(&Scene { chunks: 1, datasets: 1, ..Scene::default() });
    let new = run(&Scene { chunks: 1, datasets: 1, seed: 2, slower: [3.0; 3], ..Scene::default() });
    let comparison = compared(&base, &new);
    assert_eq!(verdict(&comparison, Part::Section, "muons"), Verdict::Changed);
    assert!(named(&comparison, Verdict::Worse).is_empty());
}

#[test]
fn a_run_is_the_same_as_itself() {
    let base = run(&Scene::default());
    let comparison = compared(&base, &base);
    let rows = &comparison.rows;
    assert!(rows.iter().all(|row| matches!(row.verdict, Verdict::Same | Verdict::Informational)));
    assert!(comparison.differences.is_empty(), "{:?}", comparison.differences);
}

#[test]
#[ignore = "prints times; run in release"]
#[expect(clippy::print_stdout, reason = "it is for people to read")]
fn a_hundred_thousand_chunks() {
    let base = run(&Scene { chunks: 100_000, ..Scene::default() });
    let new = run(&Scene { chunks: 100_000, seed: 2, ..Scene::default() });
    let (of_base, of_new) = (analyze(&base), analyze(&new));
    let began = std::time::Instant::now();
    let base = Run { measurement: &base, metrics: &of_base };
    let comparison = compare(base, Run { measurement: &new, metrics: &of_new }, 7);
    println!("a hundred thousand chunks twice in {:?}", began.elapsed());
    assert_eq!(comparison.paired_chunks, Some(100_000));
}
