use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize};

use super::error_code::{RESOURCE_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use crate::common::{Meta, ProtocolVersion, SessionId};

/// What an error says beside its code and its sentence.
///
/// It has no tag: [`of`](Self::of) reads it by the error's code, decoding on its own goes by the members.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ErrorData {
    /// Of the code [`UNSUPPORTED_PROTOCOL_VERSION`].
    UnsupportedProtocolVersion(UnsupportedProtocolVersionErrorData),
    /// Of the code [`RESOURCE_NOT_FOUND`], where the resource is a session.
    SessionNotFound(SessionNotFoundErrorData),
    /// Anything else.
    Other(RawJson),
}

impl ErrorData {
    /// The data of an error, by its code; none where there is none.
    pub fn of(error: &ErrorObject) -> Option<Self> {
        let data = error.data.as_ref()?;
        let known = match error.code {
            UNSUPPORTED_PROTOCOL_VERSION => data.decode().ok().map(Self::UnsupportedProtocolVersion),
            RESOURCE_NOT_FOUND => data.decode().ok().map(Self::SessionNotFound),
            _ => None,
        };
        Some(known.unwrap_or_else(|| Self::Other(data.clone())))
    }
}

impl<'de> Deserialize<'de> for ErrorData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = RawJson::deserialize(deserializer)?;
        let has = |key| value.member(key).is_some();
        let known = if has("requested") && has("supported") {
            value.decode().ok().map(Self::UnsupportedProtocolVersion)
        } else if has("sessionId") {
            value.decode().ok().map(Self::SessionNotFound)
        } else {
            None
        };
        Ok(known.unwrap_or(Self::Other(value)))
    }
}

/// Why `initialize` was refused with [`UNSUPPORTED_PROTOCOL_VERSION`].
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#version-negotiation>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionErrorData {
    /// The version that the client named.
    #[wire(required)]
    pub requested: ProtocolVersion,
    /// The versions that the agent speaks.
    #[wire(required)]
    pub supported: Vec<ProtocolVersion>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// Which session was not found, where a request is refused with [`RESOURCE_NOT_FOUND`].
///
/// See <https://agentclientprotocol.com/protocol/v2/error#unknown-sessions>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionNotFoundErrorData {
    /// The session that the request named.
    #[wire(required)]
    pub session_id: SessionId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
