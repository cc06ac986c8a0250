//! The member `capabilities` of the `initialize` params and result. Each capability is an object that is present or missing,
//! not a boolean.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{
    ElicitationCapabilities, Meta, SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities,
    marker_capability,
};

/// The capabilities of a client, in `initialize`. A capability that is missing is off.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#client-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// The kinds of authentication that the client supports.
    #[wire(lenient)]
    pub auth: Option<ClientAuthCapabilities>,
    /// The ways in which the agent may ask the person for input. An object without a mode allows none.
    #[wire(lenient)]
    pub elicitation: Option<ElicitationCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The kinds of authentication that a client supports.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientAuthCapabilities {
    /// Present if the agent may offer methods of type `terminal`.
    #[wire(lenient)]
    pub terminal: Option<TerminalAuthCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The capabilities of an agent, in the answer to `initialize`. A capability that is missing is off.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#agent-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Present if there are sessions. Then the agent answers `session/new`, `session/list`, `session/resume`,
    /// `session/close`, `session/prompt` and `session/cancel`, and sends `session/update`.
    #[wire(lenient)]
    pub session: Option<SessionCapabilities>,
    /// Its capabilities for authentication beyond `auth/login` and `auth/logout`, which
    /// [`InitializeResponse::auth_methods`](crate::v2::InitializeResponse::auth_methods) advertises.
    #[wire(lenient)]
    pub auth: Option<AgentAuthCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The capabilities of an agent with sessions beyond the methods that every such agent has.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#session-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionCapabilities {
    /// The content blocks that a prompt may contain beyond text and resource links.
    #[wire(lenient)]
    pub prompt: Option<PromptCapabilities>,
    /// The kinds of MCP servers that the agent can connect to. None if the member is missing.
    #[wire(lenient)]
    pub mcp: Option<McpCapabilities>,
    /// `session/delete`.
    #[wire(lenient)]
    pub delete: Option<SessionDeleteCapabilities>,
    /// The member `additionalDirectories` of the requests that begin a session.
    #[wire(lenient)]
    pub additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The content blocks that a prompt may contain beyond text and resource links, which every agent accepts.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct PromptCapabilities {
    /// Blocks of type `image`.
    #[wire(lenient)]
    pub image: Option<PromptImageCapabilities>,
    /// Blocks of type `audio`.
    #[wire(lenient)]
    pub audio: Option<PromptAudioCapabilities>,
    /// Blocks of type `resource`.
    #[wire(lenient)]
    pub embedded_context: Option<PromptEmbeddedContextCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The kinds of MCP servers that an agent can connect to. In this version no kind is implied.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilities {
    /// Programs to start.
    #[wire(lenient)]
    pub stdio: Option<McpStdioCapabilities>,
    /// Servers behind Streamable HTTP.
    #[wire(lenient)]
    pub http: Option<McpHttpCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The client can run the agent's program again, in a terminal of its own.
    TerminalAuthCapabilities,
    /// An agent's capabilities for authentication beyond login and logout. This version defines none.
    AgentAuthCapabilities,
    /// A prompt may contain pictures.
    PromptImageCapabilities,
    /// A prompt may contain sound.
    PromptAudioCapabilities,
    /// A prompt may contain resources with their contents.
    PromptEmbeddedContextCapabilities,
    /// The agent starts MCP servers as programs.
    McpStdioCapabilities,
    /// The agent connects to MCP servers over Streamable HTTP.
    McpHttpCapabilities,
}
