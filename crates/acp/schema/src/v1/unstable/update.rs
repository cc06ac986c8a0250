//! The `SessionUpdate` of version 1 with the variants that drafts add.

use std::path::PathBuf;

use super::{PlanUpdate, StateUpdate};
use crate::common::Patch;
use crate::common::unstable::{PlanRemoved, draft_union, session_message_types, subagent_types};
use crate::v1::{self, ContentBlock};

draft_union! {
    /// One thing that happened in a session, also what drafts add. A draft.
    SessionUpdate by "sessionUpdate" adding to v1::SessionUpdate {
        /// A plan with an id began or changed. Only for clients with the capability `plan`.
        "plan_update" => PlanUpdate(Box<PlanUpdate>) from PlanUpdate,
        /// A plan with an id is gone. Only for clients with the capability `plan`.
        "plan_removed" => PlanRemoved(PlanRemoved) from PlanRemoved,
        /// The session has a child, or something about it changed. Only for clients with the capability `subagents`.
        "subagent_update" => SubagentUpdate(Box<SubagentUpdate>) from SubagentUpdate,
        /// A message between sessions. Only for clients with the capability `subagents`.
        "session_message" => SessionMessage(Box<SessionMessage>) from SessionMessage,
        /// A piece of such a message. Only for clients with the capability `subagents`.
        "session_message_chunk" => SessionMessageChunk(SessionMessageChunk) from SessionMessageChunk,
    }
}

session_message_types! {}

subagent_types! { PathBuf }
