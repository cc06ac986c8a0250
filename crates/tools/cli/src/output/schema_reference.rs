//! Resolves references between the parts of one JSON Schema: `$ref` and `$dynamicRef`.

use std::collections::VecDeque;

use serde_json::{Map, Value};

/// The most steps of a pointer that are followed.
const DEPTH: usize = 32;

/// The most parts of a schema that are searched for an anchor or an id.
const PARTS: usize = 5000;

/// The reference that a schema consists of.
pub(crate) fn reference(schema: &Map<String, Value>) -> Option<&str> {
    ["$ref", "$dynamicRef"].iter().find_map(|name| schema.get(*name)?.as_str())
}

/// The schema to which a reference points. An id before `#` selects a part of this schema; the fragment is a JSON Pointer
/// (RFC 6901) or an anchor within it. Other documents are not fetched. A dynamic reference points to the anchor of this
/// document.
pub(crate) fn resolve<'a>(root: &'a Map<String, Value>, reference: &str) -> Option<&'a Value> {
    let (id, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let fragment = percent_decoded(fragment)?;
    let mut tokens = fragment.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
    let anchor = tokens.next()?;
    let start = match (id, &*anchor) {
        // The first step is into the whole schema, which is not a `Value` here.
        ("", "") => root.get(&tokens.next()?)?,
        ("", anchor) => part(root, |part| has_anchor(part, anchor))?,
        (id, anchor) => {
            let base = root.get("$id").and_then(Value::as_str).unwrap_or_default();
            let wanted = absolute(base, id);
            let has_id = |part: &Map<String, Value>| {
                part.get("$id").and_then(Value::as_str).is_some_and(|id| absolute(base, id) == wanted)
            };
            let document = part(root, has_id)?;
            match anchor {
                "" => document,
                anchor => part(document.as_object()?, |part| has_anchor(part, anchor))?,
            }
        }
    };
    tokens.take(DEPTH).try_fold(start, |found, token| match found {
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        other => other.get(&token),
    })
}

fn has_anchor(part: &Map<String, Value>, anchor: &str) -> bool {
    ["$anchor", "$dynamicAnchor"].iter().any(|name| part.get(*name).is_some_and(|value| value == anchor))
}

/// The nearest object below `root` for which a condition holds.
fn part(root: &Map<String, Value>, is_wanted: impl Fn(&Map<String, Value>) -> bool) -> Option<&Value> {
    let mut open: VecDeque<&Value> = root.values().collect();
    for _ in 0..PARTS {
        let value = open.pop_front()?;
        match value {
            Value::Object(part) if is_wanted(part) => return Some(value),
            Value::Object(part) => open.extend(part.values().take(PARTS)),
            Value::Array(elements) => open.extend(elements.iter().take(PARTS)),
            _ => {}
        }
    }
    None
}

/// Resolves an id against the base of the document. A relative id replaces the part of the base after its last slash.
fn absolute(base: &str, id: &str) -> String {
    match base.rfind('/') {
        Some(end) if !id.contains(':') => format!("{}/{id}", &base[..end]),
        _ => id.to_owned(),
    }
}

/// Decodes the percent-encoding of a URI. `None` if it is malformed.
fn percent_decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        (bytes, rest) = match (first, more) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
                bytes.push(byte);
                (bytes, after)
            }
            (b'%', _) => return None,
            (byte, after) => {
                bytes.push(*byte);
                (bytes, after)
            }
        };
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reference_is_followed_by_pointer_anchor_and_id() {
        let schema = json!({
            "$id": "https://a.example/root.json",
            "properties": { "a": { "type": "string" } },
            "$defs": {
                "x/y": { "type": "integer" },
                "p q": { "prefixItems": [{ "type": "boolean" }] },
                "named": { "$anchor": "anchor", "type": "number" },
                "dynamic": { "$dynamicAnchor": "node", "type": "object" },
                "sub": { "$id": "sub.json", "type": "array", "$defs": { "q": { "$anchor": "q", "type": "null" } } },
                "far": { "$id": "https://b.example/far.json", "$defs": { "z": { "type": "integer" } } },
            },
        });
        let rows = [
            ("#/properties/a", Some("string")),
            ("#/$defs/x~1y", Some("integer")),
            ("#/$defs/p%20q/prefixItems/0", Some("boolean")),
            ("#anchor", Some("number")),
            ("#node", Some("object")),
            ("sub.json", Some("array")),
            ("sub.json#/$defs/q", Some("null")),
            ("sub.json#q", Some("null")),
            ("https://a.example/sub.json#/$defs/q", Some("null")),
            ("https://b.example/far.json#/$defs/z", Some("integer")),
            ("#none", None),
            ("none.json#/$defs/q", None),
            ("#/$defs/%zz", None),
            ("", None),
        ];
        for (reference, expected) in rows {
            let found = resolve(schema.as_object().unwrap(), reference);
            assert_eq!(found.and_then(|found| found["type"].as_str()), expected, "{reference}");
        }
    }

    #[test]
    fn search_of_a_long_schema_ends() {
        let schema = json!({ "a": vec![json!({ "b": [1, 2, 3] }); 4 * PARTS], "b": { "$anchor": "late" } });
        assert!(resolve(schema.as_object().unwrap(), "#late").is_some());
        assert_eq!(resolve(schema.as_object().unwrap(), "#none"), None);
    }
}
