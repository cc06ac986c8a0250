//! A prompt of version 2: a future of the end of its turn, or a stream of the events of the turn.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use agentwire_acp_schema::v2::{
    CancelSessionNotification, IdleStateUpdate, IdleStopReason, MessageId, PromptRequest, SessionId,
    SessionUpdate,
};
use agentwire_jsonrpc::RequestMethod;
use agentwire_peer::runtime::CallExt;
use agentwire_peer::{Call, CallError, Clock, Peer, TokioClock, WhenClosed};
use futures_util::Stream;
use futures_util::stream::FusedStream;
use serde::Deserialize;

use super::ConnectionState;
use super::turn_end::EndDetector;
use crate::session::updates::{Limit, Reader};

/// How long an idle agent that has not sent the message may send no update before the turn ends.
const QUIET: Duration = Duration::from_secs(5);

/// A prompt. Awaiting it returns the state in which the agent has become idle; [`updates`](Self::updates) returns a
/// stream of the turn. The prompt is sent at the first poll of either.
///
/// The answer to `session/prompt` reports only that the message is part of the session. The first `idle` after the
/// message ends the turn. If the agent was idle before it answered, and neither the message nor work has followed,
/// the turn ends after 5 s without an update. The foreground work of the session is cancelled if this is dropped before the
/// end, or if its time limit expires.
#[must_use = "a prompt is not sent until it is awaited"]
pub struct PromptCall(PromptState);

impl PromptCall {
    pub(crate) fn new(
        peer: Peer,
        shared: Arc<ConnectionState>,
        request: PromptRequest,
        checked: Result<(), CallError>,
    ) -> Self {
        let ask = || {
            let (of, cancel) = (peer.clone(), CancelSessionNotification::new(&request.session_id));
            peer.call_method(PromptRequest::NAME, Some(&request)).on_drop(move || {
                // The connection may be closed.
                let _sent = of.notify_now(&cancel);
            })
        };
        let (call, outcome) = match checked {
            Ok(()) => (Some(ask()), None),
            Err(error) => (None, Some(Err(error))),
        };
        Self(PromptState {
            peer,
            shared,
            session_id: request.session_id,
            call,
            accepted: false,
            outcome,
            reader: None,
            closed: None,
            timeout: None,
            late: None,
            quiet: None,
            limit: None,
            done: false,
        })
    }

    /// Sets the time limit of the turn, counted from the first poll (default: none). After it the turn is cancelled and
    /// fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(timeout);
        self
    }

    /// Returns the turn as a stream: every update of its session until the turn ends, then its end.
    pub fn updates(mut self) -> Turn {
        self.0.limit = Some(Limit::default());
        Turn(self.0)
    }
}

impl Future for PromptCall {
    type Output = Result<TurnEnd, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match std::task::ready!(self.0.poll_event(cx)) {
            Some(Ok(TurnEvent::Stopped(stopped))) => Poll::Ready(Ok(stopped)),
            Some(Err(error)) => Poll::Ready(Err(error)),
            Some(Ok(_)) | None => panic!("a turn was awaited again after it had ended"),
        }
    }
}

impl fmt::Debug for PromptCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptCall").field("session_id", &self.0.session_id).finish_non_exhaustive()
    }
}

/// An event of a [`Turn`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent {
    /// An update of the session.
    Update(SessionUpdate),
    /// The turn has ended. No event follows.
    Stopped(TurnEnd),
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The id of the message that began the turn. Older drafts have none.
    pub message_id: Option<MessageId>,
    /// The state in which the agent became idle.
    pub state: IdleStateUpdate,
}

impl TurnEnd {
    /// Returns why the work ended, or `None` if the agent did not report it. An error is a reason too.
    pub fn stop_reason(&self) -> Option<&IdleStopReason> {
        self.state.stop_reason.as_ref()
    }
}

/// A turn as a stream. It ends with [`TurnEvent::Stopped`] or with an error.
///
/// It returns the updates of the session from its first poll on, in order. Updates right after the end may be among
/// them. The client's [`session_update`](super::Client::session_update) is called for all of them too. Two concurrent
/// turns of one session both return all updates. Dropping the stream before its end cancels the foreground work of the
/// session.
///
/// Updates that the caller has not read are queued, and the connection continues. [`limit`](Self::limit) bounds their
/// number, and [`byte_limit`](Self::byte_limit) their bytes.
#[must_use = "a prompt is not sent until its stream is polled"]
pub struct Turn(PromptState);

impl Turn {
    /// Sets how many updates may be queued (default 65,536). Over the limit the stream returns the queued updates and
    /// then an error that names the limit; the turn is cancelled.
    pub fn limit(mut self, updates: usize) -> Self {
        self.0.limit.get_or_insert_default().updates = updates;
        self
    }

    /// Sets how many bytes of updates may be queued, counted as JSON (default 64 MiB). Over the limit the stream ends
    /// as with [`limit`](Self::limit).
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.0.limit.get_or_insert_default().bytes = bytes;
        self
    }

    /// Returns the next event, or `None` after the end.
    ///
    /// Dropping the future loses nothing; call it again.
    pub async fn next(&mut self) -> Option<Result<TurnEvent, CallError>> {
        poll_fn(|cx| self.0.poll_event(cx)).await
    }
}

impl Stream for Turn {
    type Item = Result<TurnEvent, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_event(cx)
    }
}

impl FusedStream for Turn {
    fn is_terminated(&self) -> bool {
        self.0.done
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("session_id", &self.0.session_id).finish_non_exhaustive()
    }
}

/// The answer to `session/prompt`, also of older drafts.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Receipt {
    #[serde(rename = "messageId", default)]
    message_id: Option<MessageId>,
}

type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state of a turn that is awaited or read as a stream.
struct PromptState {
    peer: Peer,
    shared: Arc<ConnectionState>,
    session_id: SessionId,
    /// `None` after the answer, or if a rule prevents sending the prompt.
    call: Option<Call<Receipt>>,
    /// Whether the message is part of the session.
    accepted: bool,
    /// The outcome of the turn, until it is returned.
    outcome: Option<Result<IdleStateUpdate, CallError>>,
    /// `None` before the first poll and after the end.
    reader: Option<Reader<SessionUpdate, EndDetector>>,
    closed: Option<WhenClosed>,
    timeout: Option<Duration>,
    late: Option<Timer>,
    /// The timer of an idle agent, and the number of updates when it was started.
    quiet: Option<(u64, Timer)>,
    /// The limits of the queue. `None` if the turn is not read as a stream.
    limit: Option<Limit>,
    done: bool,
}

impl PromptState {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<TurnEvent, CallError>>> {
        if self.done {
            return Poll::Ready(None);
        }
        // The end is polled first: when it is known, all updates before it are queued.
        self.poll_end(cx);
        self.poll_quiet(cx);
        match self.reader.as_ref().and_then(|reader| reader.take(PromptRequest::NAME)) {
            Some(Ok(update)) => return Poll::Ready(Some(Ok(TurnEvent::Update(update)))),
            Some(Err(error)) => {
                self.finish();
                return Poll::Ready(Some(Err(error)));
            }
            None => {}
        }
        if self.outcome.is_none() {
            return Poll::Pending;
        }
        let message_id = self.with_end(|end| end.receipt().cloned()).flatten().flatten();
        self.finish();
        let stopped =
            |outcome: Result<_, _>| outcome.map(|state| TurnEvent::Stopped(TurnEnd { message_id, state }));
        Poll::Ready(self.outcome.take().map(stopped))
    }

    /// Starts to read the session's updates, and starts the time limit.
    fn begin(&mut self) {
        if self.reader.is_none()
            && let Some(call) = self.call.take()
        {
            let busy = self.shared.states.is_busy(&self.session_id);
            let end = EndDetector::new(busy, self.shared.sends_messages.clone());
            let reader = self.shared.readers.read(&self.session_id, self.limit, end);
            let inbox = reader.inbox();
            self.call = Some(call.on_result(move |receipt| {
                inbox.with_observer(|end| end.record_answer(receipt.message_id.clone()))
            }));
            self.reader = Some(reader);
            self.late = self.timeout.map(|timeout| TokioClock::default().sleep(timeout));
        }
    }

    /// Sends the prompt at the first call, and checks whether the turn has ended. Closes the queue at the end, or a
    /// session that keeps sending would delay it.
    fn poll_end(&mut self, cx: &mut Context<'_>) {
        if self.outcome.is_some() {
            return;
        }
        self.begin();
        if let Some(reader) = &self.reader {
            reader.register(cx);
        }
        self.outcome = self.poll_outcome(cx);
        if let (Some(_), Some(reader)) = (&self.outcome, &self.reader) {
            reader.close();
        }
    }

    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Option<Result<IdleStateUpdate, CallError>> {
        if let Some(call) = &mut self.call
            && let Poll::Ready(receipt) = Pin::new(call).poll(cx)
        {
            self.call = None;
            match receipt {
                Ok(_) => {
                    self.accepted = true;
                    self.closed = Some(self.peer.closed());
                }
                Err(error) => return Some(Err(error)),
            }
        }
        // The end of the connection is checked before that of the turn: all earlier updates have been delivered by
        // then.
        let closed = self.closed.as_mut().map(|closed| Pin::new(closed).poll(cx));
        if let Some(state) = self.with_end(EndDetector::take).flatten() {
            return Some(Ok(state));
        }
        if let Some(Poll::Ready(closed)) = closed {
            return Some(Err(closed.into()));
        }
        if self.with_end(|end| end.is_closed()).unwrap_or_default() {
            return Some(Err(CallError::unusable(
                PromptRequest::NAME,
                "the session was closed before the turn ended",
            )));
        }
        let is_late = self.late.as_mut().is_some_and(|late| late.as_mut().poll(cx).is_ready());
        is_late.then(|| Err(CallError::timed_out(PromptRequest::NAME, self.timeout.unwrap_or_default())))
    }

    /// Ends the turn of an idle agent after enough time without an update.
    fn poll_quiet(&mut self, cx: &mut Context<'_>) {
        if self.outcome.is_some() {
            return;
        }
        while let Some(observed) = self.with_end(|end| end.possible_end()).flatten() {
            let Some((before, quiet)) = &mut self.quiet else {
                self.quiet = Some((observed, TokioClock::default().sleep(QUIET)));
                continue;
            };
            if quiet.as_mut().poll(cx).is_pending() {
                return;
            }
            if *before == observed {
                self.outcome = self.with_end(EndDetector::take_possible_end).flatten().map(Ok);
                self.reader.iter().for_each(Reader::close);
                return;
            }
            self.quiet = None;
        }
        self.quiet = None;
    }

    fn with_end<R>(&self, look: impl FnOnce(&mut EndDetector) -> R) -> Option<R> {
        self.reader.as_ref().map(|reader| reader.with_observer(look))
    }

    /// Ends the stream. Cancels the work at the agent, unless the turn has ended.
    fn finish(&mut self) {
        let over = match &self.outcome {
            Some(Ok(_) | Err(CallError::Closed(_))) => true,
            _ => self.with_end(|end| end.is_closed()).unwrap_or_default(),
        };
        self.done = true;
        self.reader = None;
        self.closed = None;
        self.late = None;
        self.quiet = None;
        // Dropping the call cancels a prompt that is not part of the session yet.
        self.call = None;
        if std::mem::replace(&mut self.accepted, false) && !over {
            // The connection may be closed.
            let _sent = self.peer.notify_now(&CancelSessionNotification::new(&self.session_id));
        }
    }
}

impl Drop for PromptState {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // The answer and the end may have arrived unnoticed. The time limit no longer applies.
        self.late = None;
        if self.accepted || self.with_end(|end| end.receipt().is_some()).unwrap_or_default() {
            self.poll_end(&mut Context::from_waker(Waker::noop()));
        }
        self.finish();
    }
}
