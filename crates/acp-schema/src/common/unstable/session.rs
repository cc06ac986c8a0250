use agentwire_jsonrpc::Method;

use crate::common::SessionId;
use crate::wire::{empty_object, object, open_enum};

object! {
    /// `session/archive`: keep a conversation and take it off the list as it is by default. One that is active is closed.
    ///
    /// Archiving twice is no error. Only where the agent has the capability `archive` for sessions. A draft.
    ArchiveSessionRequest {
        /// The session.
        required session_id: SessionId,
        meta,
    }
}

impl Method for ArchiveSessionRequest {
    const NAME: &'static str = "session/archive";
    type Response = ArchiveSessionResponse;
}

object! {
    /// `session/unarchive`: put an archived conversation on the list again, without taking it up.
    ///
    /// One that is not archived is no error. Only where the agent has the capability `archive` for sessions. A draft.
    UnarchiveSessionRequest {
        /// The session.
        required session_id: SessionId,
        meta,
    }
}

impl Method for UnarchiveSessionRequest {
    const NAME: &'static str = "session/unarchive";
    type Response = UnarchiveSessionResponse;
}

empty_object! {
    /// The answer to `session/archive`.
    ArchiveSessionResponse,
    /// The answer to `session/unarchive`.
    UnarchiveSessionResponse,
}

object! {
    /// `session/set_title`: call a conversation something else. It need not be active.
    ///
    /// Afterwards the agent should not replace the title by one of its own making. Only where the agent has the
    /// capability `title` for sessions. A draft.
    SetSessionTitleRequest {
        /// The session.
        required session_id: SessionId,
        /// The title. The agent may trim it, and refuses one of which nothing is left.
        required title: String,
        meta,
    }
}

impl Method for SetSessionTitleRequest {
    const NAME: &'static str = "session/set_title";
    type Response = SetSessionTitleResponse;
}

object! {
    /// The answer to `session/set_title`.
    SetSessionTitleResponse {
        /// The title that the agent has kept: the one to show.
        required title: String,
        meta,
    }
}

open_enum! {
    /// Whether an agent has a session in memory. Words of one's own begin with `_`; take a word that you do not know as
    /// [`Saved`](Self::Saved).
    SessionStatus {
        /// It has, for whichever connection. One that did not begin or take it up has to do so before it prompts.
        Open = "open",
        /// It has not, and can take it up.
        Saved = "saved",
    } else Other
}

open_enum! {
    /// Which sessions a list holds. Words of one's own begin with `_`; an agent refuses a word that it does not know.
    SessionArchiveFilter {
        /// Those that are not archived: the default.
        Exclude = "exclude",
        /// All.
        Include = "include",
        /// Those that are archived.
        Only = "only",
    } else Other
}

open_enum! {
    /// What becomes of the agent's own instructions. Words of one's own begin with `_`; an agent refuses a word that it does
    /// not know.
    SystemPromptMode {
        /// They stay, and the client's are added.
        Append = "append",
        /// The client's stand in place of those that the agent has by default. Tools, permissions and what the agent says of
        /// the workspace are another matter. Only where the agent has the capability `systemPrompt.mode.override`.
        Override = "override",
    } else Other
}

object! {
    /// What `session/list` takes in a draft.
    ArchiveFilterAddition {
        /// Whether the list holds archived sessions; none for `exclude`. Keep it when asking for the next page. Only where
        /// the agent has the capability `archive` for sessions.
        optional archived: Option<SessionArchiveFilter>,
    }
}

object! {
    /// What a session in a list has in a draft.
    ArchivedAddition {
        /// Whether it is archived; an agent with the capability `archive` for sessions always says so.
        lenient_number archived: Option<bool>,
    }
}

/// Defines what versions say in the same words about a session's status and its system prompt.
///
/// The types are each version's own, because its content blocks and states are. Around the call there must be
/// `ContentBlock`, and `SessionStatusResponse`.
macro_rules! session_types {
    () => {
        $crate::wire::object! {
            /// `session/status`: whether a session is loaded at the moment, and what goes on in it. Nothing changes by asking.
            ///
            /// Only where the agent has the capability `status` for sessions. A draft.
            SessionStatusRequest {
                /// The session.
                required session_id: $crate::common::SessionId,
                meta,
            }
        }

        impl agentwire_jsonrpc::Method for SessionStatusRequest {
            const NAME: &'static str = "session/status";
            type Response = SessionStatusResponse;
        }

        $crate::wire::object! {
            /// Instructions for a session, at the level of the agent's own. An agent that cannot follow them refuses the request.
            ///
            /// Only where the agent has the capability `systemPrompt` for sessions. A draft.
            SystemPrompt {
                /// What becomes of the agent's own instructions.
                required mode: $crate::common::unstable::SystemPromptMode,
                /// The instructions, not empty. Only text is allowed so far.
                required content: Vec<ContentBlock>,
                meta,
            }
        }

        $crate::wire::object! {
            /// What the requests that begin a session take in a draft.
            SystemPromptAddition {
                /// Instructions for the session. Who takes up an old session should send those it was made with.
                optional system_prompt: Option<SystemPrompt>,
            }
        }
    };
}
pub(crate) use session_types;
