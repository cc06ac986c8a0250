//! A tool whose schema is written by hand, with keywords that no Rust type has.

use agentwire_mcp_server::schema::{JsonSchema, Tool};
use agentwire_mcp_server::{RawJson, Server, ServerTool};
use serde_json::json;

pub(crate) fn offer(server: Server) -> Server {
    let address = json!({
        "$anchor": "addressDef",
        "type": "object",
        "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
    });
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    });
    let schema = JsonSchema::try_from(schema).expect("the schema is an object");
    let tool = Tool::new("json_schema_2020_12_tool", schema).description("Takes what a JSON Schema can say");
    server.with_tool(ServerTool::from_definition(tool, |arguments: RawJson| async move {
        format!("Called with {}", arguments.as_str())
    }))
}
