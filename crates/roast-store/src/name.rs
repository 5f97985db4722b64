//! Which names a measurement may have: any that stay a plain, visible directory
//! inside the output directory.

use crate::error::StoreError;

/// Leaves room for suffixes below the 255 bytes that file systems allow.
const MAX_NAME_BYTES: usize = 200;

/// Refuses a name that could not be, or should not be, a directory's name.
pub fn validate_name(name: &str) -> Result<(), StoreError> {
    match broken_rule(name) {
        None => Ok(()),
        Some(why) => Err(StoreError::BadName { name: name.to_owned(), why }),
    }
}

/// The measurement's name where it can name a file, too: one that was made
/// elsewhere may be called anything.
pub fn file_stem(name: &str) -> &str {
    if broken_rule(name).is_none() { name } else { "measurement" }
}

fn broken_rule(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        Some("is empty")
    } else if name.contains(['/', '\\']) {
        Some("has a path separator in it")
    } else if name.starts_with('.') {
        Some("starts with a dot")
    } else if name.chars().any(char::is_control) {
        Some("has a control character in it")
    } else if name.len() > MAX_NAME_BYTES {
        Some("is longer than 200 bytes")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_pass() {
        for name in ["ttbar", "2026-11-15 tt̄ → ℓℓ", "a..b", "x".repeat(200).as_str()] {
            validate_name(name).unwrap();
        }
    }

    #[test]
    fn names_that_lead_elsewhere_or_hide_are_refused() {
        let long = "é".repeat(101);
        for name in
            ["", "  ", ".", "..", ".hidden", "a/b", "../a", "a\\b", "a\0b", "a\nb", long.as_str()]
        {
            let error = validate_name(name).unwrap_err();
            assert!(error.to_string().contains("200 bytes"), "{error}");
        }
    }
}
