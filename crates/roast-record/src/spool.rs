//! Spool files: rows as they were appended while a run was on, each behind its
//! length. A file that was cut short ends with its last whole row.

/// The rows of a spool file.
pub fn spooled_rows(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = data;
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (row, after) = after.split_at_checked(length)?;
        rest = after;
        Some(row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(rows: &[&[u8]]) -> Vec<u8> {
        rows.iter()
            .flat_map(|row| {
                let length = u32::try_from(row.len()).unwrap().to_le_bytes();
                [length.as_slice(), row].concat()
            })
            .collect()
    }

    #[test]
    fn whole_rows_are_read_up_to_the_first_that_was_cut() {
        let rows: [&[u8]; 3] = [b"one", b"", b"three"];
        let data = framed(&rows);
        assert_eq!(spooled_rows(&data).collect::<Vec<_>>(), rows);
        for cut in 0..data.len() {
            let whole = spooled_rows(&data[..cut]).collect::<Vec<_>>();
            assert_eq!(whole, rows[..whole.len()]);
            assert!(whole.len() < 3);
        }
    }
}
