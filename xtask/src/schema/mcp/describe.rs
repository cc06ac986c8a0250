//! Descriptions where no doc comment gives one: of definitions that several types share, and of messages.
//!
//! `descriptions.json` has those of definitions that no type has alone, and those of members that mean the same everywhere.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

const DESCRIPTIONS: &str = include_str!("descriptions.json");

/// Adds the missing descriptions to the definitions and to their members.
pub(super) fn fill_in(definitions: &mut Map<String, Value>) -> Result<()> {
    let texts: Value = serde_json::from_str(DESCRIPTIONS).context("descriptions.json")?;
    for (name, definition) in definitions {
        let Some(keywords) = definition.as_object_mut() else { continue };
        if let Some(Value::Object(members)) = keywords.get_mut("properties") {
            describe(members, &texts["members"]);
        }
        let text = texts["definitions"].get(name).cloned();
        if let Some(text) = text {
            keywords.insert("description".to_owned(), text);
        } else if !keywords.contains_key("description")
            && let Some(text) = message(name, keywords)
        {
            keywords.insert("description".to_owned(), text.into());
        }
    }
    Ok(())
}

fn describe(members: &mut Map<String, Value>, texts: &Value) {
    for (name, member) in members.iter_mut() {
        if let (Value::Object(member), Some(text)) = (member, texts.get(name)) {
            member.entry("description").or_insert_with(|| text.clone());
        }
    }
    let form = members.get_mut("requestedSchema").and_then(|form| form["properties"].as_object_mut());
    if let Some(Value::Object(kind)) = form.and_then(|members| members.get_mut("type")) {
        kind.insert("description".to_owned(), "A form is an object.".into());
    }
}

/// The description of a message, by its method or by its result.
fn message(name: &str, keywords: &Map<String, Value>) -> Option<String> {
    let members = keywords.get("properties")?;
    if let Some(method) = members["method"]["const"].as_str() {
        let kind = if method.starts_with("notifications/") { "notification" } else { "request" };
        return Some(format!("The {kind} `{method}`."));
    }
    if let Some(result) = name.strip_suffix("Response").filter(|_| members.get("result").is_some()) {
        return Some(format!("The answer with a `{result}`."));
    }
    Some(format!(
        "An answer with the error {}.",
        members["error"]["allOf"][1]["properties"]["code"]["const"].as_i64()?
    ))
}
