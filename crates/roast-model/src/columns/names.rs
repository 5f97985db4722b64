//! Names, each once, under numbers as narrow as their count allows. Where there
//! are about as many names as rows, the rows themselves are shorter.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, StringArray};
use arrow_schema::{ArrowError, DataType};
use foldhash::fast::RandomState;
use indexmap::IndexSet;

use super::{IntColumn, TextColumn};
use crate::cells::NameCells;

/// With fewer names than this they are kept apart whatever the number of rows.
const MANY_NAMES: usize = 1 << 16;

type Names = IndexSet<Box<str>, RandomState>;

/// Names that grow.
#[derive(Debug)]
pub struct NameColumn {
    held: Held,
}

#[derive(Debug)]
enum Held {
    Codes { codes: IntColumn, names: Names },
    Texts(TextColumn),
}

impl Default for NameColumn {
    fn default() -> Self {
        Self { held: Held::Codes { codes: IntColumn::default(), names: Names::default() } }
    }
}

impl NameColumn {
    /// Rows.
    pub fn len(&self) -> usize {
        match &self.held {
            Held::Codes { codes, .. } => codes.len(),
            Held::Texts(texts) => texts.len(),
        }
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds names one by one.
    pub fn extend<'a>(&mut self, cells: impl IntoIterator<Item = Option<&'a str>>) {
        let mut cells = cells.into_iter();
        if let Held::Codes { codes, names } = &mut self.held {
            // The same place in memory is the same name, without hashing it.
            let mut last: Option<(&str, i64)> = None;
            codes.extend(cells.by_ref().map(|cell| {
                let name = cell?;
                match last {
                    Some((same, code)) if std::ptr::eq(same, name) => Some(code),
                    _ => Some(last.insert((name, intern(names, name))).1),
                }
            }));
            self.settle();
        } else if let Held::Texts(texts) = &mut self.held {
            cells.for_each(|cell| texts.push(cell));
        }
    }

    /// Adds rows that number names in a list of their own. Of the list, only what
    /// rows use is looked at.
    pub fn extend_codes<'a>(
        &mut self,
        cells: impl IntoIterator<Item = Option<usize>>,
        names_of_cells: usize,
        name: impl Fn(usize) -> Option<&'a str>,
    ) {
        match &mut self.held {
            Held::Texts(texts) => {
                cells.into_iter().for_each(|cell| texts.push(cell.and_then(&name)));
            }
            Held::Codes { codes, names } => {
                let mut own: Vec<Option<i32>> = vec![None; names_of_cells];
                codes.extend(cells.into_iter().map(|cell| {
                    let cell = cell?;
                    let slot = own.get_mut(cell)?;
                    if slot.is_none() {
                        *slot = i32::try_from(intern(names, name(cell)?)).ok();
                    }
                    slot.map(i64::from)
                }));
                self.settle();
            }
        }
    }

    /// Adds rows in which the name is missing.
    pub fn extend_missing(&mut self, rows: usize) {
        match &mut self.held {
            Held::Codes { codes, .. } => codes.extend_missing(rows),
            Held::Texts(texts) => texts.extend_missing(rows),
        }
    }

    /// A column from numbers and the names they stand for, each name once.
    pub fn from_codes<'a>(codes: IntColumn, names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().map(Box::from).collect();
        Self { held: Held::Codes { codes, names } }
    }

    /// Gives up numbering names of which hardly any comes twice.
    fn settle(&mut self) {
        let Held::Codes { codes, names } = &mut self.held else { return };
        if names.len() < MANY_NAMES || names.len() < codes.len() / 2 {
            return;
        }
        let array = codes.finish();
        let Some(cells) = crate::cells::IntCells::of_array(array.as_ref()) else { return };
        let mut texts = TextColumn::default();
        for row in 0..array.len() {
            let code = cells.get(row).and_then(|code| usize::try_from(code).ok());
            texts.push(code.and_then(|code| names.get_index(code)).map(AsRef::as_ref));
        }
        self.held = Held::Texts(texts);
    }

    pub(super) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        let Some(cells) = NameCells::of_array(array.as_ref()) else { return false };
        let rows = 0..array.len();
        match cells.words() {
            Some(words) => {
                self.extend_codes(rows.map(|row| cells.code(row)), words.len(), |code| {
                    cells.word(code)
                })
            }
            None => self.extend(rows.map(|row| cells.get(row))),
        }
        true
    }

    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        match &mut self.held {
            Held::Texts(texts) => Ok(texts.finish()),
            Held::Codes { codes, names } => {
                let codes = codes.finish();
                let names = std::mem::take(names);
                let words = Arc::new(StringArray::from_iter_values(&names));
                match codes.data_type() {
                    DataType::Int8 => dictionary::<Int8Type>(&codes, words),
                    DataType::Int16 => dictionary::<Int16Type>(&codes, words),
                    DataType::Int32 => dictionary::<Int32Type>(&codes, words),
                    // No row has a name.
                    _ => Ok(codes),
                }
            }
        }
    }
}

fn dictionary<K: ArrowDictionaryKeyType>(
    codes: &ArrayRef,
    words: Arc<StringArray>,
) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(DictionaryArray::<K>::try_new(codes.as_primitive::<K>().clone(), words)?))
}

fn intern(names: &mut Names, name: &str) -> i64 {
    let code = match names.get_index_of(name) {
        Some(code) => code,
        None => names.insert_full(name.into()).0,
    };
    i64::try_from(code).unwrap_or(i64::MAX)
}
