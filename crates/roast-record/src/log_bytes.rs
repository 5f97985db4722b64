//! A log as bytes and back. The bytes begin with what they are and their
//! format; names share their beginnings, starts are differences. Reading never
//! trusts a number: damaged bytes are an error and cost no more memory than a
//! fixed multiple of their length.

use crate::chunk_log::ChunkLog;
use crate::content::Content;
use crate::palettes::Palettes;
use crate::wire::{LogError, Reader, Writer};

const MAGIC: &[u8; 3] = b"RCL";
const FORMAT: u8 = 1;

impl ChunkLog {
    /// The log as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.bytes.extend_from_slice(MAGIC);
        writer.bytes.push(FORMAT);
        self.palettes.write(&mut writer);
        self.content.write(&mut writer);
        writer.bytes
    }

    /// Reads what [`ChunkLog::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LogError> {
        let mut log = Self::default();
        let content = read(bytes, &mut log.palettes)?;
        log.add(content);
        Ok(log)
    }
}

/// Reads a log in the numbers of these palettes, which grow by what it names.
pub(crate) fn read(bytes: &[u8], palettes: &mut Palettes) -> Result<Content, LogError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(LogError::NotALog)?;
    let (&found, rest) = rest.split_first().ok_or(LogError::NotALog)?;
    if found != FORMAT {
        return Err(LogError::Newer { found, known: FORMAT });
    }
    let mut reader = Reader::new(rest);
    let codes = palettes.read(&mut reader)?;
    let content = Content::read(&mut reader, &codes)?;
    if reader.rest().is_empty() { Ok(content) } else { Err(LogError::Damaged) }
}
