//! The update `state_update`: running, idle with a stop reason, or waiting for the person. Each state can list the background
//! work.

use agentwire_wire_derive::{Build, Wire};

use crate::common::{IdleStopReason, Meta, TerminalId, ToolCallId};

/// The update `state_update`: whether the agent is busy in the foreground. It replaces the whole state.
///
/// A prompt or the agent itself begins foreground work. The agent sends `running` when work begins and `idle` when none is
/// left. A new session is idle. A repeated state is not a second beginning or end. See
/// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "state")]
#[non_exhaustive]
pub enum StateUpdate {
    /// The agent works.
    #[wire("running", from)]
    Running(RunningStateUpdate),
    /// No work runs in the foreground. Work may run in the background.
    #[wire("idle", from)]
    Idle(IdleStateUpdate),
    /// All foreground work waits for the person.
    #[wire("requires_action", from)]
    RequiresAction(RequiresActionStateUpdate),
    /// A state that this version does not know: the whole object. Show the session as busy: it is not idle, and the
    /// previous state has ended.
    #[wire(unknown)]
    Unknown(Meta),
}

/// The state `running`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RunningStateUpdate {
    /// All background work. An empty list means no background work, a missing member leaves it unknown.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The state `requires_action`: foreground work waits for the person.
///
/// An agent does not send it for an open permission request while other work continues.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequiresActionStateUpdate {
    /// All background work. An empty list means no background work, a missing member leaves it unknown.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The state `idle`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct IdleStateUpdate {
    /// Why the work ended. An agent should send it when work has just ended, and may repeat it later. On the wire the
    /// members of a reason are siblings of it.
    #[wire(union, read = read_stop_reason, schema(with = "IdleStopReason"))]
    pub stop_reason: Option<IdleStopReason>,
    /// All background work. An empty list means no background work, a missing member leaves it unknown.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An addition to this draft has the member `usage`, which is not part of a reason.
fn read_stop_reason(mut members: Meta) -> Result<Option<IdleStopReason>, serde_json::Error> {
    members.retain(|name| name != "usage");
    IdleStopReason::read(members)
}

/// Background work. Updates report it before the list contains it, and report its end before the list omits it.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum BackgroundWork {
    /// A process that runs on, until an update of its terminal has an exit status.
    #[wire("terminal", from)]
    Terminal(BackgroundTerminal),
    /// Work of a tool call without a process of its own: a watch, a workflow, a scheduled action.
    #[wire("tool_call", from)]
    ToolCall(BackgroundToolCall),
    /// Work of a type that this version does not know: the whole object. It counts as work.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A process that runs in the background.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BackgroundTerminal {
    /// The terminal it runs in.
    #[wire(required)]
    pub terminal_id: TerminalId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A tool call whose work continues in the background.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BackgroundToolCall {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
