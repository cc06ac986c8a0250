//! The member `agentCapabilities` of the `initialize` result: prompts, MCP transports, session methods and authentication.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{
    Meta, SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities, marker_capability,
};

/// The capabilities of an agent, in the answer to `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Whether it answers `session/load`.
    #[wire(default)]
    pub load_session: bool,
    /// The content blocks that a prompt may contain beyond text and resource links.
    #[wire(default)]
    pub prompt_capabilities: PromptCapabilities,
    /// The kinds of MCP servers that it can connect to beyond stdio.
    #[wire(default)]
    pub mcp_capabilities: McpCapabilities,
    /// The `session/*` methods that it answers beyond new, prompt, cancel and load.
    #[wire(default)]
    pub session_capabilities: SessionCapabilities,
    /// Its capabilities for authentication.
    #[wire(default)]
    pub auth: AgentAuthCapabilities,
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
    #[wire(default)]
    pub image: bool,
    /// Blocks of type `audio`.
    #[wire(default)]
    pub audio: bool,
    /// Blocks of type `resource`.
    #[wire(default)]
    pub embedded_context: bool,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The kinds of MCP servers that an agent can connect to beyond stdio, which every agent supports.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilities {
    /// Servers of type `http`.
    #[wire(default)]
    pub http: bool,
    /// Servers of type `sse`, the transport that MCP has deprecated.
    #[wire(default)]
    pub sse: bool,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// The `session/*` methods that an agent answers beyond the baseline.
///
/// The capability for `session/load` is [`AgentCapabilities::load_session`].
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionCapabilities {
    /// `session/list`.
    #[wire(lenient)]
    pub list: Option<SessionListCapabilities>,
    /// `session/delete`.
    #[wire(lenient)]
    pub delete: Option<SessionDeleteCapabilities>,
    /// The member `additionalDirectories` of the requests that begin a session.
    #[wire(lenient)]
    pub additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
    /// `session/resume`.
    #[wire(lenient)]
    pub resume: Option<SessionResumeCapabilities>,
    /// `session/close`.
    #[wire(lenient)]
    pub close: Option<SessionCloseCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// An agent's capabilities for authentication.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentAuthCapabilities {
    /// `logout`.
    #[wire(lenient)]
    pub logout: Option<LogoutCapabilities>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, unchanged: real peers send more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// The agent answers `session/list`.
    SessionListCapabilities,
    /// The agent answers `session/resume`.
    SessionResumeCapabilities,
    /// The agent answers `session/close`.
    SessionCloseCapabilities,
    /// The agent answers `logout`.
    LogoutCapabilities,
}
