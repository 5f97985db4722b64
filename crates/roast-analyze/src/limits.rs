//! What chunk rows could not hold, in sentences for the summary's notes.

use std::collections::BTreeMap;

use roast_model::{Frame, Measurement, Table};
use serde_json::Value as Json;

/// The key in a row's `extra` of what went wrong while it was recorded.
const WARNING_KEY: &str = "roastcoffea_warning";

/// One sentence for each thing that went wrong on workers or that this kind of
/// input does not tell.
pub fn limits(measurement: &Measurement) -> Vec<String> {
    let Some(chunks) = measurement.table(Table::Chunks) else { return Vec::new() };
    let frame = Frame::new(chunks);
    let mut sentences = warnings(frame);
    sentences.extend(untold(frame));
    sentences
}

/// What workers warned of, with the number of chunks that it concerns.
fn warnings(frame: Frame<'_>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    // Few rows carry a warning: the search for its key spares reading the others.
    for extra in frame.names("extra").flatten().filter(|extra| extra.contains(WARNING_KEY)) {
        let sentence = serde_json::from_str::<Json>(extra)
            .ok()
            .and_then(|row| row.get(WARNING_KEY)?.as_str().map(str::to_owned));
        if let Some(sentence) = sentence {
            *counts.entry(sentence).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|(sentence, count)| format!("On workers, for {count} chunks: {sentence}."))
        .collect()
}

fn untold(frame: Frame<'_>) -> Vec<String> {
    let read: Vec<bool> =
        frame.ints("reads").map(|reads| reads.is_some_and(|reads| reads > 0)).collect();
    if !read.contains(&true) {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    let counted = read.iter().zip(frame.ints("bytes_read")).any(|(read, b)| *read && b.is_some());
    if !counted {
        sentences.push(
            "Bytes are missing: what is read of Parquet files is counted by nobody.".to_owned(),
        );
    }
    let split = frame
        .floats("decompress_secs")
        .zip(frame.floats("interpret_secs"))
        .any(|(decompress, interpret)| decompress.or(interpret).is_some_and(|secs| secs > 0.0));
    if !split {
        sentences.push(
            "Column reads are not split into reading, decompressing and interpreting: uproot \
             tells that for TTrees only, not for RNTuples, and Parquet is read by another library."
                .to_owned(),
        );
    }
    sentences
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use roast_model::{ColumnData, Header, TableBuilder, UtcNs};

    use super::*;

    fn measured(columns: Vec<(&str, ColumnData)>) -> Vec<String> {
        let mut chunks = TableBuilder::new(Table::Chunks);
        chunks
            .append(columns.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
            .unwrap();
        let header = Header::new("", "", "local", UtcNs(0), 1.0);
        let tables = BTreeMap::from([(Table::Chunks, chunks.finish().unwrap())]);
        limits(&Measurement { header, tables })
    }

    #[test]
    fn what_was_told_is_not_noted() {
        let full = measured(vec![
            ("reads", ColumnData::Ints(vec![Some(2)])),
            ("bytes_read", ColumnData::Ints(vec![Some(9)])),
            ("decompress_secs", ColumnData::Floats(vec![Some(0.1)])),
        ]);
        assert!(full.is_empty());
        assert!(measured(vec![("num_events", ColumnData::Ints(vec![Some(2)]))]).is_empty());
    }

    #[test]
    fn warnings_of_workers_are_counted() {
        let extra = |text: &str| Some(text.to_owned());
        let rows = vec![
            extra(r#"{"roastcoffea_warning": "no length"}"#),
            None,
            extra(r#"{"roastcoffea_warning": "no length", "cuts": 3}"#),
            extra(r#"{"roastcoffea_warning": 5"#),
        ];
        let notes = measured(vec![("extra", ColumnData::Texts(rows))]);
        assert_eq!(notes, ["On workers, for 2 chunks: no length."]);
    }

    #[test]
    fn what_was_not_told_is() {
        let ntuple = measured(vec![
            ("reads", ColumnData::Ints(vec![Some(2)])),
            ("bytes_read", ColumnData::Ints(vec![Some(9)])),
            ("decompress_secs", ColumnData::Floats(vec![Some(0.0)])),
        ]);
        assert_eq!(ntuple.len(), 1);
        let parquet = measured(vec![("reads", ColumnData::Ints(vec![Some(2)]))]);
        assert_eq!(parquet.len(), 2);
    }
}
