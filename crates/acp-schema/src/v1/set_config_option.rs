use agentwire_jsonrpc::{Method, RawJson};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SessionConfigOption;
use crate::common::{Meta, SessionConfigId, SessionConfigValueId, SessionId};
use crate::wire::lenient::lenient;
use crate::wire::{builder, object};

/// `session/set_config_option`: give an option another value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SetSessionConfigOptionRequest {
    /// The session.
    pub session_id: SessionId,
    /// The option.
    pub config_id: SessionConfigId,
    /// The value. On the wire the member `value`, with `"type":"boolean"` beside it where it is a boolean.
    #[serde(flatten)]
    pub value: SessionConfigOptionValue,
    /// Free room; see [`Meta`].
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

builder! {
    SetSessionConfigOptionRequest::new(
        session_id: SessionId,
        config_id: SessionConfigId,
        value: SessionConfigOptionValue
    ) {
        option meta: Meta,
    }
}

impl Method for SetSessionConfigOptionRequest {
    const NAME: &'static str = "session/set_config_option";
    type Response = SetSessionConfigOptionResponse;
}

impl<'de> Deserialize<'de> for SetSessionConfigOptionRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members {
            session_id: SessionId,
            config_id: SessionConfigId,
            r#type: Option<RawJson>,
            value: RawJson,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        let Members { session_id, config_id, r#type, value, meta } = Members::deserialize(deserializer)?;
        let is_boolean =
            r#type.is_some_and(|word| word.decode::<String>().is_ok_and(|word| word == "boolean"));
        let value = match value.as_str() {
            "true" | "false" if is_boolean => (value.as_str() == "true").into(),
            text if text.starts_with('"') => {
                SessionConfigOptionValue::ValueId(value.decode().map_err(de::Error::custom)?)
            }
            _ => {
                return Err(de::Error::custom(
                    "`value` must be a string, or a boolean beside `\"type\":\"boolean\"`",
                ));
            }
        };
        Ok(Self { session_id, config_id, value, meta })
    }
}

/// A new value for a configuration option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionConfigOptionValue {
    /// On or off.
    Boolean(bool),
    /// One of the values of a select. Also what a string under a foreign `type` is read as.
    ValueId(SessionConfigValueId),
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<SessionConfigValueId> for SessionConfigOptionValue {
    fn from(value: SessionConfigValueId) -> Self {
        Self::ValueId(value)
    }
}

impl From<&str> for SessionConfigOptionValue {
    fn from(value: &str) -> Self {
        Self::ValueId(value.into())
    }
}

impl From<String> for SessionConfigOptionValue {
    fn from(value: String) -> Self {
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

/// Writes the members of the request that hold the value.
impl Serialize for SessionConfigOptionValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Boolean(value) => {
                map.serialize_entry("type", "boolean")?;
                map.serialize_entry("value", value)?;
            }
            Self::ValueId(value) => map.serialize_entry("value", value)?,
        }
        map.end()
    }
}

object! {
    /// The answer to `session/set_config_option`.
    SetSessionConfigOptionResponse {
        /// All options with their values: setting one may change others.
        required_items config_options: Vec<SessionConfigOption>,
        meta,
    }
}
