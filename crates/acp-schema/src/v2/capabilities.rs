use agentwire_wire_derive::{Build, Wire};

use crate::common::{
    ElicitationCapabilities, Meta, SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities,
    marker_capability,
};

/// What a client can do, as told in `initialize`. What is not named it cannot.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#client-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Which kinds of authentication the client can carry out.
    #[wire(lenient)]
    pub auth: Option<ClientAuthCapabilities>,
    /// Whether and how the agent may ask the person for input. Present without a mode, it allows none.
    #[wire(lenient)]
    pub elicitation: Option<ElicitationCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which kinds of authentication a client can carry out.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ClientAuthCapabilities {
    /// Whether the agent may offer methods of type `terminal`.
    #[wire(lenient)]
    pub terminal: Option<TerminalAuthCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// What an agent can do, as told in the answer to `initialize`. What is not named it cannot.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#agent-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Whether there are sessions. Then the agent answers `session/new`, `session/list`, `session/resume`,
    /// `session/close`, `session/prompt` and `session/cancel`, and sends `session/update`.
    #[wire(lenient)]
    pub session: Option<SessionCapabilities>,
    /// What it can do about authentication beyond `auth/login` and `auth/logout`, for which
    /// [`InitializeResponse::auth_methods`](super::InitializeResponse::auth_methods) speaks.
    #[wire(lenient)]
    pub auth: Option<AgentAuthCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// What an agent with sessions can do beyond the methods that every one of them has.
///
/// See <https://agentclientprotocol.com/protocol/v2/initialization#session-capabilities>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionCapabilities {
    /// Which content blocks a prompt may hold beyond text and resource links.
    #[wire(lenient)]
    pub prompt: Option<PromptCapabilities>,
    /// Which MCP servers the agent can reach. Where nothing is named, none.
    #[wire(lenient)]
    pub mcp: Option<McpCapabilities>,
    /// `session/delete`.
    #[wire(lenient)]
    pub delete: Option<SessionDeleteCapabilities>,
    /// The member `additionalDirectories` of the requests that begin a session.
    #[wire(lenient)]
    pub additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which content blocks a prompt may hold beyond text and resource links, which every agent takes.
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which MCP servers an agent can reach. In this version none goes without saying.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilities {
    /// Programs to start.
    #[wire(lenient)]
    pub stdio: Option<McpStdioCapabilities>,
    /// Servers behind Streamable HTTP.
    #[wire(lenient)]
    pub http: Option<McpHttpCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That a client can run the agent's program once more in a terminal of its own.
    TerminalAuthCapabilities,
    /// What an agent can do about authentication beyond logging in and out: in this version nothing yet.
    AgentAuthCapabilities,
    /// That a prompt may hold pictures.
    PromptImageCapabilities,
    /// That a prompt may hold sound.
    PromptAudioCapabilities,
    /// That a prompt may hold resources with their contents.
    PromptEmbeddedContextCapabilities,
    /// That an agent starts MCP servers as programs.
    McpStdioCapabilities,
    /// That an agent reaches MCP servers behind Streamable HTTP.
    McpHttpCapabilities,
}
