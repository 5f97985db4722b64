//! Logs merge to the same tables in any order and shape, whatever came twice.

use proptest::prelude::*;
use roast_model::{Frame, ROWS_WORTH_A_THREAD, chunk_rows};

use super::make::{nonce, serialize_us, single, tables};
use crate::chunk_log::ChunkLog;
use crate::content::Content;

/// Where the table of columns is in a log's tables.
const COLUMNS: usize = 2;

/// Merges leaves in a tree whose shape the numbers decide; each step may pass
/// through bytes, as on the way between workers.
fn merge_in_shape(mut logs: Vec<ChunkLog>, shape: &[u8]) -> ChunkLog {
    let mut turn = shape.iter().copied().cycle();
    while logs.len() > 1 {
        let pick = turn.next().unwrap_or(0);
        let right = logs.remove(usize::from(pick) % logs.len());
        let index = usize::from(pick >> 4) % logs.len();
        let right =
            if pick & 4 == 0 { right } else { ChunkLog::from_bytes(&right.to_bytes()).unwrap() };
        if pick & 8 == 0 {
            logs[index].merge(&right);
        } else {
            let mut merged = right;
            merged.merge(&logs[index]);
            logs[index] = merged;
        }
    }
    logs.pop().unwrap_or_default()
}

fn in_order(numbers: &[u64]) -> ChunkLog {
    let mut whole = ChunkLog::new();
    for &number in numbers {
        whole.merge(&single(number));
    }
    whole
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_shape_gives_the_same_tables(
        count in 1_u64..24,
        order in prop::collection::vec(any::<u8>(), 24),
        shape in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let numbers: Vec<u64> = (0..count).collect();
        let mut shuffled = numbers.clone();
        for (place, other) in order.iter().enumerate().take(numbers.len()) {
            shuffled.swap(place, usize::from(*other) % numbers.len());
        }
        let logs = shuffled.iter().map(|&number| single(number)).collect();
        let merged = merge_in_shape(logs, &shape);
        prop_assert_eq!(tables(&merged), tables(&in_order(&numbers)));
        prop_assert_eq!(merged.cost_overlap(), 0);
    }

    #[test]
    fn what_comes_twice_counts_once(
        numbers in prop::collection::vec(0_u64..12, 1..24),
        shape in prop::collection::vec(any::<u8>(), 1..40),
    ) {
        let logs: Vec<ChunkLog> = numbers.iter().map(|&number| single(number)).collect();
        let merged = merge_in_shape(logs, &shape);
        let mut distinct = numbers;
        distinct.sort_unstable();
        distinct.dedup();
        let expected = tables(&in_order(&distinct));
        let got = tables(&merged);
        for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
            // Costs of two logs that each lack some of the other's rows cannot
            // be told apart; then it is said.
            let costs = place == COLUMNS;
            prop_assert!(got == expected || (costs && merged.cost_overlap() > 0));
        }
    }

    #[test]
    fn one_row_at_a_time_counts_exactly_once(numbers in prop::collection::vec(0_u64..12, 1..40)) {
        let merged = in_order(&numbers);
        let mut distinct = numbers;
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(merged.cost_overlap(), 0);
        prop_assert_eq!(tables(&merged), tables(&in_order(&distinct)));
    }
}

#[test]
fn a_log_inside_another_is_counted_once_either_way() {
    let whole = in_order(&[1, 2, 3, 4]);
    let part = in_order(&[2, 3]);
    for (first, second) in [(&whole, &part), (&part, &whole)] {
        let mut merged = first.clone();
        merged.merge(second);
        assert_eq!(tables(&merged), tables(&whole));
        assert_eq!(merged.cost_overlap(), 0);
    }
    let mut partly = in_order(&[1, 2]);
    partly.merge(&in_order(&[2, 3]));
    assert_eq!((partly.len(), partly.cost_overlap()), (3, 1));
}

#[test]
fn serialization_may_be_told_before_the_row_and_twice() {
    let row = single(1);
    let mut before = ChunkLog::new();
    before.set_serialize(nonce(&row), 5_000_000, Some(4_000_000), None);
    assert!(before.is_empty());
    let mut before = ChunkLog::from_bytes(&before.to_bytes()).unwrap();
    before.merge(&row);
    let mut after = row.clone();
    after.set_serialize(nonce(&row), 5_000_000, Some(4_000_000), None);
    after.set_serialize(nonce(&row), 5_000_000, Some(4_000_000), None);
    let mut other_copy = row.clone();
    other_copy.merge(&after);
    for log in [&before, &after, &other_copy] {
        assert_eq!(serialize_us(log), Some(5_000));
        assert_eq!(log.len(), 1);
        assert!(log.content.late.is_empty());
    }
}

#[test]
fn attempts_and_outcomes_follow_from_the_rows() {
    // 1 and 2 are attempts at one chunk; 3 fails; 10 fails and 11 repeats it.
    let log = in_order(&[2, 1, 3, 0, 11, 10]);
    let chunks = &tables(&log)[0];
    let frame = Frame::new(chunks);
    let number = |key: &str| key.rsplit('-').next().unwrap().to_owned();
    let keys: Vec<_> = frame.texts("task_key").map(|key| number(&key.unwrap())).collect();
    assert_eq!(keys, ["0", "1", "2", "3", "10", "11"]);
    let attempts: Vec<_> = frame.ints("attempt").flatten().collect();
    assert_eq!(attempts, [1, 1, 2, 1, 1, 2]);
    let outcomes: Vec<_> = frame.names("outcome").flatten().collect();
    assert_eq!(outcomes, ["ok", "repeated", "ok", "failed", "failed", "ok"]);
}

#[test]
fn rows_of_the_log_and_rows_of_its_tables_are_equal() {
    let mut log = in_order(&(0..30).collect::<Vec<_>>());
    log.set_serialize(nonce(&single(4)), 1_234_567, None, Some(2_000));
    let tables = tables(&log);
    let from_tables = chunk_rows(&tables[0], Some(&tables[1]), Some(&tables[3]));
    assert_eq!(log.rows(), from_tables);
    assert_eq!(from_tables.len(), 30);
}

#[test]
fn so_many_rows_that_two_threads_lay_them_out_are_the_same_rows() {
    let log = in_order(&(0..ROWS_WORTH_A_THREAD as u64 + 300).rev().collect::<Vec<_>>());
    let tables = tables(&log);
    let from_tables = chunk_rows(&tables[0], Some(&tables[1]), Some(&tables[3]));
    assert_eq!(from_tables.len(), ROWS_WORTH_A_THREAD + 300);
    assert!(log.rows() == from_tables);
}

#[test]
fn a_row_that_is_in_one_log_twice_takes_nothing_from_another() {
    let (mut log, other) = (single(1), single(2));
    let mut twice = Content::default();
    twice.rows.copy(&other.content.rows.all()[0], &other.content.rows);
    twice.rows.copy(&other.content.rows.all()[0], &other.content.rows);
    let costs = log.content.costs.clone();
    log.add(twice);
    assert_eq!((log.len(), &log.content.costs), (2, &costs));
}

#[test]
fn files_and_columns_are_seen_over_all_chunks() {
    let mut log = super::make::single_with(0, &["Jet_pt", "nJet"]);
    // The same file, other entries, other branches.
    log.merge(&super::make::single_with(16, &["Muon_pt", "nJet"]));
    let tables = tables(&log);
    let columns = Frame::new(&tables[2]);
    let names: Vec<_> = columns.names("branch").flatten().collect();
    assert_eq!(names, ["Jet_pt", "Muon_pt", "nJet"]);
    assert_eq!(columns.ints("chunks").flatten().collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(columns.ints("files").flatten().collect::<Vec<_>>(), [1, 1, 1]);
    let files = Frame::new(&tables[4]);
    assert_eq!(files.ints("chunks").collect::<Vec<_>>(), [Some(2)]);
    assert_eq!(files.ints("num_branches_read").collect::<Vec<_>>(), [Some(3)]);
    assert_eq!(files.ints("branch_bytes_read_compressed").collect::<Vec<_>>(), [Some(75_000)]);
    let shares: i64 = Frame::new(&tables[0]).ints("bytes_read").flatten().sum();
    assert_eq!(files.ints("bytes_read").collect::<Vec<_>>(), [Some(shares)]);
}
