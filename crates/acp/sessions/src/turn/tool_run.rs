//! Tools of the agent's own, shown to the client.

use std::fmt;
use std::future::Future;

use agentwire_acp_agent::BoxError;
use agentwire_acp_schema::v1::{ToolCall, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind};
use agentwire_jsonrpc::RawJson;

use super::permission::PermissionSubject;
use super::tool_content::ToolContent;
use super::tool_lifecycle::RunningToolCall;
use super::{Turn, TurnError};

/// The announcement of a tool call: a [`ToolCall`], or only its title.
pub trait IntoToolCall {
    /// Returns the announcement. A call with an empty id gets a new one.
    fn into_tool_call(self) -> ToolCall;
}

impl IntoToolCall for ToolCall {
    fn into_tool_call(self) -> ToolCall {
        self
    }
}

impl IntoToolCall for &str {
    fn into_tool_call(self) -> ToolCall {
        ToolCall::new("", self)
    }
}

impl IntoToolCall for String {
    fn into_tool_call(self) -> ToolCall {
        ToolCall::new("", self)
    }
}

impl Turn {
    /// Runs a tool of the agent's own, and shows the call to the client as [`call_tool`](Self::call_tool) does for a tool of an
    /// MCP server: its announcement, the question to the user, its progress, and its result.
    ///
    /// The call is a title, or a [`ToolCall`]; one with an empty id gets a new id. Nothing is sent before
    /// [`run`](ToolRun::run). A server may have a tool of the same name: each tool of the hub also has the full name
    /// `server__tool`, under which a model can be offered it.
    ///
    /// ```
    /// use agentwire_acp_sessions::schema::{Diff, ToolKind};
    /// use agentwire_acp_sessions::{Turn, TurnError};
    /// use serde_json::json;
    ///
    /// async fn write(turn: &Turn, path: &str, text: String) -> Result<(), TurnError> {
    ///     let call = turn.tool(format!("Write {path}")).name("write").kind(ToolKind::Edit);
    ///     let call = call.input(json!({ "path": path, "text": text }));
    ///     let written = call.ask().run(async |_| {
    ///         turn.write_text_file(path, &*text).await?;
    ///         Ok(Diff::new(turn.cwd().join(path), text))
    ///     });
    ///     match written.await {
    ///         Err(error) if error.ends_turn() => Err(error),
    ///         // The model sees the result of the call, which has the failure, in `Turn::messages`.
    ///         Ok(_) | Err(_) => Ok(()),
    ///     }
    /// }
    /// ```
    pub fn tool(&self, call: impl IntoToolCall) -> ToolRun {
        ToolRun { turn: self.clone(), call: call.into_tool_call(), asks: false, scope: None }
    }
}

/// A call of a tool of the agent's own, which begins with [`run`](Self::run). See [`Turn::tool`].
#[must_use = "nothing is shown until it is run"]
pub struct ToolRun {
    turn: Turn,
    call: ToolCall,
    asks: bool,
    scope: Option<String>,
}

impl ToolRun {
    /// Sets the name of the tool, for the client's rules and for [`Turn::messages`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.call.name = Some(name.into());
        self
    }

    /// Sets the kind of the tool (default: none, which a view takes for [`ToolKind::Other`]).
    pub fn kind(mut self, kind: ToolKind) -> Self {
        self.call.kind = Some(kind);
        self
    }

    /// Sets the input of the tool, such as the arguments of the model: a JSON object.
    pub fn input(mut self, input: impl Into<RawJson>) -> Self {
        self.call.raw_input = Some(input.into());
        self
    }

    /// Sets the files that the tool reads or changes.
    pub fn locations(mut self, locations: impl IntoIterator<Item = ToolCallLocation>) -> Self {
        self.call.locations = locations.into_iter().collect();
        self
    }

    /// Asks the user for permission first (default: no question), unless an answer "always" was given for the same
    /// [scope](Self::scope).
    pub fn ask(mut self) -> Self {
        self.asks = true;
        self
    }

    /// Sets what an answer "always" covers, and asks first. The default is the title of the call, or its name where it has no
    /// title. See [`Turn::permits`].
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self.ask()
    }

    /// Announces the call, asks the user where that is set, runs the closure, and shows how the call ends.
    ///
    /// The closure gets a handle that shows progress. Its result becomes the content of the call and is returned. If it returns an
    /// error, of any type, the call has failed and its content is the text of the error. A cancellation of the turn drops the
    /// closure's future, and the call is shown as cancelled.
    ///
    /// If the future of this method is dropped, the call is shown as open until the turn ends.
    ///
    /// # Errors
    ///
    /// [`TurnError::Failed`]: the closure's error; a `TurnError` of the closure is returned as it is.
    /// [`TurnError::NotPermitted`]: the user did not permit the call, and the closure did not run. [`TurnError::Cancelled`].
    /// Others as [`Turn::update`].
    pub async fn run<T, Fut>(self, work: impl FnOnce(RunningToolCall) -> Fut) -> Result<T, TurnError>
    where
        T: ToolContent,
        Fut: Future<Output = Result<T, BoxError>>,
    {
        let title = Some(&self.call.title).filter(|title| !title.is_empty());
        let label = title.or(self.call.name.as_ref()).cloned().unwrap_or_default();
        let tool = self.call.name.clone().unwrap_or_else(|| label.clone());
        let scope = self.scope.unwrap_or(label);
        let running = RunningToolCall::announce(&self.turn, self.call).await?;
        let outcome = async {
            running.begin(self.asks.then_some(PermissionSubject::Scope(&scope)), &tool).await?;
            self.turn.unless_cancelled(work(running.clone())).await?.map_err(TurnError::of_tool)
        };
        let outcome = outcome.await;
        let show = |result: &T, mut ended: ToolCallUpdate| {
            ended.content = result.content();
            ended.status(ToolCallStatus::Completed)
        };
        running.end(outcome, show).await
    }
}

impl fmt::Debug for ToolRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRun").field("call", &self.call).field("asks", &self.asks).finish_non_exhaustive()
    }
}
