//! What rows name: names, sets of branches, sources and places, each under a
//! number of its log; and the numbers of one log in terms of another one's.

use std::sync::Arc;

use crate::palette::Palette;
use crate::wire::{LogError, Reader, Writer};

/// Longest beginning that a name takes over from the one before it: bounds how
/// much longer names can be than the bytes they come from.
const MAX_SHARED_BYTES: usize = 255;

/// Dataset, file and tree of a chunk, as numbers in the log's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Source {
    pub(crate) dataset: Option<u32>,
    pub(crate) file: Option<u32>,
    pub(crate) uuid: Option<u32>,
    pub(crate) tree: Option<u32>,
}

/// Where a chunk ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) worker: Option<u32>,
    pub(crate) host: Option<u32>,
    pub(crate) thread: Option<u64>,
}

/// The palettes of one log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Palettes {
    pub(crate) names: Palette<Arc<str>>,
    pub(crate) branch_sets: Palette<Arc<[u32]>>,
    pub(crate) sources: Palette<Source>,
    pub(crate) places: Palette<Place>,
}

impl Palettes {
    /// Takes over what another log's rows name.
    pub(crate) fn take_over(&mut self, other: &Self) -> Result<Codes, LogError> {
        let mut codes = Codes::default();
        for name in other.names.items() {
            codes.names.push(self.names.code_of(Arc::clone(name)));
        }
        for set in other.branch_sets.items() {
            let set = set.iter().map(|&branch| codes.name(branch)).collect::<Result<_, _>>()?;
            codes.branch_sets.push(self.branch_sets.code_of(set));
        }
        for &source in other.sources.items() {
            codes.sources.push(self.sources.code_of(codes.in_source(source)?));
        }
        for &place in other.places.items() {
            codes.places.push(self.places.code_of(codes.in_place(place)?));
        }
        Ok(codes)
    }

    /// Takes over what [`Palettes::write`] wrote.
    pub(crate) fn read(&mut self, reader: &mut Reader<'_>) -> Result<Codes, LogError> {
        let mut codes = Codes::default();
        let mut name = String::new();
        for _ in 0..reader.count()? {
            let shared = usize::try_from(reader.plain()?).map_err(|_| LogError::Damaged)?;
            if shared > MAX_SHARED_BYTES || !name.is_char_boundary(shared) {
                return Err(LogError::Damaged);
            }
            name.truncate(shared);
            name.push_str(reader.text()?);
            codes.names.push(self.names.code(name.as_str()));
        }
        for _ in 0..reader.count()? {
            let mut set = Vec::new();
            let mut next = 0;
            for _ in 0..reader.count()? {
                let branch = reader.near(next).ok_or(LogError::Damaged)?;
                next = branch.saturating_add(1);
                set.push(codes.name(u32::try_from(branch).map_err(|_| LogError::Damaged)?)?);
            }
            codes.branch_sets.push(self.branch_sets.code_of(Arc::from(set)));
        }
        for _ in 0..reader.count()? {
            let source = codes.in_source(read_source(reader)?)?;
            codes.sources.push(self.sources.code_of(source));
        }
        for _ in 0..reader.count()? {
            let place = Place {
                worker: reader.maybe_code()?,
                host: reader.maybe_code()?,
                thread: reader.maybe(),
            };
            codes.places.push(self.places.code_of(codes.in_place(place)?));
        }
        Ok(codes)
    }

    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.count(self.names.len());
        let mut last: &str = "";
        for name in self.names.items() {
            let shared = shared_bytes(last, name);
            writer.count(shared);
            writer.text(name.get(shared..).unwrap_or_default());
            last = name;
        }
        writer.count(self.branch_sets.len());
        for set in self.branch_sets.items() {
            writer.count(set.len());
            let mut next = 0;
            for &branch in set.iter() {
                writer.near(Some(i64::from(branch)), next);
                next = i64::from(branch) + 1;
            }
        }
        writer.count(self.sources.len());
        for source in self.sources.items() {
            write_source(writer, *source);
        }
        writer.count(self.places.len());
        for place in self.places.items() {
            writer.maybe(place.worker);
            writer.maybe(place.host);
            writer.maybe(place.thread);
        }
    }
}

/// By the numbers of one log, those of the log that takes it in. A number that the
/// first does not have is damage.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    names: Vec<u32>,
    branch_sets: Vec<u32>,
    sources: Vec<u32>,
    places: Vec<u32>,
}

impl Codes {
    pub(crate) fn name(&self, code: u32) -> Result<u32, LogError> {
        mapped(&self.names, code)
    }

    pub(crate) fn maybe_name(&self, code: Option<u32>) -> Result<Option<u32>, LogError> {
        code.map(|code| self.name(code)).transpose()
    }

    pub(crate) fn branch_set(&self, code: u32) -> Result<u32, LogError> {
        mapped(&self.branch_sets, code)
    }

    pub(crate) fn source(&self, code: u32) -> Result<u32, LogError> {
        mapped(&self.sources, code)
    }

    pub(crate) fn place(&self, code: u32) -> Result<u32, LogError> {
        mapped(&self.places, code)
    }

    pub(crate) fn in_source(&self, source: Source) -> Result<Source, LogError> {
        Ok(Source {
            dataset: self.maybe_name(source.dataset)?,
            file: self.maybe_name(source.file)?,
            uuid: self.maybe_name(source.uuid)?,
            tree: self.maybe_name(source.tree)?,
        })
    }

    fn in_place(&self, place: Place) -> Result<Place, LogError> {
        Ok(Place {
            worker: self.maybe_name(place.worker)?,
            host: self.maybe_name(place.host)?,
            thread: place.thread,
        })
    }
}

#[inline]
fn mapped(codes: &[u32], code: u32) -> Result<u32, LogError> {
    codes.get(code as usize).copied().ok_or(LogError::Damaged)
}

pub(crate) fn write_source(writer: &mut Writer, source: Source) {
    writer.maybe(source.dataset);
    writer.maybe(source.file);
    writer.maybe(source.uuid);
    writer.maybe(source.tree);
}

pub(crate) fn read_source(reader: &mut Reader<'_>) -> Result<Source, LogError> {
    Ok(Source {
        dataset: reader.maybe_code()?,
        file: reader.maybe_code()?,
        uuid: reader.maybe_code()?,
        tree: reader.maybe_code()?,
    })
}

fn shared_bytes(last: &str, name: &str) -> usize {
    let mut shared =
        last.bytes().zip(name.bytes()).take(MAX_SHARED_BYTES).take_while(|(a, b)| a == b).count();
    while !name.is_char_boundary(shared) || !last.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}
