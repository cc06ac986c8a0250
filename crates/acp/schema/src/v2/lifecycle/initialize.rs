//! The params and result of `initialize`, which both carry `info` and `capabilities`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Implementation, Meta, ProtocolVersion};
use crate::v2::{AgentCapabilities, AuthMethod, ClientCapabilities};

/// `initialize`: the client's first message, with its version, name and capabilities.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The latest version that the client supports.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The client's name and version.
    #[wire(required)]
    pub info: Implementation,
    /// The client's capabilities; a capability that is missing is off.
    #[wire(default)]
    pub capabilities: ClientCapabilities,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `initialize`.
///
/// An agent that supports no version up to the client's refuses with
/// [`UNSUPPORTED_PROTOCOL_VERSION`](crate::v2::error_code::UNSUPPORTED_PROTOCOL_VERSION) instead.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// The latest version that the agent supports up to the client's. A client that does not support it should disconnect.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The agent's name and version.
    #[wire(required)]
    pub info: Implementation,
    /// The agent's capabilities; a capability that is missing is off.
    #[wire(default)]
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate. If there is one, the agent answers `auth/login` and `auth/logout`; otherwise the client
    /// calls neither.
    #[wire(items)]
    pub auth_methods: Vec<AuthMethod>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
