//! The `data` of JSON-RPC errors: the supported protocol versions, the unknown session, or any other JSON.

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_wire_derive::{Build, Wire};
use serde::{Deserialize, Deserializer, Serialize};

use super::error_code::{RESOURCE_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION};
use crate::common::{Meta, ProtocolVersion, SessionId};

/// The data of an error, beside its code and its message.
///
/// It has no tag: [`of`](Self::of) decides by the error's code, `Deserialize` by the members.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum ErrorData {
    /// The data of the code [`UNSUPPORTED_PROTOCOL_VERSION`].
    UnsupportedProtocolVersion(UnsupportedProtocolVersionErrorData),
    /// The data of the code [`RESOURCE_NOT_FOUND`] for a session.
    SessionNotFound(SessionNotFoundErrorData),
    /// Any other data.
    Other(RawJson),
}

impl ErrorData {
    /// Reads the data of an error by its code; none if the error has no data.
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
    /// The version that the client sent.
    #[wire(required)]
    pub requested: ProtocolVersion,
    /// The versions that the agent supports.
    #[wire(required)]
    pub supported: Vec<ProtocolVersion>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The unknown session of a request that the agent refuses with [`RESOURCE_NOT_FOUND`].
///
/// See <https://agentclientprotocol.com/protocol/v2/error#unknown-sessions>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionNotFoundErrorData {
    /// The session that the request named.
    #[wire(required)]
    pub session_id: SessionId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
