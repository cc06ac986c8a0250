//! Patterns of messages, and the values of the names in them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::pieces::occur_in_order;

/// The member of a pattern's object that stands for any further members.
const MORE: &str = "...";

/// The values of a script's names: each is bound to the first value that it is compared with.
#[derive(Debug, Default)]
pub(super) struct Bindings(BTreeMap<String, Value>);

impl Bindings {
    /// A line of the played side with its names replaced by their values. A line that is not UTF-8 has no names.
    pub(super) fn fill_in(&self, line: &[u8]) -> Vec<u8> {
        let Ok(text) = str::from_utf8(line) else { return line.to_vec() };
        let fill_in = |text: String, (name, value): (&String, &Value)| {
            text.replace(&format!("\"{name}\""), &value.to_string())
        };
        self.0.iter().fold(text.to_owned(), fill_in).into_bytes()
    }

    /// Whether a value fits a pattern.
    pub(super) fn matches(&mut self, pattern: &Value, seen: &Value) -> bool {
        match (pattern, seen) {
            (Value::String(name), seen) if is_name(name) => {
                self.0.entry(name.clone()).or_insert_with(|| seen.clone()) == seen
            }
            (Value::String(any), _) if any == "*" => true,
            (Value::String(pattern), Value::String(text)) => {
                occur_in_order(&pattern.split('*').collect::<Vec<_>>(), text)
            }
            (Value::Array(patterns), Value::Array(seen)) => {
                patterns.len() == seen.len()
                    && patterns.iter().zip(seen).all(|(pattern, seen)| self.matches(pattern, seen))
            }
            (Value::Object(patterns), Value::Object(seen)) => {
                (patterns.contains_key(MORE) || patterns.len() == seen.len())
                    && patterns
                        .iter()
                        .filter(|(name, _)| *name != MORE)
                        .all(|(name, pattern)| seen.get(name).is_some_and(|seen| self.matches(pattern, seen)))
            }
            (pattern, seen) => pattern == seen,
        }
    }
}

/// Whether a string of a pattern is a name: `$` and a letter at its beginning. `$/cancel_request` is a method.
fn is_name(text: &str) -> bool {
    text.strip_prefix('$').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, seen: &str) -> bool {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        Bindings::default().matches(&read(pattern), &read(seen))
    }

    #[test]
    fn expectations_can_fail() {
        assert!(matches(r#"{"a":"*","b":["x*z"]}"#, r#"{"b":["xyz"],"a":null}"#));
        assert!(!matches(r#"{"a":"x*z"}"#, r#"{"a":"xy"}"#));
        assert!(!matches(r#"{"a":"x*z"}"#, r#"{"a":7}"#), "a `*` within a string stands for text");
        assert!(!matches(r#"{"a":1}"#, r#"{"a":1,"b":2}"#), "no member more");
        assert!(!matches(r#"{"a":1,"b":"*"}"#, r#"{"a":1}"#), "and none less");
        assert!(matches(r#"{"a":1,"...":0}"#, r#"{"a":1,"b":2}"#));
        assert!(!matches(r#"{"a":2,"...":0}"#, r#"{"a":1,"b":2}"#));
        assert!(!matches(r#"{"a":1,"c":"*","...":0}"#, r#"{"a":1,"b":2}"#));
        assert!(!matches("1", r#""1""#), "1 is not \"1\"");
        assert!(!matches("1", "1.5") && !matches("null", "false") && !matches("{}", "[]"));
        assert!(!matches("[1]", "[1,2]") && !matches("[1,2]", "[1]"));
        assert!(matches(r#"["$x","$x"]"#, "[7,7]"));
        assert!(!matches(r#"["$x","$x"]"#, "[7,8]"));
        assert!(!matches(r#"["$x","$x"]"#, r#"[7,"7"]"#));
        assert!(!matches(r#""$/cancel_request""#, r#""session/cancel""#), "a method that is not a name");
    }

    #[test]
    fn names_are_replaced_by_their_values() {
        let mut bindings = Bindings::default();
        assert!(bindings.matches(&serde_json::json!(["$a", "$b"]), &serde_json::json!(["x\n", {"c": 1}])));
        let filled = bindings.fill_in(br#"{"id":"$a", "p":["$b","$c","$a b"]}"#);
        assert_eq!(String::from_utf8(filled).unwrap(), r#"{"id":"x\n", "p":[{"c":1},"$c","$a b"]}"#);
        assert_eq!(bindings.fill_in(b"\"$a\"\xff"), b"\"$a\"\xff");
    }
}
