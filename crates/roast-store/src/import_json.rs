//! JSON as Python's `json` module writes it, which includes `NaN` and
//! infinities: those become missing, as nothing can be computed from them.

use roast_model::Value;
use serde_json::Value as Json;

const NON_FINITE: [&[u8]; 3] = [b"NaN", b"-Infinity", b"Infinity"];

/// Parses the text, strictly first.
pub(crate) fn parse(bytes: &[u8]) -> Result<Json, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| match without_non_finite(bytes) {
        Some(strict) => serde_json::from_slice(&strict),
        None => Err(error),
    })
}

/// The text with `null` for every non-finite number; `None` if there are none.
fn without_non_finite(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut strict = Vec::with_capacity(bytes.len());
    let (mut in_text, mut escaped, mut replaced) = (false, false, false);
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        let found = NON_FINITE.into_iter().find(|word| !in_text && rest.starts_with(word));
        if let Some(after_word) = found.and_then(|word| rest.get(word.len()..)) {
            strict.extend_from_slice(b"null");
            rest = after_word;
            replaced = true;
            continue;
        }
        in_text ^= byte == b'"' && !escaped;
        escaped = in_text && byte == b'\\' && !escaped;
        strict.push(byte);
        rest = after;
    }
    replaced.then_some(strict)
}

/// The same value, with nothing read into keys that start with `$`.
pub(crate) fn plain_value(json: &Json) -> Value {
    match json {
        Json::Array(items) => Value::List(items.iter().map(plain_value).collect()),
        Json::Object(object) => {
            Value::map(object.iter().map(|(key, value)| (key.as_str(), plain_value(value))))
        }
        Json::Null => Value::None,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::String(text) => Value::Str(text.clone()),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(real)) if number.is_f64() => Value::Float(real),
            _ => Value::BigInt(number.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_finite_numbers_become_missing_and_text_is_left_alone() {
        let text = br#"{"a": NaN, "NaN\"": [-Infinity, "x\\", Infinity, "NaN"]}"#;
        let json = parse(text).unwrap();
        assert_eq!(json, serde_json::json!({"a": null, "NaN\"": [null, "x\\", null, "NaN"]}));
    }

    #[test]
    fn a_tag_in_foreign_data_is_just_a_key() {
        let json = serde_json::json!({"$set": 3});
        assert_eq!(plain_value(&json), Value::map([("$set", Value::Int(3))]));
    }

    #[test]
    fn broken_text_is_refused() {
        for text in [&b"{\"a\": NaN"[..], b"", b"{\"a\": 1", b"\xff"] {
            assert!(parse(text).is_err());
        }
    }
}
