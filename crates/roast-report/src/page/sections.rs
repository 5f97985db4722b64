//! The user's sections as a tree: sections of one name inside of the same ones are
//! one node, over all chunks that succeeded.

use std::collections::{HashMap, HashSet};

use roast_analyze::Names;
use roast_model::{Frame, Table};
use serde::Serialize;

use super::number::{known, short};
use super::panel::Panel;
use super::run::{Run, shown_name};

/// Sections shown inside of one, the longest first; the rest is one node.
const MOST_CHILDREN: usize = 40;
/// Levels shown, which bounds the page for any input.
const MOST_LEVELS: usize = 8;
/// The node around all others.
const ROOT: &str = "process()";

/// A section and what is inside of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SectionNode {
    pub(crate) name: String,
    pub(crate) wall_secs: f64,
    pub(crate) cpu_secs: Option<f64>,
    pub(crate) count: i64,
    pub(crate) chunks: u64,
    pub(crate) children: Vec<SectionNode>,
}

/// A node while it is summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    parent: usize,
    name: usize,
    wall_secs: f64,
    cpu_secs: Option<f64>,
    count: i64,
    chunks: u64,
    last_chunk: Option<i64>,
}

pub(crate) fn panel(run: &Run<'_>) -> Panel<Vec<SectionNode>> {
    let none = || {
        Panel::missing(
            "No sections were timed: put `with track_time(self, \"name\"):` around parts of \
             process().",
        )
    };
    let (Some(sections), Some(chunks)) =
        (run.measurement.table(Table::Sections), run.measurement.table(Table::Chunks))
    else {
        return none();
    };
    let chunks = Frame::new(chunks);
    let counted: HashSet<i64> = chunks
        .ints("chunk_id")
        .zip(&run.chunks)
        .filter(|(_, chunk)| chunk.is_ok())
        .filter_map(|(id, _)| id)
        .collect();
    let mut names = Names::default();
    let tallies = tallies(Frame::new(sections), &counted, &mut names);
    if tallies.len() <= 1 {
        return none();
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tallies.len()];
    for (index, tally) in tallies.iter().enumerate().skip(1) {
        if let Some(children) = children.get_mut(tally.parent) {
            children.push(index);
        }
    }
    let mut root = Tree { tallies: &tallies, children: &children, names: &names }.node(0, 0);
    let ok = || run.chunks.iter().filter(|chunk| chunk.is_ok());
    let inside: f64 = root.children.iter().map(|child| child.wall_secs).sum();
    let spent: f64 = ok().filter_map(|chunk| chunk.duration_secs).sum();
    // Rows of users may have sections without a duration of the whole.
    root.wall_secs = short(spent.max(inside));
    root.cpu_secs = chunks
        .floats("process_cpu_secs")
        .zip(&run.chunks)
        .filter(|(_, chunk)| chunk.is_ok())
        .filter_map(|(secs, _)| secs.and_then(known))
        .reduce(|sum, secs| sum + secs)
        .map(short);
    root.chunks = ok().count() as u64;
    root.count = i64::try_from(root.chunks).unwrap_or(i64::MAX);
    Panel::Data(vec![root])
}

/// The nodes, each after the one around it; the first is the root.
fn tallies<'a>(sections: Frame<'a>, counted: &HashSet<i64>, names: &mut Names<'a>) -> Vec<Tally> {
    let mut tallies = vec![Tally::default()];
    let mut nodes: HashMap<(usize, usize), usize> = HashMap::new();
    // The node of each section of the chunk at hand, by its position in the chunk.
    let mut of_chunk: Vec<usize> = Vec::new();
    let mut chunk: Option<i64> = None;
    let mut kinds = sections.names("kind");
    let mut parents = sections.ints("parent");
    let mut counts = sections.ints("count");
    let (mut walls, mut cpus) = (sections.floats("wall_secs"), sections.floats("cpu_secs"));
    for (id, name) in sections.ints("chunk_id").zip(sections.names("section")) {
        let kind = kinds.next().flatten().unwrap_or("time");
        let parent = parents.next().flatten().and_then(|parent| usize::try_from(parent).ok());
        let count = counts.next().flatten().unwrap_or(1).max(0);
        let wall_secs = walls.next().flatten().and_then(known);
        let cpu_secs = cpus.next().flatten().and_then(known);
        if id != chunk {
            chunk = id;
            of_chunk.clear();
        }
        let around = parent.and_then(|parent| of_chunk.get(parent)).copied().unwrap_or(0);
        let (Some(wall_secs), "time") = (wall_secs, kind) else {
            // What is inside of it belongs to what is around it.
            of_chunk.push(around);
            continue;
        };
        let fresh = tallies.len();
        let code = names.code(name);
        let node = *nodes.entry((around, code)).or_insert(fresh);
        if node == fresh {
            tallies.push(Tally { parent: around, name: code, ..Tally::default() });
        }
        of_chunk.push(node);
        let Some(tally) = tallies.get_mut(node) else { continue };
        // Those of users' own rows may belong to no chunk that is known.
        if id.is_some_and(|id| !counted.contains(&id)) {
            continue;
        }
        tally.wall_secs += wall_secs;
        tally.cpu_secs = match (tally.cpu_secs, cpu_secs) {
            (Some(sum), Some(secs)) => Some(sum + secs),
            (sum, secs) => sum.or(secs),
        };
        tally.count = tally.count.saturating_add(count);
        if tally.chunks == 0 || tally.last_chunk != id {
            tally.chunks += 1;
            tally.last_chunk = id;
        }
    }
    tallies
}

struct Tree<'t> {
    tallies: &'t [Tally],
    children: &'t [Vec<usize>],
    names: &'t Names<'t>,
}

impl Tree<'_> {
    fn node(&self, index: usize, level: usize) -> SectionNode {
        let tally = self.tallies.get(index).copied().unwrap_or_default();
        let name = self.names.names().get(tally.name).copied().flatten();
        SectionNode {
            name: if index == 0 { ROOT.to_owned() } else { shown_name(name) },
            wall_secs: short(tally.wall_secs),
            cpu_secs: tally.cpu_secs.map(short),
            count: tally.count,
            chunks: tally.chunks,
            children: if level < MOST_LEVELS { self.inside(index, level) } else { Vec::new() },
        }
    }

    fn inside(&self, index: usize, level: usize) -> Vec<SectionNode> {
        let mut inside: Vec<(f64, &str, usize)> = self
            .children
            .get(index)
            .into_iter()
            .flatten()
            .filter_map(|child| {
                let tally = self.tallies.get(*child).filter(|tally| tally.count > 0)?;
                let name = self.names.names().get(tally.name).copied().flatten();
                Some((tally.wall_secs, name.unwrap_or_default(), *child))
            })
            .collect();
        inside.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let rest = inside.split_off(inside.len().min(MOST_CHILDREN));
        let mut nodes: Vec<SectionNode> =
            inside.into_iter().map(|(_, _, child)| self.node(child, level + 1)).collect();
        if !rest.is_empty() {
            let tallies = || rest.iter().filter_map(|(_, _, child)| self.tallies.get(*child));
            nodes.push(SectionNode {
                name: format!("{} more", rest.len()),
                wall_secs: short(tallies().map(|tally| tally.wall_secs).sum()),
                cpu_secs: tallies().filter_map(|t| t.cpu_secs).reduce(|a, b| a + b).map(short),
                count: tallies().map(|tally| tally.count).sum(),
                // Of several sections in one chunk, no sum can tell.
                chunks: tallies().map(|tally| tally.chunks).max().unwrap_or(0),
                children: Vec::new(),
            });
        }
        nodes
    }
}
