//! Makes the schema of a function's argument type, and decodes JSON text into a value of it.

use std::borrow::Cow;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_mcp_schema::JsonSchema;
use schemars::Schema;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::decode::faults;
use crate::decode::faults::{Members, declared_members};

/// The argument type of tools and prompts that take no arguments.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[non_exhaustive]
pub struct NoArguments {}

impl schemars::JsonSchema for NoArguments {
    fn schema_name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": false })
    }
}

/// Decodes arguments.
///
/// # Errors
///
/// All faults, in the order in which the type declares its members.
pub(crate) fn decode<A: DeserializeOwned>(json: &RawJson) -> Result<A, String> {
    json.decode().map_err(|error| faults::of_json::<A>(json.as_str(), &error))
}

/// The schema of a function's argument type.
///
/// # Errors
///
/// If the schema is not that of an object: arguments always are an object.
pub(crate) fn input_schema<A: schemars::JsonSchema + DeserializeOwned>() -> Result<JsonSchema, String> {
    let schema = generator(Contract::Deserialize).into_root_schema_for::<A>();
    let schema = object_schema(schema, &A::schema_name(), &declared_members::<A>());
    schema.ok_or_else(|| {
        format!(
            "`{}` cannot be an argument type: arguments are an object, so give it named members",
            A::schema_name()
        )
    })
}

/// The schema of a function's return type, if that is an object.
pub(crate) fn output_schema<T: schemars::JsonSchema>() -> Option<JsonSchema> {
    object_schema(generator(Contract::Serialize).into_root_schema_for::<T>(), &T::schema_name(), &[])
}

/// A generator for input or for output: serde's attributes may distinguish them.
fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // A schema without the keyword has that dialect by default.
        settings.meta_schema = None;
        settings.contract = contract;
    });
    settings.into_generator()
}

/// The schema of the type of that name, if it is that of an object. Its properties have the order of the type. This is not
/// generic, so that a program has the code once and not for each of its types.
fn object_schema(schema: Schema, name: &str, declared: &[Members]) -> Option<JsonSchema> {
    let mut keywords = match schema.to_value() {
        Value::Object(keywords) => keywords,
        _ => Map::new(),
    };
    // The name of a Rust type has no meaning for a model.
    if keywords.get("title").is_some_and(|title| *title == *name) {
        keywords.remove("title");
    }
    let kind = keywords.entry("type").or_insert_with(|| json!("object"));
    if *kind != "object" {
        return None;
    }
    ordered(&keywords, declared).decode().ok()
}

/// The text of a schema with its properties in the order in which their type declares them. If the type is unknown, the
/// required properties come first, in the order of `required`.
fn ordered(schema: &Map<String, Value>, declared: &[Members]) -> RawJson {
    let required: Vec<_> = schema.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let place = |properties: &Map<String, Value>, name: &str| {
        let is_of = |members: &&Members| properties.keys().all(|name| members.contains(&&**name));
        match declared.iter().filter(is_of).min_by_key(|members| members.len()) {
            Some(members) => members.iter().position(|other| *other == name),
            None => required.iter().position(|other| *other == name),
        }
        .unwrap_or(usize::MAX)
    };
    let keywords = schema.iter().map(|(keyword, value)| match value {
        Value::Object(properties) if keyword == "properties" => {
            let mut properties_in_order: Vec<_> = properties.iter().collect();
            properties_in_order.sort_by_cached_key(|(name, _)| place(properties, name));
            (keyword, ordered_parts(properties_in_order, declared).into())
        }
        // Names and not keywords.
        Value::Object(schemas) if keyword == "$defs" => (keyword, ordered_parts(schemas, declared).into()),
        value => (keyword, ordered_part(value, declared)),
    });
    keywords.collect::<RawObject>().into()
}

fn ordered_parts<'a>(
    parts: impl IntoIterator<Item = (&'a String, &'a Value)>,
    declared: &[Members],
) -> RawObject {
    parts.into_iter().map(|(name, part)| (name, ordered_part(part, declared))).collect()
}

fn ordered_part(part: &Value, declared: &[Members]) -> RawJson {
    match part {
        Value::Object(schema) => ordered(schema, declared),
        Value::Array(schemas) => {
            let schemas: Vec<_> = schemas.iter().map(|schema| ordered_part(schema, declared)).collect();
            RawJson::encode(&schemas).unwrap_or_else(|_| part.clone().into())
        }
        value => value.clone().into(),
    }
}
