//! The `array` field of an elicitation form. `anyOf` marks choices with titles, `type: string` with `enum` marks plain ones.

use agentwire_jsonrpc::wire::WriteMembers;
use agentwire_wire_derive::{Build, Wire};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::Meta;

/// A choice with a title.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct EnumOption {
    /// The value that is sent. On the wire `const`.
    #[wire(required, name = "const")]
    pub value: String,
    /// The title to show to people.
    #[wire(required)]
    pub title: String,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for several choices.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct MultiSelectPropertySchema {
    /// The name to show to people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A description for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The minimum number of choices.
    #[wire(number)]
    pub min_items: Option<u64>,
    /// The maximum number of choices.
    #[wire(number)]
    pub max_items: Option<u64>,
    /// The choices.
    #[wire(required)]
    pub items: MultiSelectItems,
    /// The choices that are selected by default.
    #[wire(optional_items)]
    pub default: Option<Vec<String>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The choices of a field for several choices.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(tag = "type", extend("x-open" = true))
)]
#[non_exhaustive]
pub enum MultiSelectItems {
    /// Without titles.
    #[cfg_attr(feature = "schema", schemars(rename = "string"))]
    String(StringMultiSelectItems),
    /// Choices of a type that this version does not know: the whole object.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown(Meta),
    /// Each with a title.
    #[cfg_attr(feature = "schema", schemars(untagged))]
    Titled(TitledMultiSelectItems),
}

impl From<StringMultiSelectItems> for MultiSelectItems {
    fn from(items: StringMultiSelectItems) -> Self {
        Self::String(items)
    }
}

impl From<TitledMultiSelectItems> for MultiSelectItems {
    fn from(items: TitledMultiSelectItems) -> Self {
        Self::Titled(items)
    }
}

/// The member `anyOf` marks titled choices, which are written without a `type`.
impl Serialize for MultiSelectItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        match self {
            Self::String(items) => {
                members.serialize_entry("type", "string")?;
                items.write_members(&mut members)?;
            }
            Self::Titled(items) => items.write_members(&mut members)?,
            Self::Unknown(object) => object.write_members(&mut members)?,
        }
        members.end()
    }
}

impl<'de> Deserialize<'de> for MultiSelectItems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Meta::deserialize(deserializer)?;
        let item_type: Option<String> = object.decode_member("type").map_err(de::Error::custom)?;
        match item_type.as_deref() {
            // MCP lets titled choices name the type too.
            Some("string") if !object.contains_key("enum") && object.contains_key("anyOf") => {
                object.decode().map(Self::Titled)
            }
            Some("string") => object.decode().map(Self::String),
            None => object.decode().map(Self::Titled),
            Some(_) => Ok(Self::Unknown(object)),
        }
        .map_err(de::Error::custom)
    }
}

/// Choices without titles.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct StringMultiSelectItems {
    /// The choices. On the wire `enum`.
    #[wire(required, name = "enum")]
    pub enum_values: Vec<String>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Choices that each have a title.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct TitledMultiSelectItems {
    /// The choices.
    #[wire(required)]
    pub any_of: Vec<EnumOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
