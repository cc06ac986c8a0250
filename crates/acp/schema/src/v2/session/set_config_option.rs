//! The params and result of `session/set_config_option`. The value always has a `type`, and an unknown type keeps all its
//! members.

use agentwire_jsonrpc::wire::{WriteMembers, required};
use agentwire_wire_derive::{Build, Wire};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, de};

use crate::common::{Meta, SessionConfigId, SessionConfigValueId, SessionId};
use crate::v2::SessionConfigOption;

/// `session/set_config_option`: changes the value of an option.
///
/// The agent refuses an unknown option, value or type with
/// [`INVALID_PARAMS`](crate::v2::error_code::INVALID_PARAMS), and changes nothing. See
/// <https://agentclientprotocol.com/protocol/v2/session-config-options#setting-a-config-option>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionConfigOptionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The option.
    #[wire(required)]
    pub config_id: SessionConfigId,
    /// The value. On the wire the members `type` and `value`.
    #[wire(union)]
    pub value: SessionConfigOptionValue,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/set_config_option`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionConfigOptionResponse {
    /// All options with their values: setting one may change others.
    #[wire(required_valid_items)]
    pub config_options: Vec<SessionConfigOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A new value for a configuration option.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionConfigOptionValue {
    /// One of the values of a select: `"type":"id"`.
    Id(SessionConfigValueId),
    /// On or off: `"type":"boolean"`.
    Boolean(bool),
    /// A value of a type that this version does not know: the members `type` and `value` and any others.
    Unknown(Meta),
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<T: Into<SessionConfigValueId>> From<T> for SessionConfigOptionValue {
    fn from(value: T) -> Self {
        Self::Id(value.into())
    }
}

impl WriteMembers for SessionConfigOptionValue {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Id(value) => {
                members.serialize_entry("type", "id")?;
                members.serialize_entry("value", value)
            }
            Self::Boolean(value) => {
                members.serialize_entry("type", "boolean")?;
                members.serialize_entry("value", value)
            }
            Self::Unknown(object) => object.write_members(members),
        }
    }
}

impl<'de> Deserialize<'de> for SessionConfigOptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = Meta::deserialize(deserializer)?;
        let value_type: String = required(&object, "type")?;
        match &*value_type {
            "id" => required(&object, "value").map(Self::Id),
            "boolean" => required(&object, "value").map(Self::Boolean),
            _ if !object.contains_key("value") => Err(de::Error::missing_field("value")),
            _ => Ok(Self::Unknown(object)),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for SessionConfigOptionValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SessionConfigOptionValue".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::SessionConfigOptionValue").into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        /// A new value for a configuration option.
        #[derive(schemars::JsonSchema)]
        #[schemars(tag = "type", rename_all = "snake_case")]
        #[allow(dead_code, reason = "only its shape is looked at")]
        enum Described {
            /// One of the values of a select.
            Id {
                /// The value.
                value: SessionConfigValueId,
            },
            /// On or off.
            Boolean {
                /// Whether it is on.
                value: bool,
            },
        }

        let mut schema = <Described as schemars::JsonSchema>::json_schema(generator);
        let open = serde_json::json!({ "value": generator.subschema_for::<serde_json::Value>() });
        schema.insert("x-open".to_owned(), open);
        schema
    }
}
