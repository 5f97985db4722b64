//! Takes the built page apart where its data goes, so that rendering only has to
//! put the three pieces together. Nothing is fetched or built here.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Where the data goes; the page has it exactly once.
const OPENING: &str = r#"<script type="application/json" id="page-data">"#;
const PLACEHOLDER: &str = "{}</script>";

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    let page = Path::new(&manifest).join("../../web/dist/page.html");
    println!("cargo::rerun-if-changed={}", page.display());
    println!("cargo::rerun-if-changed=build.rs");
    let Ok(html) = fs::read_to_string(&page) else {
        println!("cargo::error=web/dist/page.html is missing: run `make web`, which needs Node");
        return Ok(());
    };
    let mut places = html.match_indices(OPENING);
    let (Some((start, _)), None) = (places.next(), places.next()) else {
        println!("cargo::error=web/dist/page.html must have {OPENING} exactly once");
        return Ok(());
    };
    let (before, rest) = html.split_at(start + OPENING.len());
    let Some(after) = rest.strip_prefix(PLACEHOLDER) else {
        println!("cargo::error=web/dist/page.html must have {PLACEHOLDER} after {OPENING}");
        return Ok(());
    };
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("page_before.html"), before)?;
    fs::write(Path::new(&out).join("page_after.html"), format!("</script>{after}"))?;
    Ok(())
}
