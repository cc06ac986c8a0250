use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::common::{Implementation, Meta, ProtocolVersion};

/// `initialize`: the client's first message, with what it speaks, who it is and what it can do.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The latest version that the client speaks.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// Who the client is.
    #[wire(required)]
    pub info: Implementation,
    /// What the client can do; what is not named there it cannot.
    #[wire(default)]
    pub capabilities: ClientCapabilities,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for InitializeRequest {
    const NAME: &'static str = "initialize";
    type Response = InitializeResponse;
}

/// The answer to `initialize`.
///
/// An agent that speaks no version up to the client's refuses with
/// [`UNSUPPORTED_PROTOCOL_VERSION`](super::error_code::UNSUPPORTED_PROTOCOL_VERSION) instead.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// The latest version that the agent speaks up to the client's. A client that does not speak it should disconnect.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// Who the agent is.
    #[wire(required)]
    pub info: Implementation,
    /// What the agent can do; what is not named there it cannot.
    #[wire(default)]
    pub capabilities: AgentCapabilities,
    /// Ways to authenticate. Where there is one, the agent answers `auth/login` and `auth/logout`; else the client calls
    /// neither.
    #[wire(items)]
    pub auth_methods: Vec<AuthMethod>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
