use agentwire_wire_derive::{Build, Wire};

use crate::common::{IdleStopReason, Meta, TerminalId, ToolCallId};

/// The update `state_update`: whether the agent is busy in the foreground, all that is to be said about it.
///
/// Foreground work begins with a prompt, or because the agent begins it. The agent says `running` when it begins and
/// `idle` when none is left. A new session is idle. The same state said again is no second beginning or end. See
/// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "state")]
#[non_exhaustive]
pub enum StateUpdate {
    /// The agent works.
    #[wire("running", from)]
    Running(RunningStateUpdate),
    /// Nothing runs in the foreground. Something may in the background.
    #[wire("idle", from)]
    Idle(IdleStateUpdate),
    /// All foreground work waits for the person.
    #[wire("requires_action", from)]
    RequiresAction(RequiresActionStateUpdate),
    /// A state that this version does not know: the whole object. Show the session as busy; it is not idle, and
    /// what was said before no longer holds.
    #[wire(unknown)]
    Unknown(Meta),
}

/// The state `running`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RunningStateUpdate {
    /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The state `requires_action`: nothing in the foreground can go on without the person.
///
/// An open permission request is not enough where other work goes on.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequiresActionStateUpdate {
    /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// The state `idle`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct IdleStateUpdate {
    /// Why the work ended. An agent should say it when work has just ended; later it may repeat it. On the wire what
    /// belongs to a reason stands beside it.
    #[wire(union, read = read_stop_reason, schema(with = "IdleStopReason"))]
    pub stop_reason: Option<IdleStopReason>,
    /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
    #[wire(lenient_list)]
    pub background: Option<Vec<BackgroundWork>>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// An addition to this draft has the member `usage`, which is no part of a reason.
fn read_stop_reason(mut members: Meta) -> Result<Option<IdleStopReason>, serde_json::Error> {
    members.retain(|name| name != "usage");
    IdleStopReason::read(members)
}

/// Something that goes on beside the foreground. It was told of before it is listed, and so is its end before it is
/// no longer listed.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum BackgroundWork {
    /// A process that runs on, until an update of its terminal has an exit status.
    #[wire("terminal", from)]
    Terminal(BackgroundTerminal),
    /// What a tool call has begun and no process does: a watch, a workflow, something for later.
    #[wire("tool_call", from)]
    ToolCall(BackgroundToolCall),
    /// Work of a type that this version does not know: the whole object. It is work all the same.
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
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A tool call whose work goes on in the background.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct BackgroundToolCall {
    /// The call.
    #[wire(required)]
    pub tool_call_id: ToolCallId,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}
