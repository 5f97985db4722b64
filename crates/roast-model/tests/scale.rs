//! A million chunk rows. Memory and times of a shared machine say little in a
//! test, so this only prints them:
//! `cargo test -p roast-model --test scale -- --ignored --nocapture`

use roast_model::{ColumnData, ColumnKind, Table, TableBuilder};

const ROWS: usize = 1_000_000;
const ROWS_PER_BATCH: usize = 10_000;

#[test]
#[ignore = "prints memory and times"]
#[expect(clippy::print_stdout, reason = "it is for people to read")]
fn a_million_rows() {
    let began = std::time::Instant::now();
    let mut builder = TableBuilder::new(Table::Chunks);
    for first in (0..ROWS).step_by(ROWS_PER_BATCH) {
        let rows = first..first + ROWS_PER_BATCH;
        let columns = Table::Chunks.columns().iter().map(|column| {
            let data = match column.kind {
                ColumnKind::Key => ColumnData::Texts(
                    rows.clone().map(|row| Some(format!("P-ab12-{row}"))).collect(),
                ),
                ColumnKind::Text => ColumnData::Texts(vec![None; ROWS_PER_BATCH]),
                ColumnKind::Name => {
                    let names = (0..100).map(|name| format!("name{name}")).collect();
                    ColumnData::Codes(
                        rows.clone().map(|row| Some(row as u32 % 100)).collect(),
                        names,
                    )
                }
                ColumnKind::Float => {
                    ColumnData::Floats(rows.clone().map(|row| Some(row as f64)).collect())
                }
                ColumnKind::Int | ColumnKind::Time => {
                    ColumnData::Ints(rows.clone().map(|row| Some(row as i64)).collect())
                }
            };
            (column.name.to_owned(), data)
        });
        builder.append(columns.collect()).unwrap();
    }
    println!("appended after {:?}, peak {}", began.elapsed(), peak());
    let batch = builder.finish().unwrap();
    println!("built after {:?}, peak {}", began.elapsed(), peak());
    assert_eq!(batch.num_rows(), ROWS);
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown");
    line.to_owned()
}
