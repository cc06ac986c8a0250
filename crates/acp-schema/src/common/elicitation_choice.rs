use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::common::Meta;
use crate::wire::object;

object! {
    /// A choice with a title.
    EnumOption {
        /// The value that is sent. On the wire `const`.
        required value: String = "const",
        /// What people see.
        required title: String,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        meta,
    }
}

object! {
    /// A field for several choices.
    MultiSelectPropertySchema {
        /// What to call it in front of people.
        lenient title: Option<String>,
        /// A sentence about it, for people.
        lenient description: Option<String>,
        /// How many at least.
        number min_items: Option<u64>,
        /// How many at most.
        number max_items: Option<u64>,
        /// The choices.
        required items: MultiSelectItems,
        /// What is chosen at first.
        optional_items default: Option<Vec<String>>,
        meta,
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

#[cfg(feature = "schema")]
crate::wire::described_by! {
    MultiSelectItems
    /// The choices of a field for several.
    #[derive(schemars::JsonSchema)]
    #[schemars(tag = "type")]
    #[allow(dead_code, reason = "only its shape is looked at")]
    enum Described {
        /// Shown as they are.
        #[schemars(rename = "string")]
        String(StringMultiSelectItems),
        /// Each with a title.
        #[schemars(untagged)]
        Titled(TitledMultiSelectItems),
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
            Self::Unknown(object) => object.serialize_members(serializer),
        }
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

object! {
    /// Choices that are shown as they are.
    StringMultiSelectItems {
        /// The choices. On the wire `enum`.
        required enum_values: Vec<String> = "enum",
        meta,
    }
}

object! {
    /// Choices that each have a title.
    TitledMultiSelectItems {
        /// The choices.
        required any_of: Vec<EnumOption>,
        meta,
    }
}
