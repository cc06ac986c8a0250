use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_acp_schema::v1::{PromptRequest, PromptResponse, SessionId, SessionUpdate};
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::{Call, CallError, CallId};
use futures::Stream;
use futures::stream::FusedStream;
use serde::de::DeserializeOwned;

use crate::session::Shared;
use crate::updates::{Limit, Reader};

/// A turn that is to be: awaited, it gives the answer to `session/prompt`; [`updates`](Self::updates) makes a stream
/// of it. The prompt is sent when either is first polled.
///
/// Dropping it cancels the turn, and so does the end of its time, if it has one.
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

    /// Waits so long for the end of the turn, counted from when it is first polled (no limit unless this is called).
    /// Then the turn is cancelled, and fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// The turn as a stream: every update of its session until the turn ends, and then the answer.
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

/// Tells the handler of the agent's requests that a turn is open: from when its prompt is first polled until the answer
/// is seen, or the prompt is dropped.
pub(crate) struct TurnGuard {
    shared: Arc<Shared>,
    session_id: SessionId,
    /// None where the prompt is not sent because of a rule.
    prompt: Option<CallId>,
    begun: bool,
}

impl TurnGuard {
    pub(crate) fn new(shared: Arc<Shared>, session_id: SessionId, prompt: Option<CallId>) -> Self {
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

/// What a [`Turn`] gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent<R = PromptResponse> {
    /// Something happened in the session.
    Update(SessionUpdate),
    /// The turn has ended; nothing follows.
    Stopped(R),
}

/// A turn as a stream, which ends with [`TurnEvent::Stopped`] or with the error for which there is none.
///
/// It gives what the session does from the moment in which it is first polled, in order; what comes right behind the
/// answer may be among it. The client's
/// [`session_update`](crate::Client::session_update) hears all of it too. Two turns of one session at the same time
/// both give all of it. Dropping the stream before its end cancels the turn.
///
/// What is not read waits, and nothing else does for it: the connection goes on. So there is a
/// [`limit`](Self::limit) to their number, and one to their [bytes](Self::byte_limit).
#[must_use = "a prompt is not sent until its stream is polled"]
pub struct Turn<R = PromptResponse> {
    /// None once it has ended.
    call: Option<Call<R>>,
    /// Behind the call, which is dropped first.
    guard: TurnGuard,
    /// How it has ended, until that is given.
    outcome: Option<Result<R, CallError>>,
    /// None until the first poll, and again after the end.
    reader: Option<Reader<SessionUpdate, ()>>,
    limit: Limit,
    done: bool,
}

impl<R> Turn<R> {
    /// Lets so many updates wait to be read (default 65,536). After one more the stream gives those that wait, then an
    /// error that names the limit, and with it the turn is cancelled.
    pub fn limit(mut self, updates: usize) -> Self {
        self.limit.updates = updates;
        self
    }

    /// Lets updates of so many bytes wait to be read, counted as they came (default 64 MiB); beyond that as
    /// [`limit`](Self::limit) says.
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.limit.bytes = bytes;
        self
    }

    /// Nothing more is to be said. A call that has not ended is cancelled by being dropped.
    fn finish(&mut self) {
        self.done = true;
        self.call = None;
        self.guard.end();
        self.reader = None;
    }
}

impl<R: DeserializeOwned + Send + 'static> Turn<R> {
    /// What happens next. None after the end.
    ///
    /// Dropping the future loses nothing; call it again.
    pub async fn next(&mut self) -> Option<Result<TurnEvent<R>, CallError>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Looks whether the turn has ended, and sends its prompt the first time. Nothing that comes after the end is kept,
    /// or a session that never falls silent would put it off.
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

/// Nothing here is pinned to its place.
impl<R> Unpin for Turn<R> {}

impl<R: DeserializeOwned + Send + 'static> Stream for Turn<R> {
    type Item = Result<TurnEvent<R>, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.done {
            return Poll::Ready(None);
        }
        // First the answer, then the updates: whatever came before the answer is there when the answer is.
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
