//! Texts that rarely repeat, one after another.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, NullArray};

use crate::cells::NameCells;

/// Texts that grow.
#[derive(Debug, Default)]
pub struct TextColumn {
    /// Rows before the first that has a text.
    missing: usize,
    texts: Option<StringBuilder>,
}

impl TextColumn {
    /// Rows.
    pub fn len(&self) -> usize {
        use arrow_array::builder::ArrayBuilder;
        self.texts.as_ref().map_or(self.missing, ArrayBuilder::len)
    }

    /// No rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a row.
    pub fn push(&mut self, text: Option<&str>) {
        match (text, &mut self.texts) {
            (None, None) => self.missing += 1,
            (text, Some(texts)) => texts.append_option(text),
            (Some(text), texts @ None) => {
                let texts = texts.insert(StringBuilder::new());
                texts.append_nulls(self.missing);
                texts.append_value(text);
            }
        }
    }

    /// Adds rows without a text.
    pub fn extend_missing(&mut self, rows: usize) {
        match &mut self.texts {
            None => self.missing += rows,
            Some(texts) => texts.append_nulls(rows),
        }
    }

    pub(super) fn extend_array(&mut self, array: &ArrayRef) -> bool {
        let Some(cells) = NameCells::of_array(array.as_ref()) else { return false };
        (0..array.len()).for_each(|row| self.push(cells.get(row)));
        true
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        let rows = self.len();
        self.missing = 0;
        match self.texts.take() {
            None => Arc::new(NullArray::new(rows)),
            Some(mut texts) => Arc::new(texts.finish()),
        }
    }
}
