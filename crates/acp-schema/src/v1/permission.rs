use agentwire_jsonrpc::Method;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::ToolCallUpdate;
use crate::common::fields::Fields;
use crate::common::lenient::lenient;
use crate::common::{Meta, PermissionOptionId, SessionId, builder, open_enum};

/// `session/request_permission`: may this tool call go on?
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestPermissionRequest {
    /// The session.
    pub session_id: SessionId,
    /// The call.
    pub tool_call: ToolCallUpdate,
    /// What the person can answer.
    pub options: Vec<PermissionOption>,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    RequestPermissionRequest::new(
        session_id: SessionId,
        tool_call: ToolCallUpdate,
        options: Vec<PermissionOption>
    ) {
        option meta: Meta,
    }
}

impl Method for RequestPermissionRequest {
    const NAME: &'static str = "session/request_permission";
    type Response = RequestPermissionResponse;
}

impl RequestPermissionRequest {
    /// Allows without asking anybody: selects the first option, in the agent's order, of kind
    /// [`AllowOnce`](PermissionOptionKind::AllowOnce) or [`AllowAlways`](PermissionOptionKind::AllowAlways).
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

/// One answer that a permission request offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionOption {
    /// Names the answer.
    pub option_id: PermissionOptionId,
    /// What to call it in front of people.
    pub name: String,
    /// What it means.
    pub kind: PermissionOptionKind,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    PermissionOption::new(option_id: PermissionOptionId, name: String, kind: PermissionOptionKind) {
        option meta: Meta,
    }
}

open_enum! {
    /// What an answer to a permission request means.
    PermissionOptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and do not ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and do not ask again.
        RejectAlways = "reject_always",
    } else Other
}

impl PermissionOptionKind {
    /// Whether the answer lets the call go on. Never so for an unknown kind.
    pub fn allows(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }
}

/// The answer to `session/request_permission`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RequestPermissionResponse {
    /// What the person decided.
    pub outcome: RequestPermissionOutcome,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    RequestPermissionResponse::new(outcome: RequestPermissionOutcome) {
        option meta: Meta,
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
        let fields = Fields::deserialize(deserializer)?;
        let outcome: Option<String> = fields.member("outcome").map_err(de::Error::custom)?;
        match outcome.as_deref() {
            Some("cancelled") => Ok(Self::Cancelled),
            Some("selected") => fields.decode().map(Self::Selected).map_err(de::Error::custom),
            Some(other) => Err(de::Error::unknown_variant(other, &["cancelled", "selected"])),
            None => Err(de::Error::missing_field("outcome")),
        }
    }
}

/// The option that the person chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SelectedPermissionOutcome {
    /// One of those offered.
    pub option_id: PermissionOptionId,
    /// Free room; see [`Meta`].
    #[serde(
        rename = "_meta",
        default,
        deserialize_with = "lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub meta: Option<Meta>,
}

builder! {
    SelectedPermissionOutcome::new(option_id: PermissionOptionId) {
        option meta: Meta,
    }
}
