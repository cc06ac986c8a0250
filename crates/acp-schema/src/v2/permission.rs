use agentwire_jsonrpc::RequestMethod;
use agentwire_wire_derive::{Build, Wire};

use super::{AbsolutePath, ToolCallUpdate};
use crate::common::{
    Meta, PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId, TerminalId, ToolCallId,
    empty_object,
};

/// `session/request_permission`: may this go on?
///
/// An agent that no longer needs the answer says so with `$/cancel_request`. See
/// <https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission>.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct RequestPermissionRequest {
    /// The session.
    #[wire(required)]
    pub session_id: SessionId,
    /// The question, for people. It changes no title of the subject.
    #[wire(required)]
    pub title: String,
    /// Why permission is needed, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// What the permission is for.
    #[wire(optional)]
    pub subject: Option<RequestPermissionSubject>,
    /// What the person can answer, at least one.
    #[wire(required, schema(length(min = 1)))]
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
    /// Allows without asking anybody: selects the first option, in the agent's order, whose kind
    /// [allows](crate::v2::PermissionOptionKind::allows).
    ///
    /// Where nothing can be allowed the outcome is cancelled: a rejection is the person's to choose, and an option of
    /// unknown kind may mean anything. For tests and for places where everything is welcome.
    #[must_use]
    pub fn select_first(&self) -> RequestPermissionResponse {
        let allow = self.options.iter().find(|option| option.kind.allows());
        allow.map_or_else(RequestPermissionResponse::cancelled, |option| {
            RequestPermissionResponse::selected(&option.option_id)
        })
    }

    /// The option that the person chose, if it is one of those offered. Nothing else is an answer.
    pub fn chosen(&self, outcome: &RequestPermissionOutcome) -> Option<&PermissionOption> {
        let RequestPermissionOutcome::Selected(selected) = outcome else { return None };
        self.options.iter().find(|option| option.option_id == selected.option_id)
    }
}

/// What a permission is for.
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
    /// Something of a type that this version does not know: the whole object. Ask with the title alone.
    #[wire(unknown)]
    Unknown(Meta),
}

/// A tool call that needs permission.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct ToolCallPermissionSubject {
    /// What is new about the call, or a new call: apply it as the update of a session, before asking.
    #[wire(required)]
    pub tool_call: ToolCallUpdate,
    /// Free room: its keys belong to whoever sent them.
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
    /// The terminal it would run in, where that is known already.
    #[wire(lenient)]
    pub terminal_id: Option<TerminalId>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
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

    /// Nothing was chosen: the work was cancelled, the person turned away, or the client refuses by itself.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(CancelledPermissionOutcome::new())
    }
}

/// What the person decided. Only an option that was offered and that allows is consent.
#[derive(Clone, Debug, PartialEq, Wire)]
#[wire(tag = "outcome")]
#[non_exhaustive]
pub enum RequestPermissionOutcome {
    /// Nothing. The operation must not go on.
    #[wire("cancelled", from)]
    Cancelled(CancelledPermissionOutcome),
    /// One of the options.
    #[wire("selected", from)]
    Selected(SelectedPermissionOutcome),
    /// An outcome that this version does not know: the whole object. It is no consent.
    #[wire(unknown)]
    Unknown(Meta),
}

empty_object! {
    /// That no option was chosen.
    CancelledPermissionOutcome,
}
