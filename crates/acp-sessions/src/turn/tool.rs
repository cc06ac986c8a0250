//! Calls of the tools that the session's MCP servers have, in sight of the client.

use std::fmt;
use std::future::IntoFuture;
use std::time::Duration;

use agentwire_acp_agent::CallError;
use agentwire_acp_schema::v1::{
    Content, ContentBlock, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use agentwire_mcp_hub::HubTool;
use agentwire_mcp_hub::schema::{CallToolResult, ProgressNotification};
use futures::channel::mpsc;
use futures::future::{BoxFuture, Either, select};
use futures::{FutureExt, StreamExt};
use serde::Serialize;
use serde_json::Value;

use super::{Ask, Turn, TurnError};

impl Turn {
    /// Calls a tool of one of the session's MCP servers, once all of these have told theirs, and shows that to the
    /// client: the call is announced, the person is asked, its progress is told, and then how it ended.
    ///
    /// The name is one that [`Hub::tools`](agentwire_mcp_hub::Hub::tools) gives; the arguments are anything whose JSON is
    /// an object, or `()` for none. It is a value until it is awaited, which begins the call.
    ///
    /// # Errors
    ///
    /// [`TurnError::Cancelled`]: the call was cancelled at its server. [`TurnError::NotPermitted`]: the person did not
    /// allow it. [`TurnError::Call`]: the arguments have no JSON. [`TurnError::Hub`]: there is no such tool, or its server failed. A tool that says itself that it failed
    /// is no error: `is_error` of its result tells.
    pub fn call_tool<A: Serialize>(&self, name: impl Into<String>, arguments: A) -> ToolCalling {
        ToolCalling {
            turn: self.clone(),
            name: name.into(),
            arguments: serde_json::to_value(arguments).map_err(|why| {
                CallError::not_allowed("tools/call", format!("the arguments cannot be sent: {why}"))
            }),
            title: None,
            kind: None,
            ask: None,
            timeout: None,
        }
    }
}

/// A call of a tool: a value until it is awaited. See [`Turn::call_tool`].
#[must_use = "a tool is not called until this is awaited"]
pub struct ToolCalling {
    turn: Turn,
    name: String,
    arguments: Result<Value, CallError>,
    title: Option<String>,
    kind: Option<ToolKind>,
    ask: Option<Ask>,
    timeout: Option<Option<Duration>>,
}

impl ToolCalling {
    /// Sets what the call is called in front of people (default: the tool's title, or else its name).
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what sort of tool it is (default: reading for one that says that it changes nothing, otherwise other).
    pub fn kind(mut self, kind: ToolKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets who is asked first (default: what the agent was configured with).
    pub fn ask(mut self, ask: Ask) -> Self {
        self.ask = Some(ask);
        self
    }

    /// Waits so long for the answer instead of the hub's default; with `None`, for ever.
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.timeout = Some(timeout.into());
        self
    }

    async fn call(mut self) -> Result<CallToolResult, TurnError> {
        let arguments = std::mem::replace(&mut self.arguments, Ok(Value::Null))?;
        let turn = &self.turn;
        turn.unless_cancelled(turn.mcp().ready()).await?;
        let tool = turn.mcp().tool(&self.name);
        let id = self.announce(tool.as_ref(), &arguments).await?;
        let outcome = self.carry_out(&id, tool.as_ref(), &arguments).await;
        let ended = ToolCallUpdate::new(id);
        let ended = match &outcome {
            Ok(result) => {
                let status = if result.is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
                let raw = serde_json::to_value(result).unwrap_or_default();
                ended.status(status).content(content(result)).raw_output(raw)
            }
            Err(error @ (TurnError::Over | TurnError::Store(_))) => {
                // There is nothing that could be said any more.
                let _why = error;
                return outcome;
            }
            Err(TurnError::Cancelled) => failed(ended, "cancelled"),
            Err(error) => failed(ended, error.to_string()),
        };
        turn.update(ended).await?;
        outcome
    }

    async fn announce(&self, tool: Option<&HubTool>, arguments: &Value) -> Result<ToolCallId, TurnError> {
        let id = self.turn.new_tool_call_id();
        let call =
            ToolCall::new(id.clone(), self.shown_title(tool)).name(&*self.name).kind(self.shown_kind(tool));
        let call = if arguments.is_null() { call } else { call.raw_input(arguments.clone()) };
        self.turn.update(call).await?;
        Ok(id)
    }

    async fn carry_out(
        &self,
        id: &ToolCallId,
        tool: Option<&HubTool>,
        arguments: &Value,
    ) -> Result<CallToolResult, TurnError> {
        let turn = &self.turn;
        if let Some(tool) = tool
            && self.ask.unwrap_or(turn.0.settings.ask) == Ask::Client
        {
            let subject = ToolCallUpdate::new(id.clone())
                .title(self.shown_title(Some(tool)))
                .kind(self.shown_kind(Some(tool)))
                .raw_input(arguments.clone());
            if !turn.permits_tool(&(Some(tool.server.clone()), tool.tool.name.clone()), subject).await? {
                return Err(TurnError::not_permitted(&*self.name));
            }
        }
        // A server may report faster than the client reads; what does not fit is left out.
        let (mut report, mut reports) = mpsc::channel::<ProgressNotification>(16);
        let call = turn.mcp().call(&self.name, arguments).on_progress(move |progress| {
            let _left_out = report.try_send(progress);
        });
        let call = match self.timeout {
            Some(timeout) => call.timeout(timeout),
            None => call,
        };
        if tool.is_some() {
            turn.update(ToolCallUpdate::new(id.clone()).status(ToolCallStatus::InProgress)).await?;
        }
        let told = async {
            while let Some(progress) = reports.next().await {
                let update = ToolCallUpdate::new(id.clone()).content([Content::from(describe(&progress))]);
                turn.update(update).await?;
            }
            std::future::pending::<Result<CallToolResult, TurnError>>().await
        };
        turn.unless_cancelled(async {
            match select(call.into_future(), std::pin::pin!(told)).await {
                Either::Left((outcome, _)) => outcome.map_err(TurnError::from),
                Either::Right((failed, _)) => failed,
            }
        })
        .await?
    }

    fn shown_title(&self, tool: Option<&HubTool>) -> String {
        let own = || tool.and_then(|tool| tool.tool.title.clone());
        self.title.clone().or_else(own).unwrap_or_else(|| self.name.clone())
    }

    fn shown_kind(&self, tool: Option<&HubTool>) -> ToolKind {
        let annotations = tool.and_then(|tool| tool.tool.annotations.as_ref());
        let reads = annotations.is_some_and(|annotations| annotations.read_only_hint == Some(true));
        self.kind.clone().unwrap_or(if reads { ToolKind::Read } else { ToolKind::Other })
    }
}

impl IntoFuture for ToolCalling {
    type Output = Result<CallToolResult, TurnError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.call().boxed()
    }
}

impl fmt::Debug for ToolCalling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCalling").field("name", &self.name).finish_non_exhaustive()
    }
}

fn failed(update: ToolCallUpdate, why: impl Into<String>) -> ToolCallUpdate {
    update.status(ToolCallStatus::Failed).content([Content::from(why.into())])
}

fn describe(progress: &ProgressNotification) -> String {
    match (&progress.message, progress.total) {
        (Some(message), _) => message.clone(),
        (None, Some(total)) => format!("{} of {total}", progress.progress),
        (None, None) => progress.progress.to_string(),
    }
}

/// What a tool gave, in the terms of ACP. MCP and ACP write content alike, so a block is read as what it is written as;
/// one of a kind that only MCP has is kept as ACP keeps what it does not know.
fn content(result: &CallToolResult) -> Vec<ToolCallContent> {
    let block = |block| -> Option<ContentBlock> {
        let block: Value = serde_json::to_value(block).ok()?;
        serde_json::from_value(block).ok()
    };
    result.content.iter().filter_map(block).map(|block| Content::new(block).into()).collect()
}
