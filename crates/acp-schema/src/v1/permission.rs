use agentwire_jsonrpc::{Method, RawObject};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::ToolCallUpdate;
use crate::common::{PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId};
use crate::wire::object;

object! {
    /// `session/request_permission`: may this tool call go on?
    ///
    /// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
    RequestPermissionRequest {
        /// The session.
        required session_id: SessionId,
        /// The call.
        required tool_call: ToolCallUpdate,
        /// What the person can answer.
        required options: Vec<PermissionOption>,
        meta,
    }
}

impl Method for RequestPermissionRequest {
    const NAME: &'static str = "session/request_permission";
    type Response = RequestPermissionResponse;
}

impl RequestPermissionRequest {
    /// Allows without asking anybody: selects the first option, in the agent's order, of kind
    /// [`AllowOnce`](super::PermissionOptionKind::AllowOnce) or [`AllowAlways`](super::PermissionOptionKind::AllowAlways).
    ///
    /// Where nothing can be allowed the outcome is cancelled: a rejection is the person's to choose, and an option of
    /// unknown kind may mean anything. For tests and for places where every call is welcome.
    #[must_use]
    pub fn select_first(&self) -> RequestPermissionResponse {
        let allow = self.options.iter().find(|option| option.kind.allows());
        allow.map_or_else(RequestPermissionResponse::cancelled, |option| {
            RequestPermissionResponse::selected(&option.option_id)
        })
    }
}

object! {
    /// The answer to `session/request_permission`.
    RequestPermissionResponse {
        /// What the person decided.
        required outcome: RequestPermissionOutcome,
        meta,
    }
}

impl RequestPermissionResponse {
    /// The person chose that option.
    #[must_use]
    pub fn selected(option_id: impl Into<PermissionOptionId>) -> Self {
        Self::new(SelectedPermissionOutcome::new(option_id))
    }

    /// The turn was cancelled before the person chose. A client that sends `session/cancel` must answer every open
    /// permission request of that session with this.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(RequestPermissionOutcome::Cancelled)
    }
}

/// What the person decided.
///
/// This union is closed: an outcome with a foreign tag is an error, not a value to match on by accident, because what
/// is no refusal might be taken for consent.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(tag = "outcome", rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum RequestPermissionOutcome {
    /// Nothing: the turn was cancelled first.
    Cancelled,
    /// One of the options.
    Selected(SelectedPermissionOutcome),
}

impl From<SelectedPermissionOutcome> for RequestPermissionOutcome {
    fn from(outcome: SelectedPermissionOutcome) -> Self {
        Self::Selected(outcome)
    }
}

impl Serialize for RequestPermissionOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Outcome<'a> {
            outcome: &'static str,
            #[serde(flatten)]
            selected: Option<&'a SelectedPermissionOutcome>,
        }

        match self {
            Self::Cancelled => Outcome { outcome: "cancelled", selected: None },
            Self::Selected(selected) => Outcome { outcome: "selected", selected: Some(selected) },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestPermissionOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = RawObject::deserialize(deserializer)?;
        let outcome: Option<String> = object.decode_member("outcome").map_err(de::Error::custom)?;
        match outcome.as_deref() {
            Some("cancelled") => Ok(Self::Cancelled),
            Some("selected") => object.decode().map(Self::Selected).map_err(de::Error::custom),
            Some(other) => Err(de::Error::unknown_variant(other, &["cancelled", "selected"])),
            None => Err(de::Error::missing_field("outcome")),
        }
    }
}
