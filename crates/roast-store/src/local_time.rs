//! Naive local times, as the original tool wrote them, placed on UTC. Where a
//! naive time stands beside an epoch time of the same moment, the offset follows
//! from the two; otherwise the time zone of this machine has to do.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use roast_model::UtcNs;

/// Time zones lie a multiple of this from UTC.
const OFFSET_STEP_SECS: f64 = 900.0;
/// No place is farther from UTC than 14 hours.
const MAX_OFFSET_SECS: f64 = 14.0 * 3600.0;
/// Farther apart than this, the two times are not of the same moment.
const MAX_DISAGREEMENT_SECS: f64 = 120.0;

/// A rule that places naive times on UTC.
#[derive(Clone, Debug)]
pub(crate) struct LocalClock {
    zone: TimeZone,
    note: String,
}

impl LocalClock {
    /// From pairs of a naive time and the epoch seconds of about the same moment.
    pub(crate) fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, f64)>) -> Self {
        match pairs.into_iter().find_map(|(text, epoch_secs)| offset(text, epoch_secs)) {
            Some(offset) => Self {
                note: format!(
                    "Times were saved without a time zone; the workers' heartbeats, which have \
                     one, place them at UTC{offset}."
                ),
                zone: TimeZone::fixed(offset),
            },
            None => Self::of_this_machine(),
        }
    }

    fn of_this_machine() -> Self {
        let (zone, name) = match TimeZone::try_system() {
            Ok(zone) => {
                let name = zone.iana_name().unwrap_or("a zone without a name").to_owned();
                (zone, name)
            }
            Err(error) => (TimeZone::UTC, format!("taken to be UTC: {error}")),
        };
        let note = format!(
            "Times were saved without a time zone; they are read as local times of the machine \
             that imported them ({name})."
        );
        Self { zone, note }
    }

    /// What was assumed, for people.
    pub(crate) fn note(&self) -> &str {
        &self.note
    }

    /// The moment; `None` if the text is not a time.
    pub(crate) fn to_utc(&self, text: &str) -> Option<UtcNs> {
        if let Ok(moment) = UtcNs::parse(text) {
            return Some(moment);
        }
        to_utc_in(text, &self.zone)
    }
}

fn to_utc_in(text: &str, zone: &TimeZone) -> Option<UtcNs> {
    let naive: DateTime = text.parse().ok()?;
    let zoned = naive.to_zoned(zone.clone()).ok()?;
    i64::try_from(zoned.timestamp().as_nanosecond()).ok().map(UtcNs)
}

fn offset(text: &str, epoch_secs: f64) -> Option<Offset> {
    let naive_secs = to_utc_in(text, &TimeZone::UTC)?.epoch_secs();
    let difference_secs = naive_secs - epoch_secs;
    let offset_secs = (difference_secs / OFFSET_STEP_SECS).round() * OFFSET_STEP_SECS;
    let fits = (difference_secs - offset_secs).abs() <= MAX_DISAGREEMENT_SECS
        && offset_secs.abs() <= MAX_OFFSET_SECS;
    if !fits {
        return None;
    }
    Offset::from_seconds(offset_secs as i32).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_follows_from_a_heartbeat() {
        // 17:01:37.7 UTC, while clocks on the wall showed 18:01.
        let clock = LocalClock::from_pairs([("2026-11-15T18:01:38.105039", 1_794_762_097.7)]);
        let moment = clock.to_utc("2026-11-15T18:01:38.105039").unwrap();
        assert_eq!(moment.to_string(), "2026-11-15T17:01:38.105039Z");
        assert!(clock.note().contains("UTC+01"), "{}", clock.note());
    }

    #[test]
    fn times_of_different_moments_say_nothing() {
        let clock = LocalClock::from_pairs([("2026-11-15T18:01:38", 0.0), ("soon", 1.0)]);
        assert!(clock.note().contains("of the machine"), "{}", clock.note());
        assert!(clock.to_utc("2026-11-15T18:01:38").is_some());
        assert!(clock.to_utc("yesterday").is_none());
    }

    #[test]
    fn a_time_with_an_offset_needs_no_rule() {
        let clock = LocalClock::from_pairs([("2026-11-15T18:01:38", 1_794_762_098.0)]);
        assert_eq!(
            clock.to_utc("2026-11-15T18:00:00Z").unwrap().0 % 86_400_000_000_000,
            64_800_000_000_000
        );
    }
}
