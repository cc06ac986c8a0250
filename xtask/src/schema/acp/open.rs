//! Sets that may grow. Nearly all our types keep unknown values, and their schemas have `x-open`. The published schemas
//! allow unknown values in some places, by an explicit alternative.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

/// The definitions that version 1 publishes as open. Version 2 publishes all open ones.
const OPEN_IN_1: [&str; 14] = [
    "AuthState",
    "CompactionStatus",
    "CreateElicitationRequest",
    "CreateElicitationResponse",
    "ElicitationPropertySchema",
    "IdleStateUpdate",
    "LlmProtocol",
    "MultiSelectItems",
    "NoticeSeverity",
    "SessionArchiveFilter",
    "SessionConfigOptionCategory",
    "SessionStatus",
    "StateUpdate",
    "SystemPromptMode",
];

/// Replaces `x-open` in a definition by an explicit alternative, or removes it where the version does not publish it.
pub(super) fn project(name: &str, schema: &mut Value, version: u32) {
    match schema {
        Value::Object(members) => {
            if let Some(open) = members.remove("x-open")
                && (version > 1 || OPEN_IN_1.contains(&name))
            {
                add_alternative(members, &open);
            }
            members.values_mut().for_each(|value| project(name, value, version));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| project(name, item, version)),
        _ => {}
    }
}

/// Adds the alternative for unlisted values; `open` has the names and types of its required members.
fn add_alternative(members: &mut Map<String, Value>, open: &Value) {
    let key = if members.contains_key("oneOf") { "oneOf" } else { "anyOf" };
    let Some(Value::Array(mut alternatives)) = members.remove(key) else { return };
    if alternatives.iter().all(|alternative| alternative["const"].is_string()) {
        let description = "A word that is not listed here.";
        alternatives.push(json!({ "title": "other", "description": description, "type": "string" }));
    } else if let Some(tag) = alternatives.iter().find_map(tag) {
        let tag = tag.to_owned();
        alternatives.push(other(&tag, open, &alternatives));
    }
    // Not `oneOf`: a listed value is a string too.
    members.insert("anyOf".to_owned(), Value::Array(alternatives));
}

/// The member whose constant distinguishes an alternative.
fn tag(alternative: &Value) -> Option<&str> {
    let properties = alternative["properties"].as_object()?;
    properties.iter().find_map(|(name, schema)| schema["const"].is_string().then_some(name.as_str()))
}

fn other(tag: &str, open: &Value, alternatives: &[Value]) -> Value {
    let words = alternatives.iter().map(|alternative| &alternative["properties"][tag]["const"]);
    let known = words.filter(|word| word.is_string());
    let known: Vec<Value> = known
        .map(|word| {
            let properties = json!({ tag: { "type": "string", "const": word } });
            json!({ "type": "object", "properties": properties, "required": [tag] })
        })
        .collect();
    let mut properties = open.as_object().cloned().unwrap_or_default();
    let required: Vec<String> = std::iter::once(tag.to_owned()).chain(properties.keys().cloned()).collect();
    properties.insert(tag.to_owned(), json!({ "type": "string" }));
    json!({
        "title": "other",
        "description": "Anything under a tag that is not listed here.",
        "type": "object",
        "properties": properties,
        "required": required,
        "not": { "anyOf": known },
        "additionalProperties": true,
    })
}

/// Adds to an elicitation in an unknown mode the members that name its target, as a form has them.
pub(super) fn fill_in(definitions: &mut Map<String, Value>) -> Result<()> {
    let form = definitions.get("ElicitationFormMode").and_then(|form| form.get("anyOf")).cloned();
    let Some(other) = other_of(definitions, "CreateElicitationRequest").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    other.insert("anyOf".to_owned(), form.context("a form is for one of several")?);
    other.remove("additionalProperties");
    other.insert("unevaluatedProperties".to_owned(), true.into());
    Ok(())
}

fn other_of<'a>(definitions: &'a mut Map<String, Value>, union: &str) -> Option<&'a mut Value> {
    let alternatives = definitions.get_mut(union)?.get_mut("anyOf")?.as_array_mut()?;
    alternatives.iter_mut().find(|alternative| alternative["title"] == "other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unlisted_variant_has_the_members_that_its_type_names() {
        let listed = json!({ "properties": { "type": { "const": "a" } }, "required": ["type"] });
        let mut union = json!({ "oneOf": [listed], "x-open": { "name": { "type": "string" } } });
        project("Any", &mut union, 2);
        let other = &union["anyOf"][1];
        assert_eq!(other["properties"]["name"], json!({ "type": "string" }));
        assert_eq!(other["required"], json!(["type", "name"]));
    }
}
