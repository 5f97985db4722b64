//! One attempt at one chunk, as plain numbers, and its packed form. Names,
//! files, workers and branch sets are numbers in the palettes of a log.

use crate::kinds::{ChunkPhase, SectionKind};
use crate::palettes::Codes;
use crate::wire::{LogError, Reader, Writer};

/// Time on the three clocks of a thread, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) wall_us: Option<u64>,
    pub(crate) cpu_us: Option<u64>,
    pub(crate) run_queue_us: Option<u64>,
}

/// Column reads of one attempt, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) read: Times,
    /// Without a run queue: baskets may be unpacked on several threads.
    pub(crate) decompress: Times,
    pub(crate) interpret: Times,
    pub(crate) bytes: Option<i64>,
    pub(crate) reads: u64,
    pub(crate) cached: u64,
    pub(crate) preloaded: u64,
}

/// One section, or the sum of those that were too many to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: u32,
    pub(crate) kind: SectionKind,
    /// Index of the section around this one.
    pub(crate) parent: Option<u32>,
    /// From the start of the attempt, in units of 100 ns like the others.
    pub(crate) start: Option<u64>,
    pub(crate) wall: Option<u64>,
    pub(crate) cpu: Option<u64>,
    pub(crate) rss_start_bytes: Option<i64>,
    pub(crate) rss_end_bytes: Option<i64>,
    pub(crate) bytes: Option<i64>,
    pub(crate) count: u64,
}

/// One attempt at one chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) source: u32,
    pub(crate) place: u32,
    /// Dask key up to its last dash, and the number after it.
    pub(crate) task_head: Option<u32>,
    pub(crate) task_number: Option<u64>,
    pub(crate) branch_set: Option<u32>,
    pub(crate) entry_start: Option<i64>,
    pub(crate) entry_stop: Option<i64>,
    pub(crate) num_events: Option<i64>,
    pub(crate) start_ns: Option<i64>,
    pub(crate) stop_ns: Option<i64>,
    pub(crate) phases: [Times; 6],
    pub(crate) reading: Option<Reading>,
    pub(crate) requests: Option<u64>,
    pub(crate) rss_start_bytes: Option<i64>,
    pub(crate) rss_end_bytes: Option<i64>,
    pub(crate) rss_peak_bytes: Option<i64>,
    pub(crate) bytes_read: Option<i64>,
    pub(crate) setup_bytes: Option<i64>,
    pub(crate) recorder_us: Option<u64>,
    pub(crate) error: Option<u32>,
    pub(crate) replayed: bool,
    pub(crate) dropped_sections: u64,
    pub(crate) sections: Vec<Section>,
    /// JSON of the keys that have no column.
    pub(crate) extra: Option<String>,
}

// What most rows do not have is announced by a bit.
const HAS_ERROR: u8 = 1;
const IS_REPLAYED: u8 = 1 << 1;
const HAS_DROPPED: u8 = 1 << 2;
const HAS_EXTRA: u8 = 1 << 3;
const HAS_READING: u8 = 1 << 4;
const HAS_OTHER_READS: u8 = 1 << 5;

impl Times {
    pub(crate) fn pack(&self, writer: &mut Writer) {
        writer.maybe(self.wall_us);
        writer.short_of(self.cpu_us, self.wall_us);
        writer.maybe(self.run_queue_us);
    }

    #[inline(always)]
    pub(crate) fn unpack(reader: &mut Reader<'_>) -> Self {
        let wall_us = reader.maybe();
        Self { wall_us, cpu_us: reader.short_of(wall_us), run_queue_us: reader.maybe() }
    }

    fn pack_without_queue(&self, writer: &mut Writer) {
        writer.maybe(self.wall_us);
        writer.short_of(self.cpu_us, self.wall_us);
    }

    #[inline(always)]
    fn unpack_without_queue(reader: &mut Reader<'_>) -> Self {
        let wall_us = reader.maybe();
        Self { wall_us, cpu_us: reader.short_of(wall_us), run_queue_us: None }
    }
}

impl Row {
    /// Times of one phase.
    pub(crate) fn phase(&self, phase: ChunkPhase) -> Times {
        self.phases.get(phase as usize).copied().unwrap_or_default()
    }

    /// Times of one phase, to be changed.
    pub(crate) fn phase_mut(&mut self, phase: ChunkPhase) -> Option<&mut Times> {
        self.phases.get_mut(phase as usize)
    }

    fn likely_stop(&self) -> i64 {
        let walls = self.phases.iter().filter_map(|times| times.wall_us);
        let elapsed_us = walls.fold(0_u64, u64::saturating_add);
        let elapsed_ns = i64::try_from(elapsed_us.saturating_mul(1_000)).unwrap_or(i64::MAX);
        self.start_ns.unwrap_or_default().saturating_add(elapsed_ns)
    }

    fn likely_events(&self) -> i64 {
        match (self.entry_start, self.entry_stop) {
            (Some(start), Some(stop)) => stop.saturating_sub(start),
            _ => 0,
        }
    }

    fn likely_bytes(&self) -> i64 {
        let columns = self.reading.and_then(|reading| reading.bytes).unwrap_or_default();
        columns.saturating_add(self.setup_bytes.unwrap_or_default())
    }

    /// Everything but the start, which rows of a log tell from each other's.
    pub(crate) fn pack(&self, writer: &mut Writer) {
        let other_reads =
            self.reading.is_some_and(|reading| reading.cached > 0 || reading.preloaded > 0);
        let flags = flag(self.error.is_some(), HAS_ERROR)
            | flag(self.replayed, IS_REPLAYED)
            | flag(self.dropped_sections > 0, HAS_DROPPED)
            | flag(self.extra.is_some(), HAS_EXTRA)
            | flag(self.reading.is_some(), HAS_READING)
            | flag(other_reads, HAS_OTHER_READS);
        Head {
            flags,
            source: self.source,
            place: self.place,
            task_head: self.task_head,
            task_number: self.task_number,
            branch_set: self.branch_set,
        }
        .write(writer);
        writer.near(self.entry_start, 0);
        writer.near(self.entry_stop, self.entry_start.unwrap_or_default());
        writer.near(self.num_events, self.likely_events());
        for times in &self.phases {
            times.pack(writer);
        }
        writer.moment(self.stop_ns, self.likely_stop());
        if let Some(reading) = &self.reading {
            reading.read.pack(writer);
            reading.decompress.pack_without_queue(writer);
            reading.interpret.pack_without_queue(writer);
            writer.near(reading.bytes, 0);
            writer.plain(reading.reads);
            if other_reads {
                writer.plain(reading.cached);
                writer.plain(reading.preloaded);
            }
        }
        writer.maybe(self.requests);
        writer.memory(self.rss_start_bytes, 0);
        writer.memory(self.rss_end_bytes, self.rss_start_bytes.unwrap_or_default());
        writer.memory(self.rss_peak_bytes, self.rss_end_bytes.unwrap_or_default());
        writer.near(self.setup_bytes, 0);
        writer.near(self.bytes_read, self.likely_bytes());
        writer.maybe(self.recorder_us);
        if let Some(error) = self.error {
            writer.plain(error);
        }
        if self.dropped_sections > 0 {
            writer.plain(self.dropped_sections);
        }
        if let Some(extra) = &self.extra {
            writer.text(extra);
        }
        writer.count(self.sections.len());
        let mut last = None;
        for (index, section) in self.sections.iter().enumerate() {
            section.pack(writer, index, last);
            last = Some(section);
        }
    }

    /// Reads what [`Row::pack`] wrote, in place of what the row was.
    pub(crate) fn unpack_from(
        &mut self,
        reader: &mut Reader<'_>,
        start_ns: Option<i64>,
    ) -> Result<(), LogError> {
        // What is not in every row; the rest is written below.
        (self.reading, self.error, self.extra) = (None, None, None);
        self.dropped_sections = 0;
        self.sections.clear();
        self.start_ns = start_ns;
        let head = Head::read(reader)?;
        let has = |bit: u8| head.flags & bit != 0;
        self.replayed = head.is_replayed();
        self.source = head.source;
        self.place = head.place;
        self.task_head = head.task_head;
        self.task_number = head.task_number;
        self.branch_set = head.branch_set;
        self.entry_start = reader.near(0);
        self.entry_stop = reader.near(self.entry_start.unwrap_or_default());
        self.num_events = reader.near(self.likely_events());
        for times in &mut self.phases {
            *times = Times::unpack(reader);
        }
        self.stop_ns = reader.moment(self.likely_stop());
        if has(HAS_READING) {
            let mut reading = Reading {
                read: Times::unpack(reader),
                decompress: Times::unpack_without_queue(reader),
                interpret: Times::unpack_without_queue(reader),
                bytes: reader.near(0),
                reads: reader.plain()?,
                ..Reading::default()
            };
            if has(HAS_OTHER_READS) {
                reading.cached = reader.plain()?;
                reading.preloaded = reader.plain()?;
            }
            self.reading = Some(reading);
        }
        self.requests = reader.maybe();
        self.rss_start_bytes = reader.memory(0);
        self.rss_end_bytes = reader.memory(self.rss_start_bytes.unwrap_or_default());
        self.rss_peak_bytes = reader.memory(self.rss_end_bytes.unwrap_or_default());
        self.setup_bytes = reader.near(0);
        self.bytes_read = reader.near(self.likely_bytes());
        self.recorder_us = reader.maybe();
        if has(HAS_ERROR) {
            self.error = Some(reader.code()?);
        }
        if has(HAS_DROPPED) {
            self.dropped_sections = reader.plain()?;
        }
        if has(HAS_EXTRA) {
            self.extra = Some(reader.text()?.to_owned());
        }
        let count = reader.count()?;
        for index in 0..count {
            let section = Section::unpack(reader, index, self.sections.last())?;
            self.sections.push(section);
        }
        Ok(())
    }
}

/// How a packed row begins: what it names, and what it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    flags: u8,
    pub(crate) source: u32,
    place: u32,
    task_head: Option<u32>,
    task_number: Option<u64>,
    pub(crate) branch_set: Option<u32>,
}

impl Head {
    /// Reads the beginning of a row.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let flags: u8 = reader.bytes(1)?.first().copied().ok_or(LogError::Damaged)?;
        let (source, place) = (reader.code()?, reader.code()?);
        let task_head = reader.maybe_code()?;
        let task_number = if task_head.is_some() { reader.maybe() } else { None };
        Ok(Self { flags, source, place, task_head, task_number, branch_set: reader.maybe_code()? })
    }

    fn write(&self, writer: &mut Writer) {
        writer.bytes.push(self.flags);
        writer.plain(self.source);
        writer.plain(self.place);
        writer.maybe(self.task_head);
        if self.task_head.is_some() {
            writer.maybe(self.task_number);
        }
        writer.maybe(self.branch_set);
    }

    /// First and last entry, which follow the head.
    pub(crate) fn entries(reader: &mut Reader<'_>) -> (Option<i64>, Option<i64>) {
        let start = reader.near(0);
        (start, reader.near(start.unwrap_or_default()))
    }

    pub(crate) fn is_failed(self) -> bool {
        self.flags & HAS_ERROR != 0
    }

    pub(crate) fn is_replayed(self) -> bool {
        self.flags & IS_REPLAYED != 0
    }

    pub(crate) fn has_dropped_sections(self) -> bool {
        self.flags & HAS_DROPPED != 0
    }

    /// How many numbers lie between the head and what follows the measured part.
    fn measured(self) -> usize {
        let has = |bit: u8| usize::from(self.flags & bit != 0);
        // Entries and events, six phases on three clocks, stop; then reading, and
        // requests, memory, bytes and the recorder's own time.
        3 + 18 + 1 + has(HAS_READING) * (9 + 2 * has(HAS_OTHER_READS)) + 1 + 3 + 2 + 1
    }
}

/// Copies a packed row with other numbers for what it names; what was measured is
/// passed on as it is. What comes out can be unpacked: all that could be wrong
/// with a row is found here.
pub(crate) fn renumber(
    reader: &mut Reader<'_>,
    writer: &mut Writer,
    to: &Codes,
) -> Result<(), LogError> {
    let head = Head::read(reader)?;
    Head {
        source: to.source(head.source)?,
        place: to.place(head.place)?,
        task_head: to.maybe_name(head.task_head)?,
        branch_set: head.branch_set.map(|code| to.branch_set(code)).transpose()?,
        ..head
    }
    .write(writer);
    writer.bytes.extend_from_slice(reader.skip(head.measured())?);
    if head.is_failed() {
        writer.plain(to.name(reader.code()?)?);
    }
    if head.has_dropped_sections() {
        writer.bytes.extend_from_slice(reader.skip(1)?);
    }
    if head.flags & HAS_EXTRA != 0 {
        writer.text(reader.text()?);
    }
    let count = reader.count()?;
    writer.count(count);
    for index in 0..count {
        let section = SectionHead::read(reader)?;
        SectionHead { name: to.name(section.name)?, ..section }.write(writer);
        let outwards = reader.maybe();
        around(index, outwards)?;
        writer.maybe(outwards);
        writer.bytes.extend_from_slice(reader.skip(section.measured())?);
    }
    Ok(())
}

/// How a packed section begins.
#[derive(Clone, Copy, Debug)]
struct SectionHead {
    name: u32,
    kind: SectionKind,
    /// It stands for more than one.
    many: bool,
}

impl SectionHead {
    fn read(reader: &mut Reader<'_>) -> Result<Self, LogError> {
        let head = reader.wide()?;
        let kind = usize::try_from(head >> 1 & 3).ok().and_then(|k| SectionKind::ALL.get(k));
        Ok(Self {
            name: u32::try_from(head >> 3).map_err(|_| LogError::Damaged)?,
            kind: *kind.ok_or(LogError::Damaged)?,
            many: head & 1 == 1,
        })
    }

    fn write(self, writer: &mut Writer) {
        let rest = (self.kind as u64) << 1 | u64::from(self.many);
        writer.wide(u128::from(self.name) << 3 | u128::from(rest));
    }

    /// How many numbers follow, after the one that tells the section around it.
    fn measured(self) -> usize {
        let of_kind = match self.kind {
            SectionKind::Time => 0,
            SectionKind::Memory => 2,
            SectionKind::Bytes => 1,
        };
        3 + usize::from(self.many) + of_kind
    }
}

impl Section {
    fn pack(&self, writer: &mut Writer, index: usize, last: Option<&Self>) {
        let many = self.count != 1;
        SectionHead { name: self.name, kind: self.kind, many }.write(writer);
        let outwards = self.parent.map(|parent| (index as u64).saturating_sub(u64::from(parent)));
        writer.maybe(outwards);
        writer.short_of(self.start, likely_start(last, outwards));
        writer.maybe(self.wall);
        writer.short_of(self.cpu, self.wall);
        if self.count != 1 {
            writer.plain(self.count);
        }
        match self.kind {
            SectionKind::Time => {}
            SectionKind::Memory => {
                writer.memory(self.rss_start_bytes, 0);
                writer.memory(self.rss_end_bytes, self.rss_start_bytes.unwrap_or_default());
            }
            SectionKind::Bytes => writer.near(self.bytes, 0),
        }
    }

    fn unpack(
        reader: &mut Reader<'_>,
        index: usize,
        last: Option<&Self>,
    ) -> Result<Self, LogError> {
        let SectionHead { name, kind, many } = SectionHead::read(reader)?;
        let outwards = reader.maybe();
        let parent = around(index, outwards)?;
        let start = reader.short_of(likely_start(last, outwards));
        let wall = reader.maybe();
        let cpu = reader.short_of(wall);
        let count = if many { reader.plain()? } else { 1 };
        let mut section = Self {
            name,
            kind,
            parent,
            start,
            wall,
            cpu,
            rss_start_bytes: None,
            rss_end_bytes: None,
            bytes: None,
            count,
        };
        match kind {
            SectionKind::Time => {}
            SectionKind::Memory => {
                section.rss_start_bytes = reader.memory(0);
                section.rss_end_bytes = reader.memory(section.rss_start_bytes.unwrap_or_default());
            }
            SectionKind::Bytes => section.bytes = reader.near(0),
        }
        Ok(section)
    }
}

/// The section around one: it was entered earlier.
fn around(index: usize, outwards: Option<u64>) -> Result<Option<u32>, LogError> {
    let Some(distance) = outwards else { return Ok(None) };
    let parent = (index as u64).checked_sub(distance).filter(|_| distance > 0);
    let parent = parent.and_then(|parent| u32::try_from(parent).ok());
    parent.map(Some).ok_or(LogError::Damaged)
}

/// A section begins about when the one before it began, if it is inside of it,
/// and about when that one ended otherwise.
fn likely_start(last: Option<&Section>, outwards: Option<u64>) -> Option<u64> {
    let last = last?;
    let inside = outwards == Some(1);
    let wall = last.wall.filter(|_| !inside).unwrap_or_default();
    last.start.map(|start| start.saturating_add(wall))
}

fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}
