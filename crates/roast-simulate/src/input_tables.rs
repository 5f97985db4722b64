//! The tables of files, branches and sets of branches, from the sums over the
//! attempts that read them.

use roast_model::{ColumnData, Table, TableBuilder, TableError};

use crate::columns::{append, names, seconds};
use crate::layout::Layout;
use crate::recorder::{Sums, Totals};
use crate::rows::TREE;

/// Compressed over uncompressed size.
const COMPRESSION: f64 = 0.4;
/// Branches that nobody reads are larger: they hold what is rarely needed.
const UNREAD_SHARE: f64 = 1.5;

pub(crate) fn make(layout: &Layout, totals: &Totals) -> Result<Vec<TableBuilder>, TableError> {
    Ok(vec![columns(layout, totals)?, branch_sets(layout)?, files(layout, totals)?])
}

fn columns(layout: &Layout, totals: &Totals) -> Result<TableBuilder, TableError> {
    let mut files = vec![0_i64; layout.datasets.len()];
    for file in &layout.files {
        if let Some(count) = files.get_mut(file.dataset as usize) {
            *count += 1;
        }
    }
    let rows: Vec<(u32, u32, &Sums)> = totals
        .by_dataset
        .iter()
        .enumerate()
        .filter(|(_, sums)| sums.attempts > 0)
        .flat_map(|(dataset, sums)| {
            (0..layout.branches.len()).map(move |branch| (dataset as u32, branch as u32, sums))
        })
        .collect();
    let share = |branch: u32| layout.branches.get(branch as usize).map_or(0.0, |b| b.share);
    let ints = |get: &dyn Fn(u32, &Sums) -> i64| {
        ColumnData::Ints(rows.iter().map(|(set, _, sums)| Some(get(*set, sums))).collect())
    };
    let parts = |get: fn(&Sums) -> i64| {
        rows.iter().map(move |(_, branch, sums)| (get(sums) as f64 * share(*branch)) as i64)
    };
    let batch = vec![
        (
            "dataset",
            names(rows.iter().map(|row| row.0), |dataset| {
                layout.datasets.get(dataset as usize).cloned().unwrap_or_default()
            }),
        ),
        ("branch", names(rows.iter().map(|row| row.1), |branch| branch_name(layout, branch))),
        ("chunks", ints(&|_, sums| sums.chunks)),
        ("files", ints(&|set, _| files.get(set as usize).copied().unwrap_or(0))),
        ("reads", ints(&|_, sums| sums.attempts)),
        ("cached_reads", ints(&|_, _| 0)),
        ("preloaded_reads", ints(&|_, _| 0)),
        ("wall_secs", seconds(parts(|sums| sums.read.wall))),
        ("cpu_secs", seconds(parts(|sums| sums.read.cpu))),
        ("bytes", ColumnData::Ints(parts(|sums| sums.read_bytes).map(Some).collect())),
        ("requests", ints(&|_, sums| sums.attempts)),
        ("decompress_secs", seconds(parts(|sums| sums.decompress))),
        ("interpret_secs", seconds(parts(|sums| sums.interpret))),
    ];
    let mut builder = TableBuilder::new(Table::Columns);
    append(&mut builder, batch)?;
    Ok(builder)
}

fn branch_sets(layout: &Layout) -> Result<TableBuilder, TableError> {
    let count = layout.branches.len();
    let mut builder = TableBuilder::new(Table::BranchSets);
    let batch = vec![
        ("branch_set", ColumnData::Ints(vec![Some(0); count])),
        ("branch", names(0..count as u32, |branch| branch_name(layout, branch))),
    ];
    append(&mut builder, batch)?;
    Ok(builder)
}

fn files(layout: &Layout, totals: &Totals) -> Result<TableBuilder, TableError> {
    let read = layout.branches.len() as i64;
    let unread = (i64::from(layout.tree_branches) - read).max(0);
    let ints = |get: &dyn Fn(&Sums) -> i64| {
        ColumnData::Ints(totals.by_file.iter().map(|sums| Some(get(sums))).collect())
    };
    // What a file holds of the branches that are read; failed attempts read some
    // of it again.
    let size_read = |sums: &Sums| (sums.bytes - sums.chunks * crate::attempt::SETUP_BYTES).max(1);
    let size = |sums: &Sums| {
        let each = size_read(sums) as f64 / read as f64;
        size_read(sums) + (each * UNREAD_SHARE * unread as f64) as i64
    };
    let file = |get: fn(&crate::layout::File) -> &str| {
        ColumnData::Texts(layout.files.iter().map(|file| Some(get(file).to_owned())).collect())
    };
    let ratios = totals.by_file.iter().map(|_| Some(COMPRESSION)).collect();
    let batch = vec![
        ("file", file(|file| &file.name)),
        ("uuid", file(|file| &file.uuid)),
        ("tree", names(layout.files.iter().map(|_| 0), |_| TREE.to_owned())),
        ("num_branches", ints(&|_| i64::from(layout.tree_branches))),
        ("compressed_bytes", ints(&|sums| size(sums))),
        ("uncompressed_bytes", ints(&|sums| (size(sums) as f64 / COMPRESSION) as i64)),
        ("compression_ratio", ColumnData::Floats(ratios)),
        ("chunks", ints(&|sums| sums.chunks)),
        ("num_branches_read", ints(&|_| read)),
        ("bytes_read", ints(&|sums| sums.bytes)),
        ("branch_bytes_read_compressed", ints(&|sums| size_read(sums))),
    ];
    let mut builder = TableBuilder::new(Table::Files);
    append(&mut builder, batch)?;
    Ok(builder)
}

fn branch_name(layout: &Layout, branch: u32) -> String {
    layout.branches.get(branch as usize).map(|branch| branch.name.clone()).unwrap_or_default()
}
