//! Published definitions without a type of ours: they have the common members of several types.

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::Revision::{V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};
use agentwire_mcp_schema::schema::Role;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::format::any_object;
use super::project::Projection;

/// The definitions of the revision.
pub(super) fn definitions(projection: &Projection) -> Result<Map<String, Value>> {
    let revision = projection.revision;
    let mut definitions = Map::new();
    let mut add = |name: &str, schema: Value| definitions.insert(name.to_owned(), schema);

    add("Result", open(projection.of_type("EmptyResult", Role::Result)?));
    add("EmptyResult", projection.to("Result"));
    add(
        "PaginatedResult",
        part(projection, "ListToolsResult", &["_meta", "resultType", "nextCursor"], Role::Result)?,
    );
    add(
        "ResourceContents",
        part(projection, "TextResourceContents", &["_meta", "uri", "mimeType"], Role::Plain)?,
    );
    if revision == V2024_11_05 {
        let annotations = projection.of_type("Annotations", Role::Plain)?;
        add("Annotated", json!({ "type": "object", "properties": { "annotations": annotations } }));
    }
    if revision >= V2025_06_18 {
        add("BaseMetadata", part(projection, "Resource", &["name", "title"], Role::Plain)?);
    }
    if revision >= V2025_11_25 {
        add("Icons", part(projection, "Resource", &["icons"], Role::Plain)?);
        add("SingleSelectEnumSchema", union(projection, &SINGLE[..2]));
        add("MultiSelectEnumSchema", union(projection, &MULTI));
        add("EnumSchema", union(projection, &[&SINGLE[..2], &MULTI, &SINGLE[2..]].concat()));
    }
    if revision == V2025_11_25 {
        core_tasks(projection, &mut definitions)?;
    }
    if revision >= V2026_07_28 {
        modern(projection, &mut definitions)?;
    }
    Ok(definitions)
}

const SINGLE: [&str; 3] =
    ["UntitledSingleSelectEnumSchema", "TitledSingleSelectEnumSchema", "LegacyTitledEnumSchema"];
const MULTI: [&str; 2] = ["UntitledMultiSelectEnumSchema", "TitledMultiSelectEnumSchema"];

fn core_tasks(projection: &Projection, definitions: &mut Map<String, Value>) -> Result<()> {
    definitions.insert(
        "TaskAugmentedRequestParams".to_owned(),
        part(projection, "CallToolRequest", &["_meta", "task"], Role::Params)?,
    );
    definitions
        .insert("GetTaskPayloadResult".to_owned(), open(projection.of_type("EmptyResult", Role::Result)?));
    for (name, base) in [
        ("GetTaskResult", "Result"),
        ("CancelTaskResult", "Result"),
        ("TaskStatusNotificationParams", "NotificationParams"),
    ] {
        definitions.insert(name.to_owned(), json!({ "allOf": [projection.to(base), projection.to("Task")] }));
    }
    Ok(())
}

fn modern(projection: &Projection, definitions: &mut Map<String, Value>) -> Result<()> {
    let json_value = projection.to("JSONValue");
    let values = json!({ "type": "array", "items": json_value });
    let mut add = |name: &str, schema: Value| definitions.insert(name.to_owned(), schema);
    add("MetaObject", json!({ "type": "object" }));
    add("JSONObject", json!({ "type": "object", "additionalProperties": json_value }));
    add("JSONArray", values.clone());
    add(
        "JSONValue",
        json!({ "anyOf": [projection.to("JSONObject"), values, { "type": ["string", "integer", "boolean"] }] }),
    );
    let cacheable = ["_meta", "resultType", "ttlMs", "cacheScope"];
    add("CacheableResult", part(projection, "ListToolsResult", &cacheable, Role::Result)?);
    let answering = ["_meta", "inputResponses", "requestState"];
    add("InputResponseRequestParams", part(projection, "CallToolRequest", &answering, Role::Params)?);
    Ok(())
}

/// An object with some of the members of a type.
fn part(projection: &Projection, type_name: &str, members: &[&str], role: Role) -> Result<Value> {
    let mut schema = projection.of_type(type_name, role)?;
    let keywords = schema.as_object_mut().context("a type with members is an object")?;
    keywords.remove("description");
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        properties.retain(|name, _| members.contains(&name.as_str()));
    }
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| members.contains(&name)));
        if required.is_empty() {
            keywords.remove("required");
        }
    }
    Ok(schema)
}

/// The same object, with any additional members.
fn open(mut schema: Value) -> Value {
    schema["additionalProperties"] = json!({});
    schema
}

/// A union of definitions.
pub(super) fn union(projection: &Projection, names: &[&str]) -> Value {
    match names {
        [only] => projection.to(only),
        names => json!({ "anyOf": names.iter().map(|name| projection.to(name)).collect::<Vec<_>>() }),
    }
}

/// The parameters of the base of all requests or notifications.
pub(super) fn base_params(projection: &Projection, is_request: bool) -> Value {
    if projection.revision >= V2025_11_25 {
        return any_object();
    }
    let meta = if is_request { projection.progress_meta() } else { any_object() };
    json!({ "type": "object", "properties": { "_meta": meta }, "additionalProperties": {} })
}

/// Whether the definition of a request includes its envelope.
pub(super) fn has_envelopes(revision: Revision) -> bool {
    revision >= V2025_11_25
}
