//! The params and result of `session/request_permission`. An unknown outcome is an error, so that it cannot pass for consent.

use agentwire_wire_derive::{Build, Wire};

use super::ToolCallUpdate;
use crate::common::{Meta, PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId};

/// `session/request_permission`: asks the person to allow a tool call.
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
    /// The options.
    #[wire(required)]
    pub options: Vec<PermissionOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestPermissionRequest {
    /// Allows without asking the person: selects the first option, in the agent's order, of kind
    /// [`AllowOnce`](super::PermissionOptionKind::AllowOnce) or [`AllowAlways`](super::PermissionOptionKind::AllowAlways).
    ///
    /// If no option allows the call, the outcome is cancelled: only the person chooses a rejection, and an option of
    /// unknown kind may mean anything. For tests and for environments that allow every call.
    #[must_use]
    pub fn allow(&self) -> RequestPermissionResponse {
        match PermissionOption::first_allowing(&self.options) {
            Some(option) => RequestPermissionResponse::selected(&option.option_id),
            None => RequestPermissionResponse::cancelled(),
        }
    }
}

/// The answer to `session/request_permission`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequestPermissionResponse {
    /// The person's decision.
    #[wire(required)]
    pub outcome: RequestPermissionOutcome,
    /// Extension metadata; receivers make no assumptions about its keys.
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

/// The person's decision.
///
/// This union is closed: an outcome with an unknown tag is an error, because code might take an unknown outcome for
/// consent.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "outcome")]
#[non_exhaustive]
pub enum RequestPermissionOutcome {
    /// The turn was cancelled before the person decided.
    #[wire("cancelled")]
    Cancelled,
    /// One of the options.
    #[wire("selected", from)]
    Selected(SelectedPermissionOutcome),
}
