//! Members whose published shape differs from their type in some revisions.

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::Revision::{V2025_06_18, V2025_11_25, V2026_07_28};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::format::{Format, any_object, bare};

/// The published shape of a member, if the revision has an exception for it. The inner value is `None` if the revision has
/// no such member.
///
/// # Errors
///
/// When the shape of the type is not the one that the exception expects.
pub(super) fn exception(
    revision: Revision,
    owner: &str,
    member: &str,
    shape: &Value,
) -> Result<Option<Option<Value>>> {
    let shape = match (owner, member) {
        // Structured content was an object before it could be any JSON.
        ("CallToolResult" | "ToolResultContent", "structuredContent") if revision < V2026_07_28 => {
            instead_of(&json!({}), shape, any_object())?
        }
        ("Tool", "inputSchema") => instead_of(&any_object(), shape, tool_schema(revision, true))?,
        ("Tool", "outputSchema") => {
            instead_of(&any_object(), shape, tool_schema(revision, revision < V2026_07_28))?
        }
        // A form could not have several values before.
        ("ElicitResult", "content") if revision < V2025_11_25 => {
            let mut values = shape.clone();
            let value = values.get_mut("additionalProperties").context("it is a map")?;
            *value = without_list(value)?;
            values
        }
        ("SamplingMessage" | "CreateMessageResult", "content") if revision < V2025_11_25 => {
            without_list(shape)?
        }
        ("ElicitFormRequest", "mode") | ("LegacyTitledEnumSchema", "default") if revision < V2025_11_25 => {
            return Ok(Some(None));
        }
        // The limit was only in the prose before.
        ("Completion", "values") if revision < V2026_07_28 => {
            let mut values = shape.clone();
            let limit = values.as_object_mut().and_then(|keywords| keywords.remove("maxItems"));
            limit.context("it has a limit")?;
            values
        }
        // The caller has checked that it is any object.
        ("SubscriptionsListenResult", "_meta") => {
            Format::of(revision).reference("SubscriptionsListenResultMetaObject")
        }
        _ => return Ok(None),
    };
    Ok(Some(Some(shape)))
}

/// Another schema, if the type has the expected one.
fn instead_of(expected: &Value, shape: &Value, other: Value) -> Result<Value> {
    let shape = bare(shape);
    ensure!(shape == *expected, "its type has {shape} instead of {expected}");
    Ok(other)
}

/// The same without the alternative that is a list.
fn without_list(shape: &Value) -> Result<Value> {
    let mut kinds = shape["anyOf"].as_array().context("it is one of several types")?.clone();
    let list = kinds.iter().position(|kind| kind["type"] == "array").context("it may be a list")?;
    kinds.remove(list);
    Ok(if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) })
}

/// Whether a variant of a single-choice field was added after the revision.
pub(super) fn is_later_spelling(owner: &str, spelling: &str, revision: Revision) -> bool {
    owner == "SingleSelectSchema" && spelling != "LegacyTitledEnumSchema" && revision < V2025_11_25
}

/// The published schema of a tool's JSON Schema.
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

    fn exception(owner: &str, member: &str, shape: Value) -> Result<Option<Option<Value>>> {
        super::exception(V2025_06_18, owner, member, &shape)
    }

    #[test]
    fn an_exception_expects_a_shape() {
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
        assert_eq!(shape["items"]["type"], "number", "the rest is the type's");
    }
}
