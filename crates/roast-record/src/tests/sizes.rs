//! What a row takes on the way and in memory.

use super::make::single_with;
use crate::chunk_log::ChunkLog;

fn branches(count: usize) -> Vec<String> {
    let groups = ["Electron", "FatJet", "GenPart", "Jet", "MET", "Muon", "Photon", "Tau"];
    let fields = [
        "pt",
        "eta",
        "phi",
        "mass",
        "charge",
        "jetIdx",
        "pfRelIso03_all",
        "tightId",
        "dxy",
        "dz",
        "btagDeepFlavB",
        "genPartIdx",
        "cleanmask",
    ];
    let mut names: Vec<String> = fields
        .iter()
        .flat_map(|field| groups.iter().map(move |group| format!("{group}_{field}")))
        .take(count)
        .collect();
    names.sort();
    names
}

#[test]
fn many_rows_take_150_bytes_each() {
    let names = branches(100);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut log = ChunkLog::new();
    for number in 0..2000 {
        let mut row = single_with(number, &names);
        row.set_serialize(
            super::make::nonce(&row),
            3_700_000 + number * 917,
            Some(3_500_000),
            Some(40_000),
        );
        log.merge(&row);
    }
    let each = log.to_bytes().len() as f64 / 2000.0;
    assert!(each <= 150.0, "{each} bytes per row");
}

#[test]
fn a_single_row_takes_little() {
    for (count, limit) in [(25, 1_000), (100, 2_500)] {
        let names = branches(count);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut log = single_with(3, &names);
        // What is known of a file travels once per file and process.
        log.content.files.clear();
        let size = log.to_bytes().len();
        assert!(size <= limit, "{size} bytes with {count} branches");
    }
}
