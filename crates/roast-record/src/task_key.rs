//! Dask numbers the tasks of one call: `name-<id of the call>-<number>`. Kept
//! apart, the first part is shared by all rows of a run.

/// The key without its number, and the number, if joining them with a dash
/// gives the key back.
pub(crate) fn split(key: &str) -> (&str, Option<u64>) {
    match key.rsplit_once('-') {
        Some((head, digits)) => match digits.parse::<u64>() {
            Ok(number) if number.to_string() == digits => (head, Some(number)),
            _ => (key, None),
        },
        None => (key, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_comes_back_is_taken_off() {
        assert_eq!(split("process-ab12-17"), ("process-ab12", Some(17)));
        for whole in ["process-ab12-017", "process", "process-", "a-99999999999999999999"] {
            assert_eq!(split(whole), (whole, None));
        }
    }
}
