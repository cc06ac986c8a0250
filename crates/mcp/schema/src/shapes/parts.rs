//! Parts of schemas that types in several modules share.

use schemars::Schema;
use serde_json::{Value, json};

/// The schema of a union.
pub(crate) fn union<const N: usize>(variants: [Schema; N], is_open: bool) -> Schema {
    let variants: Vec<Value> = variants.into_iter().map(Schema::to_value).collect();
    let mut schema = schemars::json_schema!({ "anyOf": variants });
    if is_open {
        schema.insert("x-open".to_owned(), true.into());
    }
    schema
}

/// Adds the member `mode` to a form, which reading skips and writing omits.
pub(crate) fn add_form_mode(schema: &mut Schema) {
    add_property(schema, "mode", json!({ "type": "string", "const": "form" }));
}

/// Adds a member to the schema of an object.
pub(crate) fn add_property(schema: &mut Schema, name: &str, property: Value) {
    let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
    properties.as_object_mut().expect("`properties` is an object").insert(name.to_owned(), property);
}
