//! The claims of a token.

use serde_json::{Map, Value};

/// The last second that a date in a token may have: the largest integer that every reader of JSON keeps.
const LAST_SECOND: f64 = 9_007_199_254_740_991.0;

/// A claim that is present but malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidClaim(pub(crate) &'static str);

/// The claims of a token. `Debug` shows their names only.
#[derive(Clone, PartialEq)]
pub(crate) struct Claims(Map<String, Value>);

impl Claims {
    pub(crate) fn new(members: Map<String, Value>) -> Self {
        Self(members)
    }

    /// A claim. One that is `null` is absent.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A claim that is text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// A claim that is a date, in whole seconds since 1970. Fractions are cut off.
    pub(crate) fn seconds(&self, name: &'static str) -> Result<Option<u64>, InvalidClaim> {
        let Some(value) = self.get(name) else { return Ok(None) };
        if let Some(seconds) = value.as_u64().filter(|seconds| *seconds <= LAST_SECOND as u64) {
            return Ok(Some(seconds));
        }
        match value.as_f64() {
            Some(seconds) if (0.0..=LAST_SECOND).contains(&seconds) => Ok(Some(seconds as u64)),
            _ => Err(InvalidClaim(name)),
        }
    }

    /// The values of `aud`, which is a text or an array of texts. `None` if it is neither.
    pub(crate) fn audience(&self) -> Option<Vec<&str>> {
        match self.get("aud")? {
            Value::String(one) => Some(vec![one.as_str()]),
            Value::Array(all) => all.iter().map(Value::as_str).collect(),
            _ => None,
        }
    }

    pub(crate) fn into_members(self) -> Map<String, Value> {
        self.0
    }
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claims(value: Value) -> Claims {
        Claims::new(value.as_object().unwrap().clone())
    }

    #[test]
    fn date_is_a_number_up_to_the_last_second() {
        let seconds = |value: Value| claims(json!({ "exp": value })).seconds("exp");
        assert_eq!(claims(json!({})).seconds("exp"), Ok(None));
        assert_eq!(seconds(json!(null)), Ok(None));
        assert_eq!(seconds(json!(1_700_000_000)), Ok(Some(1_700_000_000)));
        assert_eq!(seconds(json!(1_700_000_000.75)), Ok(Some(1_700_000_000)));
        for value in [json!(-1), json!(1e300), json!(u64::MAX), json!("1700000000"), json!([1])] {
            assert_eq!(seconds(value.clone()), Err(InvalidClaim("exp")), "{value}");
        }
    }

    #[test]
    fn audience_is_a_text_or_an_array_of_texts() {
        assert_eq!(claims(json!({ "aud": "a" })).audience(), Some(vec!["a"]));
        assert_eq!(claims(json!({ "aud": ["a", "b"] })).audience(), Some(vec!["a", "b"]));
        for value in [json!(1), json!(["a", 1]), json!(null), json!({ "a": 1 })] {
            assert_eq!(claims(json!({ "aud": value })).audience(), None);
        }
    }
}
