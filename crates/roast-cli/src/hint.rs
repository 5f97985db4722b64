//! Guesses at what was meant by a path that is no measurement, or by a name that
//! is not in the catalog.

use std::fs;
use std::path::Path;

use roast_model::CATALOG;

const MANIFEST: &str = "measurement.json";
const SHOWN: usize = 5;
/// Names less alike than this are not worth suggesting.
const LIKENESS: f64 = 0.75;

/// What to try instead of `path`: the measurements in it, or one beside it with
/// a similar name.
pub(crate) fn for_path(path: &Path) -> Option<String> {
    let inside = measurements_in(path);
    if !inside.is_empty() {
        let mut names =
            inside.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        if inside.len() > SHOWN {
            names.push_str(", ...");
        }
        return Some(format!("there are measurements in it: {names}"));
    }
    let wanted = path.file_name()?.to_str()?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let beside = measurements_in(parent.unwrap_or(Path::new(".")));
    let close = nearest(wanted, beside.iter().map(String::as_str))?;
    Some(format!("did you mean {}?", path.with_file_name(close).display()))
}

/// The key or alias of the catalog that is most like `wanted`.
pub(crate) fn for_metric(wanted: &str) -> Option<&'static str> {
    let names = CATALOG
        .iter()
        .flat_map(|metric| std::iter::once(metric.key).chain(metric.aliases.iter().copied()));
    nearest(wanted, names)
}

fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(likeness, name)| *likeness >= LIKENESS && *name != wanted)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// A directory that cannot be listed gives no hint; the error itself says why.
fn measurements_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join(MANIFEST).is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort_unstable();
    names
}
