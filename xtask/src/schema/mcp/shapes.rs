//! Members whose published shape is not that of their type in every revision.

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::Revision::{V2025_06_18, V2025_11_25, V2026_07_28};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::project::{Projection, any_object, bare};

/// What the revision publishes for a member, if that is an exception to what its type says. None inside: it has no such
/// member.
///
/// # Errors
///
/// When the type does not say what the exception is made for.
pub(super) fn exception(
    projection: &Projection,
    owner: &str,
    member: &str,
    said: &Value,
) -> Result<Option<Option<Value>>> {
    let revision = projection.revision;
    let shape = match (owner, member) {
        // What a tool answers to programs was an object before it could be anything.
        ("CallToolResult" | "ToolResultContent", "structuredContent") if revision < V2026_07_28 => {
            instead_of(&json!({}), said, any_object())?
        }
        ("Tool", "inputSchema") => instead_of(&any_object(), said, tool_schema(revision, true))?,
        ("Tool", "outputSchema") => {
            instead_of(&any_object(), said, tool_schema(revision, revision < V2026_07_28))?
        }
        // A form had no choice of several values before.
        ("ElicitResult", "content") if revision < V2025_11_25 => {
            let mut values = said.clone();
            let value = values.get_mut("additionalProperties").context("it is a map")?;
            *value = without_list(value)?;
            values
        }
        ("SamplingMessage" | "CreateMessageResult", "content") if revision < V2025_11_25 => {
            without_list(said)?
        }
        ("ElicitFormRequest", "mode") | ("LegacyTitledEnumSchema", "default") if revision < V2025_11_25 => {
            return Ok(Some(None));
        }
        // The limit was only in words before.
        ("Completion", "values") if revision < V2026_07_28 => {
            let mut values = said.clone();
            let limit = values.as_object_mut().and_then(|keywords| keywords.remove("maxItems"));
            limit.context("it has a limit")?;
            values
        }
        // That it is any object has been seen.
        ("SubscriptionsListenResult", "_meta") => projection.to("SubscriptionsListenResultMetaObject"),
        _ => return Ok(None),
    };
    Ok(Some(Some(shape)))
}

/// Another schema, if the type says what is expected of it.
fn instead_of(expected: &Value, said: &Value, other: Value) -> Result<Value> {
    let said = bare(said);
    ensure!(said == *expected, "its type says {said}, and not {expected}");
    Ok(other)
}

/// Of one or a list of them: one.
fn without_list(said: &Value) -> Result<Value> {
    let mut kinds = said["anyOf"].as_array().context("it is one of several types")?.clone();
    let list = kinds.iter().position(|kind| kind["type"] == "array").context("it may be a list")?;
    kinds.remove(list);
    Ok(if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) })
}

/// Whether a spelling of a field for one of several values is younger than the revision.
pub(super) fn is_later_spelling(owner: &str, spelling: &str, revision: Revision) -> bool {
    owner == "SingleSelectSchema" && spelling != "LegacyTitledEnumSchema" && revision < V2025_11_25
}

/// What is published of a JSON Schema inside of a tool.
fn tool_schema(revision: Revision, is_object: bool) -> Value {
    let mut schema = json!({ "type": "object", "properties": {} });
    if revision < V2026_07_28 {
        schema["properties"]["properties"] =
            json!({ "type": "object", "additionalProperties": { "type": "object" } });
        schema["properties"]["required"] = json!({ "type": "array", "items": { "type": "string" } });
    }
    if revision > V2025_06_18 {
        schema["properties"]["$schema"] = json!({ "type": "string" });
    }
    if is_object {
        schema["properties"]["type"] = json!({ "type": "string", "const": "object" });
        schema["required"] = json!(["type"]);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exception(owner: &str, member: &str, said: Value) -> Result<Option<Option<Value>>> {
        super::exception(&Projection::new(V2025_06_18).unwrap(), owner, member, &said)
    }

    #[test]
    fn what_is_replaced_must_be_what_is_expected() {
        let text = || json!({ "type": "string" });
        for member in ["inputSchema", "outputSchema"] {
            assert!(exception("Tool", member, any_object()).unwrap().is_some());
            assert!(exception("Tool", member, text()).is_err());
        }
        assert!(exception("CallToolResult", "structuredContent", json!({ "description": "any" })).is_ok());
        assert!(exception("CallToolResult", "structuredContent", text()).is_err());
        for (owner, member) in
            [("ElicitResult", "content"), ("SamplingMessage", "content"), ("Completion", "values")]
        {
            assert!(exception(owner, member, text()).is_err(), "{owner}");
        }
        let numbers = json!({ "type": "array", "items": { "type": "number" }, "maxItems": 100 });
        let shape = exception("Completion", "values", numbers).unwrap().unwrap().unwrap();
        assert_eq!(shape["items"]["type"], "number", "the rest is what the type says");
    }
}
