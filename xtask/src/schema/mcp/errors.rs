//! The definitions of errors in a revision.

use agentwire_mcp_schema::Revision;
use agentwire_mcp_schema::code::CODES;
use agentwire_mcp_schema::schema::Role;
use anyhow::Result;
use serde_json::{Map, Value, json};

use super::project::Projection;

/// JSON-RPC's errors, which have definitions since 2026-07-28.
const OF_JSONRPC: [(&str, i64); 5] = [
    ("ParseError", agentwire_jsonrpc::code::PARSE_ERROR),
    ("InvalidRequestError", agentwire_jsonrpc::code::INVALID_REQUEST),
    ("MethodNotFoundError", agentwire_jsonrpc::code::METHOD_NOT_FOUND),
    ("InvalidParamsError", agentwire_jsonrpc::code::INVALID_PARAMS),
    ("InternalError", agentwire_jsonrpc::code::INTERNAL_ERROR),
];

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
