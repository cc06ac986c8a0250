use agentwire_jsonrpc::Method;

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::common::{Implementation, ProtocolVersion};
use crate::wire::object;

object! {
    /// `initialize`: the client's first message, with what it speaks, who it is and what it can do.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/initialization>.
    InitializeRequest {
        /// The latest version that the client speaks.
        required protocol_version: ProtocolVersion,
        /// Who the client is.
        required info: Implementation,
        /// What the client can do; what is not named there it cannot.
        default capabilities: ClientCapabilities,
        meta,
    }
}

impl Method for InitializeRequest {
    const NAME: &'static str = "initialize";
    type Response = InitializeResponse;
}

object! {
    /// The answer to `initialize`.
    ///
    /// An agent that speaks no version up to the client's refuses with
    /// [`UNSUPPORTED_PROTOCOL_VERSION`](super::error_code::UNSUPPORTED_PROTOCOL_VERSION) instead.
    InitializeResponse {
        /// The latest version that the agent speaks up to the client's. A client that does not speak it should disconnect.
        required protocol_version: ProtocolVersion,
        /// Who the agent is.
        required info: Implementation,
        /// What the agent can do; what is not named there it cannot.
        default capabilities: AgentCapabilities,
        /// Ways to authenticate. Where there is one, the agent answers `auth/login` and `auth/logout`; else the client calls
        /// neither.
        items auth_methods: Vec<AuthMethod>,
        meta,
    }
}
