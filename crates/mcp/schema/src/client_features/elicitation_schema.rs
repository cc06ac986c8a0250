//! The `requestedSchema` of a form elicitation: a flat JSON Schema whose fields keep their order. Reading distinguishes the field types
//! by `type` and keywords.

use agentwire_jsonrpc::wire::pairs;
use agentwire_wire_derive::Wire;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::wire::number;
use crate::{JsonObject, MultiSelectSchema, SingleSelectSchema};

/// The fields of a form: a JSON Schema of one level, whose properties are of simple types.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema>.
#[derive(Clone, Debug, Default, PartialEq, Wire)]
#[wire(tag = "type", value = "object")]
#[non_exhaustive]
pub struct ElicitSchema {
    /// The schema's dialect. Absent means 2020-12.
    #[wire(optional, name = "$schema")]
    pub dialect: Option<String>,
    /// The fields by their names, in the order in which to show them.
    #[wire(required, with = pairs, schema(with = "std::collections::BTreeMap<String, PrimitiveSchema>"))]
    pub properties: Vec<(String, PrimitiveSchema)>,
    /// The names of those that must be filled in.
    #[wire(plain_list)]
    pub required: Vec<String>,
}

impl ElicitSchema {
    /// A form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same form with one more field, which must be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.optional(name, schema)
    }

    /// The same form with one more field, which may be left empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) -> Self {
        self.properties.push((name.into(), schema.into()));
        self
    }
}

/// One field of a form. A kind that we do not know is kept as it came.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several.
    SingleSelect(SingleSelectSchema),
    /// Some of several. Since 2025-11-25.
    MultiSelect(MultiSelectSchema),
    /// A field of a kind that this version of the library does not know.
    Unknown(JsonObject),
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keywords = Map::deserialize(deserializer)?;
        let is_choice = keywords.contains_key("enum") || keywords.contains_key("oneOf");
        let kind = keywords.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let value = Value::Object(keywords);
        match &*kind {
            "string" if is_choice => serde_json::from_value(value).map(Self::SingleSelect),
            "string" => serde_json::from_value(value).map(Self::String),
            "number" | "integer" => serde_json::from_value(value).map(Self::Number),
            "boolean" => serde_json::from_value(value).map(Self::Boolean),
            "array" => serde_json::from_value(value).map(Self::MultiSelect),
            _ => serde_json::from_value(value).map(Self::Unknown),
        }
        .map_err(D::Error::custom)
    }
}

macro_rules! from_schemas {
    ($( $schema:ident => $variant:ident, )+) => {
        $(
            impl From<$schema> for PrimitiveSchema {
                fn from(schema: $schema) -> Self {
                    Self::$variant(schema)
                }
            }
        )+
    };
}

from_schemas! {
    StringSchema => String,
    NumberSchema => Number,
    BooleanSchema => Boolean,
    SingleSelectSchema => SingleSelect,
    MultiSelectSchema => MultiSelect,
}

/// A field for a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(tag = "type", value = "string")]
#[non_exhaustive]
pub struct StringSchema {
    /// Its name for people.
    #[wire(optional)]
    pub title: Option<String>,
    /// The meaning of the field, for the user.
    #[wire(optional)]
    pub description: Option<String>,
    /// The fewest characters.
    #[wire(optional)]
    pub min_length: Option<u64>,
    /// The most characters.
    #[wire(optional)]
    pub max_length: Option<u64>,
    /// The format of the text.
    #[wire(optional)]
    pub format: Option<StringFormat>,
    /// The initial value. Since 2025-11-25.
    #[wire(optional, name = "default")]
    pub default_value: Option<String>,
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(StringSchema {
    some title: String,
    some description: String,
    some min_length: u64,
    some max_length: u64,
    some format: StringFormat,
    some default_value: String,
});

/// The format of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Wire)]
#[non_exhaustive]
pub enum StringFormat {
    /// An e-mail address.
    #[wire("email")]
    Email,
    /// A URI.
    #[wire("uri")]
    Uri,
    /// A date.
    #[wire("date")]
    Date,
    /// A date and a time.
    #[wire("date-time")]
    DateTime,
    /// A string that this version of the library does not know, unchanged.
    #[wire(unknown)]
    Unknown(Box<str>),
}

/// A field for a number.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct NumberSchema {
    /// `Integer` for whole numbers.
    #[wire(required, name = "type")]
    pub kind: NumberKind,
    /// Its name for people.
    #[wire(optional)]
    pub title: Option<String>,
    /// The meaning of the field, for the user.
    #[wire(optional)]
    pub description: Option<String>,
    /// The least.
    #[wire(optional, write = number)]
    pub minimum: Option<f64>,
    /// The most.
    #[wire(optional, write = number)]
    pub maximum: Option<f64>,
    /// The initial value. Since 2025-11-25.
    #[wire(optional, name = "default", write = number)]
    pub default_value: Option<f64>,
}

impl NumberSchema {
    /// Any number of that kind.
    pub fn new(kind: NumberKind) -> Self {
        Self { kind, title: None, description: None, minimum: None, maximum: None, default_value: None }
    }
}

setters!(NumberSchema {
    some title: String,
    some description: String,
    some minimum: f64,
    some maximum: f64,
    some default_value: f64,
});

/// The kind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NumberKind {
    /// With or without a fraction.
    Number,
    /// Whole numbers.
    Integer,
}

/// A field for yes or no.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[wire(tag = "type", value = "boolean")]
#[non_exhaustive]
pub struct BooleanSchema {
    /// Its name for people.
    #[wire(optional)]
    pub title: Option<String>,
    /// The meaning of the field, for the user.
    #[wire(optional)]
    pub description: Option<String>,
    /// The initial value.
    #[wire(optional, name = "default")]
    pub default_value: Option<bool>,
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }
}

setters!(BooleanSchema {
    some title: String,
    some description: String,
    some default_value: bool,
});
