//! The notation of a revision's document.

use agentwire_mcp_schema::Revision;
use serde_json::{Value, json};

/// The JSON Schema version of a revision, and the keyword for its definitions.
pub(super) struct Format {
    pub(super) schema: &'static str,
    pub(super) container: &'static str,
}

impl Format {
    pub(super) fn of(revision: Revision) -> Self {
        if revision < Revision::V2025_11_25 {
            Self { schema: "http://json-schema.org/draft-07/schema#", container: "definitions" }
        } else {
            Self { schema: "https://json-schema.org/draft/2020-12/schema", container: "$defs" }
        }
    }

    /// A reference to a definition.
    pub(super) fn reference(&self, name: &str) -> Value {
        json!({ "$ref": format!("#/{}/{name}", self.container) })
    }
}

/// The schema of any object.
pub(super) fn any_object() -> Value {
    json!({ "type": "object", "additionalProperties": {} })
}

/// A schema without descriptions.
pub(super) fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let keywords =
                keywords.iter().filter(|(name, value)| *name != "description" || !value.is_string());
            Value::Object(keywords.map(|(name, value)| (name.clone(), bare(value))).collect())
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}
