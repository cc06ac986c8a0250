//! The notification `session/update` of version 2 with the variants that drafts add. The variant for `state_update` holds the
//! draft's states.

use agentwire_jsonrpc::NotificationMethod;
use agentwire_wire_derive::{Build, Wire};

use super::StateUpdate;
use crate::common::unstable::{PlanRemoved, draft_union, session_message_types, subagent_types};
use crate::common::{Meta, Patch, SessionId};
use crate::v2::{self, AbsolutePath, ContentBlock};

/// `session/update` with what drafts add.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UpdateSessionNotification {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The event.
    #[wire(required)]
    pub update: SessionUpdate,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl NotificationMethod for UpdateSessionNotification {
    const NAME: &'static str = v2::UpdateSessionNotification::NAME;
}

draft_union! {
    /// One thing that happened in a session, also what drafts add. A draft.
    SessionUpdate by "sessionUpdate" adding to v2::SessionUpdate {
        /// A plan is gone.
        "plan_removed" => PlanRemoved(PlanRemoved) from PlanRemoved,
        /// The session has a child, or something about it changed.
        "subagent_update" => SubagentUpdate(Box<SubagentUpdate>) from SubagentUpdate,
        /// A message between sessions.
        "session_message" => SessionMessage(Box<SessionMessage>) from SessionMessage,
        /// A piece of such a message.
        "session_message_chunk" => SessionMessageChunk(SessionMessageChunk) from SessionMessageChunk,
    }
    replacing {
        /// The activity of the agent.
        "state_update" => StateUpdate(Box<StateUpdate>) |state| Box::new((*state).into()),
    }
}

impl From<StateUpdate> for SessionUpdate {
    fn from(state: StateUpdate) -> Self {
        Self::StateUpdate(Box::new(state))
    }
}

session_message_types! {}

subagent_types! { AbsolutePath }
