//! Merges the schema documents of several revisions into one.

use std::io;

use serde_json::{Map, Value, json};

use crate::Document;

/// One document that allows what any of several revisions allows, for types that speak them all at once.
///
/// A member is required where all that have the definition require it, and may be what any of them allows.
/// The params inside a request in one revision have a name of their own in another.
///
/// # Errors
///
/// When the outcome is not a schema, which would be a fault of this function.
pub fn superset(name: &str, documents: &[&Document]) -> io::Result<Document> {
    let mut definitions: Map<String, Value> = Map::new();
    let names: Vec<_> = documents.iter().flat_map(|document| document.names()).collect();
    let params = names.iter().map(|name| format!("{name}Params"));
    let all: Vec<String> = names.iter().map(|name| (*name).to_owned()).chain(params).collect();
    for name in all {
        if definitions.contains_key(&name) {
            continue;
        }
        let found = documents.iter().filter_map(|document| document.schema(&document.pointer(&name)?));
        let merged = found.cloned().map(modern).reduce(|left, right| merge(&left, &right));
        definitions.extend(merged.map(|schema| (name, schema)));
    }
    let schema = "https://json-schema.org/draft/2020-12/schema";
    Document::new(name, json!({ "$schema": schema, "$defs": definitions }))
}

/// References as the newest draft of JSON Schema has them; no prose.
fn modern(schema: Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let modern_one = |(name, value): (String, Value)| match (name.as_str(), value) {
                ("$ref", Value::String(pointer)) => {
                    (name, pointer.replace("/definitions/", "/$defs/").into())
                }
                (_, value) => (name, modern(value)),
            };
            let kept =
                keywords.into_iter().filter(|(name, value)| name != "description" || !value.is_string());
            kept.map(modern_one).collect()
        }
        Value::Array(items) => items.into_iter().map(modern).collect(),
        other => other,
    }
}

fn merge(left: &Value, right: &Value) -> Value {
    if left == right {
        return left.clone();
    }
    let is_object = |schema: &Value| schema["type"] == "object" && schema.get("anyOf").is_none();
    if is_object(left) && is_object(right) && left.get("allOf") == right.get("allOf") {
        return merge_objects(left, right);
    }
    let is_list = |schema: &Value| schema["type"] == "array" && schema["items"].is_object();
    if is_list(left) && is_list(right) {
        let mut merged = right.clone();
        merged["items"] = merge(&left["items"], &right["items"]);
        return merged;
    }
    // What one revision names and another spells out is read as what has the name.
    let is_ref = |schema: &Value| schema.get("$ref").is_some();
    let is_union = |schema: &Value| schema["anyOf"].as_array().is_some();
    let has_names = |schema: &Value| schema["anyOf"].as_array().is_some_and(|all| all.iter().all(is_ref));
    for (named, other) in [(left, right), (right, left)] {
        if is_ref(named) && (is_object(other) || is_union(other)) || has_names(named) && is_object(other) {
            return named.clone();
        }
    }
    let mut branches: Vec<Value> = Vec::new();
    for schema in [left, right] {
        let is_union = schema.as_object().is_some_and(|schema| schema.keys().all(|name| name == "anyOf"));
        let merged = schema["anyOf"].as_array().filter(|_| is_union).cloned();
        for branch in merged.unwrap_or_else(|| vec![schema.clone()]) {
            // What can be joined is joined, so that one value may use what two revisions have.
            let same = branches.iter().position(|other| is_object(other) && is_object(&branch));
            match same {
                Some(at) if branches[at] != branch => branches[at] = merge(&branches[at], &branch),
                Some(_) => {}
                None if branches.contains(&branch) => {}
                None => branches.push(branch),
            }
        }
    }
    json!({ "anyOf": branches })
}

fn merge_objects(left: &Value, right: &Value) -> Value {
    let mut merged = left.clone();
    for (name, schema) in right["properties"].as_object().into_iter().flatten() {
        let known = left["properties"].get(name);
        merged["properties"][name] = known.map_or_else(|| schema.clone(), |known| merge(known, schema));
    }
    let required = |schema: &Value| schema["required"].as_array().cloned().unwrap_or_default();
    let both: Vec<_> = required(left).into_iter().filter(|name| required(right).contains(name)).collect();
    merged["required"] = both.into();
    if let Some(additional) = right.get("additionalProperties") {
        merged["additionalProperties"] = additional.clone();
    }
    merged
}
