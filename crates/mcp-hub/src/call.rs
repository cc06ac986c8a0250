use std::error::Error;
use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentwire_mcp_client::{Call, CallError, TaskState};
use agentwire_mcp_schema::{CallToolRequest, CallToolResult, ProgressNotification};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::ServerState;
use crate::names::HubTool;
use crate::state::Shared;

/// Why a tool was not called or gave no result, or a server is not listened to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// No server has a tool of that name.
    #[error("there is no tool `{name}`")]
    #[non_exhaustive]
    NoSuchTool {
        /// The name.
        name: String,
    },
    /// There is no server of that name.
    #[error("there is no server `{name}`")]
    #[non_exhaustive]
    NoSuchServer {
        /// The name.
        name: String,
    },
    /// The server has dropped the tool, or describes it in another way, since it was looked up. It was not called.
    #[error(
        "the server `{server}` has changed or dropped its tool `{tool}` since it was looked up, so it was not called"
    )]
    #[non_exhaustive]
    ToolChanged {
        /// The server.
        server: String,
        /// The tool's name there.
        tool: String,
    },
    /// The server cannot be called, or no more.
    #[error("the server `{server}` cannot be called: {state}")]
    #[non_exhaustive]
    Unavailable {
        /// The server.
        server: String,
        /// How it is.
        state: ServerState,
    },
    /// The call failed.
    #[error("the server `{server}`: {source}")]
    #[non_exhaustive]
    Call {
        /// The server.
        server: String,
        /// Why.
        source: CallError,
    },
}

impl HubError {
    /// Why the server died, where it is that.
    pub fn death(&self) -> Option<&Arc<dyn Error + Send + Sync>> {
        match self {
            Self::Unavailable { state, .. } => state.reason(),
            _ => None,
        }
    }
}

/// A call of a tool: a value until it is awaited, which sends it.
///
/// Awaiting gives the tool's result, also where the tool failed, which `is_error` tells. Dropping it before
/// that cancels the call at its server.
#[must_use = "a call is not made until it is awaited"]
pub struct ToolCall(Result<Ready, HubError>);

struct Ready {
    shared: Arc<Shared>,
    /// What is called, as its server described it then.
    tool: HubTool,
    call: Call<CallToolRequest>,
    /// To be set when there is an answer.
    answered: Arc<AtomicBool>,
}

impl ToolCall {
    pub(crate) fn new(
        shared: Arc<Shared>,
        tool: HubTool,
        call: Call<CallToolRequest>,
        answered: Arc<AtomicBool>,
    ) -> Self {
        Self(Ok(Ready { shared, tool, call, answered }))
    }

    pub(crate) fn failed(error: HubError) -> Self {
        Self(Err(error))
    }

    /// Waits so long for the answer instead of the hub's default; with `None`, for ever.
    pub fn timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        self.with(|call| call.timeout(timeout))
    }

    /// Each progress report starts the wait anew, until `maximum` has passed since the call was made (default
    /// 10 min).
    pub fn progress_maximum(self, maximum: impl Into<Option<Duration>>) -> Self {
        self.with(|call| call.progress_maximum(maximum))
    }

    /// Asks for progress, and hears each report, in order, before the answer.
    pub fn on_progress(self, hook: impl FnMut(ProgressNotification) + Send + 'static) -> Self {
        self.with(|call| call.on_progress(hook))
    }

    /// Hears how the task stands that the server may make of the call, whenever that is something else than before.
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
            let Ready { shared, tool, call, answered } = self.0?;
            // The list may have changed since the call was made; it is not sent before this is polled.
            shared.callable(&tool)?;
            let result = call.await.map_err(|source| HubError::Call { server: tool.server, source })?;
            answered.store(true, Ordering::Relaxed);
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
