//! Columns of a batch from the rows it is made of.

use std::collections::HashMap;

use roast_model::{ColumnData, TableBuilder, TableError};

/// Nanoseconds as seconds, to the microsecond as a recorder tells them.
pub(crate) fn seconds(ns: impl Iterator<Item = i64>) -> ColumnData {
    let micros = |ns: i64| ns.saturating_add(500) / 1_000;
    ColumnData::Floats(ns.map(|ns| Some(micros(ns) as f64 / 1e6)).collect())
}

/// Names by number: each is made once per batch, however often it stands there.
pub(crate) fn names(
    numbers: impl Iterator<Item = u32>,
    name: impl Fn(u32) -> String,
) -> ColumnData {
    let mut local: HashMap<u32, u32> = HashMap::new();
    let mut words = Vec::new();
    let codes = numbers
        .map(|number| {
            let code = *local.entry(number).or_insert_with(|| {
                words.push(name(number));
                words.len() as u32 - 1
            });
            Some(code)
        })
        .collect();
    ColumnData::Codes(codes, words)
}

/// Adds a batch.
pub(crate) fn append(
    builder: &mut TableBuilder,
    batch: Vec<(&str, ColumnData)>,
) -> Result<(), TableError> {
    builder.append(batch.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
}
