use agentwire_jsonrpc::Method;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SessionConfigOption;
use crate::common::{Meta, SessionConfigId, SessionConfigValueId, SessionId};
use crate::wire::fields::required;
use crate::wire::object;

object! {
    /// `session/set_config_option`: give an option another value.
    ///
    /// What the agent does not know, be it the option, the value or its type, it refuses with
    /// [`INVALID_PARAMS`](super::error_code::INVALID_PARAMS), and changes nothing. See
    /// <https://agentclientprotocol.com/protocol/v2/session-config-options#setting-a-config-option>.
    SetSessionConfigOptionRequest {
        /// The session.
        required session_id: SessionId,
        /// The option.
        required config_id: SessionConfigId,
        /// The value. On the wire the members `type` and `value`.
        union value: SessionConfigOptionValue,
        meta,
    }
}

impl Method for SetSessionConfigOptionRequest {
    const NAME: &'static str = "session/set_config_option";
    type Response = SetSessionConfigOptionResponse;
}

object! {
    /// The answer to `session/set_config_option`.
    SetSessionConfigOptionResponse {
        /// All options with their values: setting one may change others.
        required_valid_items config_options: Vec<SessionConfigOption>,
        meta,
    }
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

impl From<SessionConfigValueId> for SessionConfigOptionValue {
    fn from(value: SessionConfigValueId) -> Self {
        Self::Id(value)
    }
}

impl From<&str> for SessionConfigOptionValue {
    fn from(value: &str) -> Self {
        Self::Id(value.into())
    }
}

impl From<String> for SessionConfigOptionValue {
    fn from(value: String) -> Self {
        Self::Id(value.into())
    }
}

impl Serialize for SessionConfigOptionValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Known<'a> {
            Id { value: &'a SessionConfigValueId },
            Boolean { value: bool },
        }

        match self {
            Self::Id(value) => Known::Id { value }.serialize(serializer),
            Self::Boolean(value) => Known::Boolean { value: *value }.serialize(serializer),
            Self::Unknown(object) => object.serialize_members(serializer),
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
crate::wire::described_by! {
    SessionConfigOptionValue
    requiring "value" => serde_json::Value,
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
}
