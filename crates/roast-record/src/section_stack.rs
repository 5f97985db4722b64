//! The sections of one chunk while it runs: nested, repeated, and bounded so
//! that a section inside a loop over events cannot fill the memory. Entering
//! and leaving must cost next to nothing, so a section is a few words.

use std::collections::HashMap;
use std::sync::Arc;

use crate::kinds::SectionKind;

/// Sections kept one by one; further ones are summed by name.
pub(crate) const MAX_SECTIONS: usize = 1000;
/// Names under which further ones are summed.
pub(crate) const MAX_SUMMED_NAMES: usize = 100;
/// Different names that are remembered.
const MAX_NAMES: usize = 2 * MAX_SECTIONS;
/// Names that are looked through one by one before they are looked up: a chunk
/// rarely has more, and comparing a few is quicker than hashing one.
const FEW_NAMES: usize = 12;
/// Longest name, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 200;

/// What a section measures beside time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauge {
    pub(crate) rss_bytes: Option<i64>,
    pub(crate) requested_bytes: Option<i64>,
}

/// A moment of a section: since the start of the chunk, and on the CPU clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) since_start_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
}

/// One section.
#[derive(Clone, Debug)]
pub(crate) struct TimedSection {
    /// Index of the name; missing if there were too many names.
    pub(crate) name: Option<u32>,
    pub(crate) kind: SectionKind,
    pub(crate) parent: Option<u32>,
    pub(crate) start_ns: u64,
    /// Missing while the section is open.
    pub(crate) wall_ns: Option<u64>,
    /// The clock while the section is open, and what passed on it afterwards.
    pub(crate) cpu_ns: Option<u64>,
    /// At both ends, for sections that measure more than time.
    pub(crate) gauges: Option<Box<(Gauge, Gauge)>>,
}

/// Sections that were too many to keep, of one name and kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summed {
    pub(crate) count: u64,
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) bytes: Option<i64>,
}

/// Which section is to be left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Kept(u32),
    /// One of those that are only summed.
    Further(usize),
}

#[derive(Debug, Default)]
pub(crate) struct SectionStack {
    pub(crate) names: Vec<Arc<str>>,
    lookup: HashMap<Box<str>, u32>,
    pub(crate) kept: Vec<TimedSection>,
    /// The kept ones that are open.
    open: Vec<u32>,
    further: Vec<Option<TimedSection>>,
    pub(crate) summed: Vec<(u32, SectionKind, Summed)>,
    pub(crate) dropped: u64,
}

impl SectionStack {
    pub(crate) fn enter(
        &mut self,
        name: &str,
        kind: SectionKind,
        at: Moment,
        gauge: Option<Gauge>,
    ) -> Token {
        let section = TimedSection {
            name: self.name(name),
            kind,
            parent: self.open.last().copied(),
            start_ns: at.since_start_ns,
            wall_ns: None,
            cpu_ns: at.cpu_ns,
            gauges: gauge.map(|gauge| Box::new((gauge, Gauge::default()))),
        };
        if self.kept.len() < MAX_SECTIONS
            && let Ok(index) = u32::try_from(self.kept.len())
        {
            self.kept.push(section);
            self.open.push(index);
            return Token::Kept(index);
        }
        // Places of sections that were left are used again.
        if let Some(free) = self.further.iter().position(Option::is_none) {
            if let Some(place) = self.further.get_mut(free) {
                *place = Some(section);
            }
            return Token::Further(free);
        }
        self.further.push(Some(section));
        Token::Further(self.further.len() - 1)
    }

    pub(crate) fn leave(&mut self, token: Token, at: Moment, gauge: Option<Gauge>) {
        match token {
            Token::Kept(index) => {
                if self.open.last() == Some(&index) {
                    self.open.pop();
                } else {
                    // Left out of order, it closes without its neighbours.
                    self.open.retain(|&open| open != index);
                }
                if let Some(section) = self.kept.get_mut(index as usize) {
                    section.close(at, gauge);
                }
            }
            Token::Further(index) => {
                if let Some(mut section) = self.further.get_mut(index).and_then(Option::take) {
                    section.close(at, gauge);
                    self.sum(&section);
                }
            }
        }
    }

    /// Leaves every section that is still open.
    pub(crate) fn leave_all(&mut self, at: Moment) {
        while let Some(&index) = self.open.last() {
            self.leave(Token::Kept(index), at, None);
        }
        for index in 0..self.further.len() {
            self.leave(Token::Further(index), at, None);
        }
    }

    fn sum(&mut self, section: &TimedSection) {
        let known = section.name.and_then(|code| {
            let is_known = |(name, kind, _): &(u32, SectionKind, Summed)| {
                *name == code && *kind == section.kind
            };
            self.summed.iter().position(is_known).or_else(|| {
                (self.summed.len() < MAX_SUMMED_NAMES).then(|| {
                    self.summed.push((code, section.kind, Summed::default()));
                    self.summed.len() - 1
                })
            })
        });
        let Some((_, _, sum)) = known.and_then(|position| self.summed.get_mut(position)) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        sum.count = sum.count.saturating_add(1);
        sum.wall_ns = sum.wall_ns.saturating_add(section.wall_ns.unwrap_or_default());
        sum.cpu_ns = crate::costs::plus(sum.cpu_ns, section.cpu_ns);
        if let Some(bytes) = section.bytes() {
            sum.bytes = Some(sum.bytes.unwrap_or_default().saturating_add(bytes));
        }
    }

    fn name(&mut self, name: &str) -> Option<u32> {
        let few = self.names.iter().take(FEW_NAMES).position(|known| known.as_ref() == name);
        if let Some(index) = few {
            return u32::try_from(index).ok();
        }
        if let Some(&known) = self.lookup.get(name) {
            return Some(known);
        }
        // A program that makes up names without end must not fill the memory.
        if self.names.len() >= MAX_NAMES {
            return None;
        }
        let code = u32::try_from(self.names.len()).ok()?;
        self.names.push(cut(name));
        self.lookup.insert(name.into(), code);
        Some(code)
    }
}

fn cut(name: &str) -> Arc<str> {
    if name.char_indices().nth(MAX_NAME_CHARS).is_none() {
        return Arc::from(name);
    }
    let mut cut: String = name.chars().take(MAX_NAME_CHARS - 1).collect();
    cut.push('…');
    Arc::from(cut)
}

impl TimedSection {
    fn close(&mut self, at: Moment, gauge: Option<Gauge>) {
        let wall_ns = at.since_start_ns.saturating_sub(self.start_ns);
        self.wall_ns = Some(wall_ns);
        let passed = |began: u64| Some(at.cpu_ns?.saturating_sub(began).min(wall_ns));
        self.cpu_ns = self.cpu_ns.and_then(passed);
        if let (Some(gauges), Some(gauge)) = (&mut self.gauges, gauge) {
            gauges.1 = gauge;
        }
    }

    /// Bytes requested between the ends.
    pub(crate) fn bytes(&self) -> Option<i64> {
        let (start, end) = self.gauges.as_deref()?;
        Some(end.requested_bytes?.saturating_sub(start.requested_bytes?))
    }
}
