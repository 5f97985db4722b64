//! Runs that are bound by reading columns or by decompressing them.
//!
//! How much faster other storage would be is not known here, so reading has no
//! estimate. Decompression has one where it is slow enough that another algorithm
//! would surely help: then it is taken to run at [`FAST_BYTES_PER_SEC`].

use super::evidence::Evidence;
use super::plan::Plan;
use super::{Advice, Gain, preload, words};
use crate::number::usable;

const READING_THRESHOLD: f64 = 0.3;
const DECOMPRESSION_THRESHOLD: f64 = 0.2;
/// Compressed bytes per second and core that ZSTD takes in easily; LZMA manages a
/// quarter of it.
const FAST_BYTES_PER_SEC: f64 = 100e6;
/// Branches named.
const NAMED: usize = 3;

pub(super) fn decompression_bound(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let share =
        evidence.share(&["decompress"]).filter(|share| *share >= DECOMPRESSION_THRESHOLD)?;
    let secs = evidence.row("decompress")?;
    let bytes: f64 = evidence.chunks.iter().map(|chunk| chunk.read_bytes()).sum();
    let speed = usable(bytes / secs).filter(|speed| *speed > 0.0);
    let slow = speed.filter(|speed| *speed < FAST_BYTES_PER_SEC / 2.0);
    let gain = slow.zip(plan).map(|(speed, plan)| {
        let saved = secs * (1.0 - speed / FAST_BYTES_PER_SEC);
        let part = saved / evidence.chunks.len().max(1) as f64;
        let outlook = plan.with_chunk_secs(|_, secs| secs - part);
        Gain::new(saved, evidence.wall_secs, outlook.wall_secs)
    });
    let mut facts = vec![("decompressing", words::core_seconds(secs))];
    facts.extend(
        speed.map(|speed| ("compressed bytes", format!("{}/s per core", words::bytes(speed)))),
    );
    facts.extend(costliest(evidence, "decompress_seconds"));
    let (action, change) = match gain {
        Some(gain) => (
            format!(
                "write the files anew with ZSTD or LZ4, or read fewer branches: with ZSTD {}.",
                gain.sentence()
            ),
            "recompress the files with ZSTD or LZ4".to_owned(),
        ),
        None => (
            "read fewer or smaller branches: the files are decompressed about as fast as can be."
                .to_owned(),
            "read fewer branches".to_owned(),
        ),
    };
    Some(Advice {
        rule: "decompression-bound",
        headline: format!(
            "{} of the core time went into decompressing columns.",
            words::percent(share)
        ),
        action,
        change,
        evidence: facts,
        threshold: "a fifth of the core time goes into decompression",
        gain,
        snippet: None,
        is_urgent: false,
    })
}

pub(super) fn reading_bound(evidence: &Evidence<'_>, plan: Option<&Plan>) -> Option<Advice> {
    let share = evidence.share(&["column_read"]).filter(|share| *share >= READING_THRESHOLD)?;
    // Many requests are a reason that can be named; then that rule speaks.
    if preload::many_requests(evidence, plan).is_some() {
        return None;
    }
    let secs = evidence.row("column_read")?;
    let bytes: f64 = evidence.chunks.iter().map(|chunk| chunk.read_bytes()).sum();
    let rate = usable(bytes / secs).filter(|rate| *rate > 0.0);
    let mut facts = vec![("reading columns", words::core_seconds(secs))];
    if let Some(rate) = rate {
        facts.push(("bytes asked for", words::bytes(bytes)));
        facts.push(("rate", format!("{}/s per core", words::bytes(rate))));
    }
    facts.extend(costliest(evidence, "seconds"));
    let at =
        rate.map_or_else(String::new, |rate| format!(", at {}/s per core", words::bytes(rate)));
    Some(Advice {
        rule: "reading-bound",
        headline: format!(
            "{} of the core time went into waiting for column data{at}.",
            words::percent(share)
        ),
        action: "bring the files closer (a cache such as XCache, or a local copy), or read fewer \
                 branches."
            .to_owned(),
        change: "bring the files closer or read fewer branches".to_owned(),
        evidence: facts,
        threshold: "three tenths of the core time go into reading columns, decompression and \
                    interpretation apart",
        gain: None,
        snippet: None,
        is_urgent: false,
    })
}

/// The branches that cost most.
fn costliest(evidence: &Evidence<'_>, key: &str) -> Option<(&'static str, String)> {
    let mut costs: Vec<(&str, f64)> = evidence
        .sheet
        .value("branches")?
        .pairs()
        .iter()
        .filter_map(|(name, costs)| Some((name.as_str()?, costs.get(key)?.as_f64()?)))
        .collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let named: Vec<String> = costs
        .iter()
        .take(NAMED)
        .map(|(name, secs)| format!("{} {}", words::name(name), words::duration(*secs)))
        .collect();
    (!named.is_empty()).then(|| ("costliest branches", named.join(", ")))
}
