use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::fields::Fields;
use crate::common::lenient::{lenient, optional_items};
use crate::common::{Meta, builder};

/// A choice with a title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EnumOption {
    /// The value that is sent. On the wire `const`.
    #[serde(rename = "const")]
    pub value: String,
    /// What people see.
    pub title: String,
    /// A sentence about it, for people.
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
    EnumOption::new(value: String, title: String) {
        option description: String,
        option meta: Meta,
    }
}

/// A field for several choices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MultiSelectPropertySchema {
    /// What to call it in front of people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A sentence about it, for people.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// How many at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// The choices.
    pub items: MultiSelectItems,
    /// What is chosen at first.
    #[serde(default, deserialize_with = "optional_items", skip_serializing_if = "Option::is_none")]
    pub default: Option<Vec<String>>,
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
    MultiSelectPropertySchema::new(items: MultiSelectItems) {
        option title: String,
        option description: String,
        number min_items: u64,
        number max_items: u64,
        option_list default: String,
        option meta: Meta,
    }
}

/// The choices of a field for several.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MultiSelectItems {
    /// Shown as they are: `"type":"string"`.
    String(StringMultiSelectItems),
    /// Each with a title: known by the member `anyOf`, without a `type`.
    Titled(TitledMultiSelectItems),
    /// Choices of a type that this version does not know: the whole object.
    Unknown(Meta),
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

impl Serialize for MultiSelectItems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Typed<'a> {
            r#type: &'static str,
            #[serde(flatten)]
            items: &'a StringMultiSelectItems,
        }

        match self {
            Self::String(items) => Typed { r#type: "string", items }.serialize(serializer),
            Self::Titled(items) => items.serialize(serializer),
            Self::Unknown(object) => object.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for MultiSelectItems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let item_type: Option<String> = fields.member("type").map_err(de::Error::custom)?;
        match item_type.as_deref() {
            // MCP lets titled choices name the type too.
            Some("string") if !fields.contains("enum") && fields.contains("anyOf") => {
                fields.decode().map(Self::Titled)
            }
            Some("string") => fields.decode().map(Self::String),
            None => fields.decode().map(Self::Titled),
            Some(_) => fields.decode().map(Self::Unknown),
        }
        .map_err(de::Error::custom)
    }
}

/// Choices that are shown as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringMultiSelectItems {
    /// The choices. On the wire `enum`.
    #[serde(rename = "enum")]
    pub enum_values: Vec<String>,
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
    StringMultiSelectItems::new(enum_values: Vec<String>) {
        option meta: Meta,
    }
}

/// Choices that each have a title.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TitledMultiSelectItems {
    /// The choices.
    pub any_of: Vec<EnumOption>,
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
    TitledMultiSelectItems::new(any_of: Vec<EnumOption>) {
        option meta: Meta,
    }
}
