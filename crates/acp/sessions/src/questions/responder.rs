//! Passes the requests of a session's MCP servers to the running turn.

use std::fmt;
use std::sync::Arc;

use agentwire_acp_agent::Error;
use agentwire_mcp_hub::schema::{CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult};
use agentwire_sync::Mutex;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

/// A future answer to a question.
pub(crate) type AnswerFuture<A> = BoxFuture<'static, Result<A, Error>>;

/// Answers the requests of MCP servers, each with the name of its server.
pub(crate) trait Respond: Send + Sync {
    /// Asks the user.
    fn elicit(&self, server: String, request: ElicitRequest) -> AnswerFuture<ElicitResult>;

    /// Uses the agent's language model.
    fn sample(&self, server: String, request: CreateMessageRequest) -> AnswerFuture<CreateMessageResult>;
}

/// Passes requests to the turn that runs, if one does. Clones share the turn.
#[derive(Clone, Default)]
pub(crate) struct Responder(Arc<Mutex<Option<Arc<dyn Respond>>>>);

impl Responder {
    /// Sets the turn that has begun.
    pub(crate) fn set(&self, turn: Arc<dyn Respond>) {
        *self.0.lock() = Some(turn);
    }

    /// Removes the turn that has ended.
    pub(crate) fn clear(&self) {
        let ended = self.0.lock().take();
        // The turn holds the session, which must not be dropped under this lock.
        drop(ended);
    }

    /// Asks the user through the turn that runs. Without a turn the answer is `cancel`.
    pub(crate) fn elicit(&self, server: String, request: ElicitRequest) -> AnswerFuture<ElicitResult> {
        match self.turn() {
            Some(turn) => turn.elicit(server, request),
            None => ready(Ok(ElicitResult::cancel())).boxed(),
        }
    }

    /// Uses the language model through the turn that runs. Fails without a turn.
    pub(crate) fn sample(
        &self,
        server: String,
        request: CreateMessageRequest,
    ) -> AnswerFuture<CreateMessageResult> {
        match self.turn() {
            Some(turn) => turn.sample(server, request),
            None => ready(Err(Error::internal_error("no turn runs, and only a turn uses the model"))).boxed(),
        }
    }

    fn turn(&self) -> Option<Arc<dyn Respond>> {
        self.0.lock().clone()
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("runs", &self.turn().is_some()).finish()
    }
}
