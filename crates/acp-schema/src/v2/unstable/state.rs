use crate::common::SessionId;
use crate::common::unstable::{Draft, UsageAddition, draft_union};
use crate::v2;
use crate::wire::object;

draft_union! {
    /// Whether the agent is busy in the foreground, also what drafts add to it. A draft.
    StateUpdate by "state" adding to v2::StateUpdate {
        /// The agent says that it cannot tell: the word `unknown`. What was said before no longer holds for sure.
        "unknown" => CannotTell(UnknownStateUpdate) from UnknownStateUpdate,
    }
    replacing {
        /// Nothing runs in the foreground. Something may in the background.
        "idle" => Idle(IdleStateUpdate) |idle| idle.into(),
    }
}

/// The state `idle`, and how many tokens the work has used.
pub type IdleStateUpdate = Draft<v2::IdleStateUpdate, UsageAddition>;

object! {
    /// The state `unknown`.
    UnknownStateUpdate {
        /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
        lenient_list background: Option<Vec<BackgroundWork>>,
        meta,
    }
}

draft_union! {
    /// Something that goes on beside the foreground, also what drafts add. It converts from the work that a state lists. A
    /// draft.
    BackgroundWork by "type" adding to v2::BackgroundWork {
        /// A subagent that is not idle, or has work in the background itself.
        "subagent" => Subagent(BackgroundSubagent) from BackgroundSubagent,
    }
}

object! {
    /// A subagent that works in the background.
    BackgroundSubagent {
        /// Its session.
        required session_id: SessionId,
        meta,
    }
}
