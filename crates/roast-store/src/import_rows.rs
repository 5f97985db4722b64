//! Rows of loose JSON fields into the columns of a table. What has a column goes
//! there; what does not, or does not fit, is kept in `extra` where the table has
//! one.

use arrow_array::RecordBatch;
use roast_model::{ColumnData, Table, TableBuilder, TableError};
use serde_json::{Map as JsonMap, Value as Json};

use crate::import_json::plain_value;

/// The fields of one row.
pub(crate) type Fields = JsonMap<String, Json>;

/// How a field is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    /// A whole number.
    Int,
    /// A size where 0 stands for "no limit".
    Limit,
    /// A real number.
    Float,
    /// Seconds since the epoch.
    EpochSecs,
    /// Multiples of 2²⁰ bytes.
    Mebibytes,
    /// Text.
    Name,
}

/// A field, the column it goes to, and how.
pub(crate) type Mapping = (&'static str, &'static str, Read);

/// Builds the table from rows and from columns that are ready.
pub(crate) fn build(
    table: Table,
    mappings: &[Mapping],
    mut rows: Vec<Fields>,
    mut columns: Vec<(String, ColumnData)>,
) -> Result<RecordBatch, TableError> {
    for &(key, column, read) in mappings {
        columns.push((column.to_owned(), take_column(&mut rows, key, read)));
    }
    if table.columns().iter().any(|column| column.name == "extra") {
        let extra = rows.into_iter().map(|fields| {
            (!fields.is_empty()).then(|| plain_value(&Json::Object(fields)).to_json().to_string())
        });
        columns.push(("extra".to_owned(), ColumnData::Texts(extra.collect())));
    }
    let mut builder = TableBuilder::new(table);
    builder.append(columns)?;
    builder.finish()
}

fn take_column(rows: &mut [Fields], key: &str, read: Read) -> ColumnData {
    match read {
        Read::Int => ColumnData::Ints(take_all(rows, key, whole)),
        Read::Limit => {
            let limits = take_all(rows, key, whole).into_iter();
            ColumnData::Ints(limits.map(|limit| limit.filter(|&bytes| bytes > 0)).collect())
        }
        Read::Float => ColumnData::Floats(take_all(rows, key, Json::as_f64)),
        Read::EpochSecs => ColumnData::Ints(take_all(rows, key, epoch_ns)),
        Read::Mebibytes => ColumnData::Ints(take_all(rows, key, mebibytes)),
        Read::Name => {
            ColumnData::Texts(take_all(rows, key, |json| json.as_str().map(str::to_owned)))
        }
    }
}

/// Takes the field out of each row if it can be read; else it stays.
fn take_all<T>(
    rows: &mut [Fields],
    key: &str,
    read: impl Fn(&Json) -> Option<T>,
) -> Vec<Option<T>> {
    rows.iter_mut()
        .map(|fields| {
            let json = fields.get(key)?;
            let value = read(json);
            if value.is_some() || json.is_null() {
                fields.shift_remove(key);
            }
            value
        })
        .collect()
}

fn whole(json: &Json) -> Option<i64> {
    plain_value(json).as_i64()
}

/// Nanoseconds since the epoch from seconds; whole seconds apart, so that no
/// digit is lost to the size of the number.
pub(crate) fn epoch_ns(json: &Json) -> Option<i64> {
    let secs = json.as_f64()?;
    let ns = (secs.fract() * 1e9).round() as i64;
    (secs.trunc().abs() < 9e9)
        .then(|| (secs.trunc() as i64).checked_mul(1_000_000_000))??
        .checked_add(ns)
}

fn mebibytes(json: &Json) -> Option<i64> {
    let bytes = (json.as_f64()? * f64::from(1 << 20)).round();
    (bytes.abs() < 9e15).then_some(bytes as i64)
}

#[cfg(test)]
mod tests {
    use roast_model::Frame;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_no_column_is_kept_beside_them() {
        let rows = [
            json!({"num_events": 50.0, "mem": 1.5, "dataset": "tt", "t": 1794765736.25, "mine": [1]}),
            json!({"num_events": "many", "dataset": null, "t": 1e12, "$odd": {"a": null}}),
            json!({}),
        ];
        let rows = rows.into_iter().map(|row| row.as_object().unwrap().clone()).collect();
        let mappings = [
            ("num_events", "num_events", Read::Int),
            ("mem", "rss_start_bytes", Read::Mebibytes),
            ("dataset", "dataset", Read::Name),
            ("t", "start", Read::EpochSecs),
        ];
        let batch = build(Table::Chunks, &mappings, rows, Vec::new()).unwrap();
        let frame = Frame::new(&batch);
        assert_eq!(frame.ints("num_events").collect::<Vec<_>>(), [Some(50), None, None]);
        assert_eq!(frame.ints("rss_start_bytes").next().unwrap(), Some(3 << 19));
        assert_eq!(frame.times("start").next().unwrap().unwrap().0, 1_794_765_736_250_000_000);
        let extra: Vec<_> = frame.names("extra").collect();
        assert_eq!(
            extra,
            [
                Some(r#"{"mine":[1]}"#),
                // Keys starting with `$` would be tags; a list of pairs is not.
                Some(
                    r#"{"$map":[["num_events","many"],["t",1000000000000.0],["$odd",{"a":null}]]}"#
                ),
                None
            ]
        );
    }
}
