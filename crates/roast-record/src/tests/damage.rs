//! Bytes that are not a log are an error, whatever they are.

use proptest::prelude::*;

use super::make::{single, single_with, tables};
use crate::chunk_log::ChunkLog;
use crate::wire::LogError;

fn some_log() -> ChunkLog {
    let mut log = single_with(5, &["Electron_pt", "Jet_eta", "Jet_pt"]);
    for number in 6..12 {
        log.merge(&single(number));
    }
    log.set_serialize(77, 1, None, None);
    log
}

proptest! {
    #[test]
    fn noise_is_refused(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"RCL\x01".to_vec();
        bytes.extend(&noise);
        // Some noise is a log; it must then also work as one.
        if let Ok(log) = ChunkLog::from_bytes(&bytes) {
            tables(&log);
        }
        prop_assert!(ChunkLog::from_bytes(&noise).is_err());
    }

    #[test]
    fn a_changed_byte_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = some_log().to_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(log) = ChunkLog::from_bytes(&bytes) {
            let mut other = some_log();
            other.merge(&log);
            tables(&other);
            other.rows();
            log.to_bytes();
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(ChunkLog::from_bytes(&bytes).is_err());
    }
}

#[test]
fn bytes_come_back_as_they_were() {
    let log = some_log();
    let bytes = log.to_bytes();
    let back = ChunkLog::from_bytes(&bytes).unwrap();
    assert_eq!(tables(&back), tables(&log));
    assert_eq!(back.to_bytes(), bytes);
    assert_eq!(back.content.late, log.content.late);
}

#[test]
fn a_later_format_is_named() {
    let mut bytes = some_log().to_bytes();
    bytes[3] = 9;
    let error = ChunkLog::from_bytes(&bytes).unwrap_err();
    assert!(matches!(error, LogError::Newer { found: 9, .. }));
    assert!(error.to_string().contains("install"));
    assert!(matches!(ChunkLog::from_bytes(b"PK"), Err(LogError::NotALog)));
}
