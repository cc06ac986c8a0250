use crate::common::{
    ElicitationCapabilities, SessionAdditionalDirectoriesCapabilities, SessionDeleteCapabilities,
};
use crate::wire::{marker_capability, object};

object! {
    /// What a client can do, as told in `initialize`. What is not named it cannot.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/initialization#client-capabilities>.
    ClientCapabilities {
        /// Which kinds of authentication the client can carry out.
        lenient auth: Option<ClientAuthCapabilities>,
        /// Whether and how the agent may ask the person for input. Present without a mode, it allows none.
        lenient elicitation: Option<ElicitationCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which kinds of authentication a client can carry out.
    ClientAuthCapabilities {
        /// Whether the agent may offer methods of type `terminal`.
        lenient terminal: Option<TerminalAuthCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// What an agent can do, as told in the answer to `initialize`. What is not named it cannot.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/initialization#agent-capabilities>.
    AgentCapabilities {
        /// Whether there are sessions. Then the agent answers `session/new`, `session/list`, `session/resume`,
        /// `session/close`, `session/prompt` and `session/cancel`, and sends `session/update`.
        lenient session: Option<SessionCapabilities>,
        /// What it can do about authentication beyond `auth/login` and `auth/logout`, for which
        /// [`InitializeResponse::auth_methods`](super::InitializeResponse::auth_methods) speaks.
        lenient auth: Option<AgentAuthCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// What an agent with sessions can do beyond the methods that every one of them has.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/initialization#session-capabilities>.
    SessionCapabilities {
        /// Which content blocks a prompt may hold beyond text and resource links.
        lenient prompt: Option<PromptCapabilities>,
        /// Which MCP servers the agent can reach. Where nothing is named, none.
        lenient mcp: Option<McpCapabilities>,
        /// `session/delete`.
        lenient delete: Option<SessionDeleteCapabilities>,
        /// The member `additionalDirectories` of the requests that begin a session.
        lenient additional_directories: Option<SessionAdditionalDirectoriesCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which content blocks a prompt may hold beyond text and resource links, which every agent takes.
    PromptCapabilities {
        /// Blocks of type `image`.
        lenient image: Option<PromptImageCapabilities>,
        /// Blocks of type `audio`.
        lenient audio: Option<PromptAudioCapabilities>,
        /// Blocks of type `resource`.
        lenient embedded_context: Option<PromptEmbeddedContextCapabilities>,
        meta,
        extra,
    }
}

object! {
    /// Which MCP servers an agent can reach. In this version none goes without saying.
    McpCapabilities {
        /// Programs to start.
        lenient stdio: Option<McpStdioCapabilities>,
        /// Servers behind Streamable HTTP.
        lenient http: Option<McpHttpCapabilities>,
        meta,
        extra,
    }
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
