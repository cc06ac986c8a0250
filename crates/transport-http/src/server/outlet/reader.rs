use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;

use crate::server::answering::LEAST_COST;
use crate::server::body::{BoxError, Stalled, TooMuchUnread};
use crate::server::outlet::Outlet;
use crate::server::outlet::state::{Cut, Phase, State, set, wake};
use crate::server::queue::{Queue, STRIDE};
use crate::server::shared::Shared;
use crate::server::text::Text;
use crate::server::{AnswerForm, Reservation};

/// What a reader finds.
pub(crate) enum Decision {
    /// One JSON text.
    Whole(StatusCode, Text, Option<Reservation>),
    /// The only event of a stream.
    Event(Bytes, Option<Reservation>),
    /// All events of a stream.
    Said(Queue, Option<Reservation>),
    /// A stream of events, to be read from now on.
    Events,
    /// No answer will come.
    Nothing,
}

/// The one who reads an outlet. Dropping it is how a client leaves.
#[derive(Debug)]
pub(crate) struct Reader {
    outlet: Arc<Outlet>,
    shared: Arc<Shared>,
    generation: u32,
    /// Where it stands among all readers, once time matters to it.
    registration: Option<usize>,
}

impl Reader {
    pub(super) fn new(outlet: &Arc<Outlet>, shared: &Arc<Shared>, generation: u32) -> Self {
        Self { outlet: outlet.clone(), shared: shared.clone(), generation, registration: None }
    }

    /// Keeps the memory of a stream reserved for as long as it is read, unless that of a request is.
    pub(crate) fn reserve(&self, reservation: Reservation) {
        let mut state = self.outlet.lock();
        if state.reservation.is_none() {
            state.reserve(Some(reservation));
        }
    }

    /// Lets time matter from now on: silence is filled, and a client that does not read is not waited for. What
    /// is answered at once needs none of it.
    pub(crate) fn register(&mut self) {
        if self.registration.is_none() {
            self.registration = Some(self.shared.register(&self.outlet));
        }
    }

    /// In which form the answer is given, if nothing else has to be said before it.
    pub(crate) fn form(&self) -> AnswerForm {
        self.outlet.form
    }

    /// What form the response has. With `now` it becomes a stream if nothing has been said.
    pub(crate) fn poll_decision(&mut self, cx: &Context<'_>, now: bool) -> Poll<Decision> {
        let decision = self.decide(cx, now);
        if decision.is_pending() {
            self.register();
        }
        decision
    }

    fn decide(&self, cx: &Context<'_>, now: bool) -> Poll<Decision> {
        let mut state = self.outlet.lock();
        if state.cut.is_some() || state.generation != self.generation {
            return Poll::Ready(Decision::Nothing);
        }
        let state = &mut *state;
        let ended = state.ended;
        match &mut state.phase {
            Phase::Whole(status, text) => {
                Poll::Ready(Decision::Whole(*status, std::mem::take(text), state.reservation.take()))
            }
            Phase::Event(event) => {
                Poll::Ready(Decision::Event(std::mem::take(event), state.reservation.take()))
            }
            Phase::Events if ended => {
                Poll::Ready(Decision::Said(std::mem::take(&mut state.queue), state.reservation.take()))
            }
            Phase::Events => Poll::Ready(Decision::Events),
            Phase::Undecided if ended => Poll::Ready(Decision::Nothing),
            Phase::Undecided if now => {
                self.outlet.open(state, &self.shared);
                Poll::Ready(Decision::Events)
            }
            Phase::Undecided => {
                set(&mut state.reader, cx);
                Poll::Pending
            }
        }
    }

    /// Takes what waits of a stream.
    pub(crate) fn poll_read(&mut self, cx: &Context<'_>) -> Poll<Option<Result<Bytes, BoxError>>> {
        let mut state = self.outlet.lock();
        if state.generation != self.generation {
            return Poll::Ready(None);
        }
        if let Some(cut) = state.cut {
            let limit = match cut {
                Cut::Stalled => self.shared.config.stall,
                Cut::HoldsUpOthers => self.shared.config.hold_up,
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

    /// Counts what the reader takes until it has been written: whoever writes it may hold several pieces, if the client does
    /// not read. The first few bytes of a response do not count.
    fn count(&self, state: &mut State, bytes: Bytes) -> Bytes {
        if state.uncounted + bytes.len() <= LEAST_COST {
            state.uncounted += bytes.len();
            return bytes;
        }
        self.shared.requests.reserve_moved(&self.outlet.caller, bytes.len()).held_by(bytes)
    }

    /// Takes a piece of what is replayed before anything that waits.
    pub(crate) fn replay(&self, replayed: &mut Bytes) -> Bytes {
        let mut state = self.outlet.lock();
        if state.generation == self.generation {
            state.moved = self.shared.now();
        }
        replayed.split_to(replayed.len().min(STRIDE))
    }

    /// Whether nothing more can be read.
    pub(crate) fn is_at_end(&self) -> bool {
        let state = self.outlet.lock();
        state.generation != self.generation || (state.ended && state.queue.is_empty() && state.cut.is_none())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(registration) = self.registration {
            self.shared.unregister(registration);
        }
        let mut state = self.outlet.lock();
        if state.generation == self.generation {
            state.leave();
            wake(state, State::all);
        }
    }
}
