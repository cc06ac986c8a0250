use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::common::{Implementation, Meta, ProtocolVersion};

/// `initialize`: the client's first message, with what it speaks and can do.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeRequest {
    /// The latest version that the client speaks.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// What the client can do; what is not named there it cannot.
    #[wire(default)]
    pub client_capabilities: ClientCapabilities,
    /// Who the client is. Send it: a later version requires it.
    #[wire(lenient)]
    pub client_info: Option<Implementation>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for InitializeRequest {
    const NAME: &'static str = "initialize";
    type Response = InitializeResponse;
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct InitializeResponse {
    /// The version both will speak: the client's where the agent speaks it too, else the agent's latest. A client
    /// that does not speak the answer should disconnect.
    #[wire(required)]
    pub protocol_version: ProtocolVersion,
    /// What the agent can do; what is not named there it cannot.
    #[wire(default)]
    pub agent_capabilities: AgentCapabilities,
    /// Ways to authenticate. Empty where there is nothing to authenticate.
    #[wire(items, schema(extend("default" = [])))]
    pub auth_methods: Vec<AuthMethod>,
    /// Who the agent is. Send it: a later version requires it.
    #[wire(lenient)]
    pub agent_info: Option<Implementation>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
