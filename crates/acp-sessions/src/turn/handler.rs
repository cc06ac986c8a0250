use std::future::Future;

use agentwire_acp_agent::BoxError;
use agentwire_acp_schema::v1::StopReason;

use super::Turn;

/// Answers one prompt. Implemented by the agent's author.
///
/// An async closure that takes a [`Turn`] implements it, such as `async |turn: Turn| Ok(StopReason::EndTurn)`, unless
/// its futures borrow captured values of the closure. A handler with state implements the trait:
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use agentwire_acp_sessions::schema::StopReason;
/// use agentwire_acp_sessions::{BoxError, Turn, TurnHandler, agent};
///
/// struct Counter(AtomicU64);
///
/// impl TurnHandler for Counter {
///     async fn run(&self, turn: Turn) -> Result<StopReason, BoxError> {
///         turn.say(format!("prompt {}", self.0.fetch_add(1, Ordering::Relaxed) + 1)).await?;
///         Ok(StopReason::EndTurn)
///     }
/// }
///
/// let agent = agent(Counter(AtomicU64::new(0)));
/// ```
pub trait TurnHandler: Send + Sync {
    /// Runs one turn. Its result is the answer to the prompt.
    ///
    /// # Errors
    ///
    /// Any error: `?` converts it. An [`Error`](crate::Error) is the answer as it is, and any other error is an internal
    /// error (-32603) with its text. [`TurnError::Cancelled`](crate::TurnError::Cancelled) ends the turn as cancelled.
    fn run(&self, turn: Turn) -> impl Future<Output = Result<StopReason, BoxError>> + Send;
}

impl<F, Fut> TurnHandler for F
where
    F: Fn(Turn) -> Fut + Send + Sync,
    Fut: Future<Output = Result<StopReason, BoxError>> + Send,
{
    fn run(&self, turn: Turn) -> impl Future<Output = Result<StopReason, BoxError>> + Send {
        self(turn)
    }
}
