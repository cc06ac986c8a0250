use serde::{Deserialize, Deserializer, Serialize, de};

use crate::common::unstable::Usage;
use crate::common::{IdleStopReason, Meta};
use crate::wire::lenient::lenient;
use crate::wire::{builder, empty_object, tagged_union};

tagged_union! {
    /// Whether a subagent is busy, all that is to be said about it.
    ///
    /// See <https://agentclientprotocol.com/rfds/subagents#current-work-state>.
    StateUpdate by "state" {
        /// It works.
        "running" => Running(RunningStateUpdate) from RunningStateUpdate,
        /// It waits for its parent; its session goes on.
        "idle" => Idle(IdleStateUpdate) from IdleStateUpdate,
        /// It waits for the person.
        "requires_action" => RequiresAction(RequiresActionStateUpdate) from RequiresActionStateUpdate,
        /// The agent says that it cannot tell: the word `unknown`. What was said before no longer holds for sure.
        "unknown" => CannotTell(UnknownStateUpdate) from UnknownStateUpdate,
    }
    else {
        /// A state that this version does not know: the whole object.
        Unknown
    }
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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IdleStateUpdate {
    /// Why the work ended. On the wire what belongs to a reason stands beside it.
    #[cfg_attr(feature = "schema", schemars(with = "IdleStopReason"))]
    #[serde(flatten)]
    pub stop_reason: Option<IdleStopReason>,
    /// How many tokens the work has used.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Free room: its keys belong to whoever sent them.
    #[cfg_attr(feature = "schema", schemars(extend("x-deserialize-default-on-error" = true)))]
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

builder! {
    IdleStateUpdate::new() {
        option stop_reason: IdleStopReason,
        option usage: Usage,
        option meta: Meta,
    }
}

impl<'de> Deserialize<'de> for IdleStateUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Base {
            #[serde(default, deserialize_with = "lenient")]
            usage: Option<Usage>,
            #[serde(rename = "_meta", default, deserialize_with = "lenient")]
            meta: Option<Meta>,
        }

        let object = Meta::deserialize(deserializer)?;
        let Base { usage, meta } = object.decode().map_err(de::Error::custom)?;
        let stop_reason = IdleStopReason::read(&object, &["usage", "_meta"]);
        Ok(Self { stop_reason, usage, meta })
    }
}
