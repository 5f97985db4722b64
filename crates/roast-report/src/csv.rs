//! Tables and metrics as comma-separated values, for spreadsheets. A missing
//! value is an empty field; times are RFC 3339 in UTC.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampNanosecondType;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_csv::WriterBuilder;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use roast_analyze::{LEDGER, Metrics};
use roast_model::{Table, Unit, Value, canonical_key, documented_batches, metric_def};

use crate::export::ExportError;
use crate::plain_json::plain;

/// Rows that are converted at a time.
const ROWS_PER_BATCH: usize = 16 * 1024;

/// Writes one table.
pub(crate) fn write_table(
    table: Table,
    batch: &RecordBatch,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let rows = documented_batches(table, batch, ROWS_PER_BATCH)
        .map(|rows| with_offset_times(&rows.map_err(ExportError::Convert)?));
    write(rows, out)
}

/// Writes key, label, value and unit of every metric; the user's own last. A
/// spreadsheet has no cell for several values: the ledger is a row for each of
/// its own, and the other tables are left to the files of what they come from.
pub(crate) fn write_metrics(
    metrics: &Metrics,
    stored: &Value,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let user = stored.pairs().iter().filter_map(|(key, value)| Some((key.as_str()?, value)));
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (metric, value) in metrics.iter().filter_map(|(key, value)| Some((metric_def(key)?, value)))
    {
        if metric.unit != Unit::Table {
            rows.push(Row {
                key: metric.key.to_owned(),
                label: Some(metric.label),
                unit: Some(metric.unit),
                value,
            });
        } else if metric.key == "ledger" {
            rows.extend(LEDGER.iter().filter_map(|row| {
                Some(Row {
                    key: format!("ledger.{}", row.key),
                    label: Some(row.label),
                    unit: Some(Unit::CoreSeconds),
                    value: value.get(row.key)?,
                })
            }));
        }
    }
    rows.extend(user.filter(|(key, _)| canonical_key(key).is_none()).map(|(key, value)| Row {
        key: key.to_owned(),
        label: None,
        unit: None,
        value,
    }));
    let column = |field: fn(&Row<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(field).collect::<StringArray>())
    };
    let columns = [
        ("key", column(|row| Some(row.key.clone()))),
        ("label", column(|row| row.label.map(str::to_owned))),
        ("value", column(|row| text(row.value))),
        ("unit", column(|row| row.unit.map(|unit| unit.name().to_owned()))),
    ];
    write(std::iter::once(RecordBatch::try_from_iter(columns).map_err(ExportError::Convert)), out)
}

/// One line of the metrics.
struct Row<'a> {
    key: String,
    label: Option<&'static str>,
    unit: Option<Unit>,
    value: &'a Value,
}

fn text(value: &Value) -> Option<String> {
    match (value, plain(value)) {
        (Value::Str(text), _) => Some(text.clone()),
        (_, serde_json::Value::Null) => None,
        (_, json) => Some(json.to_string()),
    }
}

fn write(
    batches: impl Iterator<Item = Result<RecordBatch, ExportError>>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut writer = WriterBuilder::new().with_header(true).build(out);
    for batch in batches {
        writer.write(&batch?).map_err(|error| match error {
            ArrowError::IoError(_, source) => ExportError::Write(source),
            other => ExportError::Convert(other),
        })?;
    }
    Ok(())
}

/// The writer knows time zones as offsets only, not by name.
fn with_offset_times(batch: &RecordBatch) -> Result<RecordBatch, ExportError> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns()).map(|(field, array)| {
        match (field.data_type(), array.as_primitive_opt::<TimestampNanosecondType>()) {
            (DataType::Timestamp(unit, Some(_)), Some(times)) => {
                let zone: Arc<str> = "+00:00".into();
                let kind = DataType::Timestamp(*unit, Some(Arc::clone(&zone)));
                let array: ArrayRef = Arc::new(times.clone().with_timezone(zone));
                (Field::new(field.name(), kind, true), array)
            }
            _ => (field.as_ref().clone(), Arc::clone(array)),
        }
    });
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(ExportError::Convert)
}
