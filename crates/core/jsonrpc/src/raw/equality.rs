//! Equality of undecoded JSON by value.

use serde_json::Value;

use crate::raw::RawJson;
use crate::reader;
use crate::text::tree_cost::TreeCost;

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        let tree = |text: &str| -> Option<Value> {
            (!TreeCost::is_over(text, Self::COMPARE_LIMIT)).then(|| reader::read(text).ok())?
        };
        self.as_str() == other.as_str()
            || tree(self.as_str())
                .is_some_and(|value| tree(other.as_str()).is_some_and(|other| is_same(&value, &other)))
    }
}

impl Eq for RawJson {}

/// Whether two values are equal, where the form of a number makes no difference.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            // Beyond this, several integers have the same `f64`.
            let is_exact = one.as_f64().is_some_and(|number| number.abs() < 9_007_199_254_740_992.0);
            one == other || is_exact && one.is_f64() != other.is_f64() && one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_in =
                |(name, value): (&String, _)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(is_in)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> RawJson {
        RawJson::parse(text.into()).unwrap()
    }

    #[test]
    fn values_are_equal_whatever_their_text() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,"é"]}"#, r#"{ "b": [true, "\u00e9"], "a": 1 }"#),
            ("1", "1.0"),
            ("[100]", "[1e2]"),
            ("{}", "{ }"),
        ] {
            assert_eq!(raw(one), raw(other));
        }
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            ("[1,2]", "[2,1]"),
            ("1", "\"1\""),
            ("9007199254740993", "9007199254740992"),
            ("null", "false"),
        ] {
            assert_ne!(raw(one), raw(other));
        }
    }

    #[test]
    fn value_that_takes_too_much_memory_is_compared_by_its_text() {
        let long = |space: &str| {
            raw(&format!("[{}]", vec!["0"; RawJson::COMPARE_LIMIT / 16].join(&format!(",{space}"))))
        };
        assert_eq!(long(""), long(""));
        assert_ne!(long(""), long(" "));
    }
}
