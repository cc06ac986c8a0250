//! What the person is asked.

use agentwire_acp_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, ToolCallId,
    ToolCallUpdate,
};
use agentwire_mcp_hub::HubTool;

use super::{Turn, TurnError};

/// Who is asked before a tool of an MCP server is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ask {
    /// The person, through the client. Who answers "always" is not asked again for that tool while the session is open; the
    /// options say so. A permission lasts until the server describes the tool in another way, a rejection in any case.
    #[default]
    Client,
    /// Nobody: every tool may be called.
    Nobody,
}

/// What the person is asked about.
pub(super) enum Asked<'a> {
    /// Something that the agent itself does, in its words.
    Own(&'a str),
    /// One of an MCP server, as it is shown.
    Hub(&'a HubTool),
}

/// What can be answered, by id, name and kind: first what holds for this call alone.
const ANSWERS: [(&str, &str, PermissionOptionKind); 4] = [
    ("allow-once", "Allow", PermissionOptionKind::AllowOnce),
    ("reject-once", "Reject", PermissionOptionKind::RejectOnce),
    ("allow-always", "Always allow", PermissionOptionKind::AllowAlways),
    ("reject-always", "Always reject", PermissionOptionKind::RejectAlways),
];

/// The options, with what "always" is about in their names: the question names one call, and a rule may hold for more.
fn options(asked: &Asked<'_>) -> [PermissionOption; 4] {
    let scope = match asked {
        Asked::Own(scope) => (*scope).to_owned(),
        Asked::Hub(tool) => {
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
    /// Asks the person whether a tool call may go on. The question is withdrawn when the turn is cancelled.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`], [`TurnError::Over`]; [`TurnError::Call`] when the client does not answer.
    pub async fn request_permission(
        &self,
        tool_call: ToolCallUpdate,
        options: impl IntoIterator<Item = PermissionOption>,
    ) -> Result<RequestPermissionOutcome, TurnError> {
        let options: Vec<_> = options.into_iter().collect();
        let request = RequestPermissionRequest::new(self.session_id(), tool_call, options);
        let answer = self.unless_cancelled(self.client().request_permission(request)).await??;
        Ok(answer.outcome)
    }

    /// Whether the person allows something that the agent is about to do. They are asked with the four usual answers, unless
    /// they have answered "always" for the same `scope` before, while the session is open.
    ///
    /// `scope` is shown in the options "Always allow: …" and "Always reject: …", so it says in words what such an answer
    /// covers. A scope that names more than the call, such as "every command", lets all of that pass unasked. At most 1,000
    /// answers of at most 4 KiB of scope each are kept in a session; beyond that the person is asked again.
    ///
    /// ```
    /// # use agentwire_acp_sessions::{Turn, TurnError, schema::{ToolCall, ToolCallUpdate}};
    /// # async fn write(turn: &Turn) -> Result<(), TurnError> {
    /// let id = turn.new_tool_call_id();
    /// turn.update(ToolCall::new(id.clone(), "Write notes.txt")).await?;
    /// if turn.permits("write notes.txt", ToolCallUpdate::new(id).title("Write notes.txt")).await? {
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
        self.permits_tool(&Asked::Own(scope), call).await
    }

    /// An id for a tool call that nothing else has in the session, also not in its earlier lives.
    pub fn new_tool_call_id(&self) -> ToolCallId {
        ToolCallId::from(self.0.session.next_id("call"))
    }

    /// Whether a tool may be called, by what the person has answered before or answers now.
    pub(super) async fn permits_tool(
        &self,
        tool: &Asked<'_>,
        call: ToolCallUpdate,
    ) -> Result<bool, TurnError> {
        let (name, definition) = match tool {
            Asked::Own(tool) => ((None, (*tool).to_owned()), None),
            Asked::Hub(tool) => ((Some(tool.server.clone()), tool.tool.name.clone()), Some(&tool.tool)),
        };
        if let Some(allowed) = self.0.session.rule(&name, definition) {
            return Ok(allowed);
        }
        let asked = self.request_permission(call, options(tool)).await?;
        let RequestPermissionOutcome::Selected(selected) = asked else { return Ok(false) };
        let answer = ANSWERS.iter().find(|(id, ..)| *selected.option_id == **id);
        let kind = answer.map(|(_, _, kind)| kind);
        let allowed = kind.is_some_and(PermissionOptionKind::allows);
        if matches!(kind, Some(PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways)) {
            self.0.session.set_rule(name, allowed, definition.cloned());
        }
        Ok(allowed)
    }
}
