//! The fields that the published schemas give to what agents send, in `shapes-VERSION.txt`, and what differs from them.
//!
//! A line of these files is a type with its fields as `NAME[?]:TYPE`, or `@METHOD` with the types that it carries. The type
//! `=A,B` is one of these texts. `TYPE.VARIANT` has what a variant of a type demands beyond the type.

use std::collections::HashMap;

use serde_json::Value;

use crate::acp_messages::is_integer;
use crate::requirements::revision::Revision;

type Fields = HashMap<&'static str, (bool, &'static str)>;

/// The types of one version.
pub(in crate::acp_agent) struct Shapes {
    methods: HashMap<&'static str, Vec<&'static str>>,
    types: HashMap<&'static str, Fields>,
}

/// The differences from the schema.
#[derive(Debug, PartialEq)]
pub(in crate::acp_agent) enum Difference {
    /// A field that its type does not have.
    Unknown(String),
    /// A field of another type, or one that is missing.
    Malformed(String),
}

impl Shapes {
    pub(in crate::acp_agent) fn of(revision: Revision) -> Self {
        let text = if revision == Revision::Acp2 {
            include_str!("shapes-2.txt")
        } else {
            include_str!("shapes-1.txt")
        };
        let mut shapes = Self { methods: HashMap::new(), types: HashMap::new() };
        for line in text.lines() {
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            match name.strip_prefix('@') {
                Some(method) => {
                    shapes.methods.insert(method, words.collect());
                }
                None => {
                    shapes.types.insert(name, words.filter_map(field).collect());
                }
            }
        }
        shapes
    }

    /// Whether the specification has a method that an agent may send or answer.
    pub(in crate::acp_agent) fn has_method(&self, method: &str) -> bool {
        method == "$/cancel_request" || self.methods.contains_key(method)
    }

    /// The differences in the params of a method, or in its result.
    pub(in crate::acp_agent) fn differences(&self, method: &str, part: &Value) -> Vec<Difference> {
        let mut found = Vec::new();
        if let Some([name]) = self.methods.get(method).map(Vec::as_slice) {
            self.walk(part, name, method, &mut found);
        }
        found
    }

    /// The differences in an error object.
    pub(in crate::acp_agent) fn error(&self, error: &Value) -> Vec<Difference> {
        let mut found = Vec::new();
        self.walk(error, "Error", "error", &mut found);
        found
    }

    fn walk(&self, value: &Value, kinds: &str, path: &str, found: &mut Vec<Difference>) {
        let mut least: Option<Vec<Difference>> = None;
        for kind in kinds.split('|') {
            let mut differences = Vec::new();
            self.walk_as(value, kind, path, &mut differences);
            if least.as_ref().is_none_or(|least| differences.len() < least.len()) {
                least = Some(differences);
            }
        }
        found.extend(least.unwrap_or_default());
    }

    fn walk_as(&self, value: &Value, kind: &str, path: &str, found: &mut Vec<Difference>) {
        let fits = match kind {
            "any" => true,
            "string" => value.is_string(),
            "integer" => is_integer(value),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            "object" => value.is_object(),
            _ if kind.starts_with('=') => value.as_str().is_some_and(|text| is_one_of(text, &kind[1..])),
            _ => match kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']')) {
                Some(kind) => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.walk(item, kind, &format!("{path}[{index}]"), found);
                    }
                    value.is_array()
                }
                None => return self.walk_object(value, kind, path, found),
            },
        };
        if !fits {
            found.push(Difference::Malformed(format!("{path} is no {kind}: `{value}`")));
        }
    }

    fn walk_object(&self, value: &Value, kind: &str, path: &str, found: &mut Vec<Difference>) {
        let Some(object) = value.as_object() else {
            found.push(Difference::Malformed(format!("{path} is not an object: `{value}`")));
            return;
        };
        let tag = object.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default();
        let tagged = format!("{kind}.{tag}");
        let name = if kind == "SessionUpdate" { tagged.as_str() } else { kind };
        let variant =
            ["type", "mode", "action", "state", "operation"].into_iter().find_map(|tag| object.get(tag));
        let variant = variant.and_then(Value::as_str).unwrap_or_default();
        if variant.starts_with('_') || tag.starts_with('_') {
            // A variant of the agent's own has fields of its own.
            return;
        }
        let Some(fields) = self.types.get(name) else {
            found.push(Difference::Malformed(format!(
                "{path} is not a kind of {kind} that is known: `{tag}`"
            )));
            return;
        };
        for (key, value) in object.iter().filter(|(key, _)| *key != "_meta") {
            let path = format!("{path}.{key}");
            match fields.get(key.as_str()) {
                Some((_, kind)) => self.walk(value, kind, &path, found),
                None => found.push(Difference::Unknown(path)),
            }
        }
        for (key, (_, kind)) in self.types.get(format!("{kind}.{variant}").as_str()).into_iter().flatten() {
            match object.get(*key) {
                Some(value) => self.walk(value, kind, &format!("{path}.{key}"), found),
                None => found.push(Difference::Malformed(format!("{path} has no {key}: `{value}`"))),
            }
        }
        for (key, (required, _)) in fields {
            if *required && !object.contains_key(*key) {
                found.push(Difference::Malformed(format!("{path} has no {key}: `{value}`")));
            }
        }
    }
}

/// Whether a text is in a list. RPC-09 is about the spelling of the text.
fn is_one_of(text: &str, list: &str) -> bool {
    let is_spelled_otherwise =
        text.starts_with('_') || text.contains(|letter: char| letter.is_ascii_uppercase() || letter == '-');
    is_spelled_otherwise || list.split(',').any(|known| known == text)
}

fn field(word: &'static str) -> Option<(&'static str, (bool, &'static str))> {
    let (name, kind) = word.split_once(':')?;
    match name.strip_suffix('?') {
        Some(name) => Some((name, (false, kind))),
        None => Some((name, (true, kind))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_found() {
        let shapes = Shapes::of(Revision::Acp1);
        let update = |update: Value| {
            shapes.differences("session/update", &json!({"sessionId": "s", "update": update}))
        };
        let chunk = "agent_message_chunk";
        let fine =
            json!({"sessionUpdate": chunk, "content": {"type": "text", "text": "a", "_meta": {"b": 1}}});
        assert_eq!(update(fine), []);
        let unknown = json!({"sessionUpdate": chunk, "content": {"type": "text", "text": "a", "b": 1}});
        assert_eq!(update(unknown), [Difference::Unknown("session/update.update.content.b".into())]);
        for malformed in [
            json!({"sessionUpdate": chunk}),
            json!({"sessionUpdate": chunk, "content": "a"}),
            json!({"sessionUpdate": "other"}),
            json!({"sessionUpdate": "usage_update", "used": "1", "size": 2}),
            json!({"sessionUpdate": chunk, "content": {"type": "text"}}),
            json!({"sessionUpdate": chunk, "content": {"type": "resource", "resource": {"uri": "a:b"}}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "running"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "content": [{"type": "diff", "path": "/a"}]}),
        ] {
            assert!(matches!(&*update(malformed), [Difference::Malformed(_)]));
        }
        assert_eq!(update(json!({"sessionUpdate": "_own", "b": 1})), []);
        assert_eq!(update(json!({"sessionUpdate": "usage_update", "used": 53000.0, "size": 2})), []);
        assert_eq!(
            update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "a", "status": null})),
            []
        );
    }
}
