//! Points in time: nanoseconds since the Unix epoch, always UTC.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in nanoseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcNs(pub i64);

/// The text is not an RFC 3339 time with an offset.
#[derive(Debug, thiserror::Error)]
#[error("not a time with a UTC offset: {text:?}")]
pub struct TimeError {
    text: String,
}

impl UtcNs {
    /// This moment as seconds since the epoch; microsecond precision at best.
    pub fn epoch_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The moment `secs` after this one.
    pub fn after_secs(self, secs: f64) -> Self {
        Self(self.0.saturating_add((secs * 1e9).round() as i64))
    }

    /// Seconds from `earlier` to this moment.
    pub fn secs_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e9
    }

    /// Reads an RFC 3339 time such as `2026-11-15T18:02:17.166608Z`.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let error = || TimeError { text: text.to_owned() };
        let stamp: Timestamp = text.parse().map_err(|_| error())?;
        i64::try_from(stamp.as_nanosecond()).map(Self).map_err(|_| error())
    }
}

impl fmt::Display for UtcNs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(stamp) => write!(f, "{stamp}"),
            Err(_) => write!(f, "{} ns", self.0),
        }
    }
}

impl Serialize for UtcNs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UtcNs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_to_the_nanosecond() {
        let moment = UtcNs(1_794_765_736_355_847_401);
        assert_eq!(UtcNs::parse(&moment.to_string()).unwrap(), moment);
    }

    #[test]
    fn a_time_without_an_offset_is_refused() {
        assert!(UtcNs::parse("2026-11-15T18:01:38.105039").is_err());
    }
}
