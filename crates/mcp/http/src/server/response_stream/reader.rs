//! Reads a response stream for an HTTP response body: decides between JSON and SSE, then returns bytes and wakes the sender.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use crate::server::AnswerForm;
use crate::server::admission::quota::{MIN_COST, Reservation};
use crate::server::endpoint::clock::Registration;
use crate::server::endpoint::resources::Resources;
use crate::server::response::queue::{Queue, STRIDE};
use crate::server::response::text::Text;
use crate::server::response_stream::ResponseStream;
use crate::server::response_stream::state::{Cut, Phase, StreamState, set, wake};

/// The form of a response, with the content that is known.
pub(crate) enum ResponseForm {
    /// One JSON text.
    Json(StatusCode, Text, Option<Reservation>),
    /// All events of a stream in one piece.
    Event(Bytes, Option<Reservation>),
    /// All events of a stream.
    Events(Queue, Option<Reservation>),
    /// A stream of events, to be read from now on.
    Stream,
    /// No answer will come.
    Unanswered,
}

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a stream was cut: the client has left it unread for longer than the endpoint waits.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the client left its stream unread for longer than the limit of {0:?}")]
pub struct Stalled(Duration);

/// Why a stream was cut: its client leaves more unread than the endpoint keeps for one caller, or for all.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the client leaves more unread than the limit allows")]
struct TooMuchUnread;

/// A stream that has a new reader.
pub(crate) struct ResumedStream {
    pub(crate) reader: StreamReader,
    /// The place of the last event that is not in the reader's queue.
    pub(crate) place: u64,
}

/// Reads a response stream. Dropping it means that the client has left.
#[derive(Debug)]
pub(crate) struct StreamReader {
    stream: Arc<ResponseStream>,
    resources: Arc<Resources>,
    generation: u32,
    /// The stream's entry in the clock, once its timers run.
    registration: Option<Registration>,
}

impl StreamReader {
    /// Gives the response to a POST its first reader, and the memory of its requests.
    pub(crate) fn open(
        mut stream: ResponseStream,
        reservation: Option<Reservation>,
        resources: &Arc<Resources>,
    ) -> Self {
        let generation = stream.begin(reservation, resources.now());
        Self { stream: Arc::new(stream), resources: resources.clone(), generation, registration: None }
    }

    pub(crate) fn stream(&self) -> &Arc<ResponseStream> {
        &self.stream
    }

    /// Gives a stream a reader, its first or one in place of another.
    pub(crate) fn attach(stream: &Arc<ResponseStream>, resources: &Arc<Resources>) -> Self {
        let generation = stream.attach(resources);
        Self { stream: stream.clone(), resources: resources.clone(), generation, registration: None }
    }

    /// Gives a stream a reader that has read up to an event. None if there is no such stream.
    pub(crate) fn resume(
        stream: &Arc<ResponseStream>,
        after: u64,
        resources: &Arc<Resources>,
    ) -> Option<ResumedStream> {
        let (generation, place) = stream.resume(after, resources)?;
        let (stream, resources) = (stream.clone(), resources.clone());
        Some(ResumedStream { reader: Self { stream, resources, generation, registration: None }, place })
    }

    /// Whether the stream has not ended at this node.
    pub(crate) fn is_running(&self) -> bool {
        self.stream.is_running()
    }

    /// Cuts a stream that another node has taken over.
    pub(crate) fn cut_taken_over(&self) {
        self.stream.cut_taken_over();
    }

    /// Holds memory while the stream is read, unless the stream holds that of its requests.
    pub(crate) fn reserve(&self, reservation: Reservation) {
        let mut state = self.stream.lock();
        if state.reservation.is_none() {
            state.reserve(Some(reservation));
        }
    }

    /// Starts the timers of the stream: comments while it is silent, and the cut of a client that does not read. An answer
    /// that is ready at once needs neither.
    pub(crate) fn register(&mut self) {
        if self.registration.is_none() {
            self.registration = Some(self.resources.register_stream(&self.stream));
        }
    }

    /// The form of the answer, if no other message precedes it.
    pub(crate) fn answer_form(&self) -> AnswerForm {
        self.stream.form
    }

    /// The form of the response, once it is known. With `now` it becomes a stream if nothing is queued.
    pub(crate) fn poll_form(&mut self, cx: &mut Context<'_>, now: bool) -> Poll<ResponseForm> {
        let mut state = self.stream.lock();
        let waits = state.generation == self.generation && state.poll_only_event(cx).is_pending();
        if !waits && let Some(form) = self.decide(&mut state, now) {
            return Poll::Ready(form);
        }
        set(&mut state.reader_waker, cx);
        drop(state);
        self.register();
        Poll::Pending
    }

    /// Whether the form is known once the store has the only event.
    pub(crate) fn waits_for_store(&self) -> bool {
        matches!(self.stream.lock().phase, Phase::Storing { .. })
    }

    /// The form of the response now. It becomes a stream if nothing is queued.
    pub(crate) fn form(&self) -> ResponseForm {
        self.decide(&mut self.stream.lock(), true).unwrap_or(ResponseForm::Stream)
    }

    /// Turns the response into a stream that begins with a comment.
    pub(crate) fn keep_alive(&self) {
        self.stream.keep_alive(&mut self.stream.lock(), self.resources.now(), &self.resources.config);
    }

    fn decide(&self, state: &mut StreamState, now: bool) -> Option<ResponseForm> {
        if state.cut.is_some() || state.generation != self.generation {
            return Some(ResponseForm::Unanswered);
        }
        let (ended, is_held) = (state.ended, state.is_held());
        Some(match &mut state.phase {
            Phase::Json(status, text) => {
                ResponseForm::Json(*status, std::mem::take(text), state.reservation.take())
            }
            Phase::Event(event) => {
                let (event, reservation) = (std::mem::take(event), state.reservation.take());
                if event.len() > STRIDE {
                    // It is read in parts.
                    ResponseForm::Events(event.into(), reservation)
                } else {
                    ResponseForm::Event(event, reservation)
                }
            }
            Phase::Stream if ended && !is_held => {
                let reservation = state.reservation.take();
                match std::mem::take(&mut state.queue).into_one() {
                    Ok(event) => ResponseForm::Event(event, reservation),
                    Err(events) => ResponseForm::Events(events, reservation),
                }
            }
            Phase::Stream => ResponseForm::Stream,
            Phase::Undecided if ended => ResponseForm::Unanswered,
            Phase::Undecided if now => {
                self.stream.open(state, &self.resources.config);
                ResponseForm::Stream
            }
            Phase::Undecided | Phase::Storing { .. } => return None,
        })
    }

    /// Takes the next bytes of the stream; none at its end.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        let mut state = self.stream.lock();
        if state.generation != self.generation {
            return Poll::Ready(None);
        }
        let high_water = self.resources.config.limits.high_water;
        let was_full = state.unread() >= high_water;
        if state.queue.is_empty() && state.is_held() {
            let _pending = state.poll_held(cx);
        }
        if let Some(cut) = state.cut {
            let limit = match cut {
                Cut::Stalled => self.resources.config.limits.stall,
                Cut::SlowReader => self.resources.config.slow_reader_timeout,
                Cut::NoRoom => return Poll::Ready(Some(Err(TooMuchUnread.into()))),
                Cut::TakenOver => {
                    wake(state, StreamState::all);
                    return Poll::Ready(None);
                }
            };
            return Poll::Ready(Some(Err(Stalled(limit).into())));
        }
        // Small pieces show that a slow client reads.
        if let Some(bytes) = state.queue.pop_some(STRIDE) {
            state.last_activity = self.resources.now();
            state.release();
            let bytes = self.count(&mut state, bytes);
            if was_full {
                let (unread, before) = (state.unread(), state.beyond);
                state.beyond = before.min(unread.saturating_sub(high_water));
                if unread < high_water || state.beyond < before {
                    wake(state, |state| [state.room_waker.take()]);
                }
            }
            return Poll::Ready(Some(Ok(bytes)));
        }
        if state.ended && !state.is_held() {
            return Poll::Ready(None);
        }
        set(&mut state.reader_waker, cx);
        Poll::Pending
    }

    /// Counts taken bytes until they have been written: hyper may hold several pieces while the client does not
    /// read. The first [`MIN_COST`] bytes of a response do not count.
    fn count(&self, state: &mut StreamState, bytes: Bytes) -> Bytes {
        if state.uncounted + bytes.len() <= MIN_COST {
            state.uncounted += bytes.len();
            return bytes;
        }
        self.resources.requests.reserve_moved(&self.stream.caller, bytes.len()).held_by(bytes)
    }

    /// Takes a piece of the replayed events, which precede the queue.
    pub(crate) fn replay(&self, replayed: &mut Bytes) -> Bytes {
        let mut state = self.stream.lock();
        if state.generation == self.generation {
            state.last_activity = self.resources.now();
        }
        replayed.split_to(replayed.len().min(STRIDE))
    }

    /// Whether nothing more can be read.
    pub(crate) fn is_at_end(&self) -> bool {
        let state = self.stream.lock();
        state.generation != self.generation || (state.ended && state.unread() == 0 && state.cut.is_none())
    }
}

impl Drop for StreamReader {
    fn drop(&mut self) {
        self.registration = None;
        let mut state = self.stream.lock();
        if state.generation == self.generation {
            state.leave();
            // The waker of the reader is its own.
            let _reader = state.reader_waker.take();
            wake(state, StreamState::all);
        }
    }
}
