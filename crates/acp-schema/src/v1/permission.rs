use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::ToolCallUpdate;
use crate::common::{Meta, PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId};

/// `session/request_permission`: may this tool call go on?
///
/// See <https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequestPermissionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The call.
    #[wire(required)]
    pub tool_call: ToolCallUpdate,
    /// What the person can answer.
    #[wire(required)]
    pub options: Vec<PermissionOption>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestMethod for RequestPermissionRequest {
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

/// The answer to `session/request_permission`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequestPermissionResponse {
    /// What the person decided.
    #[wire(required)]
    pub outcome: RequestPermissionOutcome,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
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
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "outcome")]
#[non_exhaustive]
pub enum RequestPermissionOutcome {
    /// Nothing: the turn was cancelled first.
    #[wire("cancelled")]
    Cancelled,
    /// One of the options.
    #[wire("selected", from)]
    Selected(SelectedPermissionOutcome),
}
