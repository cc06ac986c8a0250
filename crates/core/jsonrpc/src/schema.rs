//! The JSON Schemas of the types that all protocols on JSON-RPC share.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{ErrorObject, RawJson, RawObject, RequestId};

impl JsonSchema for RequestId {
    fn schema_name() -> Cow<'static, str> {
        "RequestId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Ties an answer to its request.",
            "anyOf": [{ "type": "null" }, { "type": "integer", "format": "int64" }, { "type": "string" }],
        })
    }
}

/// Any value.
impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}

/// Any object.
impl JsonSchema for RawObject {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

impl JsonSchema for ErrorObject {
    fn schema_name() -> Cow<'static, str> {
        "Error".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An error as it travels: the member `error` of a response.",
            "type": "object",
            "properties": {
                "code": { "description": "A number that programs decide on.", "type": "integer" },
                "message": { "description": "One short sentence for people.", "type": "string" },
                "data": { "description": "Anything more, in a shape that the code or the method defines." },
            },
            "required": ["code", "message"],
        })
    }
}
