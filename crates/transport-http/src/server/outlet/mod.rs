//! One response that is being written: the answer to a POST, or the stream of a GET.
//!
//! A link puts frames in at one side, the body of the response takes bytes out at the other, and either may be
//! gone. In a session the outlet outlives its reader, so that another can take its place.

mod reader;
mod state;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Response, code};
use agentwire_mcp_wire::code as mcp_code;
use agentwire_sync::{Mutex, MutexGuard};
use bytes::Bytes;
use http::StatusCode;

use crate::server::outlet::state::{Cut, Phase, State, set, wake};
use crate::server::queue::COPY_LIMIT;
use crate::server::shared::Shared;
use crate::server::store::GuardedStore;
use crate::server::text::Text;
use crate::server::{AnswerForm, Caller, Event, EventId, QuotaExceeded, Reservation, SessionId};
use crate::sse;

pub(crate) use reader::{Decision, Reader};

/// Room for what stands around a frame, and before the first.
const AROUND: usize = 64;

/// How far an outlet is beyond its room.
pub(crate) struct Overfull {
    /// What was put in since it was full.
    pub(crate) beyond: usize,
    /// Whether nothing more will be put in.
    pub(crate) ended: bool,
}

/// A response that is being written.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Its number within its session; 0 without one.
    number: u64,
    /// The session whose events are remembered.
    session: Option<SessionId>,
    form: AnswerForm,
    /// Whose memory counts for what is not read.
    caller: Caller,
    state: Mutex<State>,
}

impl Outlet {
    /// The response of one exchange without a session.
    pub(crate) fn exchange(form: AnswerForm, caller: Caller) -> Self {
        let state = Mutex::new(State::new(Phase::Undecided, 1, false));
        Self { number: 0, session: None, form, caller, state }
    }

    /// The response to a POST in a session, which brought as many requests as are `owed` answers.
    pub(crate) fn post(
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
    pub(crate) fn get(number: u64, session: SessionId, caller: Caller, primes: bool) -> Self {
        let state = Mutex::new(State::new(Phase::Events, 0, primes));
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
                if !matches!(state.phase, Phase::Events) {
                    wake(state, State::all);
                    return false;
                }
                // The client may come back for it.
            }
        }
        let (frame, size) = refusal.as_ref().map_or((frame, size), |refusal| (refusal, refusal.size_hint()));
        match (&state.phase, self.whole(frame)) {
            (Phase::Undecided, Some(status)) if state.ended => {
                state.phase = Phase::Whole(status, Text::of(frame));
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
            // That all has been said, a link that waits for the reader to leave finds out when the reader has it.
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
        match error {
            Some(code) if self.session.is_none() => Some(status_of(code)),
            _ => (self.form == AnswerForm::Json).then_some(StatusCode::OK),
        }
    }

    /// Makes it a stream, for good.
    fn open(&self, state: &mut State, shared: &Shared) {
        state.phase = Phase::Events;
        if state.attached {
            self.prime(state, shared);
        }
    }

    /// Says first what makes the stream one that can be resumed.
    fn prime(&self, state: &mut State, shared: &Shared) {
        if self.is_to_prime(state, shared) {
            self.write_prime(state.queue.tail(), shared);
            state.queue.grown();
        }
    }

    fn is_to_prime(&self, state: &State, shared: &Shared) -> bool {
        state.primes && state.place == 0 && self.remembers(shared)
    }

    fn write_prime(&self, out: &mut Vec<u8>, shared: &Shared) {
        sse::retry(shared.config.retry, out);
        self.begin_event(0, shared, out);
        out.extend_from_slice(sse::END);
    }

    fn remembers(&self, shared: &Shared) -> bool {
        self.session.is_some() && shared.config.store.is_some()
    }

    fn begin_event(&self, place: u64, shared: &Shared, out: &mut Vec<u8>) {
        if self.remembers(shared) {
            out.extend_from_slice(b"id: ");
            EventId::new(self.number, place).write(out);
            out.push(b'\n');
        }
        sse::begin(None, None, out);
    }

    /// Writes the event that is the whole response, and shares it with what is remembered.
    fn only_event(&self, state: &mut State, frame: &Frame, size: usize, shared: &Shared) -> Bytes {
        let mut text = Vec::with_capacity(AROUND + size);
        if self.is_to_prime(state, shared) {
            self.write_prime(&mut text, shared);
        }
        state.place += 1;
        self.begin_event(state.place, shared, &mut text);
        let start = text.len();
        frame.write(&mut text);
        let end = text.len();
        text.extend_from_slice(sse::END);
        let text = Bytes::from(text);
        if let Some((session, store)) = self.remember(size, shared) {
            let id = EventId::new(self.number, state.place);
            store.append(session, Event::new(id, text.slice(start..end)));
        }
        text
    }

    /// What remembers a frame of this size, and for which session.
    fn remember<'a>(&self, size: usize, shared: &'a Shared) -> Option<(SessionId, &'a GuardedStore)> {
        let remember = self.session.zip(shared.config.store.as_ref());
        remember.filter(|_| size <= shared.config.event_limit)
    }

    /// Adds an event to what waits, and to what is remembered.
    #[inline]
    fn event(&self, state: &mut State, frame: &Frame, size: usize, shared: &Shared) {
        let remember = self.remember(size, shared);
        if !state.attached && remember.is_none() {
            return;
        }
        state.place += 1;
        let place = state.place;
        let tail = state.queue.tail();
        self.begin_event(place, shared, tail);
        let data = if size >= COPY_LIMIT {
            let text = Text::of(frame);
            let data = remember.is_some().then(|| text.joined());
            match &data {
                Some(data) => state.queue.push(data.clone()),
                None => text.0.into_iter().for_each(|piece| state.queue.push(piece)),
            }
            data
        } else {
            let start = tail.len();
            frame.write(tail);
            remember.is_some().then(|| Bytes::copy_from_slice(&tail[start..]))
        };
        state.queue.tail().extend_from_slice(sse::END);
        state.queue.grown();
        if !state.attached {
            state.queue.clear();
        }
        if let Some(((session, store), data)) = remember.zip(data) {
            store.append(session, Event::new(EventId::new(self.number, place), data));
        }
    }

    /// Fewer answers will come than were owed, because their requests were cancelled.
    pub(crate) fn forgive(&self, answers: usize) {
        let mut state = self.lock();
        state.owed = state.owed.saturating_sub(answers);
        if state.owed == 0 {
            state.end();
        }
        // Nobody has to wait for room on a stream on which nothing more is said.
        wake(state, |state| [state.reader.take(), state.sink.take()]);
    }

    /// The link has gone, so that nothing more will be put in and nobody there waits.
    pub(crate) fn hang_up(&self) {
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

    /// Tells the link that it should come to an end.
    pub(crate) fn hurry(&self) {
        let mut state = self.lock();
        state.hurried = true;
        wake(state, |state| [state.stream.take()]);
    }

    /// Whether somebody reads it who may get more.
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

    /// How far it is beyond its room. None while there is room, of which whoever asks hears otherwise.
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

    /// Who waits for room.
    pub(crate) fn take_sink(&self) -> Option<Waker> {
        self.lock().sink.take()
    }

    /// Cuts it if its reader has taken nothing for longer than that, while others wait.
    pub(crate) fn cut(&self, now: u32, ticks: u32) {
        let mut state = self.lock();
        if state.attached && now.wrapping_sub(state.moved) > ticks {
            state.cut(Cut::HoldsUpOthers);
            wake(state, State::all);
        }
    }

    /// Ready when all has been said or should be soon, or the reader has left: true, if before that.
    pub(crate) fn poll_left(&self, cx: &Context<'_>) -> Poll<bool> {
        let mut state = self.lock();
        if state.ended || state.hurried || !state.attached {
            return Poll::Ready(!state.ended && !state.attached);
        }
        set(&mut state.stream, cx);
        Poll::Pending
    }

    /// Gives it a reader, the first or one instead of another.
    pub(crate) fn attach(self: &Arc<Self>, shared: &Arc<Shared>) -> Reader {
        let mut state = self.lock();
        let before = state.come(shared);
        if matches!(state.phase, Phase::Events) {
            self.prime(&mut state, shared);
        }
        self.reader(state, before, shared)
    }

    /// Gives it a reader that has read up to an event. Gives also the place of the last event that the reader will
    /// not find here. None if there is no such stream.
    pub(crate) fn resume(self: &Arc<Self>, after: u64, shared: &Arc<Shared>) -> Option<(Reader, u64)> {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Events) || after > state.place {
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
    ) -> Reader {
        let generation = state.generation;
        // What waited for the reader before has gone, and so there is room.
        wake(state, |state| [before, state.sink.take()]);
        Reader::new(self, shared, generation)
    }

    /// What is due at a tick: a comment on a stream that is silent, the end of one that nobody reads.
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
        } else if outlived && state.primes && self.remembers(shared) && matches!(state.phase, Phase::Events) {
            // The reader finds itself replaced, by nobody.
            state.leave();
            state.generation += 1;
        } else if quiet >= ticks.keep_alive && state.queue.is_empty() && !state.ended {
            if matches!(state.phase, Phase::Undecided) {
                self.open(&mut state, shared);
            }
            sse::comment(state.queue.tail());
            state.queue.grown();
            state.moved = now;
        } else {
            return;
        }
        wake(state, State::all);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// What is sent instead of an answer for which there is no room. None where something else than one answer has none.
#[cold]
fn refuse(frame: &Frame, full: QuotaExceeded) -> Option<Frame> {
    let Frame::Single(Message::Response(Response { id, .. })) = frame else { return None };
    let whose = if full.is_callers { "this caller" } else { "all callers" };
    let why = format_args!(
        "there is no room for the answer: requests of {whose} and their answers take the limit of {} bytes",
        full.limit
    );
    let error = ErrorObject::internal_error(why).with_data(&serde_json::json!({ "limit": full.limit }));
    Some(Frame::Single(Message::Response(Response::new(id.clone(), Err(error)))))
}

/// The status that goes with an error where each request stands alone.
fn status_of(error: i64) -> StatusCode {
    match error {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::INVALID_PARAMS
        | mcp_code::HEADER_MISMATCH
        | mcp_code::MISSING_REQUIRED_CLIENT_CAPABILITY
        | mcp_code::UNSUPPORTED_PROTOCOL_VERSION => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
