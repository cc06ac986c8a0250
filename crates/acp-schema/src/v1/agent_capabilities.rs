use crate::common::{SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities};
use crate::wire::{marker_capability, object};

object! {
    /// What an agent can do, as told in the answer to `initialize`.
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/initialization>.
    AgentCapabilities {
        /// Whether it answers `session/load`.
        default load_session: bool,
        /// Which content blocks a prompt may hold beyond text and resource links.
        default prompt_capabilities: PromptCapabilities,
        /// Which MCP servers it can reach beyond those on stdio.
        default mcp_capabilities: McpCapabilities,
        /// Which `session/*` methods it answers beyond new, prompt, cancel and load.
        default session_capabilities: SessionCapabilities,
        /// What it can do about authentication.
        default auth: AgentAuthCapabilities,
        meta,
        extra,
    }
}

object! {
    /// Which content blocks a prompt may hold beyond text and resource links, which every agent takes.
    PromptCapabilities {
        /// Blocks of type `image`.
        default image: bool,
        /// Blocks of type `audio`.
        default audio: bool,
        /// Blocks of type `resource`.
        default embedded_context: bool,
        meta,
        extra,
    }
}

object! {
    /// Which MCP servers an agent can reach beyond those on stdio, which every agent can.
    McpCapabilities {
        /// Servers of type `http`.
        default http: bool,
        /// Servers of type `sse`, the transport that MCP has deprecated.
        default sse: bool,
        meta,
        extra,
    }
}

object! {
    /// Which `session/*` methods an agent answers beyond the baseline.
    ///
    /// `session/load` is not among them: that is [`AgentCapabilities::load_session`].
    SessionCapabilities {
        /// `session/list`.
        lenient list: Option<SessionListCapabilities>,
        /// `session/delete`.
        lenient delete: Option<SessionDeleteCapabilities>,
        /// The member `additionalDirectories` of the requests that begin a session.
        lenient additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
        /// `session/resume`.
        lenient resume: Option<SessionResumeCapabilities>,
        /// `session/close`.
        lenient close: Option<SessionCloseCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// What an agent can do about authentication.
    AgentAuthCapabilities {
        /// `logout`.
        lenient logout: Option<LogoutCapabilities>,
        meta,
        extra,
    }
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
