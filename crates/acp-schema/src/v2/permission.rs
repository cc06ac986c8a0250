use agentwire_jsonrpc::Method;

use super::{AbsolutePath, ToolCallUpdate};
use crate::common::{
    PermissionOption, PermissionOptionId, SelectedPermissionOutcome, SessionId, TerminalId, ToolCallId,
};
use crate::wire::{empty_object, object, tagged_union};

object! {
    /// `session/request_permission`: may this go on?
    ///
    /// An agent that no longer needs the answer says so with `$/cancel_request`. See
    /// <https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission>.
    RequestPermissionRequest {
        /// The session.
        required session_id: SessionId,
        /// The question, for people. It changes no title of the subject.
        required title: String,
        /// Why permission is needed, for people.
        lenient description: Option<String>,
        /// What the permission is for.
        optional subject: Option<RequestPermissionSubject>,
        /// What the person can answer, at least one.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        required options: Vec<PermissionOption>,
        meta,
    }
}

impl Method for RequestPermissionRequest {
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

tagged_union! {
    /// What a permission is for.
    RequestPermissionSubject by "type" {
        /// A tool call.
        "tool_call" => ToolCall(Box<ToolCallPermissionSubject>) from ToolCallPermissionSubject,
        /// A command.
        "command" => Command(Box<CommandPermissionSubject>) from CommandPermissionSubject,
    }
    else {
        /// Something of a type that this version does not know: the whole object. Ask with the title alone.
        Unknown
    }
}

object! {
    /// A tool call that needs permission.
    ToolCallPermissionSubject {
        /// What is new about the call, or a new call: apply it as the update of a session, before asking.
        required tool_call: ToolCallUpdate,
        meta,
    }
}

object! {
    /// A command that needs permission.
    CommandPermissionSubject {
        /// The command.
        required command: String,
        /// The directory it would run in.
        required cwd: AbsolutePath,
        /// The tool call that it belongs to.
        lenient tool_call_id: Option<ToolCallId>,
        /// The terminal it would run in, where that is known already.
        lenient terminal_id: Option<TerminalId>,
        meta,
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

    /// Nothing was chosen: the work was cancelled, the person turned away, or the client refuses by itself.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(CancelledPermissionOutcome::new())
    }
}

tagged_union! {
    /// What the person decided. Only an option that was offered and that allows is consent.
    RequestPermissionOutcome by "outcome" {
        /// Nothing. The operation must not go on.
        "cancelled" => Cancelled(CancelledPermissionOutcome) from CancelledPermissionOutcome,
        /// One of the options.
        "selected" => Selected(SelectedPermissionOutcome) from SelectedPermissionOutcome,
    }
    else {
        /// An outcome that this version does not know: the whole object. It is no consent.
        Unknown
    }
}

empty_object! {
    /// That no option was chosen.
    CancelledPermissionOutcome,
}
