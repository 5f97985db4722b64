//! Values as strict JSON that any program reads: no tags, NaN and infinities as
//! null, sequences as arrays, and keys as text the way Python shows them.

use roast_model::Value;
use serde_json::{Map, Number, Value as Json};

/// The value as plain JSON.
pub(crate) fn plain(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(number) => Json::from(*number),
        Value::BigInt(digits) => digits
            .parse::<u64>()
            .map(Json::from)
            // JSON readers keep 64 bits at best; the digits as text lose nothing.
            .unwrap_or_else(|_| Json::from(digits.as_str())),
        Value::Float(number) => float(*number),
        Value::Str(text) => Json::from(text.as_str()),
        Value::Time(moment) => Json::from(moment.to_string()),
        Value::List(items) | Value::Tuple(items) => items.iter().map(plain).collect(),
        Value::Set(items) => {
            let mut items: Vec<Json> = items.iter().map(plain).collect();
            items.sort_by_cached_key(Json::to_string);
            Json::Array(items)
        }
        Value::Map(pairs) => Json::Object(map(pairs)),
    }
}

/// A number, or null if JSON has no way to write it.
pub(crate) fn float(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

/// The pairs of a map. Keys that read the same as text are told apart by being
/// written the long way.
pub(crate) fn map(pairs: &[(Value, Value)]) -> Map<String, Json> {
    let mut object = Map::new();
    for (key, value) in pairs {
        let mut name = match key {
            Value::Str(text) => text.clone(),
            other => python_text(other),
        };
        if object.contains_key(&name) {
            name = python_text(key);
        }
        object.insert(name, plain(value));
    }
    object
}

/// What Python's `repr` gives, so that `ast.literal_eval` reads keys back.
fn python_text(value: &Value) -> String {
    let join = |items: &[Value]| items.iter().map(python_text).collect::<Vec<_>>().join(", ");
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(truth) => if *truth { "True" } else { "False" }.to_owned(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(digits) => digits.clone(),
        Value::Float(number) => format!("{number:?}"),
        Value::Str(text) => python_string(text),
        Value::Time(moment) => python_string(&moment.to_string()),
        Value::List(items) => format!("[{}]", join(items)),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", join(items)),
        Value::Tuple(items) => format!("({})", join(items)),
        Value::Set(items) if items.is_empty() => "set()".to_owned(),
        Value::Set(items) => format!("{{{}}}", join(items)),
        Value::Map(pairs) => {
            let entry = |(key, value): &(Value, Value)| {
                format!("{}: {}", python_text(key), python_text(value))
            };
            format!("{{{}}}", pairs.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut literal = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            letter if letter == quote => {
                literal.push('\\');
                literal.push(letter);
            }
            letter if letter.is_control() => {
                literal.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            letter => literal.push(letter),
        }
    }
    literal.push(quote);
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_python_shows_them() {
        let key = Value::Tuple(vec!["it's".into(), Value::Int(1), Value::None, Value::from(2.0)]);
        let single = Value::Tuple(vec!["a\n\u{7}\\".into()]);
        let object = map(&[(key, Value::Int(1)), (single, Value::Int(2))]);
        let keys: Vec<_> = object.keys().collect();
        assert_eq!(keys, [r#"("it's", 1, None, 2.0)"#, r"('a\n\x07\\',)"]);
    }

    #[test]
    fn nothing_is_lost_to_keys_that_read_the_same() {
        let pairs = [(Value::Int(1), Value::Int(10)), ("1".into(), Value::Int(20))];
        assert_eq!(Json::Object(map(&pairs)).to_string(), r#"{"1":10,"'1'":20}"#);
    }

    #[test]
    fn what_json_lacks_becomes_null_text_or_array() {
        let value = Value::List(vec![
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::BigInt("18446744073709551615".into()),
            Value::BigInt("123456789012345678901234567890".into()),
            Value::Set(vec![Value::Int(2), Value::Int(1)]),
        ]);
        let expected = r#"[null,null,18446744073709551615,"123456789012345678901234567890",[1,2]]"#;
        assert_eq!(plain(&value).to_string(), expected);
    }
}
