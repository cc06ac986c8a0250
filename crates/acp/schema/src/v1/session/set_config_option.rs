//! The params and result of `session/set_config_option`. The value is a string, or a boolean beside `"type":"boolean"`.

use agentwire_jsonrpc::RawJson;
use agentwire_jsonrpc::wire::{WriteMembers, required};
use agentwire_wire_derive::{Build, Wire};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, de};

use crate::common::{Meta, SessionConfigId, SessionConfigValueId, SessionId};
use crate::v1::SessionConfigOption;

/// `session/set_config_option`: changes the value of an option.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionConfigOptionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The option.
    #[wire(required)]
    pub config_id: SessionConfigId,
    /// The value. On the wire the member `value`, with `"type":"boolean"` beside it where it is a boolean.
    #[wire(union)]
    pub value: SessionConfigOptionValue,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A new value for a configuration option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionConfigOptionValue {
    /// On or off.
    Boolean(bool),
    /// One of the values of a select. A string is read as this under any `type`.
    ValueId(SessionConfigValueId),
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<T: Into<SessionConfigValueId>> From<T> for SessionConfigOptionValue {
    fn from(value: T) -> Self {
        Self::ValueId(value.into())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SessionConfigOptionValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SessionConfigOptionValue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [
                {
                    "type": "object",
                    "properties": { "type": { "type": "string", "const": "boolean" }, "value": { "type": "boolean" } },
                    "required": ["type", "value"],
                },
                {
                    "type": "object",
                    "properties": { "value": generator.subschema_for::<SessionConfigValueId>() },
                    "required": ["value"],
                },
            ],
        })
    }
}

impl WriteMembers for SessionConfigOptionValue {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Boolean(value) => {
                members.serialize_entry("type", "boolean")?;
                members.serialize_entry("value", value)
            }
            Self::ValueId(value) => members.serialize_entry("value", value),
        }
    }
}

/// Reads the members of the request that hold the value.
impl<'de> Deserialize<'de> for SessionConfigOptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Meta::deserialize(deserializer)?;
        let kind: Option<RawJson> = members.decode_member("type").map_err(de::Error::custom)?;
        let value: RawJson = required(&members, "value")?;
        let is_boolean = kind.is_some_and(|kind| kind.decode::<String>().is_ok_and(|kind| kind == "boolean"));
        match value.as_str() {
            "true" | "false" if is_boolean => Ok((value.as_str() == "true").into()),
            text if text.starts_with('"') => value.decode().map(Self::ValueId).map_err(de::Error::custom),
            _ => {
                Err(de::Error::custom("`value` must be a string, or a boolean beside `\"type\":\"boolean\"`"))
            }
        }
    }
}

/// The answer to `session/set_config_option`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionConfigOptionResponse {
    /// All options with their values: setting one may change others.
    #[wire(required_items)]
    pub config_options: Vec<SessionConfigOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
