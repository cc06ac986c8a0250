//! `IdleStopReason`: reads `stopReason` and its companion members out of the state `idle`, and writes them back into that
//! object.

use std::borrow::Cow;

use agentwire_jsonrpc::ErrorObject;
use agentwire_jsonrpc::wire::WriteMembers;
use agentwire_wire_derive::{Build, Wire};
use serde::de::IgnoredAny;
use serde::ser::SerializeMap;

use crate::common::Meta;

const KEY: &str = "stopReason";

/// Why foreground work ended: the member `stopReason` of the state `idle`, and the members that belong to the reason.
///
/// See <https://agentclientprotocol.com/protocol/v2/prompt-lifecycle#stop-reasons>.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum IdleStopReason {
    /// It succeeded. A command that the agent handles without asking the model ends like this too.
    EndTurn,
    /// The model reached its limit of tokens.
    MaxTokens,
    /// The agent reached its limit of requests to the model for this work.
    MaxTurnRequests,
    /// The agent refuses to continue.
    Refusal,
    /// The person or the client stopped the work. An agent that stops by itself gives another reason.
    Cancelled,
    /// Something failed.
    Error(Box<ErrorStopReason>),
    /// A reason that this version does not know: its members, including `stopReason`.
    Unknown(Meta),
}

impl IdleStopReason {
    /// Returns the string on the wire.
    pub fn word(&self) -> Cow<'_, str> {
        match self {
            Self::EndTurn => "end_turn".into(),
            Self::MaxTokens => "max_tokens".into(),
            Self::MaxTurnRequests => "max_turn_requests".into(),
            Self::Refusal => "refusal".into(),
            Self::Cancelled => "cancelled".into(),
            Self::Error(_) => "error".into(),
            Self::Unknown(object) => object.text(KEY).unwrap_or_default(),
        }
    }

    /// Reads it from the members of an object that have no field. A malformed one counts as missing.
    pub(crate) fn read(members: Meta) -> Result<Option<Self>, serde_json::Error> {
        // A repeated reason is malformed. A borrowed string is not copied: an unknown one may be long.
        if members.decode_member::<IgnoredAny>(KEY).is_err() {
            return Ok(None);
        }
        let reason = match members.text(KEY).as_deref() {
            None => None,
            Some("end_turn") => Some(Self::EndTurn),
            Some("max_tokens") => Some(Self::MaxTokens),
            Some("max_turn_requests") => Some(Self::MaxTurnRequests),
            Some("refusal") => Some(Self::Refusal),
            Some("cancelled") => Some(Self::Cancelled),
            Some("error") => members.decode().ok().map(Self::Error),
            Some(_) => Some(Self::Unknown(members.clone())),
        };
        Ok(reason)
    }
}

impl From<ErrorObject> for IdleStopReason {
    fn from(error: ErrorObject) -> Self {
        ErrorStopReason::new().error(error).into()
    }
}

impl From<ErrorStopReason> for IdleStopReason {
    fn from(reason: ErrorStopReason) -> Self {
        Self::Error(Box::new(reason))
    }
}

/// Writes its members into the object that contains it.
impl WriteMembers for IdleStopReason {
    fn write_members<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        if let Self::Unknown(object) = self {
            return object.write_members(members);
        }
        members.serialize_entry(KEY, &self.word())?;
        match self {
            Self::Error(reason) => reason.write_members(members),
            _ => Ok(()),
        }
    }
}

/// The members of the stop reason `error`.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ErrorStopReason {
    /// The error. An agent should send it.
    #[wire(lenient)]
    pub error: Option<ErrorObject>,
}

/// The members that it adds to the object that contains it.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for IdleStopReason {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "IdleStopReason".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let reason = |word: &str, explanation: &str| {
            serde_json::json!({
                "description": explanation,
                "type": "object",
                "properties": { KEY: { "type": "string", "const": word } },
                "required": [KEY],
            })
        };
        let mut error = reason("error", "Something failed.");
        error["allOf"] = serde_json::json!([generator.subschema_for::<ErrorStopReason>()]);
        schemars::json_schema!({
            "type": "object",
            "properties": {
                KEY: {
                    "description": "Why the work ended. Missing, null and malformed are the same: not told.",
                    "type": ["string", "null"],
                    "x-deserialize-default-on-error": true,
                },
            },
            "anyOf": [
                reason("end_turn", "It succeeded."),
                reason("max_tokens", "The model may not produce more tokens."),
                reason("max_turn_requests", "The agent may not ask the model again for this work."),
                reason("refusal", "The agent refuses to go on."),
                reason("cancelled", "The person or the client chose to stop."),
                error,
                {
                    "title": "none",
                    "description": "No reason is told.",
                    "type": "object",
                    "properties": { KEY: { "type": "null" } },
                },
            ],
            "x-open": true,
        })
    }
}
