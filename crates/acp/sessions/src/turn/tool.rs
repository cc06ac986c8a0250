//! Calls of tools of the session's MCP servers, shown to the client.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    Content, ContentBlock, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_mcp_hub::HubTool;
use agentwire_mcp_hub::schema::{CallToolResult, ProgressNotification};
use agentwire_peer::{Clock, TokioClock};
use agentwire_sync::Monitor;
use agentwire_wire_derive::Build;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Either, select};
use serde::Serialize;

use super::permission::PermissionSubject;
use super::tool_lifecycle::RunningToolCall;
use super::{Turn, TurnError};
use crate::settings::PermissionPolicy;
use crate::update::shorten::cut;

/// The most bytes of a tool's own title that are shown.
const TITLE_LIMIT: usize = 256;

/// The shortest pause between two reports of progress. Each report is written to the store, and a server may send them
/// without a pause.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

impl Turn {
    /// Calls a tool of one of the session's MCP servers, and shows the call to the client: its announcement, the question to
    /// the user, its progress, and its result. Waits until all servers have listed their tools. Progress is shown every 100 ms
    /// at most: the latest report.
    ///
    /// The name is one that [`Hub::tools`](agentwire_mcp_hub::Hub::tools) returns. It is resolved once, before the call is
    /// announced: the tool that is called is the one that is shown. A result over
    /// [the limit](crate::SessionAgent::update_limit) is shortened for the client, and returned here as a whole. The
    /// arguments are anything whose JSON is an object, or `()` for none. The call begins when the value is awaited.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`]: the call was cancelled at its server. [`TurnError::NotPermitted`]: the user did not permit
    /// it. [`TurnError::Call`]: the arguments have no JSON. [`TurnError::TooLong`]: the arguments are too long to be shown.
    /// [`TurnError::Hub`]: there is no such tool, its server failed, or the server changed the tool after it was shown. A
    /// tool that reports a failure itself is not an error here: see `is_error` of its result.
    ///
    /// Each call that was announced is part of [`Turn::messages`], with the error as its result: also one of a tool that does
    /// not exist, so the model sees what it did wrong. [`TurnError::ends_turn`] is false if a loop around a model goes on.
    pub fn call_tool<A: Serialize>(&self, name: impl Into<String>, arguments: A) -> PendingToolCall {
        PendingToolCall {
            turn: self.clone(),
            name: name.into(),
            arguments: RawJson::encode(&arguments).map_err(|why| {
                CallError::not_allowed("tools/call", format!("the arguments cannot be sent: {why}"))
            }),
            title: None,
            kind: None,
            permissions: None,
            timeout: None,
        }
    }
}

/// A call of a tool, which begins when it is awaited. See [`Turn::call_tool`].
///
/// ```
/// use std::time::Duration;
///
/// use agentwire_acp_sessions::{PermissionPolicy, Turn, TurnError};
/// use serde_json::json;
///
/// async fn add(turn: &Turn) -> Result<String, TurnError> {
///     let result = turn
///         .call_tool("add", json!({ "a": 2, "b": 40 }))
///         .title("Add two numbers")
///         .permissions(PermissionPolicy::Allow)
///         .timeout(Duration::from_secs(10))
///         .await?;
///     Ok(result.text().into_owned())
/// }
/// ```
#[must_use = "a tool is not called until this is awaited"]
#[derive(Build)]
pub struct PendingToolCall {
    turn: Turn,
    name: String,
    arguments: Result<RawJson, CallError>,
    /// Sets the title that the user sees (default: the server's name, and the tool's title or else its name).
    #[build(into)]
    title: Option<String>,
    /// Sets the kind of the tool (default: [`ToolKind::Read`] where its annotations have `readOnlyHint`, else
    /// [`ToolKind::Other`]).
    kind: Option<ToolKind>,
    /// Sets whether the user is asked first (default: the agent's setting).
    permissions: Option<PermissionPolicy>,
    /// Sets how long to wait for the answer (default: the hub's setting); with `None`, for ever.
    #[build(into)]
    timeout: Option<Option<Duration>>,
}

impl PendingToolCall {
    async fn call(mut self) -> Result<CallToolResult, TurnError> {
        let arguments = std::mem::replace(&mut self.arguments, Ok(RawJson::NULL))?;
        let turn = &self.turn;
        turn.unless_cancelled(turn.mcp().ready()).await?;
        // Resolved once: the tool that is shown is the one that is called, whatever servers list by then.
        let tool = turn.mcp().resolve(&self.name);
        let call = RunningToolCall::announce(turn, self.announcement(tool.as_ref().ok(), &arguments)).await?;
        let outcome = match tool {
            Ok(tool) => self.execute(&call, &tool, &arguments).await,
            Err(error) => Err(error.into()),
        };
        call.end(outcome, show_result).await
    }

    fn announcement(&self, tool: Option<&HubTool>, arguments: &RawJson) -> ToolCall {
        let mut call =
            ToolCall::new("", self.shown_title(tool)).name(self.shown_name(tool)).kind(self.shown_kind(tool));
        call.raw_input = (!arguments.is_null()).then(|| arguments.clone());
        call
    }

    async fn execute(
        &self,
        running: &RunningToolCall,
        tool: &HubTool,
        arguments: &RawJson,
    ) -> Result<CallToolResult, TurnError> {
        let turn = &self.turn;
        let asks = self.permissions.unwrap_or(turn.0.settings.permissions) == PermissionPolicy::Ask;
        running.begin(asks.then_some(PermissionSubject::Tool(tool)), &self.name).await?;
        let latest = Arc::<Monitor<Option<ProgressNotification>>>::default();
        let reported = latest.clone();
        let call = turn.mcp().call_tool(tool, arguments).on_progress(move |progress| {
            reported.update(|latest| *latest = Some(progress));
        });
        let call = match self.timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        };
        let forward = show_progress(running, &latest);
        turn.unless_cancelled(async {
            match select(call.into_future(), std::pin::pin!(forward)).await {
                Either::Left((outcome, _)) => outcome.map_err(TurnError::from),
                Either::Right((failed, _)) => failed,
            }
        })
        .await?
    }

    /// Returns the tool's full name, where there is such a tool, so that programs can tell tools of one name apart.
    fn shown_name(&self, tool: Option<&HubTool>) -> String {
        tool.map_or(&self.name, |tool| &tool.name).clone()
    }

    /// Returns the author's title, or else the server's name and the tool's own title, on one line: a server must not be
    /// able to imitate another one.
    fn shown_title(&self, tool: Option<&HubTool>) -> String {
        let own = |tool: &HubTool| {
            let title = tool.tool.title.as_ref().unwrap_or(&tool.tool.name);
            let words =
                title.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
            let title = words.collect::<Vec<_>>().join(" ");
            format!("{}: {}", tool.server, cut(&title, TITLE_LIMIT))
        };
        let title = self.title.clone().or_else(|| tool.map(own));
        title.unwrap_or_else(|| self.name.clone())
    }

    fn shown_kind(&self, tool: Option<&HubTool>) -> ToolKind {
        let annotations = tool.and_then(|tool| tool.tool.annotations.as_ref());
        let reads = annotations.is_some_and(|annotations| annotations.read_only_hint == Some(true));
        self.kind.clone().unwrap_or(if reads { ToolKind::Read } else { ToolKind::Other })
    }
}

impl IntoFuture for PendingToolCall {
    type Output = Result<CallToolResult, TurnError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.call().boxed()
    }
}

impl fmt::Debug for PendingToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingToolCall").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Shows the latest report of progress, until one cannot be shown.
async fn show_progress(
    running: &RunningToolCall,
    latest: &Monitor<Option<ProgressNotification>>,
) -> Result<CallToolResult, TurnError> {
    loop {
        let progress = latest.wait_until(Option::take).await;
        running.show(describe(&progress)).await?;
        TokioClock::default().sleep(PROGRESS_PAUSE).await;
    }
}

/// Sets the status and the content of a call that has returned a result.
fn show_result(result: &CallToolResult, mut ended: ToolCallUpdate) -> ToolCallUpdate {
    let status = if result.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
    let mut shown = content(result);
    match raw_output(result) {
        Ok(raw) => ended.raw_output = raw,
        Err(why) => shown.push(placeholder("the structured result", &why).into()),
    }
    ended.status(status).content(shown)
}

fn describe(progress: &ProgressNotification) -> String {
    match (&progress.message, progress.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", progress.progress),
        (None, None) => progress.progress.to_string(),
    }
}

/// Converts the content of a result to ACP. MCP and ACP encode content alike, so a block is encoded and decoded again; a
/// kind that only MCP has becomes an unknown block of ACP.
fn content(result: &CallToolResult) -> Vec<ToolCallContent> {
    let block = |block| -> Result<ContentBlock, serde_json::Error> { RawJson::encode(block)?.decode() };
    let blocks = result.content.iter().map(|content| match block(content) {
        Ok(block) => Content::new(block),
        Err(why) => placeholder("a block of the result", &why),
    });
    blocks.map(ToolCallContent::from).collect()
}

fn placeholder(what: &str, why: &serde_json::Error) -> Content {
    Content::from(format!("[{what} cannot be shown: {why}]"))
}

/// Returns the structured content and `_meta` of a result. Its content is left out, because it is shown already.
fn raw_output(result: &CallToolResult) -> Result<Option<RawJson>, serde_json::Error> {
    let mut rest = CallToolResult::default();
    rest.structured_content.clone_from(&result.structured_content);
    rest.meta.clone_from(&result.meta);
    if rest == CallToolResult::default() {
        return Ok(None);
    }
    let mut raw = RawObject::encode(&rest)?;
    raw.remove("content");
    Ok(Some(raw.into()))
}
