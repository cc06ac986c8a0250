//! A prompt of version 1: a future of its answer, or a stream of the events of its turn.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_acp_schema::v1::{PromptRequest, PromptResponse, SessionId, SessionUpdate};
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{Call, CallError, CallId};
use futures_util::Stream;
use futures_util::stream::FusedStream;
use serde::de::DeserializeOwned;

use crate::session::ConnectionState;
use crate::session::updates::{Limit, Reader};

/// A prompt. Awaiting it returns the answer to `session/prompt`; [`updates`](Self::updates) returns a stream of the
/// turn. The prompt is sent at the first poll of either.
///
/// The turn is cancelled when this is dropped or its time limit expires.
#[must_use = "a prompt is not sent until it is awaited"]
pub struct PromptCall<R = PromptResponse> {
    call: Call<R>,
    /// Behind the call, which is dropped first.
    guard: TurnGuard,
}

impl<R> PromptCall<R> {
    pub(crate) fn new(call: Call<R>, guard: TurnGuard) -> Self {
        Self { call, guard }
    }

    /// Sets the time limit of the turn, counted from the first poll (default: none). After it the turn is cancelled and
    /// fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// Returns the turn as a stream: every update of its session until the turn ends, then the answer.
    ///
    /// ```no_run
    /// use agentwire_acp_client::{AgentHandle, CallError, TurnEvent};
    /// use agentwire_acp_schema::v1::{PromptRequest, SessionId, SessionUpdate};
    ///
    /// async fn text(agent: &AgentHandle, session: &SessionId, prompt: &str) -> Result<String, CallError> {
    ///     let mut turn = agent.prompt(PromptRequest::new(session, prompt)).updates();
    ///     let mut text = String::new();
    ///     while let Some(event) = turn.next().await {
    ///         if let TurnEvent::Update(SessionUpdate::AgentMessageChunk(chunk)) = event? {
    ///             text.push_str(chunk.content.as_text().unwrap_or_default());
    ///         }
    ///     }
    ///     Ok(text)
    /// }
    /// ```
    pub fn updates(self) -> Turn<R> {
        let Self { call, guard } = self;
        let limit = Limit::default();
        Turn { call: Some(call), guard, outcome: None, reader: None, limit, done: false }
    }
}

impl<R: DeserializeOwned + Send + 'static> Future for PromptCall<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.guard.begin();
        let outcome = ready!(Pin::new(&mut this.call).poll(cx));
        this.guard.end();
        Poll::Ready(outcome)
    }
}

impl<R> fmt::Debug for PromptCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptCall").field("session_id", &self.guard.session_id).finish_non_exhaustive()
    }
}

/// Marks a turn as open for the handler of the agent's requests: from the first poll of its prompt until the answer is
/// returned, or the prompt is dropped.
pub(crate) struct TurnGuard {
    shared: Arc<ConnectionState>,
    session_id: SessionId,
    /// `None` if a rule keeps the prompt from being sent.
    prompt: Option<CallId>,
    begun: bool,
}

impl TurnGuard {
    pub(crate) fn new(shared: Arc<ConnectionState>, session_id: SessionId, prompt: Option<CallId>) -> Self {
        Self { shared, session_id, prompt, begun: false }
    }

    fn begin(&mut self) {
        if let (Some(prompt), false) = (self.prompt, self.begun) {
            self.begun = true;
            self.shared.turn_begins(&self.session_id, prompt);
        }
    }

    fn end(&mut self) {
        if let (Some(prompt), true) = (self.prompt.take(), self.begun) {
            self.shared.turn_ends(&self.session_id, prompt);
        }
    }
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        self.end();
    }
}

/// An event of a [`Turn`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent<R = PromptResponse> {
    /// An update of the session.
    Update(SessionUpdate),
    /// The turn has ended. No event follows.
    Stopped(R),
}

/// A turn as a stream. It ends with [`TurnEvent::Stopped`] or with an error.
///
/// It returns the updates of the session from its first poll on, in order. Updates right behind the answer may be among
/// them. The client's [`session_update`](crate::Client::session_update) is called for all of them too. Two concurrent
/// turns of one session both return all updates. Dropping the stream before its end cancels the turn.
///
/// Updates that the caller has not read are queued, and the connection continues. [`limit`](Self::limit) bounds their
/// number, and [`byte_limit`](Self::byte_limit) their bytes.
#[must_use = "a prompt is not sent until its stream is polled"]
pub struct Turn<R = PromptResponse> {
    /// None after the turn has ended.
    call: Option<Call<R>>,
    /// Behind the call, which is dropped first.
    guard: TurnGuard,
    /// The outcome of the turn, until the stream returns it.
    outcome: Option<Result<R, CallError>>,
    /// None before the first poll and after the end.
    reader: Option<Reader<SessionUpdate, ()>>,
    limit: Limit,
    done: bool,
}

impl<R> Turn<R> {
    /// Sets how many updates may be queued (default 65,536). Over the limit the stream returns the queued updates and
    /// then an error that names the limit; the turn is cancelled.
    pub fn limit(mut self, updates: usize) -> Self {
        self.limit.updates = updates;
        self
    }

    /// Sets how many bytes of updates may be queued, counted as JSON (default 64 MiB). Over the limit the stream ends
    /// as with [`limit`](Self::limit).
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.limit.bytes = bytes;
        self
    }

    /// Ends the stream. Dropping a call that has not ended cancels it.
    fn finish(&mut self) {
        self.done = true;
        self.call = None;
        self.guard.end();
        self.reader = None;
    }
}

impl<R: DeserializeOwned + Send + 'static> Turn<R> {
    /// Returns the next event, or none after the end.
    ///
    /// Dropping the future loses nothing; call it again.
    pub async fn next(&mut self) -> Option<Result<TurnEvent<R>, CallError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Sends the prompt at the first call, and checks whether the turn has ended. Closes the queue at the end, or a
    /// session that keeps sending would delay it.
    fn poll_call(&mut self, cx: &mut Context<'_>) {
        let Some(call) = &mut self.call else { return };
        self.guard.begin();
        let guard = &self.guard;
        let reader = self
            .reader
            .get_or_insert_with(|| guard.shared.readers.read(&guard.session_id, Some(self.limit), ()));
        reader.register(cx);
        if let Poll::Ready(outcome) = Pin::new(call).poll(cx) {
            reader.close();
            self.guard.end();
            self.call = None;
            self.outcome = Some(outcome);
        }
    }
}

/// No field is pinned.
impl<R> Unpin for Turn<R> {}

impl<R: DeserializeOwned + Send + 'static> Stream for Turn<R> {
    type Item = Result<TurnEvent<R>, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.done {
            return Poll::Ready(None);
        }
        // The call is polled first: when it has its answer, all updates before the answer are queued.
        this.poll_call(cx);
        match this.reader.as_ref().and_then(|reader| reader.take(PromptRequest::NAME)) {
            Some(Ok(update)) => Poll::Ready(Some(Ok(TurnEvent::Update(update)))),
            Some(Err(error)) => {
                this.finish();
                Poll::Ready(Some(Err(error)))
            }
            None => match this.outcome.take() {
                Some(outcome) => {
                    this.finish();
                    Poll::Ready(Some(outcome.map(TurnEvent::Stopped)))
                }
                None => Poll::Pending,
            },
        }
    }
}

impl<R: DeserializeOwned + Send + 'static> FusedStream for Turn<R> {
    fn is_terminated(&self) -> bool {
        self.done
    }
}

impl<R> fmt::Debug for Turn<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("session_id", &self.guard.session_id).finish_non_exhaustive()
    }
}
