//! Text from users, cut to what can be shown. The cut is in the middle, because
//! the end of a path tells most, and says how much is left out.

use crate::units;

/// Letters of a name that are shown.
const NAME_LETTERS: usize = 160;
/// Letters of an error or a note that are shown.
const PASSAGE_LETTERS: usize = 2000;
/// What stands for a name that is not known.
pub(crate) const UNKNOWN: &str = "unknown";

/// The name of a dataset, file, worker or the like.
pub(crate) fn name(text: &str) -> String {
    cut(text, NAME_LETTERS)
}

/// A longer text: an error, a note, a piece of code.
pub(crate) fn passage(text: &str) -> String {
    cut(text, PASSAGE_LETTERS)
}

fn cut(text: &str, most: usize) -> String {
    // Letters are at least a byte long: short texts need no counting.
    if text.len() <= most {
        return text.to_owned();
    }
    let letters = text.chars().count();
    if letters <= most {
        return text.to_owned();
    }
    let head = most / 3;
    let tail = most - head;
    let at = |letter: usize| text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at);
    let (start, _) = text.split_at(at(head));
    let (_, end) = text.split_at(at(letters - tail));
    format!("{start}… ({} letters left out) …{end}", units::count((letters - most) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_is_in_the_middle_and_is_told() {
        let long = format!("{}.root", "é".repeat(10_000));
        let shown = name(&long);
        assert!(shown.starts_with("éé") && shown.ends_with("é.root"), "{shown}");
        assert!(shown.contains("… (9,845 letters left out) …"), "{shown}");
        assert_eq!(shown.chars().filter(|letter| *letter == 'é').count(), 155);
        let fits = "ü".repeat(NAME_LETTERS);
        assert_eq!(name(&fits), fits);
        assert_eq!(name(""), "");
    }
}
