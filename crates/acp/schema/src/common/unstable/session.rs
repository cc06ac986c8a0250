//! The types of `session/archive`, `session/unarchive` and `session/set_title`. A macro makes a version's `session/status`,
//! `session/fork` and system prompt.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionId, empty_object, session_params};

session_params! {
    /// `session/archive`: keep a conversation and take it off the list as it is by default. One that is active is closed.
    ///
    /// Archiving twice is not an error. Only where the agent has the capability `archive` for sessions. A draft.
    ArchiveSessionRequest,
    /// `session/unarchive`: put an archived conversation on the list again, without taking it up.
    ///
    /// One that is not archived is not an error. Only where the agent has the capability `archive` for sessions. A draft.
    UnarchiveSessionRequest,
}

empty_object! {
    /// The answer to `session/archive`.
    ArchiveSessionResponse,
    /// The answer to `session/unarchive`.
    UnarchiveSessionResponse,
}

/// `session/set_title`: call a conversation something else. It need not be active.
///
/// Afterwards the agent should not replace the title by one of its own making. Only where the agent has the
/// capability `title` for sessions. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionTitleRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The title. The agent may trim it, and refuses one of which nothing is left.
    #[wire(required)]
    pub title: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The answer to `session/set_title`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SetSessionTitleResponse {
    /// The title that the agent has kept: the one to show.
    #[wire(required)]
    pub title: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The place of a session: in memory or stored. Custom strings begin with `_`; take a word that you do not know as
/// [`Saved`](Self::Saved).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum SessionStatus {
    /// It has, for whichever connection. One that did not begin or take it up has to do so before it prompts.
    #[wire("open")]
    Open,
    /// It has not, and can take it up.
    #[wire("saved")]
    Saved,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// The sessions that a list holds. Custom strings begin with `_`; an agent refuses a word that it does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum SessionArchiveFilter {
    /// Those that are not archived: the default.
    #[wire("exclude")]
    Exclude,
    /// All.
    #[wire("include")]
    Include,
    /// Those that are archived.
    #[wire("only")]
    Only,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// The effect on the agent's own instructions. Custom strings begin with `_`; an agent refuses a word that it does
/// not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum SystemPromptMode {
    /// The client's instructions are added to the agent's.
    #[wire("append")]
    Append,
    /// The client's instructions replace the agent's default ones. Tools, permissions and the agent's description of the
    /// workspace are not affected. Requires the capability `systemPrompt.mode.override`.
    #[wire("override")]
    Override,
    /// A string that this version of the crate does not know, unchanged.
    #[wire(unknown)]
    Other(String),
}

/// The addition of a draft to `session/list`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ArchiveFilterAddition {
    /// The archived sessions in the list; absent for `exclude`. Keep it when asking for the next page. Only where
    /// the agent has the capability `archive` for sessions.
    #[wire(optional)]
    pub archived: Option<SessionArchiveFilter>,
}

/// The addition of a draft to a session in a list.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ArchivedAddition {
    /// Whether it is archived; an agent with the capability `archive` for sessions always sends it.
    #[wire(lenient_number)]
    pub archived: Option<bool>,
}

/// Defines a version's requests for a session's status and for a fork, and its system prompt.
///
/// `ContentBlock`, `McpServer`, `SessionStatusResponse` and `ForkSessionResponse` differ between versions and must be in scope
/// around the call, as must the type of paths.
macro_rules! session_types {
    (path: $path:ty) => {
        $crate::common::session_params! {
            /// `session/status`: whether a session is loaded at the moment, and what goes on in it. Nothing changes by asking.
            ///
            /// Only where the agent has the capability `status` for sessions. A draft.
            SessionStatusRequest,
        }

        /// Instructions for a session, at the level of the agent's own. An agent that cannot follow them refuses the request.
        ///
        /// Only where the agent has the capability `systemPrompt` for sessions. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct SystemPrompt {
            /// The effect on the agent's own instructions.
            #[wire(required)]
            pub mode: $crate::common::unstable::SystemPromptMode,
            /// The instructions, not empty. Only text is allowed so far.
            #[wire(required)]
            pub content: Vec<ContentBlock>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }

        /// The additions of a draft to the requests that begin a session.
        #[derive(
            Clone, Debug, Default, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build,
        )]
        #[non_exhaustive]
        pub struct SystemPromptAddition {
            /// Instructions for the session. Who takes up an old session should send those it was made with.
            #[wire(optional)]
            pub system_prompt: Option<SystemPrompt>,
        }

        /// `session/fork`: begin a conversation with the whole context of an old one, which stays as it is.
        ///
        /// Only where the agent has the capability `fork` for sessions. A draft.
        #[derive(Clone, Debug, PartialEq, agentwire_wire_derive::Wire, agentwire_wire_derive::Build)]
        #[non_exhaustive]
        pub struct ForkSessionRequest {
            /// The old session.
            #[wire(required)]
            pub session_id: $crate::common::SessionId,
            /// The directory to work in, an absolute path.
            #[wire(required)]
            pub cwd: $path,
            /// All further roots of the new session, absolute paths.
            #[wire(list)]
            pub additional_directories: Vec<$path>,
            /// The MCP servers to connect to.
            #[wire(list)]
            pub mcp_servers: Vec<McpServer>,
            /// Instructions for the new session. Send those with which the old one was made.
            #[wire(optional)]
            pub system_prompt: Option<SystemPrompt>,
            /// Extension metadata; receivers make no assumptions about its keys.
            #[wire(meta)]
            pub meta: Option<$crate::common::Meta>,
        }
    };
}
pub(crate) use session_types;
