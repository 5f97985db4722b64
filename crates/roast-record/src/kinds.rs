//! The phases of a chunk and the kinds of sections, by name.

/// The phases of a chunk, in the order in which they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkPhase {
    /// The processor is unpacked.
    Unpack,
    /// The file is opened.
    Open,
    /// The tree's metadata is read.
    Tree,
    /// The events are built.
    Events,
    /// The user's `process()` runs.
    Process,
    /// The output is packed.
    Serialize,
}

impl ChunkPhase {
    /// Every phase.
    pub const ALL: [Self; 6] =
        [Self::Unpack, Self::Open, Self::Tree, Self::Events, Self::Process, Self::Serialize];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unpack => "unpack",
            Self::Open => "open",
            Self::Tree => "tree",
            Self::Events => "events",
            Self::Process => "process",
            Self::Serialize => "serialize",
        }
    }

    /// The phase of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// What a section measures beside time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SectionKind {
    /// Time only.
    Time,
    /// Resident memory on entering and leaving.
    Memory,
    /// Bytes requested from a source.
    Bytes,
}

impl SectionKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Time, Self::Memory, Self::Bytes];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Bytes => "bytes",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
