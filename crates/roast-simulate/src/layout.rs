//! The input: datasets, their files, and the events of each chunk.

use crate::draw::Draw;
use crate::model::Simulation;
use crate::schedule::FAILING_ATTEMPTS;

const PROCESSES: [&str; 8] = [
    "TTTo2L2Nu",
    "DYJetsToLL_M-50",
    "SingleMuon_Run2024C",
    "WJetsToLNu",
    "TTToSemiLeptonic",
    "ST_tW_top",
    "WZTo3LNu",
    "EGamma_Run2024C",
];
const OBJECTS: [&str; 8] = ["Muon", "Jet", "Electron", "MET", "GenPart", "FatJet", "Tau", "Photon"];
const QUANTITIES: [&str; 8] =
    ["pt", "eta", "phi", "mass", "charge", "id", "isolation", "genPartIdx"];
const SECTIONS: [&str; 6] =
    ["selection", "corrections", "histograms", "systematics", "weights", "pairs"];

/// How much the events of files differ.
const FILE_SIZES: (f64, f64) = (0.7, 1.3);
/// How much datasets differ in the work that an event makes.
const DATASET_SPREAD: f64 = 0.1;
/// How much branches differ in size.
const BRANCH_SPREAD: f64 = 0.8;

/// A file of the input.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) uuid: String,
    pub(crate) dataset: u32,
    pub(crate) fails: bool,
    /// Events before its first one, over all files.
    first_event: f64,
    events_per_chunk: f64,
}

/// A branch that is read.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) name: String,
    /// Its share of what reading costs.
    pub(crate) share: f64,
}

/// The input.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) datasets: Vec<String>,
    /// How much work an event of each dataset makes.
    pub(crate) dataset_factors: Vec<f64>,
    pub(crate) files: Vec<File>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) sections: Vec<String>,
    pub(crate) tree_branches: u32,
    /// How likely an attempt on a file that fails is to fail.
    pub(crate) failure_probability: f64,
    chunks: u64,
    chunks_per_file: u64,
    events: u64,
}

impl Layout {
    pub(crate) fn new(simulation: &Simulation) -> Self {
        let work = &simulation.workload;
        let mut draw = Draw::new(simulation.seed, 1);
        let datasets = numbered(&PROCESSES, work.datasets);
        let dataset_factors = datasets.iter().map(|_| draw.factor(DATASET_SPREAD)).collect();
        let branches = branches(&mut draw, work.branches_read);
        let chunks_per_file = u64::from(work.chunks_per_file);
        let count = work.chunks.div_ceil(chunks_per_file);
        let mut files: Vec<File> = (0..count)
            .map(|number| {
                let dataset = u64::from(work.datasets) * number / count;
                let name = datasets.get(dataset as usize).map_or("", String::as_str);
                File {
                    name: format!(
                        "root://storage.example.org//store/{name}/NANOAOD/nano_{number:06}.root"
                    ),
                    uuid: uuid(draw.bits()),
                    dataset: dataset as u32,
                    fails: false,
                    first_event: 0.0,
                    events_per_chunk: draw.between(FILE_SIZES.0, FILE_SIZES.1),
                }
            })
            .collect();
        let chunks_of = |file: usize| {
            chunks_per_file.min(work.chunks.saturating_sub(file as u64 * chunks_per_file)) as f64
        };
        let weight: f64 = files
            .iter()
            .enumerate()
            .map(|(number, file)| file.events_per_chunk * chunks_of(number))
            .sum();
        let scale = work.events as f64 / weight.max(1.0);
        let mut reached = 0.0;
        for (number, file) in files.iter_mut().enumerate() {
            file.first_event = reached;
            file.events_per_chunk *= scale;
            reached += file.events_per_chunk * chunks_of(number);
        }
        // Spread over the files, from a random one on.
        let failing = ((count as f64 * work.failing_files).ceil() as usize).clamp(1, files.len());
        let first = (draw.unit() * files.len() as f64) as usize;
        let total = files.len();
        for index in 0..failing {
            if let Some(file) = files.get_mut((first + index * total / failing) % total) {
                file.fails = true;
            }
        }
        Self {
            datasets,
            dataset_factors,
            branches,
            sections: numbered(&SECTIONS, work.sections),
            tree_branches: work.tree_branches,
            failure_probability: failure_probability(
                work.failures,
                failing as f64 / files.len() as f64,
            ),
            chunks: work.chunks,
            files,
            chunks_per_file,
            events: work.events,
        }
    }

    /// The number of a chunk's file.
    pub(crate) fn file_of(&self, chunk: u64) -> usize {
        (chunk / self.chunks_per_file) as usize
    }

    /// The entries of a chunk in its file.
    pub(crate) fn entries(&self, chunk: u64) -> (i64, i64) {
        let file = self.file_of(chunk);
        let first = self.events_before(file as u64 * self.chunks_per_file);
        (self.events_before(chunk) - first, self.events_before(chunk + 1) - first)
    }

    /// Events of all chunks before that one: whole numbers that reach the total
    /// exactly, whatever was rounded on the way.
    fn events_before(&self, chunk: u64) -> i64 {
        if chunk >= self.chunks {
            return self.events as i64;
        }
        let number = self.file_of(chunk);
        let Some(file) = self.files.get(number) else { return self.events as i64 };
        let inside = (chunk - number as u64 * self.chunks_per_file) as f64;
        ((file.first_event + inside * file.events_per_chunk) as i64).min(self.events as i64)
    }
}

fn branches(draw: &mut Draw, count: u32) -> Vec<Branch> {
    let mut branches: Vec<Branch> = (0..count as usize)
        .map(|number| {
            let object = OBJECTS.get(number % OBJECTS.len()).unwrap_or(&"Event");
            let quantity = number / OBJECTS.len();
            let name = match QUANTITIES.get(quantity) {
                Some(quantity) => format!("{object}_{quantity}"),
                None => format!("{object}_quantity{quantity}"),
            };
            Branch { name, share: draw.factor(BRANCH_SPREAD) }
        })
        .collect();
    let total: f64 = branches.iter().map(|branch| branch.share).sum();
    for branch in &mut branches {
        branch.share /= total;
    }
    branches
}

/// How likely each attempt on some of the files must be to fail so that of all
/// attempts the wanted share does: those on a chunk end with the first success, or
/// after as many failures as are allowed.
fn failure_probability(wanted: f64, share_of_files: f64) -> f64 {
    let failures_per_chunk = |probability: f64| -> f64 {
        (1..=FAILING_ATTEMPTS as i32).map(|attempt| probability.powi(attempt)).sum()
    };
    let aim = wanted / (1.0 - wanted) / share_of_files;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if failures_per_chunk(middle) < aim {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// That many distinct names.
fn numbered(names: &[&str], count: u32) -> Vec<String> {
    (0..count as usize)
        .map(|number| {
            let name = names.get(number % names.len()).unwrap_or(&"more");
            match number / names.len() {
                0 => (*name).to_owned(),
                round => format!("{name}_{}", round + 1),
            }
        })
        .collect()
}

/// Bits in the form of a UUID.
pub(crate) fn uuid(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}
