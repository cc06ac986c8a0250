//! The trait that an agent's author implements: it answers one prompt.

use std::future::Future;

use agentwire_acp_agent::BoxError;
use agentwire_acp_schema::v1::StopReason;
use futures_util::future::BoxFuture;

use super::Turn;

/// Answers one prompt. Implemented by the agent's author.
///
/// An async closure that takes a [`Turn`] and owns what it uses implements it, such as `async |turn: Turn| Ok(StopReason::EndTurn)`,
/// unless its futures borrow captured values of the closure. In it `?` takes any error:
///
/// ```
/// use agentwire_acp_sessions::{Turn, agent, schema::StopReason};
///
/// let agent = agent(async |turn: Turn| {
///     let limit: usize = turn.text().trim().parse()?; // not one of our errors
///     turn.say(turn.read_text_file("notes.txt").await?.lines().take(limit).collect::<String>()).await?;
///     if limit == 0 {
///         return Err("0 lines are nothing to say".into());
///     }
///     Ok(StopReason::EndTurn)
/// });
/// ```
///
/// A handler with state implements the trait:
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not answer prompts",
    label = "neither a type with `TurnHandler` nor an async closure from a `Turn` to `Result<StopReason, BoxError>` whose future is `Send`",
    note = "a type with state implements `TurnHandler`: `async fn run(&self, turn: Turn) -> Result<StopReason, BoxError>`",
    note = "an async closure is `async |turn: Turn| Ok(StopReason::EndTurn)`; it clones what it captures before an `async move` block"
)]
pub trait TurnHandler: Send + Sync {
    /// Runs one turn. Its result is the answer to the prompt.
    ///
    /// # Errors
    ///
    /// Any error, by `?`. The error and its causes decide the answer: a [`TurnError::Cancelled`](crate::TurnError) ends the
    /// turn with the stop reason `cancelled`, an [`Error`](crate::Error) is the answer as it is, and any other becomes an
    /// internal error (-32603) with its text and those of its causes. A refusal of the client or of an MCP server becomes an
    /// internal error, too.
    fn run(&self, turn: Turn) -> impl Future<Output = Result<StopReason, BoxError>> + Send;
}

#[diagnostic::do_not_recommend]
impl<F, Fut> TurnHandler for F
where
    F: Fn(Turn) -> Fut + Send + Sync,
    Fut: Future<Output = Result<StopReason, BoxError>> + Send,
{
    fn run(&self, turn: Turn) -> impl Future<Output = Result<StopReason, BoxError>> + Send {
        self(turn)
    }
}

/// A handler of any type, so that the code that serves the client is compiled only once.
pub(crate) type BoxTurnHandler = Box<dyn DynTurnHandler>;

/// [`TurnHandler`], as a trait object.
pub(crate) trait DynTurnHandler: Send + Sync {
    fn run_boxed(&self, turn: Turn) -> BoxFuture<'_, Result<StopReason, BoxError>>;
}

impl<H: TurnHandler> DynTurnHandler for H {
    fn run_boxed(&self, turn: Turn) -> BoxFuture<'_, Result<StopReason, BoxError>> {
        Box::pin(self.run(turn))
    }
}
