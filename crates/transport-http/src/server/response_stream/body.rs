use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;

use crate::server::body::{BoxError, Stalled, TooMuchUnread};
use crate::server::queue::{Queue, STRIDE};
use crate::server::quota::LEAST_COST;
use crate::server::response_stream::ResponseStream;
use crate::server::response_stream::state::{Cut, Phase, State, set, wake};
use crate::server::shared::Shared;
use crate::server::text::Text;
use crate::server::timed::Registration;
use crate::server::{AnswerForm, Reservation};

/// The form of a response, as its reader finds it.
pub(crate) enum ResponseForm {
    /// One JSON text.
    Json(StatusCode, Text, Option<Reservation>),
    /// The only event of a stream.
    Event(Bytes, Option<Reservation>),
    /// All events of a stream.
    Events(Queue, Option<Reservation>),
    /// A stream of events, to be read from now on.
    Stream,
    /// No answer will come.
    Unanswered,
}

/// Reads a response stream. Dropping it means that the client has left.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    stream: Arc<ResponseStream>,
    shared: Arc<Shared>,
    generation: u32,
    /// Where its stream waits for time to pass, once it does.
    registration: Option<Registration>,
}

impl ResponseBody {
    pub(super) fn new(stream: &Arc<ResponseStream>, shared: &Arc<Shared>, generation: u32) -> Self {
        Self { stream: stream.clone(), shared: shared.clone(), generation, registration: None }
    }

    /// Keeps the memory of a stream reserved for as long as it is read, unless that of a request is.
    pub(crate) fn reserve(&self, reservation: Reservation) {
        let mut state = self.stream.lock();
        if state.reservation.is_none() {
            state.reserve(Some(reservation));
        }
    }

    /// Starts the timers of the stream: comments into silence, and the cut of a client that does not read. An answer
    /// that is there at once needs neither.
    pub(crate) fn register(&mut self) {
        if self.registration.is_none() {
            self.registration = Some(self.shared.register_stream(&self.stream));
        }
    }

    /// The form of the answer, if no other message precedes it.
    pub(crate) fn answer_form(&self) -> AnswerForm {
        self.stream.form
    }

    /// The form of the response, once it is known. With `now` it becomes a stream if there is nothing to send.
    pub(crate) fn poll_form(&mut self, cx: &Context<'_>, now: bool) -> Poll<ResponseForm> {
        let mut state = self.stream.lock();
        if let Some(form) = self.decide(&mut state, now) {
            return Poll::Ready(form);
        }
        set(&mut state.reader, cx);
        drop(state);
        self.register();
        Poll::Pending
    }

    /// The form of the response now. It becomes a stream if there is nothing to send.
    pub(crate) fn form(&self) -> ResponseForm {
        self.decide(&mut self.stream.lock(), true).unwrap_or(ResponseForm::Stream)
    }

    /// Makes it a stream, with a comment as its first bytes.
    pub(crate) fn keep_alive(&self) {
        self.stream.keep_alive(&mut self.stream.lock(), &self.shared);
    }

    fn decide(&self, state: &mut State, now: bool) -> Option<ResponseForm> {
        if state.cut.is_some() || state.generation != self.generation {
            return Some(ResponseForm::Unanswered);
        }
        let ended = state.ended;
        Some(match &mut state.phase {
            Phase::Json(status, text) => {
                ResponseForm::Json(*status, std::mem::take(text), state.reservation.take())
            }
            Phase::Event(event) => ResponseForm::Event(std::mem::take(event), state.reservation.take()),
            Phase::Stream if ended => {
                ResponseForm::Events(std::mem::take(&mut state.queue), state.reservation.take())
            }
            Phase::Stream => ResponseForm::Stream,
            Phase::Undecided if ended => ResponseForm::Unanswered,
            Phase::Undecided if now => {
                self.stream.open(state, &self.shared);
                ResponseForm::Stream
            }
            Phase::Undecided => return None,
        })
    }

    /// Takes what waits of a stream.
    pub(crate) fn poll_read(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        let mut state = self.stream.lock();
        if state.generation != self.generation {
            return Poll::Ready(None);
        }
        if let Some(cut) = state.cut {
            let limit = match cut {
                Cut::Stalled => self.shared.config.stall,
                Cut::SlowReader => self.shared.config.slow_reader_timeout,
                Cut::NoRoom => return Poll::Ready(Some(Err(TooMuchUnread.into()))),
            };
            return Poll::Ready(Some(Err(Stalled(limit).into())));
        }
        let high_water = self.shared.config.high_water;
        let was_full = state.queue.len() >= high_water;
        // A client that reads slowly shows by each piece that it does.
        if let Some(bytes) = state.queue.pop_some(STRIDE) {
            state.moved = self.shared.now();
            state.release();
            let bytes = self.count(&mut state, bytes);
            if was_full {
                let (unread, before) = (state.queue.len(), state.beyond);
                state.beyond = before.min(unread.saturating_sub(high_water));
                if unread < high_water || state.beyond < before {
                    wake(state, |state| [state.sink.take()]);
                }
            }
            return Poll::Ready(Some(Ok(bytes)));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        set(&mut state.reader, cx);
        Poll::Pending
    }

    /// Counts what the reader takes until it has been written: hyper may hold several pieces, if the client does not
    /// read. The first few bytes of a response do not count.
    fn count(&self, state: &mut State, bytes: Bytes) -> Bytes {
        if state.uncounted + bytes.len() <= LEAST_COST {
            state.uncounted += bytes.len();
            return bytes;
        }
        self.shared.requests.reserve_moved(&self.stream.caller, bytes.len()).held_by(bytes)
    }

    /// Takes a piece of what is replayed before anything that waits.
    pub(crate) fn replay(&self, replayed: &mut Bytes) -> Bytes {
        let mut state = self.stream.lock();
        if state.generation == self.generation {
            state.moved = self.shared.now();
        }
        replayed.split_to(replayed.len().min(STRIDE))
    }

    /// Whether nothing more can be read.
    pub(crate) fn is_at_end(&self) -> bool {
        let state = self.stream.lock();
        state.generation != self.generation || (state.ended && state.queue.is_empty() && state.cut.is_none())
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.registration = None;
        let mut state = self.stream.lock();
        if state.generation == self.generation {
            state.leave();
            wake(state, State::all);
        }
    }
}
