//! The sheet on which the families of metrics write, and from which later ones
//! read what earlier ones found.

use std::collections::BTreeMap;

use roast_model::Value;

use crate::metrics::Metrics;
use crate::number::usable;

/// Metrics by key while they are being computed.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    values: BTreeMap<&'static str, Value>,
}

impl Sheet {
    /// Writes a real number; nothing is written for one that is missing, negative
    /// or not finite, since no metric of the catalog can be any of these.
    pub(crate) fn real(&mut self, key: &'static str, number: Option<f64>) {
        if let Some(number) = number.and_then(usable) {
            self.values.insert(key, Value::Float(number));
        }
    }

    /// Writes a real number that may be negative, unless it is not finite.
    pub(crate) fn signed(&mut self, key: &'static str, number: Option<f64>) {
        if let Some(number) = number.filter(|number| number.is_finite()) {
            self.values.insert(key, Value::Float(number));
        }
    }

    /// Writes a value of several parts, unless it is missing.
    pub(crate) fn nested(&mut self, key: &'static str, value: Value) {
        if !value.is_none() {
            self.values.insert(key, value);
        }
    }

    /// Writes a number that counts something: whole if it can be.
    pub(crate) fn whole(&mut self, key: &'static str, number: Option<f64>) {
        let Some(number) = number.and_then(usable) else { return };
        let value = Value::Float(number);
        self.values.insert(key, value.as_i64().map_or(value, Value::Int));
    }

    /// Takes over what is written on another sheet.
    pub(crate) fn take_over(&mut self, mut other: Self) {
        self.values.append(&mut other.values);
    }

    /// The number written under a key.
    pub(crate) fn get(&self, key: &str) -> Option<f64> {
        self.values.get(key).and_then(Value::as_f64)
    }

    /// Whatever was written under a key.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.values.get(key)
    }

    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.values.keys().copied()
    }

    pub(crate) fn into_metrics(mut self) -> Metrics {
        Metrics::collect(|key| self.values.remove(key).unwrap_or_default())
    }
}
