//! The contexts of requests and prompts.

use std::future::Future;
use std::sync::Arc;

use agentwire_acp_schema::v2::{
    ContentBlock, MessageId, PromptRequest, PromptResponse, SessionId, UpdateSessionNotification, UserMessage,
};
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{CallError, Cancelled, RequestContext};
use futures_util::FutureExt;
use futures_util::future::select;

use super::RemoteClient;
use super::methods::Connection;
use super::work::Work;
use crate::method::Method;

/// The context of one request: its client and its cancellation.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) client: RemoteClient,
    pub(crate) request: RequestContext,
}

impl Context {
    /// Returns the client that sent the request.
    pub fn client(&self) -> &RemoteClient {
        &self.client
    }

    /// Completes when the client cancels the request with `$/cancel_request`.
    pub fn cancelled(&self) -> Cancelled {
        self.request.cancelled()
    }

    /// Returns whether the client has cancelled the request.
    pub fn is_cancelled(&self) -> bool {
        self.request.is_cancelled()
    }
}

/// The context of one prompt: its client, its session and its cancellation.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(crate) client: RemoteClient,
    pub(crate) request: RequestContext,
    pub(crate) work: Arc<Work>,
}

impl Turn {
    /// Returns the client. Requests to the user through this handle are withdrawn when the prompt is cancelled or ends.
    /// [`RemoteClient::detached`] returns a handle that outlives the prompt.
    pub fn client(&self) -> &RemoteClient {
        &self.client
    }

    /// Returns the id of the session.
    pub fn session_id(&self) -> &SessionId {
        &self.work.session
    }

    /// Adds the message to the session under an id that is unique in the session. Sends the whole message,
    /// answers the request, and sends the state `running`.
    ///
    /// Before this call the prompt may wait, and an error of [`Agent::prompt`](super::Agent::prompt) refuses it. A prompt
    /// that returns without accepting is answered with an error.
    ///
    /// # Errors
    ///
    /// If the prompt was already cancelled or accepted, or the connection is closed.
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
        let sessions = &self.client.state.sessions;
        if sessions.accept(peer, &self.work, || self.request.answer(Ok(answer))) {
            return Ok(());
        }
        Err(refused("the prompt is over"))
    }

    /// Completes when `session/cancel` or `session/close` cancels the work, or, before the message is accepted, when
    /// `$/cancel_request` cancels it. It also completes when the prompt ends.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        select(self.work.stop_signal(), self.request.cancelled()).map(|_| ())
    }

    /// Returns whether the work is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.work.is_cancelled() || self.request.is_cancelled()
    }
}
