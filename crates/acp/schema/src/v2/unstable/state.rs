//! The `StateUpdate` of version 2 with the state `unknown`, the token usage of `idle`, and subagents as background work.

use agentwire_wire_derive::{Build, Wire};

use crate::common::unstable::{UsageAddition, WithAdditions, draft_union};
use crate::common::{Meta, SessionId};
use crate::v2;

draft_union! {
    /// The activity of the agent in the foreground, with the additions of drafts. A draft.
    StateUpdate by "state" adding to v2::StateUpdate {
        /// The agent does not know it: the word `unknown`. The state before no longer holds for sure.
        "unknown" => CannotTell(UnknownStateUpdate) from UnknownStateUpdate,
    }
    replacing {
        /// No work runs in the foreground. Work may run in the background.
        "idle" => Idle(IdleStateUpdate) |idle| idle.into(),
    }
}

/// The state `idle`, and how many tokens the work has used.
pub type IdleStateUpdate = WithAdditions<v2::IdleStateUpdate, UsageAddition>;

/// The state `unknown`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UnknownStateUpdate {
    /// All background work. An empty list means no background work, a missing member leaves it unknown.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

draft_union! {
    /// Something that goes on beside the foreground, also what drafts add. It converts from the work that a state lists. A
    /// draft.
    BackgroundWork by "type" adding to v2::BackgroundWork {
        /// A subagent that is not idle, or has work in the background itself.
        "subagent" => Subagent(BackgroundSubagent) from BackgroundSubagent,
    }
}

/// A subagent that works in the background.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BackgroundSubagent {
    /// Its session.
    #[wire(required)]
    pub session_id: SessionId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
