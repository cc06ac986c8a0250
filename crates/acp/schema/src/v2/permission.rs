//! The params and result of `session/request_permission`. Its subject is a tool call or a command, and an unknown outcome is
//! kept but never consent.

use agentwire_wire_derive::{Build, Wire};

use super::{AbsolutePath, ToolCallUpdate};
use crate::common::{
    Meta, PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId, TerminalId, ToolCallId,
    empty_object,
};

/// `session/request_permission`: asks the person for permission.
///
/// An agent that no longer needs the answer sends `$/cancel_request`. See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequestPermissionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The question, for people. It does not change the subject's title.
    #[wire(required)]
    pub title: String,
    /// Why permission is needed, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// The operation that needs permission.
    #[wire(optional)]
    pub subject: Option<RequestPermissionSubject>,
    /// The options, at least one.
    #[wire(required, schema(length(min = 1)))]
    pub options: Vec<PermissionOption>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl RequestPermissionRequest {
    /// Returns the option that the person chose, if it is one of those offered. Any other outcome allows nothing.
    pub fn chosen(&self, outcome: &RequestPermissionOutcome) -> Option<&PermissionOption> {
        let RequestPermissionOutcome::Selected(selected) = outcome else { return None };
        self.options.iter().find(|option| option.option_id == selected.option_id)
    }

    /// Allows without asking the person: selects the first option, in the agent's order, whose kind
    /// [allows](crate::v2::PermissionOptionKind::allows).
    ///
    /// If no option allows the operation, the outcome is cancelled: only the person chooses a rejection, and an option of
    /// unknown kind may mean anything. For tests and for environments that allow every operation.
    #[must_use]
    pub fn allow(&self) -> RequestPermissionResponse {
        match PermissionOption::first_allowing(&self.options) {
            Some(option) => RequestPermissionResponse::selected(&option.option_id),
            None => RequestPermissionResponse::cancelled(),
        }
    }
}

/// An operation that needs permission.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "type")]
#[non_exhaustive]
pub enum RequestPermissionSubject {
    /// A tool call.
    #[wire("tool_call", from)]
    ToolCall(Box<ToolCallPermissionSubject>),
    /// A command.
    #[wire("command", from)]
    Command(Box<CommandPermissionSubject>),
    /// An operation of a type that this version does not know: the whole object. Ask with the title alone.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A tool call that needs permission.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallPermissionSubject {
    /// An update of the call, or a new call. Apply it like a session update before asking.
    #[wire(required)]
    pub tool_call: ToolCallUpdate,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// A command that needs permission.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct CommandPermissionSubject {
    /// The command.
    #[wire(required)]
    pub command: String,
    /// The directory it would run in.
    #[wire(required)]
    pub cwd: AbsolutePath,
    /// The tool call that it belongs to.
    #[wire(lenient)]
    pub tool_call_id: Option<ToolCallId>,
    /// The terminal it would run in, if it is known.
    #[wire(lenient)]
    pub terminal_id: Option<TerminalId>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
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

    /// No option was chosen: the work was cancelled, the person dismissed the question, or the client refuses by itself.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(CancelledPermissionOutcome::new())
    }
}

/// The person's decision. Only an offered option of an allowing kind is consent.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "outcome")]
#[non_exhaustive]
pub enum RequestPermissionOutcome {
    /// No option. The operation must not continue.
    #[wire("cancelled", from)]
    Cancelled(CancelledPermissionOutcome),
    /// One of the options.
    #[wire("selected", from)]
    Selected(SelectedPermissionOutcome),
    /// An outcome that this version does not know: the whole object. Do not treat it as consent.
    #[wire(unknown)]
    Unknown(Meta),
}

empty_object! {
    /// No option was chosen.
    CancelledPermissionOutcome,
}
