//! The definitions of errors in a revision.

use std::collections::BTreeSet;

use agentwire_jsonrpc::{ErrorObject, RequestId};
use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::code::CODES;
use agentwire_mcp_schema::schema::Role;
use anyhow::{Context as _, Result, ensure};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::project::Projection;
use crate::schema::shape::Shape;

/// JSON-RPC's errors, which have definitions since 2026-07-28.
const OF_JSONRPC: [(&str, i64); 5] = [
    ("ParseError", agentwire_jsonrpc::code::PARSE_ERROR),
    ("InvalidRequestError", agentwire_jsonrpc::code::INVALID_REQUEST),
    ("MethodNotFoundError", agentwire_jsonrpc::code::METHOD_NOT_FOUND),
    ("InvalidParamsError", agentwire_jsonrpc::code::INVALID_PARAMS),
    ("InternalError", agentwire_jsonrpc::code::INTERNAL_ERROR),
];

/// Checks that ids and errors of the schema crate have the schemas of the JSON-RPC types, which are on the wire.
pub(super) fn agree_with_json_rpc(types: &Map<String, Value>) -> Result<()> {
    let mut generator = SchemaGenerator::default();
    let error = ErrorObject::json_schema(&mut generator).to_value();
    ensure!(Shape::read(&types["Error"]) == Shape::read(&error), "an error is {error}");
    let id = RequestId::json_schema(&mut generator).to_value();
    // MCP does not answer requests without a readable id.
    let kinds: BTreeSet<String> = id["anyOf"]
        .as_array()
        .context("an id is of one of several types")?
        .iter()
        .map(|kind| kind["type"].to_string())
        .filter(|kind| kind != "\"null\"")
        .collect();
    for name in ["RequestId", "ProgressToken"] {
        let types_of_name: BTreeSet<String> =
            types[name]["type"].as_array().into_iter().flatten().map(Value::to_string).collect();
        ensure!(types_of_name == kinds, "{name} is {types_of_name:?}, and ids are {kinds:?}");
    }
    Ok(())
}

/// The definitions of the revision.
pub(super) fn definitions(projection: &Projection) -> Result<Map<String, Value>> {
    let mut definitions = Map::new();
    for info in CODES.iter().filter(|info| info.range.contains(projection.revision)) {
        let Some(name) = info.name else { continue };
        let mut properties = json!({ "code": { "type": "integer", "const": info.code } });
        let mut required = vec!["code"];
        if let Some(data) = info.data {
            properties["data"] = projection.of_type(data, Role::Plain)?;
            required.push("data");
        }
        let own = json!({ "type": "object", "properties": properties, "required": required });
        let schema = json!({
            "type": "object",
            "properties": {
                "jsonrpc": { "type": "string", "const": "2.0" },
                "id": projection.to("RequestId"),
                "error": { "allOf": [projection.to("Error"), own] },
            },
            "required": ["jsonrpc", "error"],
        });
        definitions.insert(name.to_owned(), schema);
    }
    if projection.revision >= Revision::V2026_07_28 {
        for (name, code) in OF_JSONRPC {
            let mut schema = projection.of_type("Error", Role::Plain)?;
            schema["properties"]["code"]["const"] = code.into();
            definitions.insert(name.to_owned(), schema);
        }
    }
    Ok(definitions)
}
