//! One response that is being written: the answer to a POST, or the stream of a GET.
//!
//! A connection or an exchange puts frames in, the body of the response takes bytes out. In a session the stream outlives its
//! reader, so that a resumed response can become the next reader.

mod answer;
mod events;
mod reader;
mod state;
mod unstored_events;

use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_store::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use http::StatusCode;

use crate::server::admission::guard::Accepts;
use crate::server::admission::quota::{QuotaExceeded, Reservation};
use crate::server::endpoint::clock::{Ticks, TimedStream};
use crate::server::endpoint::resources::Resources;
use crate::server::response::queue::COPY_LIMIT;
use crate::server::response::text::Text;
use crate::server::response_stream::answer::status_of;
use crate::server::response_stream::state::{Cut, Phase, StreamState, set, wake};
use crate::server::{AnswerForm, Caller, EndpointConfig};
use crate::sse;

pub(crate) use answer::{answer_status, refuse};
pub(crate) use reader::{BoxError, ResponseForm, ResumedStream, StreamReader};
pub(crate) use state::memory_for;

pub use reader::Stalled;

/// Room for the fields of an event beside its data, and for the first event.
const AROUND: usize = 64;

/// How far a stream is beyond its room.
pub(crate) struct Overfull {
    /// How many bytes were put in since it was full.
    pub(crate) beyond: usize,
    /// Whether the stream has ended.
    pub(crate) ended: bool,
}

/// A response that is being written.
#[derive(Debug)]
pub(crate) struct ResponseStream {
    /// Its number within its session; 0 without one.
    number: u64,
    /// The session that the store remembers its events for.
    session: Option<SessionId>,
    /// The requests that it answers, if it may be resumed at another node: the first, and the others of a batch.
    requests: (Option<RequestId>, Box<[RequestId]>),
    form: AnswerForm,
    /// Whether the client accepts no stream, so that it gets the answer alone.
    is_whole: bool,
    /// The caller that the unread bytes count for.
    caller: Caller,
    state: Mutex<StreamState>,
}

impl ResponseStream {
    /// The response of one exchange without a session.
    pub(crate) fn for_exchange(form: AnswerForm, caller: Caller) -> Self {
        let state = Mutex::new(StreamState::new(Phase::Undecided, 1, false));
        Self { number: 0, session: None, requests: Default::default(), form, is_whole: false, caller, state }
    }

    /// The response to a POST in a session, which brought `owed` requests. `requests` has their ids if the stream may be
    /// resumed at another node. Nothing is remembered of the stream with the number 0.
    pub(crate) fn for_post(
        number: u64,
        session: SessionId,
        (form, accepts): (AnswerForm, Accepts),
        caller: Caller,
        (owed, requests): (usize, &[RequestId]),
        primes: bool,
    ) -> Self {
        let mut others = requests.iter().cloned();
        let requests = (others.next(), others.collect());
        let state = Mutex::new(StreamState::new(Phase::Undecided, owed, primes));
        let (form, is_whole) = (form.accepted(accepts), accepts == Accepts::Json);
        Self { number, session: Some(session), requests, form, is_whole, caller, state }
    }

    /// The stream of a GET.
    pub(crate) fn for_get(number: u64, session: SessionId, caller: Caller, primes: bool) -> Self {
        let state = Mutex::new(StreamState::new(Phase::Stream, 0, primes));
        let (session, requests) = (Some(session), Default::default());
        Self { number, session, requests, form: AnswerForm::Events, is_whole: false, caller, state }
    }

    /// Whether a frame with this many answers can be sent here. A client that accepts no stream gets the answer alone.
    pub(crate) fn takes(&self, answers: usize) -> bool {
        !self.is_whole || answers > 0
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Queues a frame that holds `answers` of the expected answers. Returns whether the stream is full now.
    pub(crate) fn put(&self, frame: &Frame, answers: usize, resources: &Resources) -> bool {
        let mut state = self.lock();
        if state.ended {
            return false;
        }
        let (unread, size) = (state.unread(), frame.size_hint());
        state.owed = state.owed.saturating_sub(answers);
        if answers > 0 && state.owed == 0 {
            state.end();
        }
        let mut refusal = None;
        if state.attached
            && let Err(full) = self.make_room(&mut state, size, resources)
        {
            refusal = refuse(frame, full);
            if refusal.is_none() {
                state.cut(Cut::NoRoom);
                if !matches!(state.phase, Phase::Stream) {
                    wake(state, StreamState::all);
                    return false;
                }
                // The store remembers the event, and the client may resume the stream.
            }
        }
        let (frame, size) = refusal.as_ref().map_or((frame, size), |refusal| (refusal, refusal.size_hint()));
        match (&state.phase, self.whole(frame)) {
            (Phase::Undecided, Some(status)) if state.ended => {
                state.phase = Phase::Json(status, Text::of(frame));
            }
            (Phase::Undecided, None)
                if state.ended
                    && state.attached
                    && (size < COPY_LIMIT || self.remember(size, &resources.config).is_some()) =>
            {
                self.only_event(&mut state, frame, size, &resources.config);
            }
            (phase, _) => {
                if matches!(phase, Phase::Undecided) {
                    // Room for a whole short answer with its fields.
                    state.queue.tail().reserve(AROUND + size.min(COPY_LIMIT));
                    self.open(&mut state, &resources.config);
                }
                self.event(&mut state, frame, (size, answers), &resources.config);
            }
        }
        let high_water = resources.config.limits.high_water;
        let full = state.is_full(high_water);
        if full && unread >= high_water {
            state.beyond += (state.unread() - unread).min(high_water);
        }
        if state.cut.is_some() {
            wake(state, StreamState::all);
        } else {
            // An exchange that waits for the reader to leave is woken when the reader has read the end and leaves.
            wake(state, |state| [state.reader_waker.take()]);
        }
        full
    }

    /// Reserves memory for `more` unread bytes.
    fn make_room(
        &self,
        state: &mut StreamState,
        more: usize,
        resources: &Resources,
    ) -> Result<(), QuotaExceeded> {
        if self.session.is_none() && !state.ended {
            // The exchange has a queue of its own, which may hold as many bytes.
            state.behind = resources.config.limits.high_water;
        }
        let needed = state.needed(more);
        match &mut state.reservation {
            Some(reservation) => reservation.grow_last(needed),
            None => {
                state.reservation = Some(resources.requests.reserve_last(&self.caller, needed)?);
                Ok(())
            }
        }
    }

    /// The status of a response that consists of this frame alone. `None` if it has to be a stream.
    fn whole(&self, frame: &Frame) -> Option<StatusCode> {
        let error = match frame {
            Frame::Single(Message::Response(response)) => response.outcome.as_ref().err().map(|e| e.code),
            Frame::Malformed(malformed) => Some(malformed.error.code),
            _ => None,
        };
        status_of(error.filter(|_| self.session.is_none()), self.form)
    }

    /// Expects so many answers fewer, because their requests were cancelled.
    pub(crate) fn expect_fewer(&self, answers: usize, config: &EndpointConfig) {
        let mut state = self.lock();
        state.owed = state.owed.saturating_sub(answers);
        if state.owed == 0 {
            self.end_stored(&state, config);
            state.end();
        }
        // Nothing waits for room on a stream that has ended.
        wake(state, |state| [state.reader_waker.take(), state.room_waker.take()]);
    }

    /// Ends the stream because its exchange has ended, and drops the wakers of the exchange.
    pub(crate) fn detach(&self) {
        let mut state = self.lock();
        state.end();
        state.room_waker = None;
        state.exchange_waker = None;
        wake(state, |state| [state.reader_waker.take()]);
    }

    /// Ends the stream: no more frames will be put in here. The client of a GET is made to come back, because another node may
    /// load the session.
    pub(crate) fn finish(&self, config: &EndpointConfig) {
        let mut state = self.lock();
        if state.owed > 0 {
            self.end_stored(&state, config);
        } else if !state.ended && config.loads_sessions() && state.attached {
            sse::retry(config.moved_retry, state.queue.tail());
            // Ends the block, so that a client sees the field.
            state.queue.tail().push(b'\n');
            state.queue.grown();
        }
        state.end();
        wake(state, StreamState::all);
    }

    /// Whether it has a reader.
    pub(crate) fn is_attached(&self) -> bool {
        self.lock().attached
    }

    /// Ready while the stream is not full.
    pub(crate) fn poll_room(&self, cx: &Context<'_>, high_water: usize) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_full(high_water) {
            return Poll::Ready(());
        }
        set(&mut state.room_waker, cx);
        Poll::Pending
    }

    /// How far it is beyond its room. None while there is room.
    pub(crate) fn overfull(&self, cx: Option<&Context<'_>>, high_water: usize) -> Option<Overfull> {
        let mut state = self.lock();
        if !state.is_full(high_water) {
            return None;
        }
        if let Some(cx) = cx {
            set(&mut state.room_waker, cx);
        }
        Some(Overfull { beyond: state.beyond, ended: state.ended })
    }

    /// Takes the waker of the connection that waits for room.
    pub(crate) fn take_sink(&self) -> Option<Waker> {
        self.lock().room_waker.take()
    }

    /// Cuts the stream if its reader has taken nothing for more than `ticks`. Called while other requests wait for it.
    pub(crate) fn cut(&self, now: u32, ticks: u32) {
        let mut state = self.lock();
        if state.attached && now.wrapping_sub(state.last_activity) > ticks {
            state.cut(Cut::SlowReader);
            wake(state, StreamState::all);
        }
    }

    /// Ready when the stream has ended, should end, or has lost its reader; with true in the last case.
    pub(crate) fn poll_left(&self, cx: &Context<'_>) -> Poll<bool> {
        let mut state = self.lock();
        if state.ended || !state.attached {
            return Poll::Ready(!state.ended);
        }
        // Also if the stream should end already: it may be cut later.
        set(&mut state.exchange_waker, cx);
        if state.is_closing { Poll::Ready(false) } else { Poll::Pending }
    }

    /// Begins the first generation of readers of a response whose form is not known yet. Holds the memory of the requests until they are
    /// answered. Returns the number of the generation.
    fn begin(&mut self, reservation: Option<Reservation>, now: u32) -> u32 {
        let state = self.state.get_mut();
        state.reserve(reservation);
        state.begin_generation(now);
        state.generation
    }

    /// Begins a new generation of readers. Returns its number.
    fn attach(&self, resources: &Resources) -> u32 {
        let mut state = self.lock();
        let before = state.begin_generation(resources.now());
        if matches!(state.phase, Phase::Stream) {
            self.prime(&mut state, &resources.config);
        }
        wake_readers(state, before)
    }

    /// Begins a new generation of readers, which have read up to the event at `after`. Returns its number and the place of
    /// the last event that is not in the queue. None if there is no such stream.
    fn resume(&self, after: u64, resources: &Resources) -> Option<(u32, u64)> {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Stream) || after > state.place {
            return None;
        }
        let before = state.begin_generation(resources.now());
        state.forget();
        let place = state.place;
        Some((wake_readers(state, before), place))
    }

    /// Whether it has not ended at this node.
    fn is_running(&self) -> bool {
        !self.lock().ended
    }

    /// Cuts a stream that another node has taken over.
    fn cut_taken_over(&self) {
        let mut state = self.lock();
        state.cut_taken_over();
        wake(state, StreamState::all);
    }

    /// Sends a comment, which makes it a stream.
    fn keep_alive(&self, state: &mut StreamState, now: u32, config: &EndpointConfig) {
        if matches!(state.phase, Phase::Undecided) {
            self.open(state, config);
        }
        sse::comment(state.queue.tail());
        state.queue.grown();
        state.last_activity = now;
    }

    fn lock(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock()
    }
}

impl TimedStream for ResponseStream {
    /// Sends a comment on a stream that is silent, and ends one that is not read.
    fn tick(&self, now: u32, config: &EndpointConfig, ticks: &Ticks) {
        let mut state = self.lock();
        if !state.attached {
            return;
        }
        let quiet = now.wrapping_sub(state.last_activity);
        let outlived = ticks.stream_time.is_some_and(|time| now.wrapping_sub(state.attached_at) >= time);
        if state.is_full(config.limits.high_water) && quiet >= ticks.stall {
            state.cut(Cut::Stalled);
        } else if outlived && state.primes && state.can_be_left() && self.remembers(config) {
            // The reader finds that its generation is over.
            state.leave();
            state.generation += 1;
        } else if quiet >= ticks.keep_alive && state.queue.is_empty() && !state.ended && !self.is_whole {
            self.keep_alive(&mut state, now, config);
        } else {
            return;
        }
        wake(state, StreamState::all);
    }

    fn begin_shutdown(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        wake(state, |state| [state.exchange_waker.take()]);
    }
}

/// Wakes the previous reader, and the writer that waits for room, because there is room now. Returns the number of the generation.
fn wake_readers(state: MutexGuard<'_, StreamState>, before: Option<Waker>) -> u32 {
    let generation = state.generation;
    wake(state, |state| [before, state.room_waker.take()]);
    generation
}
