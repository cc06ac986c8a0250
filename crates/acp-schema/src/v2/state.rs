use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::{IdleStopReason, Meta, TerminalId, ToolCallId};
use crate::wire::lenient::lenient;
use crate::wire::{builder, object, tagged_union};

tagged_union! {
    /// The update `state_update`: whether the agent is busy in the foreground, all that is to be said about it.
    ///
    /// Foreground work begins with a prompt, or because the agent begins it. The agent says `running` when it begins and
    /// `idle` when none is left. A new session is idle. The same state said again is no second beginning or end. See
    /// <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#session-states>.
    StateUpdate by "state" {
        /// The agent works.
        "running" => Running(RunningStateUpdate) from RunningStateUpdate,
        /// Nothing runs in the foreground. Something may in the background.
        "idle" => Idle(IdleStateUpdate) from IdleStateUpdate,
        /// All foreground work waits for the person.
        "requires_action" => RequiresAction(RequiresActionStateUpdate) from RequiresActionStateUpdate,
    }
    else {
        /// A state that this version does not know: the whole object. Show the session as busy; it is not idle, and
        /// what was said before no longer holds.
        Unknown
    }
}

object! {
    /// The state `running`.
    RunningStateUpdate {
        /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
        lenient_list background: Option<Vec<BackgroundWork>>,
        meta,
    }
}

object! {
    /// The state `requires_action`: nothing in the foreground can go on without the person.
    ///
    /// An open permission request is not enough where other work goes on.
    RequiresActionStateUpdate {
        /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
        lenient_list background: Option<Vec<BackgroundWork>>,
        meta,
    }
}

/// The state `idle`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IdleStateUpdate {
    /// Why the work ended. An agent should say it when work has just ended; later it may repeat it. On the wire what
    /// belongs to a reason stands beside it.
    #[cfg_attr(feature = "schema", schemars(with = "IdleStopReason"))]
    #[serde(flatten)]
    pub stop_reason: Option<IdleStopReason>,
    /// All work that goes on beside the foreground; none is not the same as empty, it says nothing.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<Vec<BackgroundWork>>,
    /// Free room: its keys belong to whoever sent them.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

builder! {
    IdleStateUpdate::new() {
        option stop_reason: IdleStopReason,
        option_list background: BackgroundWork,
        option meta: Meta,
    }
}

impl<'de> Deserialize<'de> for IdleStateUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Base {
            #[serde(default, deserialize_with = "lenient")]
            background: Option<Vec<BackgroundWork>>,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        let object = Meta::deserialize(deserializer)?;
        let Base { background, meta } = object.decode().map_err(de::Error::custom)?;
        // `usage` is the member of an addition to this draft.
        let stop_reason = IdleStopReason::read(&object, &["background", "usage", "_meta"]);
        Ok(Self { stop_reason, background, meta })
    }
}

tagged_union! {
    /// Something that goes on beside the foreground. It was told of before it is listed, and so is its end before it is
    /// no longer listed.
    ///
    /// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#background-work>.
    BackgroundWork by "type" {
        /// A process that runs on, until an update of its terminal has an exit status.
        "terminal" => Terminal(BackgroundTerminal) from BackgroundTerminal,
        /// What a tool call has begun and no process does: a watch, a workflow, something for later.
        "tool_call" => ToolCall(BackgroundToolCall) from BackgroundToolCall,
    }
    else {
        /// Work of a type that this version does not know: the whole object. It is work all the same.
        Unknown
    }
}

object! {
    /// A process that runs in the background.
    BackgroundTerminal {
        /// The terminal it runs in.
        required terminal_id: TerminalId,
        meta,
    }
}

object! {
    /// A tool call whose work goes on in the background.
    BackgroundToolCall {
        /// The call.
        required tool_call_id: ToolCallId,
        meta,
    }
}
