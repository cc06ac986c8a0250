use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{EnumOption, MultiSelectPropertySchema};
use crate::common::lenient::lenient;
use crate::common::{Meta, builder, open_enum, tagged_union};

/// The fields of a form: a small part of JSON Schema, one object with flat members.
///
/// See <https://agentclientprotocol.com/protocol/v1/elicitation>.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationSchema {
    /// Always `object`.
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub schema_type: ElicitationSchemaType,
    /// The form's title.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The fields by name.
    #[serde(default)]
    pub properties: BTreeMap<String, ElicitationPropertySchema>,
    /// The names of the fields that must be filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Vec<String>>,
    /// A sentence about the form.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    ElicitationSchema::new() {
        plain schema_type: ElicitationSchemaType,
        option title: String,
        plain properties: BTreeMap<String, ElicitationPropertySchema>,
        option_list required: String,
        option description: String,
        option meta: Meta,
    }
}

impl ElicitationSchema {
    /// Adds a field.
    #[must_use]
    pub fn property(mut self, name: impl Into<String>, schema: impl Into<ElicitationPropertySchema>) -> Self {
        self.properties.insert(name.into(), schema.into());
        self
    }

    /// Adds a field that must be filled in.
    #[must_use]
    pub fn required_property(
        mut self,
        name: impl Into<String>,
        schema: impl Into<ElicitationPropertySchema>,
    ) -> Self {
        let name = name.into();
        self.required.get_or_insert_default().push(name.clone());
        self.property(name, schema)
    }
}

open_enum! {
    /// What a form's schema describes.
    #[derive(Default)]
    ElicitationSchemaType {
        /// An object, the only kind there is.
        #[default]
        Object = "object",
    } else Other
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationPropertySchema {
    /// Text, or one choice among several.
    String(StringPropertySchema),
    /// A number.
    Number(NumberPropertySchema),
    /// An integer.
    Integer(IntegerPropertySchema),
    /// Yes or no.
    Boolean(BooleanPropertySchema),
    /// Several choices.
    Array(MultiSelectPropertySchema),
    /// A field of a type that this version does not know: the whole object. It must not be shown as if it were a known
    /// one.
    Unknown(Meta),
}

tagged_union! {
    ElicitationPropertySchema by "type" {
        "string" => String(StringPropertySchema),
        "number" => Number(NumberPropertySchema),
        "integer" => Integer(IntegerPropertySchema),
        "boolean" => Boolean(BooleanPropertySchema),
        "array" => Array(MultiSelectPropertySchema),
    }
}

/// Each kind of field converts into the union.
macro_rules! from_properties {
    ($($variant:ident($name:ident))+) => {$(
        impl From<$name> for ElicitationPropertySchema {
            fn from(schema: $name) -> Self {
                Self::$variant(schema)
            }
        }
    )+};
}

from_properties! {
    String(StringPropertySchema) Number(NumberPropertySchema) Integer(IntegerPropertySchema)
    Boolean(BooleanPropertySchema) Array(MultiSelectPropertySchema)
}

/// A field for text; with [`enum_values`](Self::enum_values) or [`one_of`](Self::one_of) a choice among several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringPropertySchema {
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many characters at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// How many characters at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression that the text must match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What sort of text it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// What it holds at first.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The choices, shown as they are. On the wire `enum`.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub enum_values: Option<Vec<String>>,
    /// The choices, each with a title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<EnumOption>>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    StringPropertySchema::new() {
        option title: String,
        option description: String,
        number min_length: u32,
        number max_length: u32,
        option pattern: String,
        option format: StringFormat,
        option default: String,
        option_list enum_values: String,
        option_list one_of: EnumOption,
        option meta: Meta,
    }
}

open_enum! {
    /// What sort of text a field holds.
    StringFormat {
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date, year first.
        Date = "date",
        /// A date and a time, in ISO 8601.
        DateTime = "date-time",
    } else Other
}

/// A field for a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NumberPropertySchema {
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The most that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// What it holds at first.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub default: Option<f64>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    NumberPropertySchema::new() {
        option title: String,
        option description: String,
        number minimum: f64,
        number maximum: f64,
        number default: f64,
        option meta: Meta,
    }
}

/// A field for an integer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IntegerPropertySchema {
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<i64>,
    /// The most that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<i64>,
    /// What it holds at first.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub default: Option<i64>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    IntegerPropertySchema::new() {
        option title: String,
        option description: String,
        number minimum: i64,
        number maximum: i64,
        number default: i64,
        option meta: Meta,
    }
}

/// A field for yes or no.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BooleanPropertySchema {
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it holds at first.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    BooleanPropertySchema::new() {
        option title: String,
        option description: String,
        number default: bool,
        option meta: Meta,
    }
}
