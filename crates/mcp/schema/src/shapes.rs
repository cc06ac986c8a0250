//! Schemas of parts without a type of their own here: text that stays undecoded, and types of other crates.

pub(crate) mod parts;

use std::borrow::Cow;
use std::marker::PhantomData;

use agentwire_jsonrpc::RequestMethod;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::shapes::parts::{add_property, union};
use crate::{
    CreateMessageRequest, ElicitRequest, InputRequest, InputResponse, ListRootsRequest, MultiSelectSchema,
    ProgressToken, SingleSelectSchema,
};

macro_rules! shapes {
    ($( $(#[$attribute:meta])* $how:ident $name:ident = $word:literal: |$generator:pat_param| $schema:expr; )+) => {
        $(
            $(#[$attribute])*
            #[derive(Debug)]
            pub(crate) struct $name;

            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    shapes!(@ $how)
                }

                fn schema_name() -> Cow<'static, str> {
                    $word.into()
                }

                fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )+
    };
    (@ named) => { false };
    (@ inlined) => { true };
}

shapes! {
    /// The id of a request.
    named RequestIdSchema = "RequestId": |_| json_schema!({ "type": ["string", "integer"] });
    /// An object whose members are JSON.
    named JsonObjectSchema = "JSONObject": |_| json_schema!({
        "type": "object",
        "additionalProperties": true,
    });
    /// The error of an answer.
    named ErrorSchema = "Error": |_| json_schema!({
        "type": "object",
        "properties": { "code": { "type": "integer" }, "message": { "type": "string" }, "data": true },
        "required": ["code", "message"],
    });
    /// A time in milliseconds.
    inlined Milliseconds = "Milliseconds": |_| json_schema!({ "type": "integer", "minimum": 0 });
    /// A value of a form.
    inlined FormValue = "FormValue": |_| json_schema!({ "anyOf": [
        { "type": ["string", "integer", "boolean"] },
        { "type": "array", "items": { "type": "string" } },
    ] });
    /// [`InputRequests`](crate::InputRequests), which has a name.
    named InputRequestsSchema = "InputRequests": |generator| {
        let item = generator.subschema_for::<InputRequest>();
        json_schema!({ "type": "object", "additionalProperties": item })
    };
    /// [`InputResponses`](crate::InputResponses), which has a name.
    named InputResponsesSchema = "InputResponses": |generator| {
        let item = generator.subschema_for::<InputResponse>();
        json_schema!({ "type": "object", "additionalProperties": item })
    };
    /// One of several values.
    named UntitledSingleSelect = "UntitledSingleSelectEnumSchema": |_| single_select("enum", strings());
    /// One of several values with titles.
    named TitledSingleSelect = "TitledSingleSelectEnumSchema": |_| single_select("oneOf", titled());
    /// One of several values with titles, as 2025-06-18 has them.
    named LegacyTitledEnum = "LegacyTitledEnumSchema": |_| {
        let mut schema = single_select("enum", strings());
        add_property(&mut schema, "enumNames", strings());
        schema
    };
    /// Some of several values.
    named UntitledMultiSelect = "UntitledMultiSelectEnumSchema": |_| multi_select(json!({
        "type": "object",
        "properties": { "type": { "type": "string", "const": "string" }, "enum": strings() },
        "required": ["type", "enum"],
    }));
    /// Some of several values with titles.
    named TitledMultiSelect = "TitledMultiSelectEnumSchema": |_| multi_select(json!({
        "type": "object",
        "properties": { "anyOf": titled() },
        "required": ["anyOf"],
    }));
}

/// A list that may be one bare item.
pub(crate) struct OneOrMany<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [item, { "type": "array", "items": item }] })
    }
}

impl JsonSchema for SingleSelectSchema {
    fn schema_name() -> Cow<'static, str> {
        "SingleSelectSchema".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spellings = [
            generator.subschema_for::<UntitledSingleSelect>(),
            generator.subschema_for::<TitledSingleSelect>(),
            generator.subschema_for::<LegacyTitledEnum>(),
        ];
        union(spellings, false)
    }
}

impl JsonSchema for MultiSelectSchema {
    fn schema_name() -> Cow<'static, str> {
        "MultiSelectSchema".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let spellings = [
            generator.subschema_for::<UntitledMultiSelect>(),
            generator.subschema_for::<TitledMultiSelect>(),
        ];
        union(spellings, false)
    }
}

impl JsonSchema for InputRequest {
    fn schema_name() -> Cow<'static, str> {
        "InputRequest".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let call = |method: &str, params: Schema| {
            json_schema!({
                "type": "object",
                "properties": { "method": { "type": "string", "const": method }, "params": params },
                "required": ["method", "params"],
            })
        };
        let mut roots = call(ListRootsRequest::NAME, generator.subschema_for::<ListRootsRequest>());
        roots.insert("required".to_owned(), json!(["method"]));
        let calls = [
            call(CreateMessageRequest::NAME, generator.subschema_for::<CreateMessageRequest>()),
            roots,
            call(ElicitRequest::NAME, generator.subschema_for::<ElicitRequest>()),
        ];
        union(calls, false)
    }
}

impl JsonSchema for ProgressToken {
    fn schema_name() -> Cow<'static, str> {
        "ProgressToken".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

/// Any schema. How much of a schema each revision publishes for it differs.
impl JsonSchema for crate::JsonSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

fn single_select(choices: &str, schema: Value) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "const": "string" },
            "title": { "type": "string" },
            "description": { "type": "string" },
            choices: schema,
            "default": { "type": "string" },
        },
        "required": ["type", choices],
    })
}

fn multi_select(items: Value) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "const": "array" },
            "title": { "type": "string" },
            "description": { "type": "string" },
            "items": items,
            "minItems": { "type": "integer" },
            "maxItems": { "type": "integer" },
            "default": strings(),
        },
        "required": ["type", "items"],
    })
}

fn strings() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn titled() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "const": { "type": "string" }, "title": { "type": "string" } },
            "required": ["const", "title"],
        },
    })
}
