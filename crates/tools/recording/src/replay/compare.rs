//! Compares a message of the live side with the recorded one.

use serde_json::Value;

use crate::json_text::{Step, pointer};
use crate::pieces::occur_in_order;
use crate::replay::values::Values;
use crate::replay::volatile::{VolatileKind, VolatileTable};

/// A place where two messages differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) pointer: String,
    pub(super) recorded: Option<Value>,
    pub(super) seen: Option<Value>,
}

/// Compares values and collects the places where they differ, and the live values of volatile members.
pub(super) struct Comparison<'a> {
    pub(super) table: &'a VolatileTable,
    pub(super) values: &'a Values,
    pub(super) places: Vec<Place>,
    /// Recorded scalars and their live values, as JSON text.
    pub(super) learned: Vec<(String, String)>,
    path: Vec<Step>,
}

impl<'a> Comparison<'a> {
    /// Compares two messages without their envelopes (`jsonrpc`, `id`).
    pub(super) fn of(table: &'a VolatileTable, values: &'a Values, recorded: &Value, seen: &Value) -> Self {
        let mut comparison =
            Self { table, values, places: Vec::new(), learned: Vec::new(), path: Vec::new() };
        for name in ["method", "params", "result", "error"] {
            comparison.member(name, recorded.get(name), seen.get(name));
        }
        comparison
    }

    fn member(&mut self, name: &str, recorded: Option<&Value>, seen: Option<&Value>) {
        self.path.push(Step::Member(name.to_owned()));
        self.optional(recorded, seen);
        self.path.pop();
    }

    fn optional(&mut self, recorded: Option<&Value>, seen: Option<&Value>) {
        match (recorded, seen) {
            (Some(recorded), Some(seen)) => self.value(recorded, seen),
            (None, None) => {}
            _ if self.table.is_ignored(&self.path) => {}
            _ => self.differ(recorded, seen),
        }
    }

    fn value(&mut self, recorded: &Value, seen: &Value) {
        if self.table.is_ignored(&self.path) {
            return;
        }
        match (recorded, seen) {
            (Value::Object(recorded), Value::Object(seen)) => {
                for (name, value) in recorded {
                    // A masked name is compared as it is, and so differs from the live one.
                    self.member(name, Some(value), seen.get(name));
                }
                for (name, value) in seen.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
                    self.member(name, None, Some(value));
                }
            }
            (Value::Array(recorded), Value::Array(seen)) => {
                for index in 0..recorded.len().max(seen.len()) {
                    self.path.push(Step::Index(index));
                    self.optional(recorded.get(index), seen.get(index));
                    self.path.pop();
                }
            }
            _ => self.scalar(recorded, seen),
        }
    }

    fn scalar(&mut self, recorded: &Value, seen: &Value) {
        if is_masked(recorded) && matches_masked(recorded, seen) {
            self.learn_mask(recorded, seen);
            return;
        }
        let same_type = std::mem::discriminant(recorded) == std::mem::discriminant(seen);
        // An id may be a number in one program and a string in another.
        let both_ids = [recorded, seen].iter().all(|value| value.is_string() || value.is_number());
        match self.table.kind(&self.path) {
            Some(VolatileKind::Any) if same_type => {}
            Some(VolatileKind::Token) if both_ids => self.learn(recorded, seen),
            Some(VolatileKind::Identity) if both_ids => {
                let known = self.known(recorded);
                let live = seen.to_string();
                if known.is_some_and(|known| known != live) {
                    self.differ(Some(recorded), Some(seen));
                } else {
                    self.learn(recorded, seen);
                }
            }
            _ if recorded == seen || self.is_substituted(recorded, seen) => {}
            _ => self.differ(Some(recorded), Some(seen)),
        }
    }

    fn known(&self, recorded: &Value) -> Option<String> {
        let text = recorded.to_string();
        let learned = self.learned.iter().rev().find(|(key, _)| *key == text).map(|(_, live)| live.clone());
        learned.or_else(|| self.values.get(&text).map(str::to_owned))
    }

    fn learn(&mut self, recorded: &Value, seen: &Value) {
        self.learned.push((recorded.to_string(), seen.to_string()));
    }

    /// Learns the live value in the place of a whole mask. Messages to send contain it.
    fn learn_mask(&mut self, recorded: &Value, seen: &Value) {
        if recorded.as_str().is_some_and(is_whole_mask) {
            self.learn(recorded, seen);
        }
    }

    /// Whether the live value equals the recorded one after substitution.
    fn is_substituted(&self, recorded: &Value, seen: &Value) -> bool {
        let [recorded, seen] = [recorded, seen].map(ToString::to_string);
        self.values.substitute(&recorded, None, self.table) == seen
    }

    fn differ(&mut self, recorded: Option<&Value>, seen: Option<&Value>) {
        let place = Place { pointer: pointer(&self.path), recorded: recorded.cloned(), seen: seen.cloned() };
        self.places.push(place);
    }
}

fn is_masked(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains('«') && text.contains('»'))
}

fn is_whole_mask(text: &str) -> bool {
    text.starts_with('«') && text.ends_with('»') && text.matches('«').count() == 1
}

/// Whether a live value fits a recorded text with masks: the texts between the masks occur in order. A whole mask fits any value.
fn matches_masked(recorded: &Value, seen: &Value) -> bool {
    let Some(recorded) = recorded.as_str() else { return false };
    if is_whole_mask(recorded) {
        return true;
    }
    let Some(seen) = seen.as_str() else { return false };
    let (mut pieces, mut rest) = (Vec::new(), recorded);
    while let Some((fixed, after)) = split_at_mask(rest) {
        pieces.push(fixed);
        rest = after;
    }
    pieces.push(rest);
    occur_in_order(&pieces, seen)
}

/// The text before the first mask, and the text behind it.
fn split_at_mask(text: &str) -> Option<(&str, &str)> {
    let (fixed, mask) = text.split_once('«')?;
    mask.split_once('»').map(|(_, after)| (fixed, after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(recorded: Value, seen: Value) -> Vec<String> {
        let table = VolatileTable::new(&["/params/time".into()]);
        let values = Values::default();
        let message = |params: Value| json!({"method": "m", "params": params});
        let comparison = Comparison::of(&table, &values, &message(recorded), &message(seen));
        comparison.places.into_iter().map(|place| place.pointer).collect()
    }

    #[test]
    fn differences_have_pointers() {
        assert_eq!(places(json!({"a": 1, "b": [1, 2]}), json!({"a": 1, "b": [1, 2]})), [""; 0]);
        assert_eq!(
            places(json!({"a": 1, "b": [1, 2], "c": {}}), json!({"a": 2, "b": [1], "d/": 1, "c": []})),
            ["/params/a", "/params/b/1", "/params/c", "/params/d~1"]
        );
        assert_eq!(places(json!({"time": 1}), json!({})), [""; 0]);
    }

    #[test]
    fn volatile_members_may_differ_but_not_in_their_type_or_their_identity() {
        let ids = |one: &str, two: &str| json!({"sessionId": one, "a": {"sessionId": two}});
        assert_eq!(places(ids("x", "x"), ids("y", "y")), [""; 0]);
        assert_eq!(places(ids("x", "x"), ids("y", "x")).len(), 1);
        assert_eq!(places(json!({"sessionId": "x"}), json!({"sessionId": null})), ["/params/sessionId"]);
        assert_eq!(places(json!({"cursor": "x"}), json!({"cursor": 7})), [""; 0]);
        assert_eq!(places(json!({"updatedAt": "x"}), json!({"updatedAt": 7})), ["/params/updatedAt"]);
    }

    #[test]
    fn masks_match_any_text_in_their_place() {
        let fits = |recorded: &str, seen: Value| matches_masked(&json!(recorded), &seen);
        assert!(fits("«secret 1»", json!(7)) && fits("«home»/a", json!("/home/x/a")));
        assert!(fits("Bearer «secret 1»!", json!("Bearer abc!")) && fits("«a»-«b»", json!("x-y")));
        assert!(
            !fits("«home»/a", json!("/home/x/b")) && !fits("x «a»", json!("y z")) && !fits("a«b»", json!(1))
        );
    }
}
