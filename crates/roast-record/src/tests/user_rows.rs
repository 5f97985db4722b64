//! Rows that users hand over come back as they were given.

use roast_model::{Value, chunk_rows};

use super::make::tables;
use crate::chunk_log::ChunkLog;

fn given(index: i64) -> Value {
    Value::map([
        ("t_start", Value::Float(1_794_765_736.355_847_4 + index as f64)),
        ("t_end", Value::Float(1_794_765_736.404_307_4 + index as f64)),
        ("duration", Value::Float(0.048_460_006_713_867_19)),
        ("mem_before_mb", Value::Float(234.914_062_5)),
        ("mem_after_mb", Value::Float(234.921_875)),
        ("mem_delta_mb", Value::Float(0.007_812_5)),
        ("num_events", Value::Int(50)),
        ("dataset", Value::from("tt")),
        ("file", Value::from("/data/nano_tt_8.root")),
        ("uuid", Value::None),
        ("bytes_read", Value::from("unknown")),
        ("entry_start", Value::Int(150)),
        ("entry_stop", Value::Int(200)),
        ("accessed_branches", Value::List(vec![Value::from("nMuon"), Value::from("Jet_pt")])),
        ("timing", Value::map([("sel", Value::Float(0.021_479_368_209_838_867))])),
        ("bytes", Value::map([("load", Value::Int(512))])),
        ("cuts", Value::Set(vec![Value::Int(1)])),
    ])
}

#[test]
fn every_key_comes_back() {
    let mut log = ChunkLog::new();
    assert!(log.add_row(&given(0)));
    assert!(log.add_row(&given(1)));
    assert!(!log.add_row(&Value::Int(3)));
    let rows = log.rows();
    for (index, row) in rows.iter().enumerate() {
        for (key, value) in given(index as i64).pairs() {
            assert_eq!(row.get(key.as_str().unwrap()), Some(value), "{key:?}");
        }
    }
    let tables = tables(&log);
    assert_eq!(rows, chunk_rows(&tables[0], Some(&tables[1]), Some(&tables[3])));
    assert_eq!(tables[1].num_rows(), 4, "two time and two bytes sections");
}

#[test]
fn the_same_row_in_two_logs_is_one_and_two_bare_rows_are_two() {
    let mut first = ChunkLog::new();
    first.add_row(&given(0));
    let mut second = ChunkLog::new();
    second.add_row(&given(0));
    first.merge(&second);
    assert_eq!(first.len(), 1);
    let bare = Value::map([("duration", Value::Float(1.0))]);
    let mut log = ChunkLog::new();
    log.add_row(&bare);
    log.add_row(&bare);
    assert_eq!(log.len(), 2);
    let attempts: Vec<_> = log.rows().iter().map(|row| row.get("attempt").cloned()).collect();
    assert_eq!(attempts, [Some(Value::Int(1)), Some(Value::Int(1))]);
}

#[test]
fn a_row_that_was_shown_can_be_added_again() {
    let mut log = super::make::single(4);
    let shown = log.rows().remove(0);
    log.clear();
    log.add_row(&shown);
    assert_eq!(log.rows().remove(0), shown);
}
