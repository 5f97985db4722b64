//! Python literals as `repr` prints them: numbers, text, `None`, truth values,
//! tuples and lists. The original tool saved tuple keys this way; they are read
//! here without evaluating anything.

use roast_model::Value;

/// Deep enough for any key, shallow enough for any stack.
const MAX_DEPTH: usize = 32;

/// Reads one literal; `None` if the text is anything else.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let mut parser = Parser { rest: text };
    let value = parser.value(0)?;
    parser.skip_spaces();
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_spaces();
        match self.rest.chars().next()? {
            '(' => {
                let (items, trailing_comma) = self.items('(', ')', depth)?;
                match <[Value; 1]>::try_from(items) {
                    // Brackets around one value are not a tuple.
                    Ok([only]) if !trailing_comma => Some(only),
                    Ok([only]) => Some(Value::Tuple(vec![only])),
                    Err(items) => Some(Value::Tuple(items)),
                }
            }
            '[' => self.items('[', ']', depth).map(|(items, _)| Value::List(items)),
            '\'' | '"' => self.text().map(Value::Str),
            _ => self.word(),
        }
    }

    fn items(&mut self, open: char, close: char, depth: usize) -> Option<(Vec<Value>, bool)> {
        self.take(open)?;
        let mut items = Vec::new();
        let mut after_comma = false;
        loop {
            self.skip_spaces();
            if self.take(close).is_some() {
                return Some((items, after_comma));
            }
            if !items.is_empty() && !after_comma {
                return None;
            }
            items.push(self.value(depth + 1)?);
            self.skip_spaces();
            after_comma = self.take(',').is_some();
        }
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.next()?;
        let mut text = String::new();
        loop {
            match self.next()? {
                letter if letter == quote => return Some(text),
                '\\' => text.push(self.escaped()?),
                '\n' => return None,
                letter => text.push(letter),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        match self.next()? {
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'x' => self.code_point(2),
            'u' => self.code_point(4),
            'U' => self.code_point(8),
            same @ ('\\' | '\'' | '"') => Some(same),
            _ => None,
        }
    }

    fn code_point(&mut self, digits: usize) -> Option<char> {
        let (hex, rest) = self.rest.split_at_checked(digits)?;
        if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.rest = rest;
        char::from_u32(u32::from_str_radix(hex, 16).ok()?)
    }

    fn word(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || "+-._".contains(letter)))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word {
            "None" => Some(Value::None),
            "True" => Some(Value::Bool(true)),
            "False" => Some(Value::Bool(false)),
            "nan" => Some(Value::Float(f64::NAN)),
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            _ => number(word),
        }
    }

    fn take(&mut self, expected: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next()?;
        self.rest = letters.as_str();
        Some(letter)
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }
}

fn number(word: &str) -> Option<Value> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if !digits.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(word.parse().map_or_else(|_| Value::BigInt(word.to_owned()), Value::Int));
    }
    word.parse().ok().map(Value::Float)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Python's `repr` prints it.
    fn repr(value: &Value) -> String {
        let join = |items: &[Value]| items.iter().map(repr).collect::<Vec<_>>().join(", ");
        match value {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(number) => number.to_string(),
            Value::BigInt(digits) => digits.clone(),
            Value::Float(number) if number.is_nan() => "nan".into(),
            Value::Float(number) if number.is_infinite() => {
                if *number > 0.0 {
                    "inf".into()
                } else {
                    "-inf".into()
                }
            }
            Value::Float(number) if number.abs() > 1e16 => format!("{number:e}").replace('e', "e+"),
            Value::Float(number) => format!("{number:?}"),
            Value::Str(text) => repr_text(text),
            Value::Tuple(items) if items.len() == 1 => format!("({},)", join(items)),
            Value::Tuple(items) => format!("({})", join(items)),
            Value::List(items) => format!("[{}]", join(items)),
            other => panic!("no literal for {other:?}"),
        }
    }

    fn repr_text(text: &str) -> String {
        let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
        let mut out = String::from(quote);
        for letter in text.chars() {
            match letter {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                _ if letter == quote => {
                    out.push('\\');
                    out.push(letter);
                }
                _ if (letter as u32) < 0x20 || (0x7f..0xa1).contains(&(letter as u32)) => {
                    out.push_str(&format!("\\x{:02x}", letter as u32));
                }
                '\u{2028}' => out.push_str("\\u2028"),
                '\u{e0001}' => out.push_str("\\U000e0001"),
                _ => out.push(letter),
            }
        }
        out.push(quote);
        out
    }

    fn any_literal() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::None),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            Just(Value::BigInt("-123456789012345678901234567890".into())),
            any::<f64>().prop_map(Value::Float),
            any::<String>().prop_map(Value::Str),
            "[a'\"\\\\(),\n\u{2028}\u{e0001}\u{85}\u{7f} ]{0,8}".prop_map(Value::Str),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            let items = prop::collection::vec(inner, 0..4);
            prop_oneof![items.clone().prop_map(Value::Tuple), items.prop_map(Value::List)]
        })
    }

    proptest! {
        #[test]
        fn what_python_prints_is_read_back(value in any_literal()) {
            prop_assert_eq!(parse(&repr(&value)), Some(value));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[a('\"\\\\,xuU0-9.e\\[\\]) -]{0,24}|\\PC*") {
            parse(&text);
        }
    }

    #[test]
    fn a_span_key() {
        let expected = ["execute", "P", "thread-cpu", "seconds"].map(Value::from).to_vec();
        let key = parse("('execute', 'P', 'thread-cpu', 'seconds')");
        assert_eq!(key, Some(Value::Tuple(expected)));
    }

    #[test]
    fn what_is_not_a_literal_is_refused() {
        let deep = "(".repeat(10_000);
        for text in [
            "",
            "(",
            "(1",
            "(1,, 2)",
            "(,)",
            "(1 2)",
            "'a",
            "'\\ud800'",
            "'\\q'",
            "'\\x+1'",
            "__import__('os')",
            "1 2",
            "-",
            "1-2",
            "infinity",
            "{1: 2}",
            &deep,
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
