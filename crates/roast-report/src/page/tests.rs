//! The page's data against truths made by hand, and the page against names that
//! want to be more than text.

mod build;
mod chunks;
mod lanes;
mod scale;
mod timeline;
mod tree;

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{PageData, render_page};
use crate::tests::fixture::{self, Run};
use build::{chunk_run, page};

fn json(run: &Run) -> Json {
    serde_json::to_value(PageData::new(&run.0, &run.1)).unwrap()
}

#[test]
fn a_small_page() {
    let mut page = json(&fixture::full());
    page["version"] = "0".into();
    insta::assert_snapshot!("full_page", serde_json::to_string_pretty(&page).unwrap());
}

#[test]
fn a_page_of_next_to_nothing_says_what_is_missing() {
    let mut page = json(&fixture::bare());
    page["version"] = "0".into();
    insta::assert_snapshot!("bare_page", serde_json::to_string_pretty(&page).unwrap());
}

#[test]
fn every_kind_of_run_has_a_page() {
    for run in [fixture::full(), fixture::bare(), fixture::raised(), fixture::hostile()] {
        let page = json(&run);
        for panel in ["ledger", "timeline", "lanes", "runtimes", "scatter", "sections"] {
            let panel = page[panel].as_object().unwrap();
            assert_eq!(panel.len(), 1);
            assert!(panel.contains_key("data") || panel["missing"].is_string());
        }
        for table in page["tables"].as_array().unwrap() {
            let columns = table["columns"].as_array().unwrap().len();
            let rows = table["rows"].as_array().unwrap();
            assert_eq!(rows.is_empty(), table["missing"].is_string(), "{table}");
            assert!(rows.iter().all(|row| row.as_array().unwrap().len() == columns));
        }
        assert!(!page["verdict"].as_str().unwrap().is_empty());
    }
    assert!(json(&fixture::raised())["error"].as_str().unwrap().starts_with("OSError"));
}

/// How often the page itself ends a script: the built page's own scripts and the
/// element of the data.
fn script_ends(html: &str) -> usize {
    html.to_ascii_lowercase().matches("</script").count()
}

#[test]
fn hostile_names_stay_text() {
    let own = script_ends(&render_page(&page(&fixture::bare())));
    let html = render_page(&page(&fixture::hostile()));
    assert_eq!(script_ends(&html), own);
    assert!(!html.contains("<img src=x"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_name_ends_the_script(
        name in "(</script>|<!--|]]>|&|\u{2028}|[a-z<>/\"'\\\\]|\\PC){0,12}",
    ) {
        let mut run = chunk_run(&[(0, 1, 10)]);
        run.0.header.name.clone_from(&name);
        run.0.header.error = Some(name.clone());
        run.0.header.notes = vec![name.clone()];
        let html = render_page(&page(&run));
        let own = script_ends(&render_page(&page(&fixture::bare())));
        prop_assert_eq!(script_ends(&html), own);
        let marker = "id=\"page-data\">";
        let at = html.find(marker).unwrap() + marker.len();
        let data = &html[at..];
        let data = &data[..data.find("</script>").unwrap()];
        let escaped = !data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
        prop_assert!(escaped, "{}", data);
        let read: Json = serde_json::from_str(data).unwrap();
        prop_assert_eq!(read["name"].as_str().unwrap(), name);
    }
}
