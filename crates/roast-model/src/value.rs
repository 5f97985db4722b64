//! A value of any shape that users hand over (report, custom metrics, chunk
//! fields, span keys), with a lossless JSON form.
//!
//! JSON has no NaN, no infinities, no tuples, no sets and only text keys. Those
//! are written as one-entry objects whose key starts with `$`, so that what is
//! loaded equals what was saved.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map as JsonMap, Number, Value as Json};

use crate::time::UtcNs;

/// A value of any shape.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing is known.
    #[default]
    None,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number outside of 64 bits, in decimal.
    BigInt(String),
    /// A real number; NaN and infinities are kept.
    Float(f64),
    /// Text.
    Str(String),
    /// A point in time.
    Time(UtcNs),
    /// An ordered, changeable sequence.
    List(Vec<Value>),
    /// An ordered, fixed sequence.
    Tuple(Vec<Value>),
    /// An unordered collection of distinct values.
    Set(Vec<Value>),
    /// Key-value pairs in the order of insertion.
    Map(Vec<(Value, Value)>),
}

/// The JSON is not something that [`Value::to_json`] writes.
#[derive(Debug, thiserror::Error)]
#[error("unreadable value tagged {tag:?}")]
pub struct ValueError {
    tag: String,
}

impl Value {
    /// A map from text keys.
    pub fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (Self::Str(key.into()), value)).collect())
    }

    /// `true` for [`Value::None`].
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The number, whichever way it is held.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            Self::BigInt(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The number, if it is whole.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some(*number as i64)
            }
            _ => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list, tuple or set.
    pub fn items(&self) -> Option<&[Value]> {
        match self {
            Self::List(items) | Self::Tuple(items) | Self::Set(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs of a map; none for anything else.
    pub fn pairs(&self) -> &[(Value, Value)] {
        match self {
            Self::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// The entry of a map under a text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.pairs()
            .iter()
            .find(|(candidate, _)| candidate.as_str() == Some(key))
            .map(|(_, value)| value)
    }

    /// The JSON form, from which [`Value::from_json`] gives an equal value.
    pub fn to_json(&self) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Bool(truth) => Json::Bool(*truth),
            Self::Int(number) => Json::from(*number),
            Self::BigInt(digits) => tagged("$int", Json::from(digits.as_str())),
            Self::Float(number) => match Number::from_f64(*number) {
                Some(finite) => Json::Number(finite),
                None => tagged("$float", Json::from(non_finite_name(*number))),
            },
            Self::Str(text) => Json::from(text.as_str()),
            Self::Time(moment) => tagged("$time", Json::from(moment.to_string())),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Tuple(items) => tagged("$tuple", items.iter().map(Self::to_json).collect()),
            Self::Set(items) => tagged("$set", items.iter().map(Self::to_json).collect()),
            Self::Map(pairs) => map_to_json(pairs),
        }
    }

    /// Reads what [`Value::to_json`] wrote.
    pub fn from_json(json: &Json) -> Result<Self, ValueError> {
        Ok(match json {
            Json::Null => Self::None,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Int(whole),
                (None, _) if number.is_u64() => Self::BigInt(number.to_string()),
                (None, Some(real)) => Self::Float(real),
                (None, None) => Self::BigInt(number.to_string()),
            },
            Json::String(text) => Self::Str(text.clone()),
            Json::Array(items) => Self::List(from_json_items(items)?),
            Json::Object(object) => match single_tag(object) {
                Some((tag, inner)) => {
                    from_tagged(tag, inner)?.ok_or_else(|| ValueError { tag: tag.to_owned() })?
                }
                None => Self::Map(
                    object
                        .iter()
                        .map(|(key, value)| Ok((Self::Str(key.clone()), Self::from_json(value)?)))
                        .collect::<Result<_, _>>()?,
                ),
            },
        })
    }
}

fn tagged(tag: &str, inner: Json) -> Json {
    Json::Object(JsonMap::from_iter([(tag.to_owned(), inner)]))
}

fn single_tag(object: &JsonMap<String, Json>) -> Option<(&str, &Json)> {
    let mut entries = object.iter();
    match (entries.next(), entries.next()) {
        (Some((key, inner)), None) if key.starts_with('$') => Some((key, inner)),
        _ => None,
    }
}

fn from_tagged(tag: &str, inner: &Json) -> Result<Option<Value>, ValueError> {
    let items = || inner.as_array().map(|items| from_json_items(items)).transpose();
    Ok(match tag {
        "$float" => match inner.as_str() {
            Some("nan") => Some(Value::Float(f64::NAN)),
            Some("inf") => Some(Value::Float(f64::INFINITY)),
            Some("-inf") => Some(Value::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        "$int" => inner.as_str().map(|digits| Value::BigInt(digits.to_owned())),
        "$time" => inner.as_str().and_then(|text| UtcNs::parse(text).ok()).map(Value::Time),
        "$tuple" => items()?.map(Value::Tuple),
        "$set" => items()?.map(Value::Set),
        "$map" => match inner.as_array() {
            Some(pairs) => {
                pairs.iter().map(from_json_pair).collect::<Result<Option<Vec<_>>, _>>()?
            }
            None => None,
        }
        .map(Value::Map),
        _ => None,
    })
}

fn from_json_pair(pair: &Json) -> Result<Option<(Value, Value)>, ValueError> {
    match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Ok(Some((Value::from_json(key)?, Value::from_json(value)?))),
        _ => Ok(None),
    }
}

fn from_json_items(items: &[Json]) -> Result<Vec<Value>, ValueError> {
    items.iter().map(Value::from_json).collect()
}

fn map_to_json(pairs: &[(Value, Value)]) -> Json {
    let plain =
        pairs.iter().all(|(key, _)| key.as_str().is_some_and(|text| !text.starts_with('$')));
    if plain {
        return Json::Object(
            pairs
                .iter()
                .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), value.to_json())))
                .collect(),
        );
    }
    tagged(
        "$map",
        pairs
            .iter()
            .map(|(key, value)| Json::Array(vec![key.to_json(), value.to_json()]))
            .collect(),
    )
}

fn non_finite_name(number: f64) -> &'static str {
    if number.is_nan() {
        "nan"
    } else if number > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

/// Equality as a store needs it: NaN equals NaN, and sets and maps compare
/// without regard to order.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::BigInt(a), Self::BigInt(b)) | (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Time(a), Self::Time(b)) => a == b,
            (Self::List(a), Self::List(b)) | (Self::Tuple(a), Self::Tuple(b)) => a == b,
            (Self::Set(a), Self::Set(b)) => {
                a.len() == b.len() && a.iter().all(|item| b.contains(item))
            }
            (Self::Map(a), Self::Map(b)) => {
                a.len() == b.len() && a.iter().all(|pair| b.contains(pair))
            }
            _ => false,
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(maybe: Option<T>) -> Self {
        maybe.map_or(Self::None, Into::into)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        Self::from_json(&json).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::None),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            any::<f64>().prop_map(Value::Float),
            Just(Value::Float(f64::NAN)),
            Just(Value::Float(f64::INFINITY)),
            Just(Value::BigInt("123456789012345678901234567890".into())),
            "\\PC*".prop_map(Value::Str),
            "[$]?[a-z]{0,5}".prop_map(Value::Str),
            any::<i32>().prop_map(|secs| Value::Time(UtcNs(i64::from(secs) * 1_000_000_007))),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            let items = prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                items.clone().prop_map(Value::List),
                items.clone().prop_map(Value::Tuple),
                items.prop_map(Value::Set),
                prop::collection::vec((inner.clone(), inner.clone()), 0..4)
                    .prop_map(of_each_key_once),
                prop::collection::hash_map("[$]?[a-z]{0,6}", inner, 0..4).prop_map(|pairs| {
                    Value::Map(pairs.into_iter().map(|(k, v)| (Value::Str(k), v)).collect())
                }),
            ]
        })
    }

    /// A mapping has no key twice.
    fn of_each_key_once(pairs: Vec<(Value, Value)>) -> Value {
        let mut map: Vec<(Value, Value)> = Vec::new();
        for (key, value) in pairs {
            if map.iter().all(|(known, _)| *known != key) {
                map.push((key, value));
            }
        }
        Value::Map(map)
    }

    proptest! {
        #[test]
        fn json_round_trips(value in any_value()) {
            let text = serde_json::to_string(&value).unwrap();
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back, value);
        }
    }

    #[test]
    fn an_unknown_tag_is_an_error_and_not_a_guess() {
        assert!(serde_json::from_str::<Value>(r#"{"$set": 3}"#).is_err());
        assert!(serde_json::from_str::<Value>(r#"{"$later": 3}"#).is_err());
    }
}
