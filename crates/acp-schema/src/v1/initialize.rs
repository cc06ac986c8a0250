use agentwire_jsonrpc::Method;

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::common::{Implementation, ProtocolVersion};
use crate::wire::object;

object! {
    /// `initialize`: the client's first message, with what it speaks and can do.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/initialization>.
    InitializeRequest {
        /// The latest version that the client speaks.
        required protocol_version: ProtocolVersion,
        /// What the client can do; what is not named there it cannot.
        default client_capabilities: ClientCapabilities,
        /// Who the client is. Send it: a later version requires it.
        lenient client_info: Option<Implementation>,
        meta,
    }
}

impl Method for InitializeRequest {
    const NAME: &'static str = "initialize";
    type Response = InitializeResponse;
}

object! {
    /// The answer to `initialize`.
    InitializeResponse {
        /// The version both will speak: the client's where the agent speaks it too, else the agent's latest. A client
        /// that does not speak the answer should disconnect.
        required protocol_version: ProtocolVersion,
        /// What the agent can do; what is not named there it cannot.
        default agent_capabilities: AgentCapabilities,
        /// Ways to authenticate. Empty where there is nothing to authenticate.
        #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
        items auth_methods: Vec<AuthMethod>,
        /// Who the agent is. Send it: a later version requires it.
        lenient agent_info: Option<Implementation>,
        meta,
    }
}
