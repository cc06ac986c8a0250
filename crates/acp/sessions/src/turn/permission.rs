//! Permission requests: questions to the user about a tool call.

use agentwire_acp_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, ToolCallId, ToolCallUpdate,
};
use agentwire_mcp_hub::HubTool;

use super::{Turn, TurnError};

/// The subject of a permission request.
pub(super) enum PermissionSubject<'a> {
    /// An action of the agent itself, described by its scope.
    Scope(&'a str),
    /// A tool of an MCP server.
    Tool(&'a HubTool),
}

/// The options, by id, name and kind. Those for this call alone come first.
const ANSWERS: [(&str, &str, PermissionOptionKind); 4] = [
    ("allow-once", "Allow", PermissionOptionKind::AllowOnce),
    ("reject-once", "Reject", PermissionOptionKind::RejectOnce),
    ("allow-always", "Always allow", PermissionOptionKind::AllowAlways),
    ("reject-always", "Always reject", PermissionOptionKind::RejectAlways),
];

/// Returns the options of a request. Those for "always" name their scope, because the request shows one call and the answer
/// may cover more.
fn options(subject: &PermissionSubject<'_>) -> [PermissionOption; 4] {
    let scope = match subject {
        PermissionSubject::Scope(scope) => (*scope).to_owned(),
        PermissionSubject::Tool(tool) => {
            format!("every call of `{}` of the MCP server `{}`", tool.tool.name, tool.server)
        }
    };
    ANSWERS.map(|(id, name, kind)| {
        let is_for_always =
            matches!(kind, PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways);
        let name = if is_for_always { format!("{name}: {scope}") } else { name.to_owned() };
        PermissionOption::new(id, name, kind)
    })
}

impl Turn {
    /// Asks the user about a tool call, with options of your own. The question is withdrawn when the turn is cancelled.
    ///
    /// An omitted title, name, kind, location, input or content of `tool_call` is filled from the turn's earlier updates
    /// of that call, so that the client's rules and the user see it: `ToolCallUpdate::new(id)` is enough for a call that was
    /// announced. Members that are set stay as they are. A turn keeps these data of its open calls up to 4 MiB; over the limit
    /// it drops the oldest.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Ended`]; [`TurnError::Call`] when the request fails.
    pub async fn request_permission(
        &self,
        mut tool_call: ToolCallUpdate,
        options: impl IntoIterator<Item = PermissionOption>,
    ) -> Result<RequestPermissionOutcome, TurnError> {
        let options: Vec<_> = options.into_iter().collect();
        self.0.calls.lock().fill(&mut tool_call);
        let asked = self.client().request_permission(self.session_id(), tool_call, options);
        Ok(self.unless_cancelled(asked).await??)
    }

    /// Returns whether the user permits an action of the agent. The user is asked with four options (allow or reject,
    /// once or always), unless an answer "always" was given for the same `scope`.
    ///
    /// `scope` describes what an answer "always" covers, and is shown in the options "Always allow: …" and "Always reject:
    /// …". A scope that covers more than the call, such as "every command", permits all of that without a question. An open
    /// session keeps at most 1,000 such answers, with scopes of at most 4 KiB; beyond that the user is asked again.
    ///
    /// Omitted parts of `call` are filled as by [`request_permission`](Self::request_permission). [`tool`](Self::tool) asks this
    /// way, too, and shows the whole call.
    ///
    /// ```
    /// # use agentwire_acp_sessions::{Turn, TurnError, schema::{ToolCall, ToolCallUpdate}};
    /// # async fn write(turn: &Turn) -> Result<(), TurnError> {
    /// let id = turn.new_tool_call_id();
    /// turn.update(ToolCall::new(id.clone(), "Write notes.txt")).await?;
    /// if turn.permits("write notes.txt", ToolCallUpdate::new(id)).await? {
    ///     turn.write_text_file("notes.txt", "remember the milk").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`request_permission`](Self::request_permission).
    pub async fn permits(&self, scope: &str, call: ToolCallUpdate) -> Result<bool, TurnError> {
        self.permits_tool(&PermissionSubject::Scope(scope), call).await
    }

    /// Returns a new id for a tool call, unique in the session, replayed updates included.
    pub fn new_tool_call_id(&self) -> ToolCallId {
        ToolCallId::from(self.0.session.next_id("call"))
    }

    /// Returns whether an earlier answer "always" permits this, or else the answer that the user gives now.
    pub(super) async fn permits_tool(
        &self,
        subject: &PermissionSubject<'_>,
        call: ToolCallUpdate,
    ) -> Result<bool, TurnError> {
        let (name, definition) = match subject {
            PermissionSubject::Scope(scope) => ((None, (*scope).to_owned()), None),
            PermissionSubject::Tool(tool) => {
                ((Some(tool.server.clone()), tool.tool.name.clone()), Some(&tool.tool))
            }
        };
        if let Some(allowed) = self.0.session.rule(&name, definition) {
            return Ok(allowed);
        }
        let outcome = self.request_permission(call, options(subject)).await?;
        let RequestPermissionOutcome::Selected(selected) = outcome else { return Ok(false) };
        let answer = ANSWERS.iter().find(|(id, ..)| *selected.option_id == **id);
        let kind = answer.map(|(_, _, kind)| kind);
        let allowed = kind.is_some_and(PermissionOptionKind::allows);
        if matches!(kind, Some(PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways)) {
            self.0.session.set_rule(name, allowed, definition.cloned());
        }
        Ok(allowed)
    }
}
