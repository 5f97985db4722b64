//! What `--fail-on` asks for: `worse`, `worse:5%`, or a metric with a limit.

use roast_model::{Better, Unit, metric_def};

use crate::failure::Failure;
use crate::hint;

/// How much worse is too much.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FailOn {
    /// One metric; any row that got worse beyond noise if there is none.
    pub(crate) metric: Option<&'static str>,
    /// Worse by more than this ratio.
    pub(crate) allowed: f64,
}

const ANY: &str = "worse";

impl FailOn {
    pub(crate) fn parse(words: &[String]) -> Result<Vec<Self>, Failure> {
        words.iter().map(|word| Self::of(word)).collect()
    }

    fn of(word: &str) -> Result<Self, Failure> {
        let (name, limit) = word.split_once(':').map_or((word, None), |(a, b)| (a, Some(b)));
        let allowed = match limit {
            None => 0.0,
            Some(limit) => ratio(limit).ok_or_else(|| {
                Failure::usage(
                    format!("{limit:?} is not a percentage"),
                    "write it as --fail-on worse:5%".to_owned(),
                )
            })?,
        };
        if name == ANY {
            return Ok(Self { metric: None, allowed });
        }
        let Some(metric) = metric_def(name) else {
            let hint = match hint::for_metric(name) {
                Some(close) => format!("did you mean {close}?"),
                None => format!("use {ANY}, or a key that roastcoffea metrics lists"),
            };
            return Err(Failure::usage(format!("there is no metric {name:?}"), hint));
        };
        if metric.better == Better::Neither || metric.unit == Unit::Table {
            return Err(Failure::usage(
                format!("{name} has no better or worse"),
                "choose a metric that has, such as event_rate_wall_khz".to_owned(),
            ));
        }
        Ok(Self { metric: Some(metric.key), allowed })
    }
}

fn ratio(text: &str) -> Option<f64> {
    let percent: f64 = text.trim().strip_suffix('%').unwrap_or(text).trim().parse().ok()?;
    (percent.is_finite() && percent >= 0.0).then_some(percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(word: &str) -> Result<FailOn, u8> {
        FailOn::of(word).map_err(|failure| failure.tell())
    }

    #[test]
    fn limits_are_understood_or_refused() {
        assert_eq!(one("worse"), Ok(FailOn { metric: None, allowed: 0.0 }));
        assert_eq!(one("worse:5%"), Ok(FailOn { metric: None, allowed: 0.05 }));
        assert_eq!(one("worse:2.5"), Ok(FailOn { metric: None, allowed: 0.025 }));
        let wall = FailOn { metric: Some("wall_time"), allowed: 0.1 };
        assert_eq!(one("elapsed_time_seconds:10 %"), Ok(wall));
        for wrong in ["better", "worse:", "worse:-1%", "worse:nan", "wall_tme:5%", "total_events"] {
            assert_eq!(one(wrong), Err(2), "{wrong}");
        }
    }
}
