//! Sections as a tree, and the ledger's shares.

use roast_model::{ColumnData, Table};
use serde_json::{Value as Json, json};

use super::build::{chunk_table, panel, run_of, texts};
use crate::tests::fixture::{built, full, ints};

#[test]
fn sections_of_one_path_are_one_node() {
    let chunks = chunk_table(&[(0, 10_000, 5), (0, 20_000, 5)], &|_| "w".into());
    let sections = built(
        Table::Sections,
        vec![
            ("chunk_id", ints(&[0, 0, 0, 0, 1, 1])),
            ("section", texts(["jets", "memory", "clean", "jets", "jets", "clean"])),
            ("kind", texts(["time", "memory", "time", "time", "time", "time"])),
            ("parent", ColumnData::Ints(vec![None, Some(0), Some(1), None, None, Some(0)])),
            ("wall_secs", ColumnData::Floats([4.0, 1.0, 1.5, 2.0, 8.0, 3.0].map(Some).to_vec())),
            ("cpu_secs", ColumnData::Floats([3.0, 1.0, 1.0, 1.0, 5.0, 2.0].map(Some).to_vec())),
            ("count", ints(&[1; 6])),
        ],
    );
    let run = run_of(30.0, vec![(Table::Chunks, chunks), (Table::Sections, sections)]);
    let clean = json!({
        "name": "clean", "wall_secs": 4.5, "cpu_secs": 3.0, "count": 2, "chunks": 2, "children": [],
    });
    let jets = json!({
        "name": "jets", "wall_secs": 14.0, "cpu_secs": 9.0, "count": 3, "chunks": 2,
        "children": [clean],
    });
    let root = json!({
        "name": "process()", "wall_secs": 30.0, "cpu_secs": null, "count": 2, "chunks": 2,
        "children": [jets],
    });
    assert_eq!(panel(&run, "sections"), json!([root]));
}

#[test]
fn many_sections_are_one_node_for_the_rest() {
    let count = 1000_usize;
    let chunks = chunk_table(&[(0, 10_000, 5)], &|_| "w".into());
    let sections = built(
        Table::Sections,
        vec![
            ("chunk_id", ints(&vec![0; count])),
            ("section", texts((0..count).map(|row| format!("s{row:04}")))),
            ("wall_secs", ColumnData::Floats(vec![Some(0.001); count])),
        ],
    );
    let run = run_of(30.0, vec![(Table::Chunks, chunks), (Table::Sections, sections)]);
    let root = panel(&run, "sections")[0].clone();
    let children = root["children"].as_array().unwrap();
    assert_eq!(children.len(), 41);
    assert_eq!(
        (&children[0]["name"], &children[40]["name"]),
        (&json!("s0000"), &json!("960 more"))
    );
    assert!((children[40]["wall_secs"].as_f64().unwrap() - 0.96).abs() < 1e-9);
}

#[test]
fn the_ledger_adds_up() {
    let ledger = panel(&full(), "ledger");
    let rows = ledger["rows"].as_array().unwrap();
    let shares: f64 = rows.iter().map(|row: &Json| row["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert_eq!(rows[0]["family"], "user");
}
