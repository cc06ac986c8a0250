//! Adds the constant tag member of a struct to its generated JSON Schema.

use schemars::Schema;
use serde_json::{Value, json};

/// Adds the tag that a struct writes before its fields when it is not a variant of a union.
pub fn describe_tag(schema: &mut Schema, name: &str, value: &str) {
    let object = schema.ensure_object();
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        properties.insert(name.to_owned(), json!({ "type": "string", "const": value }));
    }
    let required = object.entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        required.insert(0, name.into());
    }
}
