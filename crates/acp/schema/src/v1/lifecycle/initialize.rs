//! The params and result of `initialize`.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Implementation, Meta, ProtocolVersion};
use crate::v1::{AgentCapabilities, AuthMethod, ClientCapabilities};

/// `initialize`: the client's first message, with its version and capabilities.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The latest version that the client supports.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The client's capabilities; a capability that is missing is off.
    #[wire(default)]
    pub client_capabilities: ClientCapabilities,
    /// The client's name and version. Send it: a later version requires it.
    #[wire(lenient)]
    pub client_info: Option<Implementation>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// The version of the connection: the client's if the agent supports it, otherwise the agent's latest. A client
    /// that does not support it should disconnect.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// The agent's capabilities; a capability that is missing is off.
    #[wire(default)]
    pub agent_capabilities: AgentCapabilities,
    /// The ways to authenticate. Empty if no authentication is needed.
    #[wire(items, schema(extend("default" = [])))]
    pub auth_methods: Vec<AuthMethod>,
    /// The agent's name and version. Send it: a later version requires it.
    #[wire(lenient)]
    pub agent_info: Option<Implementation>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
