//! A generated document, and what it refers to.

use std::collections::BTreeSet;

use serde_json::Value;

/// The schema of one protocol version, generated from our types.
#[derive(Debug, Clone)]
pub(super) struct ProtocolSchema {
    /// `acp` or `mcp`: the folder below `docs/schema/`.
    pub(super) protocol: &'static str,
    /// The file's name without its ending: `v1-unstable`, `2025-06-18`.
    pub(super) version: String,
    /// The JSON Schema document, with its definitions under `$defs`, or under `definitions` where the version does so.
    pub(super) document: Value,
    /// The method table: `{"protocol", "version", "methods": [{"method", "kind": "request" | "notification",
    /// "from": "client" | "agent" | "server" | "both" | "proxy", "params", "result", "gate"}]}`. `params` and `result` name
    /// definitions; a member that does not apply is left out.
    pub(super) meta: Value,
}

impl ProtocolSchema {
    /// The definitions of the document.
    pub(super) fn definitions(&self) -> impl Iterator<Item = (&String, &Value)> {
        definitions(&self.document)
    }

    pub(super) fn definition(&self, name: &str) -> Option<&Value> {
        ["$defs", "definitions"].iter().find_map(|key| self.document.get(key)?.get(name))
    }
}

/// The definitions of a document, under either keyword.
pub(super) fn definitions(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    ["$defs", "definitions"].iter().filter_map(|key| document.get(key)?.as_object()).flatten()
}

/// The name of the definition that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The names of all definitions that a schema refers to, anywhere within it.
pub(super) fn references(schema: &Value) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    walk(schema, &mut |keyword, value| {
        let target = value.as_str().filter(|_| keyword == "$ref");
        names.extend(target.and_then(|target| target.rsplit('/').next()));
    });
    names
}

/// Calls `visit` with the name and the value of each member of each object.
pub(super) fn walk<'a>(value: &'a Value, visit: &mut dyn FnMut(&'a str, &'a Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                visit(name, member);
                walk(member, visit);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, visit)),
        _ => {}
    }
}
