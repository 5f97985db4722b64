//! Where, when and with what the measurement was made, as pairs.

use roast_model::{Header, Unit, Value};

use super::text;
use crate::units::show;

/// Labels of what the collector notes about its process.
const KNOWN: [(&str, &str); 3] =
    [("host", "Client host"), ("platform", "Platform"), ("program", "Program")];

pub(crate) fn pairs(header: &Header) -> Vec<(String, String)> {
    let mut pairs = vec![
        ("Started".to_owned(), header.started.to_string()),
        ("Ended".to_owned(), header.ended().to_string()),
        ("Backend".to_owned(), text::name(&header.backend)),
    ];
    for (key, label) in KNOWN {
        if let Some(value) = header.provenance.get(key).and_then(Value::as_str)
            && !value.is_empty()
        {
            pairs.push((label.to_owned(), text::name(value)));
        }
    }
    for phase in &header.phases {
        let secs = phase.stop.secs_since(phase.start);
        let items = show(phase.items as f64, Unit::Count);
        let value = format!("{} for {items} items", show(secs, Unit::Seconds));
        pairs.push((format!("Phase {}", text::name(&phase.name)), value));
    }
    if let Some(versions) = header.provenance.get("versions") {
        pairs.extend(versions.pairs().iter().filter_map(|(package, version)| {
            Some((text::name(package.as_str()?), text::name(version.as_str()?)))
        }));
    }
    pairs.push(("Measurement".to_owned(), text::name(&header.id)));
    pairs
}
