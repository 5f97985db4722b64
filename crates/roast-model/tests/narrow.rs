//! Columns are narrow inside and give back exactly what they were given, however
//! they grew.
#![allow(clippy::unwrap_used, reason = "tests")]

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use proptest::prelude::*;
use roast_model::{
    Column, ColumnData, ColumnKind, FloatColumn, Frame, Table, TableBuilder, documented,
    documented_batches,
};

/// Whole numbers that need any number of bytes.
fn int() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i8>().prop_map(i64::from),
        any::<i16>().prop_map(i64::from),
        any::<i32>().prop_map(i64::from),
        any::<i64>(),
    ]
}

/// Seconds in whole microseconds, in units of 100 ns, and numbers of all kinds.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0_u32..3_000_000_000).prop_map(|micros| f64::from(micros) / 1e6),
        (0_u32..3_000_000_000).prop_map(|units| f64::from(units) / 1e7),
        any::<f64>(),
        Just(-0.0),
    ]
}

fn maybe<T: std::fmt::Debug>(
    some: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<Option<T>>> {
    prop::collection::vec(prop::option::of(some), 0..80)
}

/// A column of one kind of numbers, so that narrow ones come up, or of all.
fn ints() -> impl Strategy<Value = Vec<Option<i64>>> {
    prop_oneof![
        maybe(any::<i8>().prop_map(i64::from)),
        maybe(any::<i16>().prop_map(i64::from)),
        maybe(any::<i32>().prop_map(i64::from)),
        maybe(int()),
    ]
}

fn floats() -> impl Strategy<Value = Vec<Option<f64>>> {
    prop_oneof![
        maybe((0_u32..999_999_999).prop_map(|micros| f64::from(micros) / 1e6)),
        maybe((0_u32..999_999_999).prop_map(|units| f64::from(units) / 1e7)),
        maybe(float()),
    ]
}

fn names() -> impl Strategy<Value = Vec<Option<String>>> {
    maybe("[a-d]{0,2}")
}

/// Cuts rows into batches of these lengths, again and again.
fn in_batches<T: Clone>(all: &[T], lengths: &[usize]) -> Vec<Vec<T>> {
    let mut rest = all;
    let mut batches = Vec::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (batch, after) = rest.split_at((*length).clamp(1, rest.len()));
        batches.push(batch.to_vec());
        rest = after;
    }
    batches
}

fn built(column: &str, batches: Vec<ColumnData>) -> RecordBatch {
    let mut builder = TableBuilder::new(Table::Chunks);
    for data in batches {
        builder.append(vec![(column.to_owned(), data)]).unwrap();
    }
    builder.finish().unwrap()
}

/// Every other way to the same table.
fn check_all_ways(column: &str, whole: &RecordBatch, cut: usize) -> Result<(), TestCaseError> {
    let wide = documented(Table::Chunks, whole).unwrap();
    prop_assert_eq!(wide.schema(), Table::Chunks.schema());
    let field = wide.schema().field_with_name(column).unwrap().data_type().clone();
    let kind = Table::Chunks.columns().iter().find(|def| def.name == column).unwrap().kind;
    prop_assert_eq!(field, kind.data_type());

    let cut = cut.min(whole.num_rows());
    for batch in [whole, &wide] {
        let mut again = TableBuilder::new(Table::Chunks);
        again.append_batch(&batch.slice(0, cut)).unwrap();
        again.append_batch(&batch.slice(cut, batch.num_rows() - cut)).unwrap();
        prop_assert_eq!(&again.finish().unwrap(), whole);
    }
    let half = |first: usize, rows: usize| {
        let mut half = TableBuilder::new(Table::Chunks);
        half.append_batch(&whole.slice(first, rows)).unwrap();
        half
    };
    let mut joined = half(0, cut);
    joined.append_table(half(cut, whole.num_rows() - cut)).unwrap();
    prop_assert_eq!(joined.len(), whole.num_rows());
    prop_assert_eq!(&joined.finish().unwrap(), whole);

    let rows: usize =
        documented_batches(Table::Chunks, whole, 7).map(|batch| batch.unwrap().num_rows()).sum();
    prop_assert_eq!(rows, whole.num_rows());
    Ok(())
}

proptest! {
    #[test]
    fn whole_numbers(
        given in ints(),
        lengths in prop::collection::vec(1_usize..20, 1..5),
        cut in 0_usize..80,
    ) {
        let batches = in_batches(&given, &lengths).into_iter().map(ColumnData::Ints).collect();
        let whole = built("bytes_read", vec![ColumnData::Ints(given.clone())]);
        prop_assert_eq!(&built("bytes_read", batches), &whole);
        prop_assert_eq!(Frame::new(&whole).ints("bytes_read").collect::<Vec<_>>(), given.clone());
        check_all_ways("bytes_read", &whole, cut)?;

        let times = built("start", vec![ColumnData::Ints(given.clone())]);
        let read: Vec<_> = Frame::new(&times).times("start").map(|t| t.map(|t| t.0)).collect();
        prop_assert_eq!(read, given);
        check_all_ways("start", &times, cut)?;
    }

    #[test]
    fn real_numbers(
        given in floats(),
        lengths in prop::collection::vec(1_usize..20, 1..5),
        cut in 0_usize..80,
    ) {
        let bits = |numbers: &[Option<f64>]| -> Vec<Option<u64>> {
            numbers.iter().map(|number| number.map(f64::to_bits)).collect()
        };
        let whole = built("read_secs", vec![ColumnData::Floats(given.clone())]);
        let back: Vec<Option<f64>> = Frame::new(&whole).floats("read_secs").collect();
        prop_assert_eq!(bits(&back), bits(&given));
        // Arrow holds no NaN for equal to itself.
        if given.iter().flatten().all(|number| !number.is_nan()) {
            let batches = in_batches(&given, &lengths).into_iter().map(ColumnData::Floats);
            prop_assert_eq!(&built("read_secs", batches.collect()), &whole);
            check_all_ways("read_secs", &whole, cut)?;
        }
    }

    #[test]
    fn names_and_texts(
        given in names(),
        lengths in prop::collection::vec(1_usize..20, 1..5),
        cut in 0_usize..80,
    ) {
        for column in ["dataset", "extra"] {
            let batches = in_batches(&given, &lengths).into_iter().map(ColumnData::Texts).collect();
            let whole = built(column, vec![ColumnData::Texts(given.clone())]);
            prop_assert_eq!(&built(column, batches), &whole);
            let back: Vec<_> = Frame::new(&whole).names(column).collect();
            prop_assert_eq!(back, given.iter().map(Option::as_deref).collect::<Vec<_>>());
            check_all_ways(column, &whole, cut)?;
        }
    }

    #[test]
    fn units_are_what_their_seconds_are(
        units in maybe(prop_oneof![0_u64..2_000_000_000, any::<u64>()]),
    ) {
        let table = |column: FloatColumn| {
            let columns = Table::Chunks.columns().iter().map(|def| Column::new(def.kind));
            let mut columns: Vec<Column> = columns.collect();
            let place = Table::Chunks.columns().iter().position(|def| def.name == "read_secs");
            for (index, slot) in columns.iter_mut().enumerate() {
                slot.extend_missing(if Some(index) == place { 0 } else { units.len() });
            }
            columns[place.unwrap()] = Column::Float(column);
            TableBuilder::from_columns(Table::Chunks, columns).unwrap().finish().unwrap()
        };
        let secs = |in_one: f64| -> Vec<Option<f64>> {
            units.iter().map(|units| units.map(|units| units as f64 / in_one)).collect()
        };
        let mut micros = FloatColumn::default();
        units.iter().for_each(|&units| micros.push_micros(units));
        prop_assert_eq!(table(micros), built("read_secs", vec![ColumnData::Floats(secs(1e6))]));
        let mut tenths = FloatColumn::default();
        units.iter().for_each(|&units| tenths.push_tenth_micros(units));
        prop_assert_eq!(table(tenths), built("read_secs", vec![ColumnData::Floats(secs(1e7))]));
    }
}

#[test]
fn what_misses_nothing_holds_no_list_of_what_is_missing() {
    for rows in [1, 63, 64, 65, 1000] {
        let ints = ColumnData::Ints((0..rows).map(Some).collect());
        let secs = ColumnData::Floats((0..rows).map(|n| Some(n as f64 / 1e6)).collect());
        for batch in [built("bytes_read", vec![ints]), built("read_secs", vec![secs])] {
            let mut again = TableBuilder::new(Table::Chunks);
            again.append_batch(&batch).unwrap();
            for batch in [batch, again.finish().unwrap()] {
                let listing = ["bytes_read", "read_secs"].map(|name| {
                    let array = batch.column_by_name(name).unwrap();
                    array.data_type() != &DataType::Null && array.nulls().is_some()
                });
                assert_eq!(listing, [false, false], "{rows} rows");
            }
        }
    }
}

#[test]
fn columns_are_as_narrow_as_their_values() {
    let of = |column: &str, data: ColumnData| {
        let batch = built(column, vec![data]);
        batch.column_by_name(column).unwrap().data_type().clone()
    };
    let int = |number: i64| of("bytes_read", ColumnData::Ints(vec![None, Some(number)]));
    assert_eq!(int(-128), DataType::Int8);
    assert_eq!(int(128), DataType::Int16);
    assert_eq!(int(40_000), DataType::Int32);
    assert_eq!(int(1 << 40), DataType::Int64);
    let float = |number: f64| of("read_secs", ColumnData::Floats(vec![Some(number), None]));
    assert_eq!(float(0.000_001), DataType::Decimal32(9, 6));
    assert_eq!(float(999.999_999), DataType::Decimal32(9, 6));
    assert_eq!(float(0.123_456_7), DataType::Decimal32(9, 7));
    assert_eq!(float(1.0 / 3.0), DataType::Float64);
    assert_eq!(float(1_000.5), DataType::Float64);
    assert_eq!(of("read_secs", ColumnData::Floats(vec![None])), DataType::Null);
    let name = of("dataset", ColumnData::Texts(vec![Some("a".to_owned())]));
    assert_eq!(name, DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)));
}

#[test]
fn names_that_hardly_repeat_are_held_as_texts() {
    let rows = 70_000;
    let keys: Vec<Option<String>> = (0..rows).map(|row| Some(format!("task-{row}"))).collect();
    let batches = in_batches(&keys, &[30_000]).into_iter().map(ColumnData::Texts).collect();
    let whole = built("file", batches);
    assert_eq!(whole.column_by_name("file").unwrap().data_type(), &DataType::Utf8);
    assert!(Frame::new(&whole).names("file").eq(keys.iter().map(Option::as_deref)));
    let wide = documented(Table::Chunks, &whole).unwrap();
    let kind = wide.column_by_name("file").unwrap().data_type().clone();
    assert_eq!(kind, ColumnKind::Name.data_type());
    assert!(Frame::new(&wide).names("file").eq(keys.iter().map(Option::as_deref)));
}

#[test]
fn keys_are_held_without_what_they_share() {
    let keys: Vec<Option<String>> =
        (0..3_000).map(|row| (row % 7 > 0).then(|| format!("Processor-ab12-{row}"))).collect();
    let batches = in_batches(&keys, &[1_000]).into_iter().map(ColumnData::Texts).collect();
    let whole = built("task_key", batches);
    let held = whole.column_by_name("task_key").unwrap().get_buffer_memory_size();
    assert!(held < 8 * keys.len(), "{held}");
    let is_same = |batch: &RecordBatch| {
        let texts = Frame::new(batch).texts("task_key");
        texts.map(|text| text.map(|text| text.into_owned())).eq(keys.iter().cloned())
    };
    assert!(is_same(&whole));
    let wide = documented(Table::Chunks, &whole).unwrap();
    let kind = wide.column_by_name("task_key").unwrap().data_type().clone();
    assert_eq!(kind, ColumnKind::Name.data_type());
    assert!(is_same(&wide));
}

#[test]
fn a_column_of_another_type_is_refused() {
    let texts = built("dataset", vec![ColumnData::Texts(vec![Some("a".to_owned())])]);
    let fields = vec![arrow_schema::Field::new("bytes_read", DataType::Utf8, true)];
    let text: arrow_array::ArrayRef =
        std::sync::Arc::new(arrow_array::StringArray::from(vec![Some("a")]));
    let wrong =
        RecordBatch::try_new(std::sync::Arc::new(arrow_schema::Schema::new(fields)), vec![text])
            .unwrap();
    assert!(documented(Table::Chunks, &wrong).unwrap_err().to_string().contains("bytes_read"));
    let mut builder = TableBuilder::new(Table::Chunks);
    assert!(builder.append_batch(&wrong).is_err());
    let mut ticks = TableBuilder::new(Table::Ticks);
    let mut chunks = TableBuilder::new(Table::Chunks);
    chunks.append_batch(&texts).unwrap();
    assert!(ticks.append_table(chunks).is_err());
}
