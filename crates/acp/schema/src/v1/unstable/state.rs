//! The `state` of a subagent in `subagent_update`. Version 1 has no other state update.

use agentwire_wire_derive::{Build, Wire};

use crate::common::unstable::Usage;
use crate::common::{IdleStopReason, Meta, empty_object};

/// The activity of a subagent, and nothing else about it.
///
/// See <https://agentclientprotocol.com/rfds/subagents#current-work-state>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "state")]
#[non_exhaustive]
pub enum StateUpdate {
    /// It works.
    #[wire("running", from)]
    Running(RunningStateUpdate),
    /// It waits for its parent; its session goes on.
    #[wire("idle", from)]
    Idle(IdleStateUpdate),
    /// It waits for the person.
    #[wire("requires_action", from)]
    RequiresAction(RequiresActionStateUpdate),
    /// The agent does not know it: the word `unknown`. The state before no longer holds for sure.
    #[wire("unknown", from)]
    CannotTell(UnknownStateUpdate),
    /// A state that this version does not know: the whole object.
    #[wire(unknown)]
    Unknown(Meta),
}

empty_object! {
    /// The state `running`.
    RunningStateUpdate,
    /// The state `requires_action`.
    RequiresActionStateUpdate,
    /// The state `unknown`.
    UnknownStateUpdate,
}

/// The state `idle`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct IdleStateUpdate {
    /// Why the work ended. On the wire the members of a reason are siblings of it.
    #[wire(union, read = IdleStopReason::read, schema(with = "IdleStopReason"))]
    pub stop_reason: Option<IdleStopReason>,
    /// How many tokens the work has used.
    #[wire(lenient)]
    pub usage: Option<Usage>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
