//! The error of an operation of a turn, and its conversion into the answer to a prompt.

use std::sync::Arc;

use agentwire_acp_agent::{BoxError, CallError, Error};
use agentwire_jsonrpc::{Printable, WithCauses};
use agentwire_mcp_hub::HubError;

use crate::log::LogError;
use crate::store::StoreError;

/// Why an operation of a turn failed.
///
/// `?` converts it into the error of a turn, so that is often enough.
///
/// ```
/// use agentwire_acp_sessions::{Turn, TurnError};
///
/// async fn deploy(turn: &Turn) -> Result<(), TurnError> {
///     match turn.call_tool("deploy", ()).await {
///         Ok(result) => turn.say(result.text().into_owned()).await,
///         // The turn continues without the tool.
///         Err(TurnError::NotPermitted { tool, .. }) => turn.say(format!("Without {tool}, then.")).await,
///         Err(error) => Err(error),
///     }
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The turn was cancelled and should end soon. The client receives the stop reason `cancelled`, whatever the turn
    /// returns.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The turn has ended. Nothing was written or sent.
    #[error("the turn has ended")]
    Ended,
    /// The store failed to write, so nothing was sent. The turn ends with an error, whatever it returns.
    #[error("the session could not be written")]
    Store(#[source] Arc<StoreError>),
    /// An update is over the limit. It was neither written nor sent, and the turn continues.
    #[error("the update has {bytes} bytes of JSON, and the limit is {limit}")]
    #[non_exhaustive]
    TooLong {
        /// The length of the update, in bytes of JSON.
        bytes: usize,
        /// The limit, in bytes of JSON: [`SessionAgent::update_limit`](crate::SessionAgent::update_limit).
        limit: usize,
    },
    /// A request to the client failed, the client is gone, or an update was refused before it was sent.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A call of an MCP server failed.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// The user did not permit a tool call.
    #[error("`{}` was not permitted", Printable::display(.tool))]
    #[non_exhaustive]
    NotPermitted {
        /// The name of the tool.
        tool: String,
    },
    /// A tool of the agent itself failed, with the error of its closure. See [`ToolRun::run`](crate::ToolRun::run).
    #[error("the tool failed")]
    Failed(#[source] BoxError),
}

impl TurnError {
    /// Returns whether the turn was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }

    /// Returns whether the turn can send nothing more to the client: the turn was cancelled or has ended, its session cannot
    /// be written, or the client is gone. An agent returns such an error. Any other error concerns one step; an agent can give
    /// it to the model and continue.
    ///
    /// ```
    /// use agentwire_acp_sessions::{BoxError, Turn, TurnError};
    ///
    /// /// Returns the text for the model.
    /// async fn deploy(turn: &Turn) -> Result<String, TurnError> {
    ///     match turn.call_tool("deploy", ()).await {
    ///         Ok(result) => Ok(result.text().into_owned()),
    ///         Err(error) if error.ends_turn() => Err(error),
    ///         Err(error) => Ok(BoxError::from(error).message()), // no such tool, not permitted, its server failed
    ///     }
    /// }
    /// ```
    pub fn ends_turn(&self) -> bool {
        match self {
            Self::Cancelled | Self::Ended | Self::Store(_) => true,
            Self::Call(error) => matches!(error, CallError::Closed { .. }),
            Self::TooLong { .. } | Self::Hub(_) | Self::NotPermitted { .. } | Self::Failed(_) => false,
        }
    }

    /// Returns the error of a tool's closure: one of the turn as it is, any other as [`Failed`](Self::Failed).
    pub(super) fn of_tool(error: BoxError) -> Self {
        error.downcast().unwrap_or_else(Self::Failed)
    }

    pub(crate) fn not_permitted(tool: impl Into<String>) -> Self {
        Self::NotPermitted { tool: tool.into() }
    }
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl From<TurnError> for Error {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Cancelled => Self::request_cancelled(),
            TurnError::Call(error) => error.into(),
            TurnError::Failed(error) => error.into(),
            error => Self::internal_error(WithCauses::new(&error)),
        }
    }
}

impl From<LogError> for TurnError {
    fn from(error: LogError) -> Self {
        let not_allowed = |why| CallError::not_allowed("session/update", why);
        match error {
            LogError::Ended => Self::Ended,
            LogError::Invalid(error) => not_allowed(error.message).into(),
            LogError::NotJson(why) => not_allowed(why.to_string().into()).into(),
            LogError::TooLong { bytes, limit } => Self::TooLong { bytes, limit },
            LogError::Store(error) => Self::Store(error),
            LogError::Closed(closed) => Self::Call(closed.into()),
        }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Invalid(error) => error,
            error => TurnError::from(error).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agentwire_acp_agent::Closed;

    use super::*;

    #[test]
    fn errors_that_prevent_all_updates_end_a_turn() {
        let refused = CallError::refused("fs/read_text_file", Error::invalid_params("no"));
        for (error, ends) in [
            (TurnError::Cancelled, true),
            (TurnError::Ended, true),
            (TurnError::Call(Closed::default().into()), true),
            (TurnError::Call(refused), false),
            (TurnError::TooLong { bytes: 2, limit: 1 }, false),
            (TurnError::not_permitted("t"), false),
            (TurnError::Failed("no such file".into()), false),
        ] {
            assert_eq!(error.ends_turn(), ends, "{error:?}");
        }
    }
}
