//! A table in the types it is documented with, as it goes to files and other
//! programs, made from the narrow ones in which it is held.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampNanosecondArray,
};
use arrow_schema::{ArrowError, FieldRef, Schema};

use crate::cells::{FloatCells, IntCells, NameCells};
use crate::columns::KeyCells;
use crate::frame::Frame;
use crate::table::{ColumnKind, Table};

/// The rows in the types of [`Table::schema`]. What is held that way already is not
/// copied; a column that the batch does not have is not made up.
pub fn documented(table: Table, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let frame = Frame::new(batch);
    let schema = table.schema();
    let held = batch.schema();
    let columns = held.fields().iter().zip(batch.columns()).map(|(held, array)| {
        let def = table.columns().iter().find(|def| def.name == held.name());
        let Some((def, field)) = def.zip(schema.field_with_name(held.name()).ok()) else {
            return Ok((Arc::clone(held), Arc::clone(array)));
        };
        let array = if array.data_type() == field.data_type() {
            Arc::clone(array)
        } else if holds(def.kind, array) {
            column(def.kind, def.name, frame, array)?
        } else {
            let found = array.data_type();
            let why = format!("column {:?} of table {table} is of type {found}", def.name);
            return Err(ArrowError::CastError(why));
        };
        Ok((Arc::new(field.clone()), array))
    });
    let columns = columns.collect::<Result<Vec<(FieldRef, ArrayRef)>, ArrowError>>()?;
    let (fields, arrays): (Vec<FieldRef>, Vec<ArrayRef>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// The same in batches of so many rows, one after the other as they are asked
/// for: a large table is never there in both forms.
pub fn documented_batches(
    table: Table,
    batch: &RecordBatch,
    rows_per_batch: usize,
) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + use<> {
    let batch = batch.clone();
    let rows_per_batch = rows_per_batch.max(1);
    // A table without rows is a batch without rows.
    (0..batch.num_rows().max(1)).step_by(rows_per_batch).map(move |first| {
        let rows = rows_per_batch.min(batch.num_rows() - first);
        documented(table, &batch.slice(first, rows))
    })
}

/// Whether what is in the array can be read as such a column.
fn holds(kind: ColumnKind, array: &ArrayRef) -> bool {
    match kind {
        ColumnKind::Int | ColumnKind::Time => IntCells::of_array(array).is_some(),
        ColumnKind::Float => FloatCells::of_array(array).is_some(),
        ColumnKind::Name | ColumnKind::Text => NameCells::of_array(array).is_some(),
        ColumnKind::Key => KeyCells::of_array(array).is_some(),
    }
}

fn column(
    kind: ColumnKind,
    name: &str,
    frame: Frame<'_>,
    array: &ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    Ok(match kind {
        ColumnKind::Int => Arc::new(frame.ints(name).collect::<Int64Array>()),
        ColumnKind::Time => {
            let times = frame.times(name).map(|time| time.map(|time| time.0));
            Arc::new(times.collect::<TimestampNanosecondArray>().with_timezone("UTC"))
        }
        ColumnKind::Float => Arc::new(frame.floats(name).collect::<Float64Array>()),
        ColumnKind::Text => Arc::new(frame.names(name).collect::<StringArray>()),
        ColumnKind::Name | ColumnKind::Key => match array.as_any_dictionary_opt() {
            Some(dictionary) => {
                let cells = frame.name_cells(name);
                let codes: Int32Array = (0..frame.len())
                    .map(|row| cells.code(row).and_then(|code| i32::try_from(code).ok()))
                    .collect();
                Arc::new(DictionaryArray::try_new(codes, Arc::clone(dictionary.values()))?)
            }
            None => {
                let mut names = StringDictionaryBuilder::<Int32Type>::new();
                frame.texts(name).for_each(|name| names.append_option(name));
                Arc::new(names.finish())
            }
        },
    })
}
