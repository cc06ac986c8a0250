use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    ContentBlock, MessageId, PromptRequest, PromptResponse, SessionId, UpdateSessionNotification, UserMessage,
};
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{CallError, Cancelled, RequestContext};
use futures::FutureExt;
use futures::future::select;

use super::Client;
use super::methods::Connection;
use super::work::Work;
use crate::method::Method;

/// What an agent holds of one request while it answers it.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) client: Client,
    pub(crate) request: RequestContext,
}

impl Context {
    /// The client that asked.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Completes when the client no longer wants the answer, which it says with `$/cancel_request`.
    pub fn cancelled(&self) -> Cancelled {
        self.request.cancelled()
    }

    /// Whether the client no longer wants the answer.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }
}

/// What an agent holds of one prompt while it works on it.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(crate) client: Client,
    pub(crate) request: RequestContext,
    pub(crate) work: Arc<Work>,
}

impl Turn {
    /// The client that asked. What is asked of the user through this handle is withdrawn when the prompt is cancelled or
    /// over; [`Client::detached`] gives one for work that goes on.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The session.
    pub fn session_id(&self) -> &SessionId {
        &self.work.session
    }

    /// Takes the message into the conversation, under an id that no other message of the session has: tells the client
    /// the whole message, answers the request, and tells that the session is running.
    ///
    /// Until then the prompt may wait for as long as it takes, and can still be refused by an error of
    /// [`Agent::prompt`](super::Agent::prompt). One that never comes here is answered with an error.
    ///
    /// # Errors
    ///
    /// When the prompt was cancelled or accepted already, or the connection is over.
    pub async fn accept(
        &self,
        message_id: impl Into<MessageId>,
        content: &[ContentBlock],
    ) -> Result<(), CallError> {
        let refused = |why: &'static str| CallError::not_allowed(PromptRequest::NAME, why);
        if self.is_cancelled() {
            return Err(refused("the prompt was cancelled"));
        }
        if !self.work.take() {
            return Err(refused("the prompt was accepted already"));
        }
        let message_id = message_id.into();
        let peer = self.request.peer();
        let response = PromptResponse::new(&message_id);
        let written = <PromptRequest as Method<Connection<'_>>>::encode(peer, &response);
        let answer = written.map_err(|why| CallError::not_allowed(PromptRequest::NAME, why.to_string()))?;
        let message = UserMessage::new(message_id).content(content.to_vec());
        self.client.session_update(UpdateSessionNotification::new(self.session_id(), message)).await?;
        let sessions = &self.client.shared.sessions;
        if sessions.accept(peer, &self.work, || self.request.answer(Ok(answer))) {
            return Ok(());
        }
        Err(refused("the prompt is over"))
    }

    /// Completes when the work is to end: by `session/cancel` or `session/close`, or, while the message is not accepted,
    /// by `$/cancel_request`. It also completes when the prompt is over.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        select(self.work.over(), self.request.cancelled()).map(|_| ())
    }

    /// Whether the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled() || self.request.is_cancelled()
    }
}
