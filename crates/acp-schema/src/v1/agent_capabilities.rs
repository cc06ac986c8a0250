use agentwire_wire_derive::{Build, Wire};

use crate::common::{
    Meta, SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities, marker_capability,
};

/// What an agent can do, as told in the answer to `initialize`.
///
/// See <https://agentclientprotocol.com/protocol/v1/initialization>.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentCapabilities {
    /// Whether it answers `session/load`.
    #[wire(default)]
    pub load_session: bool,
    /// Which content blocks a prompt may hold beyond text and resource links.
    #[wire(default)]
    pub prompt_capabilities: PromptCapabilities,
    /// Which MCP servers it can reach beyond those on stdio.
    #[wire(default)]
    pub mcp_capabilities: McpCapabilities,
    /// Which `session/*` methods it answers beyond new, prompt, cancel and load.
    #[wire(default)]
    pub session_capabilities: SessionCapabilities,
    /// What it can do about authentication.
    #[wire(default)]
    pub auth: AgentAuthCapabilities,
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
    #[wire(default)]
    pub image: bool,
    /// Blocks of type `audio`.
    #[wire(default)]
    pub audio: bool,
    /// Blocks of type `resource`.
    #[wire(default)]
    pub embedded_context: bool,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which MCP servers an agent can reach beyond those on stdio, which every agent can.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct McpCapabilities {
    /// Servers of type `http`.
    #[wire(default)]
    pub http: bool,
    /// Servers of type `sse`, the transport that MCP has deprecated.
    #[wire(default)]
    pub sse: bool,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// Which `session/*` methods an agent answers beyond the baseline.
///
/// `session/load` is not among them: that is [`AgentCapabilities::load_session`].
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

/// What an agent can do about authentication.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct AgentAuthCapabilities {
    /// `logout`.
    #[wire(lenient)]
    pub logout: Option<LogoutCapabilities>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
    /// Members that this version does not know, as they came: real peers say more than the schema lists.
    #[wire(extra)]
    pub extra: Meta,
}

marker_capability! {
    /// That an agent answers `session/list`.
    SessionListCapabilities,
    /// That an agent answers `session/resume`.
    SessionResumeCapabilities,
    /// That an agent answers `session/close`.
    SessionCloseCapabilities,
    /// That an agent answers `logout`.
    LogoutCapabilities,
}
