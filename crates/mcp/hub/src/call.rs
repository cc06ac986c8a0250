//! A call of a tool through the hub, repeated in a new session if the server has forgotten the session.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[cfg(not(feature = "http"))]
use agentwire_mcp_client::CallError;
use agentwire_mcp_client::{Call, TaskState};
use agentwire_mcp_schema::{CallToolRequest, CallToolResult, ProgressNotification};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::error::HubError;
use crate::names::HubTool;
use crate::state::{Callable, Shared};
#[cfg(feature = "http")]
use crate::target::http_failure::is_unknown_session;

/// Only over HTTP can a server forget a session.
#[cfg(not(feature = "http"))]
fn is_unknown_session(_: &CallError) -> bool {
    false
}

/// A call of a tool. Awaiting it sends it.
///
/// If the server no longer knows the session, for example after a restart, it has not run the call. The hub then sends the
/// call again in the next session.
///
/// Resolves to the tool's result. A tool that failed also returns a result, with `is_error`. Dropping the future cancels
/// the call at the server.
#[must_use = "a call is not made until it is awaited"]
pub struct ToolCall(Result<Ready, HubError>);

struct Ready {
    shared: Arc<Shared>,
    /// The tool, as its server described it when the call was made.
    tool: HubTool,
    call: Call<CallToolRequest>,
    callable: Callable,
}

impl ToolCall {
    pub(crate) fn new(
        shared: Arc<Shared>,
        tool: HubTool,
        call: Call<CallToolRequest>,
        callable: Callable,
    ) -> Self {
        Self(Ok(Ready { shared, tool, call, callable }))
    }

    pub(crate) fn failed(error: HubError) -> Self {
        Self(Err(error))
    }

    /// Sets the time limit of this call instead of the hub's default; `None` removes it.
    pub fn timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        self.with(|call| call.timeout(timeout))
    }

    /// Restarts the time limit at each progress report, until `maximum` has passed since the call was made (default 10 min).
    pub fn progress_maximum(self, maximum: impl Into<Option<Duration>>) -> Self {
        self.with(|call| call.progress_maximum(maximum))
    }

    /// Requests progress. The hook receives each report, in order, before the answer.
    pub fn on_progress(self, hook: impl FnMut(ProgressNotification) + Send + 'static) -> Self {
        self.with(|call| call.on_progress(hook))
    }

    /// Calls the hook with the state of the task that the server may create for the call, at each change.
    pub fn on_task(self, hook: impl FnMut(&TaskState) + Send + 'static) -> Self {
        self.with(|call| call.on_task(hook))
    }

    fn with(self, change: impl FnOnce(Call<CallToolRequest>) -> Call<CallToolRequest>) -> Self {
        Self(self.0.map(|ready| Ready { call: change(ready.call), ..ready }))
    }
}

impl IntoFuture for ToolCall {
    type Output = Result<CallToolResult, HubError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        async move {
            let Ready { shared, tool, call, mut callable } = self.0?;
            // The list may have changed since the call was made; it is not sent before this is polled.
            shared.callable(&tool)?;
            let again = call.draft();
            let mut outcome = call.await;
            if let (Err(error), Some(again)) = (&outcome, again)
                && is_unknown_session(error)
            {
                callable = shared.callable_after(&tool, callable.connection).await?;
                outcome = again.send_to(&callable.server).await;
            }
            let result = outcome.map_err(|source| HubError::of_call(tool.server, source))?;
            callable.answered.store(true, Ordering::Relaxed);
            Ok(result)
        }
        .boxed()
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(Ready { tool, call, .. }) => {
                f.debug_struct("ToolCall").field("server", &tool.server).field("call", call).finish()
            }
            Err(error) => f.debug_tuple("ToolCall").field(error).finish(),
        }
    }
}
