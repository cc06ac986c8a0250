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
use futures::Stream;
use futures::stream::FusedStream;
use serde::Deserialize;

use super::Shared;
use super::end::End;
use crate::updates::{Limit, Reader};

/// How long an agent that is idle, and has told of no message, may say nothing before the turn is over.
const QUIET: Duration = Duration::from_secs(5);

/// A turn that is to be: awaited, it gives the state in which the agent has become idle; [`updates`](Self::updates)
/// makes a stream of it. The prompt is sent when either is first polled.
///
/// The answer to `session/prompt` says only that the message is part of the conversation. The turn is over when the agent
/// says for the first time after that message that it is idle. An agent that said so before it answered, and has
/// neither told of the message nor worked since, is taken to have ended the turn when it says nothing for 5 s. Dropping it
/// before its end cancels what the session does in the foreground, and so does the end of its time, if it has one.
#[must_use = "a prompt is not sent until it is awaited"]
pub struct PromptCall(PromptState);

impl PromptCall {
    pub(crate) fn new(
        peer: Peer,
        shared: Arc<Shared>,
        request: PromptRequest,
        checked: Result<(), CallError>,
    ) -> Self {
        let ask = || {
            let (of, cancel) = (peer.clone(), CancelSessionNotification::new(&request.session_id));
            peer.call_method(PromptRequest::NAME, Some(&request)).on_drop(move || {
                // The connection may be over, and then there is nobody to tell.
                let _told = of.notify_now(&cancel);
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

    /// Waits so long for the end of the turn, counted from when it is first polled (no limit unless this is called).
    /// Then the turn is cancelled, and fails.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(timeout);
        self
    }

    /// The turn as a stream: every update of its session until the turn ends, and then its end.
    pub fn updates(mut self) -> Turn {
        self.0.limit = Some(Limit::default());
        Turn(self.0)
    }
}

impl Future for PromptCall {
    type Output = Result<Stopped, CallError>;

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

/// What a [`Turn`] gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEvent {
    /// Something happened in the session.
    Update(SessionUpdate),
    /// The turn has ended; nothing follows.
    Stopped(Stopped),
}

/// How a turn has ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stopped {
    /// What the agent calls the message that began the turn. None if it did not say: older drafts had no id there.
    pub message_id: Option<MessageId>,
    /// What the agent said when it became idle.
    pub state: IdleStateUpdate,
}

impl Stopped {
    /// Why the work ended, if the agent said so. That it failed is a reason too.
    pub fn stop_reason(&self) -> Option<&IdleStopReason> {
        self.state.stop_reason.as_ref()
    }
}

/// A turn as a stream, which ends with [`TurnEvent::Stopped`] or with the error for which there is none.
///
/// It gives what the session does from the moment in which it is first polled, in order; what comes right behind the end
/// may be among it. The client's [`session_update`](super::Client::session_update) hears all of it too. Two turns of one
/// session at the same time both give all of it. Dropping the stream before its end cancels what the session does in
/// the foreground.
///
/// What is not read waits, and nothing else does for it: the connection goes on. So there is a
/// [`limit`](Self::limit) to their number, and one to their [bytes](Self::byte_limit).
#[must_use = "a prompt is not sent until its stream is polled"]
pub struct Turn(PromptState);

impl Turn {
    /// Lets so many updates wait to be read (default 65,536). After one more the stream gives those that wait, then an
    /// error that names the limit, and with it the turn is cancelled.
    pub fn limit(mut self, updates: usize) -> Self {
        self.0.limit.get_or_insert_default().updates = updates;
        self
    }

    /// Lets updates of so many bytes wait to be read, counted as they came (default 64 MiB); beyond that as
    /// [`limit`](Self::limit) says.
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.0.limit.get_or_insert_default().bytes = bytes;
        self
    }

    /// What happens next. None after the end.
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

/// The answer to `session/prompt`, of drafts that are older too.
#[derive(Deserialize)]
struct Receipt {
    #[serde(rename = "messageId", default)]
    message_id: Option<MessageId>,
}

type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A turn that is awaited or read as a stream.
struct PromptState {
    peer: Peer,
    shared: Arc<Shared>,
    session_id: SessionId,
    /// None once it is answered, or where the prompt is not sent because of a rule.
    call: Option<Call<Receipt>>,
    /// Whether the message is part of the conversation.
    accepted: bool,
    /// How the turn has ended, until that is given.
    outcome: Option<Result<IdleStateUpdate, CallError>>,
    /// None until the first poll, and again after the end.
    reader: Option<Reader<SessionUpdate, End>>,
    closed: Option<WhenClosed>,
    timeout: Option<Duration>,
    late: Option<Timer>,
    /// When an agent that is idle has said nothing for long enough, and how much it had said when that was set.
    quiet: Option<(u64, Timer)>,
    /// How much may wait to be read. None where nobody reads it.
    limit: Option<Limit>,
    done: bool,
}

impl PromptState {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<TurnEvent, CallError>>> {
        if self.done {
            return Poll::Ready(None);
        }
        // First how it ends, then the updates: whatever came before the end is there when the end is.
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
            |outcome: Result<_, _>| outcome.map(|state| TurnEvent::Stopped(Stopped { message_id, state }));
        Poll::Ready(self.outcome.take().map(stopped))
    }

    /// Listens, and begins to count the time.
    fn begin(&mut self) {
        if self.reader.is_none()
            && let Some(call) = self.call.take()
        {
            let busy = self.shared.states.is_busy(&self.session_id);
            let end = End::new(busy, self.shared.tells.clone());
            let reader = self.shared.readers.read(&self.session_id, self.limit, end);
            let inbox = reader.inbox();
            self.call = Some(call.on_answer(move |receipt| {
                inbox.with_observer(|end| end.accepted(receipt.message_id.clone()))
            }));
            self.reader = Some(reader);
            self.late = self.timeout.and_then(timer);
        }
    }

    /// Looks whether the turn has ended, and sends its prompt the first time. Nothing that comes after the end is kept,
    /// or a session that never falls silent would put it off.
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
        // The connection's end before the turn's: what came before it has all been heard by the time that it is known.
        let closed = self.closed.as_mut().map(|closed| Pin::new(closed).poll(cx));
        if let Some(state) = self.with_end(End::take).flatten() {
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

    /// Looks whether an agent that is idle has said nothing any more for long enough.
    fn poll_quiet(&mut self, cx: &mut Context<'_>) {
        if self.outcome.is_some() {
            return;
        }
        while let Some(heard) = self.with_end(|end| end.resting()).flatten() {
            let Some((before, quiet)) = &mut self.quiet else {
                self.quiet = timer(QUIET).map(|quiet| (heard, quiet));
                continue;
            };
            if quiet.as_mut().poll(cx).is_pending() {
                return;
            }
            if *before == heard {
                self.outcome = self.with_end(End::rest).flatten().map(Ok);
                self.reader.iter().for_each(Reader::close);
                return;
            }
            self.quiet = None;
        }
        self.quiet = None;
    }

    fn with_end<R>(&self, look: impl FnOnce(&mut End) -> R) -> Option<R> {
        self.reader.as_ref().map(|reader| reader.with_observer(look))
    }

    /// Nothing more is to be said here. The agent is told where it has not ended the turn.
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
        // A prompt that is not part of the conversation yet cancels by being dropped.
        self.call = None;
        if std::mem::replace(&mut self.accepted, false) && !over {
            // The connection may be over, and then there is nobody to tell.
            let _told = self.peer.notify_now(&CancelSessionNotification::new(&self.session_id));
        }
    }
}

impl Drop for PromptState {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        // The answer and the end may have come, and nobody has looked. The time does not matter any more.
        self.late = None;
        if self.accepted || self.with_end(|end| end.receipt().is_some()).unwrap_or_default() {
            self.poll_end(&mut Context::from_waker(Waker::noop()));
        }
        self.finish();
    }
}

/// None where that is never.
fn timer(time: Duration) -> Option<Timer> {
    let clock = TokioClock::default();
    clock.now().checked_add(time).map(|deadline| clock.sleep_until(deadline))
}
