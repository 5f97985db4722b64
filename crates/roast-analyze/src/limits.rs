//! What chunk rows could not hold, in sentences for the summary's notes.

use roast_model::{Frame, Measurement, Table};

/// One sentence for each thing that this kind of input does not tell.
pub fn limits(measurement: &Measurement) -> Vec<String> {
    let Some(chunks) = measurement.table(Table::Chunks) else { return Vec::new() };
    let frame = Frame::new(chunks);
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

    use roast_model::{ColumnData, Header, TableBuilder, UtcNs, Value};

    use super::*;

    fn measured(columns: Vec<(&str, ColumnData)>) -> Vec<String> {
        let mut chunks = TableBuilder::new(Table::Chunks);
        chunks
            .append(columns.into_iter().map(|(name, data)| (name.to_owned(), data)).collect())
            .unwrap();
        let header = Header {
            id: String::new(),
            name: String::new(),
            started: UtcNs(0),
            wall_secs: 1.0,
            backend: "local".into(),
            error: None,
            provenance: Value::None,
            report: Value::None,
            custom_metrics: Value::None,
            spans: Value::None,
            span_completeness: None,
            processor_prefixes: Vec::new(),
            phases: Vec::new(),
            tracking_extra: Value::None,
            notes: Vec::new(),
            metrics: Value::None,
        };
        let tables = BTreeMap::from([(Table::Chunks, chunks.build().unwrap())]);
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
