//! Where and when a measurement was made, in short pieces for one line.

use jiff::Timestamp;
use roast_model::{Header, UtcNs, Value};

/// Packages whose versions matter to the reader of a summary.
const SHOWN: [&str; 5] = ["roastcoffea", "coffea", "distributed", "uproot", "python"];

pub(crate) fn pieces(header: &Header) -> Vec<String> {
    let mut pieces = vec![start(header.started), header.backend.clone()];
    if let Some(host) = header.provenance.get("host").and_then(Value::as_str)
        && !host.is_empty()
    {
        pieces.push(format!("from {host}"));
    }
    if let Some(versions) = header.provenance.get("versions") {
        pieces.extend(
            SHOWN.iter().filter_map(|package| {
                Some(format!("{package} {}", versions.get(package)?.as_str()?))
            }),
        );
    }
    pieces
}

/// To the second, for people.
fn start(moment: UtcNs) -> String {
    match Timestamp::from_nanosecond(i128::from(moment.0)) {
        Ok(stamp) => stamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => moment.to_string(),
    }
}
