//! The page as text: the built page with the data in its place.

use std::fmt::Write;

use super::PageData;

/// Everything up to the data, and everything after it.
const BEFORE: &str = include_str!(concat!(env!("OUT_DIR"), "/page_before.html"));
const AFTER: &str = include_str!(concat!(env!("OUT_DIR"), "/page_after.html"));

/// The page with its data: one HTML file that needs nothing else.
pub fn render_page(page: &PageData) -> String {
    // The data has text keys and finite numbers only, so there is nothing to fail at.
    let json = serde_json::to_string(page).unwrap_or_else(|_| "{}".to_owned());
    let mut html = String::with_capacity(BEFORE.len() + json.len() + AFTER.len() + 64);
    html.push_str(BEFORE);
    push_escaped(&mut html, &json);
    html.push_str(AFTER);
    html
}

/// Writes JSON so that no name in it can end the element it stands in, begin a
/// comment there, or break a line of script. These letters occur in strings only.
fn push_escaped(out: &mut String, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (plain, special) = rest.split_at(at);
        out.push_str(plain);
        let mut letters = special.chars();
        if let Some(letter) = letters.next() {
            // Writing into a string has no way to fail.
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        }
        rest = letters.as_str();
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_reads_back_the_same() {
        let hostile =
            "</script><script>alert(1)</script><!-- ]]> & \u{2028}\u{2029} \u{0} 👩‍👩‍👧 \"'\\";
        let json = serde_json::to_string(hostile).unwrap();
        let mut escaped = String::new();
        push_escaped(&mut escaped, &json);
        assert!(!escaped.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), hostile);
    }
}
