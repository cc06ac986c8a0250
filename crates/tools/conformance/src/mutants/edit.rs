//! Edits of JSON at a pointer.

use serde_json::{Map, Value};

/// Puts a value at a pointer. Objects on the way that are missing are added.
pub(super) fn insert(message: &mut Value, at: &str, value: Value) {
    let mut place = message;
    for name in names(at) {
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let next = match place {
            Value::Object(members) => Some(members.entry(name).or_insert(Value::Null)),
            Value::Array(items) => name.parse().ok().and_then(|at: usize| items.get_mut(at)),
            _ => None,
        };
        let Some(next) = next else { return };
        place = next;
    }
    *place = value;
}

/// Removes the member or the item at a pointer.
pub(super) fn remove(message: &mut Value, at: &str) {
    let Some((parent, _)) = at.rsplit_once('/') else { return };
    let name = names(at).last().unwrap_or_default();
    match message.pointer_mut(parent) {
        Some(Value::Object(members)) => {
            members.remove(&name);
        }
        Some(Value::Array(items)) => {
            if let Some(at) = name.parse().ok().filter(|at| *at < items.len()) {
                items.remove(at);
            }
        }
        _ => {}
    }
}

/// A value with null in place of the text `{null}`, and with a member of a message in place of a text such as `{/id}`.
pub(super) fn filled(value: &Value, message: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some("null") => Value::Null,
            Some(at) if at.starts_with('/') => message.pointer(at).cloned().unwrap_or_default(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, message)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), filled(value, message))).collect()
        }
        _ => value.clone(),
    }
}

/// The names in a pointer.
fn names(at: &str) -> impl Iterator<Item = String> {
    at.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edits_reach_members_and_items() {
        let mut message = json!({"a": [1, {"b": 2}]});
        insert(&mut message, "/a/1/b", json!(3));
        insert(&mut message, "/c/d~1e", Value::Null);
        insert(&mut message, "/a/7", json!(0));
        remove(&mut message, "/a/0");
        remove(&mut message, "/x/y");
        assert_eq!(message, json!({"a": [{"b": 3}], "c": {"d/e": null}}));
        let filled = filled(&json!(["{null}", "{/a/0/b}", "{a}"]), &message);
        assert_eq!(filled, json!([null, 3, "{a}"]));
    }
}
