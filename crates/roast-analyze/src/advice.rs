//! Advice: a few rules over the ledger and the tables, one small file for each
//! family. A rule is a function that looks at the evidence and says something, or
//! nothing: below its threshold, and where what it needs was not recorded.
//!
//! An estimate of what a change would bring is given only where a model of it
//! stands in the rule's own file; it is about right, not exact.

mod chunk_size;
mod chunks;
mod contention;
mod evidence;
mod failures;
mod idle;
mod memory;
mod plan;
mod preload;
mod reading;
mod reduction;
mod stragglers;
mod tail_of_slow;
mod verdict;
mod words;
mod workers;

use roast_model::{Value, at_once};

use crate::sheet::Sheet;
pub(crate) use evidence::Evidence;
use plan::Plan;
use stragglers::{KINDS, Slowest};

/// What is worth less than this share of the core time is not worth a word.
const WORTH: f64 = 0.03;

/// One thing to change.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Advice {
    /// Which rule speaks: stable.
    rule: &'static str,
    /// What is the matter, in one sentence with numbers.
    headline: String,
    /// What to do.
    action: String,
    /// The same in a few words, for the verdict.
    change: String,
    evidence: Vec<(&'static str, String)>,
    /// When the rule speaks.
    threshold: &'static str,
    gain: Option<Gain>,
    /// Code to paste.
    snippet: Option<String>,
    /// Results are missing: comes before everything that only takes time.
    is_urgent: bool,
}

/// What a change would bring.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gain {
    /// Thread time that would not be needed.
    core_secs: f64,
    wall_secs_now: f64,
    wall_secs_then: f64,
}

impl Gain {
    /// A change never makes a run slower than it was, or the advice is not given.
    fn new(core_secs: f64, wall_secs_now: f64, wall_secs_then: f64) -> Self {
        Self {
            core_secs: core_secs.max(0.0),
            wall_secs_now,
            wall_secs_then: wall_secs_then.clamp(0.0, wall_secs_now),
        }
    }

    /// `this run would take about 9 min instead of 41 min`
    fn sentence(self) -> String {
        format!(
            "this run would take about {} instead of {}",
            words::duration(self.wall_secs_then),
            words::duration(self.wall_secs_now)
        )
    }

    fn is_worth(self, evidence: &Evidence<'_>) -> bool {
        let core = evidence.core_secs.is_some_and(|all| self.core_secs >= WORTH * all);
        core || self.wall_secs_now - self.wall_secs_then >= WORTH * self.wall_secs_now
    }
}

type Rule = fn(&Evidence<'_>, Option<&Plan>) -> Option<Advice>;

/// Every rule. Where two gain the same, the earlier one comes first.
const RULES: &[Rule] = &[
    failures::failing_files,
    memory::pressure,
    chunk_size::setup_dominated,
    preload::many_requests,
    stragglers::slow_group,
    idle::tail,
    idle::starved,
    workers::too_many,
    contention::cores_shared,
    reading::decompression_bound,
    reading::reading_bound,
    reduction::costly,
    workers::too_few,
];

/// What the rules found, the change worth most first, and the verdict over all.
pub(crate) struct Found {
    advice: Vec<Advice>,
    verdict: Option<String>,
}

/// Asks every rule.
pub(crate) fn find(mut evidence: Evidence<'_>) -> Found {
    // What several rules need takes most of the time.
    let needed = at_once(1 + KINDS.len(), |job| match job.checked_sub(1) {
        None => (Plan::of(&evidence), None),
        Some(kind) => (None, KINDS.get(kind).and_then(|kind| Slowest::of(&evidence.chunks, kind))),
    });
    let (plans, slowest): (Vec<_>, Vec<_>) = needed.into_iter().unzip();
    let plan = plans.into_iter().flatten().next();
    evidence.slowest = Slowest::among(slowest.into_iter().flatten());
    let evidence = &evidence;
    let said = at_once(RULES.len(), |number| RULES.get(number)?(evidence, plan.as_ref()));
    let mut advice: Vec<Advice> = said.into_iter().flatten().collect();
    let core = |advice: &Advice| advice.gain.map_or(0.0, |gain| gain.core_secs);
    advice.sort_by(|a, b| b.is_urgent.cmp(&a.is_urgent).then(core(b).total_cmp(&core(a))));
    let verdict = verdict::sentence(evidence, &advice);
    Found { advice, verdict }
}

impl Found {
    /// Writes `advice` and `verdict`. Where nothing could be judged, both are missing.
    pub(crate) fn fill(self, sheet: &mut Sheet) {
        let Some(verdict) = self.verdict else { return };
        sheet.nested("advice", Value::List(self.advice.iter().map(Advice::to_value).collect()));
        sheet.nested("verdict", Value::Str(verdict));
    }
}

impl Advice {
    fn to_value(&self) -> Value {
        let fact = |(label, value): &(&str, String)| {
            Value::map([("label", Value::from(*label)), ("value", Value::Str(value.clone()))])
        };
        let gain = self.gain.map_or(Value::None, |gain| {
            Value::map([
                ("core_seconds", Value::Float(gain.core_secs)),
                ("wall_seconds_now", Value::Float(gain.wall_secs_now)),
                ("wall_seconds_then", Value::Float(gain.wall_secs_then)),
            ])
        });
        Value::map([
            ("rule", Value::from(self.rule)),
            ("headline", Value::Str(self.headline.clone())),
            ("action", Value::Str(self.action.clone())),
            ("evidence", Value::List(self.evidence.iter().map(fact).collect())),
            ("threshold", Value::from(self.threshold)),
            ("gain", gain),
            ("snippet", self.snippet.clone().map_or(Value::None, Value::Str)),
        ])
    }
}
