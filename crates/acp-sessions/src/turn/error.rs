use std::sync::Arc;

use agentwire_acp_agent::{CallError, Error};
use agentwire_mcp_hub::HubError;

use crate::store::StoreError;

/// Why something in a turn was not done.
///
/// It converts into the [`Error`] that a turn ends with, so `?` is enough where nothing else is to be made of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The turn was cancelled: end it soon. What the client hears is `cancelled`, whatever the turn then gives.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The turn has ended, and this handle outlived it. Nothing was kept or sent.
    #[error("the turn is over")]
    Over,
    /// What was said could not be kept, so it was not sent. The turn ends with an error, whatever it then gives.
    #[error("the session could not be written: {0}")]
    Store(#[source] Arc<StoreError>),
    /// An update is longer than a client takes. It was neither kept nor sent, and the turn goes on.
    #[error("the update has {bytes} bytes of JSON, and the limit is {limit}")]
    #[non_exhaustive]
    TooLong {
        /// How long it is, in bytes of JSON.
        bytes: usize,
        /// How long it may be: [`SessionAgent::update_limit`](crate::SessionAgent::update_limit).
        limit: usize,
    },
    /// The client did not do what it was asked.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An MCP server did not do what it was asked.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// The person did not permit it.
    #[error("`{tool}` was not permitted")]
    #[non_exhaustive]
    NotPermitted {
        /// The tool.
        tool: String,
    },
}

impl TurnError {
    /// Whether the turn was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
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
            error => Self::internal_error(error),
        }
    }
}
