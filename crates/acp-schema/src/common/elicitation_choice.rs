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
    /// What people see.
    #[wire(required)]
    pub title: String,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A field for several choices.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct MultiSelectPropertySchema {
    /// What to call it in front of people.
    #[wire(lenient)]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// How many at least.
    #[wire(number)]
    pub min_items: Option<u64>,
    /// How many at most.
    #[wire(number)]
    pub max_items: Option<u64>,
    /// The choices.
    #[wire(required)]
    pub items: MultiSelectItems,
    /// What is chosen at first.
    #[wire(optional_items)]
    pub default: Option<Vec<String>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The choices of a field for several.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(tag = "type", extend("x-open" = true))
)]
#[non_exhaustive]
pub enum MultiSelectItems {
    /// Shown as they are.
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

/// Titled choices are told apart by the member `anyOf`, and are written without a `type`.
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

/// Choices that are shown as they are.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct StringMultiSelectItems {
    /// The choices. On the wire `enum`.
    #[wire(required, name = "enum")]
    pub enum_values: Vec<String>,
    /// Free room: its keys belong to whoever sent them.
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
