//! One response that is being written: the answer to a POST, or the stream of a GET.
//!
//! A connection puts frames in at one side, the body of the response takes bytes out at the other, and either may be
//! gone. In a session the stream outlives its reader, so that another can take its place.

mod body;
mod events;
mod state;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Response, code};
use agentwire_mcp_wire::code as mcp_code;
use agentwire_sync::{Mutex, MutexGuard};
use http::StatusCode;

use crate::server::queue::COPY_LIMIT;
use crate::server::response_stream::state::{Cut, Phase, State, set, wake};
use crate::server::shared::Shared;
use crate::server::text::Text;
use crate::server::{AnswerForm, Caller, QuotaExceeded, Reservation, SessionId};
use crate::sse;

pub(crate) use body::{ResponseBody, ResponseForm};
pub(crate) use state::memory_for;

/// Room for what stands around a frame, and before the first.
const AROUND: usize = 64;

/// How far a stream is beyond its room.
pub(crate) struct Overfull {
    /// What was put in since it was full.
    pub(crate) beyond: usize,
    /// Whether nothing more will be put in.
    pub(crate) ended: bool,
}

/// A response that is being written.
#[derive(Debug)]
pub(crate) struct ResponseStream {
    /// Its number within its session; 0 without one.
    number: u64,
    /// The session whose events are remembered.
    session: Option<SessionId>,
    form: AnswerForm,
    /// Whose memory counts for what is not read.
    caller: Caller,
    state: Mutex<State>,
}

impl ResponseStream {
    /// The response of one exchange without a session.
    pub(crate) fn for_exchange(form: AnswerForm, caller: Caller) -> Self {
        let state = Mutex::new(State::new(Phase::Undecided, 1, false));
        Self { number: 0, session: None, form, caller, state }
    }

    /// The response to a POST in a session, which brought as many requests as are `owed` answers.
    pub(crate) fn for_post(
        number: u64,
        session: SessionId,
        form: AnswerForm,
        caller: Caller,
        owed: usize,
        primes: bool,
    ) -> Self {
        let state = Mutex::new(State::new(Phase::Undecided, owed, primes));
        Self { number, session: Some(session), form, caller, state }
    }

    /// The stream of a GET.
    pub(crate) fn for_get(number: u64, session: SessionId, caller: Caller, primes: bool) -> Self {
        let state = Mutex::new(State::new(Phase::Stream, 0, primes));
        Self { number, session: Some(session), form: AnswerForm::Events, caller, state }
    }

    /// Keeps the memory of the requests reserved until they are answered.
    pub(crate) fn reserve(&self, reservation: Option<Reservation>) {
        self.lock().reserve(reservation);
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Takes a frame that holds as many of the `answers` that are owed. Says whether there is too much unread now.
    pub(crate) fn put(&self, frame: &Frame, answers: usize, shared: &Shared) -> bool {
        let mut state = self.lock();
        if state.ended {
            return false;
        }
        let (unread, size) = (state.queue.len(), frame.size_hint());
        state.owed = state.owed.saturating_sub(answers);
        if answers > 0 && state.owed == 0 {
            state.end();
        }
        let mut refusal = None;
        if state.attached
            && let Err(full) = self.make_room(&mut state, size, shared)
        {
            refusal = refuse(frame, full);
            if refusal.is_none() {
                state.cut(Cut::NoRoom);
                if !matches!(state.phase, Phase::Stream) {
                    wake(state, State::all);
                    return false;
                }
                // The client may come back for it.
            }
        }
        let (frame, size) = refusal.as_ref().map_or((frame, size), |refusal| (refusal, refusal.size_hint()));
        match (&state.phase, self.whole(frame)) {
            (Phase::Undecided, Some(status)) if state.ended => {
                state.phase = Phase::Json(status, Text::of(frame));
            }
            (Phase::Undecided, None) if state.ended && state.attached && size < COPY_LIMIT => {
                state.phase = Phase::Event(self.only_event(&mut state, frame, size, shared));
            }
            (phase, _) => {
                if matches!(phase, Phase::Undecided) {
                    // All of a short answer, and what is around it.
                    state.queue.tail().reserve(AROUND + size.min(COPY_LIMIT));
                    self.open(&mut state, shared);
                }
                self.event(&mut state, frame, size, shared);
            }
        }
        let high_water = shared.config.high_water;
        let full = state.is_full(high_water);
        if full && unread >= high_water {
            state.beyond += (state.queue.len() - unread).min(high_water);
        }
        if state.cut.is_some() {
            wake(state, State::all);
        } else {
            // A connection that waits for the reader to leave learns of the end when the reader has read it.
            wake(state, |state| [state.reader.take()]);
        }
        full
    }

    /// Reserves memory for so many bytes that will wait to be read.
    fn make_room(&self, state: &mut State, more: usize, shared: &Shared) -> Result<(), QuotaExceeded> {
        if self.session.is_none() && !state.ended {
            // It is a stream, and its handler waits for the reader with a queue of its own.
            state.behind = shared.config.high_water;
        }
        let needed = state.needed(more);
        match &mut state.reservation {
            Some(reservation) => reservation.grow_last(needed),
            None => {
                state.reservation = Some(shared.requests.reserve_last(&self.caller, needed)?);
                Ok(())
            }
        }
    }

    /// The status with which a frame can be the whole response, if it can.
    fn whole(&self, frame: &Frame) -> Option<StatusCode> {
        let error = match frame {
            Frame::Single(Message::Response(response)) => response.outcome.as_ref().err().map(|e| e.code),
            Frame::Malformed(malformed) => Some(malformed.error.code),
            _ => None,
        };
        status_of(error.filter(|_| self.session.is_none()), self.form)
    }

    /// Expects so many answers fewer, because their requests were cancelled.
    pub(crate) fn expect_fewer(&self, answers: usize) {
        let mut state = self.lock();
        state.owed = state.owed.saturating_sub(answers);
        if state.owed == 0 {
            state.end();
        }
        // Nothing waits for room on a stream that has ended.
        wake(state, |state| [state.reader.take(), state.sink.take()]);
    }

    /// Ends the stream because its exchange has ended. Nothing there waits any more.
    pub(crate) fn detach(&self) {
        let mut state = self.lock();
        state.end();
        state.sink = None;
        state.stream = None;
        wake(state, |state| [state.reader.take()]);
    }

    /// Nothing more will be put in.
    pub(crate) fn finish(&self) {
        let mut state = self.lock();
        state.end();
        wake(state, State::all);
    }

    /// Wakes the exchange, which should end.
    pub(crate) fn begin_shutdown(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        wake(state, |state| [state.stream.take()]);
    }

    /// Whether a reader has it.
    pub(crate) fn is_attached(&self) -> bool {
        self.lock().attached
    }

    /// Ready while little waits to be read.
    pub(crate) fn poll_room(&self, cx: &Context<'_>, high_water: usize) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_full(high_water) {
            return Poll::Ready(());
        }
        set(&mut state.sink, cx);
        Poll::Pending
    }

    /// How far it is beyond its room. None while there is room.
    pub(crate) fn overfull(&self, cx: Option<&Context<'_>>, high_water: usize) -> Option<Overfull> {
        let mut state = self.lock();
        if !state.is_full(high_water) {
            return None;
        }
        if let Some(cx) = cx {
            set(&mut state.sink, cx);
        }
        Some(Overfull { beyond: state.beyond, ended: state.ended })
    }

    /// The waker of the connection that waits for room.
    pub(crate) fn take_sink(&self) -> Option<Waker> {
        self.lock().sink.take()
    }

    /// Cuts it if its reader has taken nothing for longer than that, while others wait.
    pub(crate) fn cut(&self, now: u32, ticks: u32) {
        let mut state = self.lock();
        if state.attached && now.wrapping_sub(state.moved) > ticks {
            state.cut(Cut::SlowReader);
            wake(state, State::all);
        }
    }

    /// Ready when the stream has ended or should end, or its reader has left: true if the reader left first.
    pub(crate) fn poll_left(&self, cx: &Context<'_>) -> Poll<bool> {
        let mut state = self.lock();
        if state.ended || state.is_closing || !state.attached {
            return Poll::Ready(!state.ended && !state.attached);
        }
        set(&mut state.stream, cx);
        Poll::Pending
    }

    /// Gives it a reader, the first or one instead of another.
    pub(crate) fn attach(self: &Arc<Self>, shared: &Arc<Shared>) -> ResponseBody {
        let mut state = self.lock();
        let before = state.come(shared);
        if matches!(state.phase, Phase::Stream) {
            self.prime(&mut state, shared);
        }
        self.reader(state, before, shared)
    }

    /// Gives it a reader that has read up to an event. Gives also the place of the last event that the reader will
    /// not find here. None if there is no such stream.
    pub(crate) fn resume(self: &Arc<Self>, after: u64, shared: &Arc<Shared>) -> Option<(ResponseBody, u64)> {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Stream) || after > state.place {
            return None;
        }
        let before = state.come(shared);
        state.forget();
        let place = state.place;
        Some((self.reader(state, before, shared), place))
    }

    fn reader(
        self: &Arc<Self>,
        state: MutexGuard<'_, State>,
        before: Option<Waker>,
        shared: &Arc<Shared>,
    ) -> ResponseBody {
        let generation = state.generation;
        // What waited for the reader before has gone, and so there is room.
        wake(state, |state| [before, state.sink.take()]);
        ResponseBody::new(self, shared, generation)
    }

    /// What is due at a tick: a comment on a stream that is silent, the end of one that is not read.
    pub(crate) fn tick(&self, now: u32, shared: &Shared) {
        let mut state = self.lock();
        if !state.attached {
            return;
        }
        let quiet = now.wrapping_sub(state.moved);
        let ticks = &shared.ticks;
        let outlived = ticks.stream_time.is_some_and(|time| now.wrapping_sub(state.opened) >= time);
        if state.is_full(shared.config.high_water) && quiet >= ticks.stall {
            state.cut(Cut::Stalled);
        } else if outlived && state.primes && self.remembers(shared) && matches!(state.phase, Phase::Stream) {
            // The reader finds that its generation is over.
            state.leave();
            state.generation += 1;
        } else if quiet >= ticks.keep_alive && state.queue.is_empty() && !state.ended {
            self.keep_alive(&mut state, shared);
        } else {
            return;
        }
        wake(state, State::all);
    }

    /// Sends a comment, which makes it a stream.
    fn keep_alive(&self, state: &mut State, shared: &Shared) {
        if matches!(state.phase, Phase::Undecided) {
            self.open(state, shared);
        }
        sse::comment(state.queue.tail());
        state.queue.grown();
        state.moved = shared.now();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// What is sent instead of an answer for which there is no room. None where something else than one answer has none.
#[cold]
pub(crate) fn refuse(frame: &Frame, full: QuotaExceeded) -> Option<Frame> {
    let Frame::Single(Message::Response(Response { id, .. })) = frame else { return None };
    let whose = if full.is_callers { "this caller" } else { "all callers" };
    let why = format_args!(
        "there is no room for the answer: requests of {whose} and their answers take the limit of {} bytes",
        full.limit
    );
    let error = ErrorObject::internal_error(why).with_data(&serde_json::json!({ "limit": full.limit }));
    Some(Frame::Single(Message::Response(Response::new(id.clone(), Err(error)))))
}

/// The status with which the answer of an exchange can be the whole response, if it can.
pub(crate) fn answer_status(response: &Response, form: AnswerForm) -> Option<StatusCode> {
    status_of(response.outcome.as_ref().err().map(|error| error.code), form)
}

/// The status that goes with an answer: with an error of a request without a session, its own.
fn status_of(error: Option<i64>, form: AnswerForm) -> Option<StatusCode> {
    match error {
        Some(code::METHOD_NOT_FOUND) => Some(StatusCode::NOT_FOUND),
        Some(
            code::PARSE_ERROR
            | code::INVALID_REQUEST
            | code::INVALID_PARAMS
            | mcp_code::HEADER_MISMATCH
            | mcp_code::MISSING_REQUIRED_CLIENT_CAPABILITY
            | mcp_code::UNSUPPORTED_PROTOCOL_VERSION,
        ) => Some(StatusCode::BAD_REQUEST),
        Some(_) => Some(StatusCode::OK),
        None => (form == AnswerForm::Json).then_some(StatusCode::OK),
    }
}
