//! The fields of a response stream behind its lock: the unread bytes, their reserved memory, the reader's generation and the
//! wakers.

use std::fmt;
use std::ops::Range;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker, ready};

use agentwire_store::StoreError;
use bytes::Bytes;
use futures::FutureExt;
use http::StatusCode;

use crate::server::admission::quota::{MIN_COST, Reservation};
use crate::server::response::queue::Queue;
use crate::server::response::text::Text;
use crate::server::response_stream::unstored_events::{Stored, TakenOver, UnstoredEvents};

/// Memory for unread bytes is reserved in multiples of this.
const STEP: usize = 4 << 10;

/// About the most unread bytes in short messages, which are joined.
const DOUBLING: usize = 128 << 10;

/// The state of a response stream.
pub(super) struct StreamState {
    pub(super) phase: Phase,
    pub(super) queue: Queue,
    /// The events behind the queue that wait for the store. `None` with a store that makes nothing wait.
    held: Option<Box<UnstoredEvents>>,
    /// Whether the store was asked to remember that the stream runs.
    pub(super) begun: bool,
    /// Whether the store may have nothing of the stream, because it has refused the last part of it. Then an event has an id only
    /// once it is stored.
    pub(super) is_lost: bool,
    /// How many bytes were put in since the queue was full. A long message counts as `high_water` bytes.
    pub(super) beyond: usize,
    /// How many answers are still expected. The stream of a GET expects none, and ends with its session.
    pub(super) owed: usize,
    /// No more frames will be put in.
    pub(super) ended: bool,
    /// The memory of the requests until they are answered, and of the unread bytes.
    pub(super) reservation: Option<Reservation>,
    /// The part of it that does not depend on the unread bytes.
    pub(super) base: usize,
    /// How many bytes may wait in the queue of the exchange that feeds it.
    pub(super) behind: usize,
    /// How many bytes the reader has taken that no longer count.
    pub(super) uncounted: usize,
    /// The exchange should end, because the endpoint shuts down.
    pub(super) is_closing: bool,
    pub(super) cut: Option<Cut>,
    pub(super) attached: bool,
    /// The number of readers so far. Only the last one reads.
    pub(super) generation: u32,
    /// The place of the last event.
    pub(super) place: u64,
    /// Whether the stream begins with an event without data.
    pub(super) primes: bool,
    /// The tick of the last read, comment or attachment.
    pub(super) last_activity: u32,
    /// The tick of the reader's attachment.
    pub(super) attached_at: u32,
    /// Wakes the reader, which waits for bytes.
    pub(super) reader_waker: Option<Waker>,
    /// Wakes the sink of the connection, or the exchange, which waits for room.
    pub(super) room_waker: Option<Waker>,
    /// Wakes the exchange, which waits for the reader to leave.
    pub(super) exchange_waker: Option<Waker>,
}

/// Why a stream was cut.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cut {
    /// Its client has left it full for `stall`.
    Stalled,
    /// Its client has left it full for `slow_reader_timeout` while other requests waited.
    SlowReader,
    /// Another node has taken it over.
    TakenOver,
    /// Its caller has reached the limit of unread bytes.
    NoRoom,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing has been sent, so it can still become JSON.
    Undecided,
    /// One JSON text, to be taken by the reader.
    Json(StatusCode, Text),
    /// A stream of one event, which waits until the store has it. Then one write has it together with the head of the response. The
    /// bytes before `ids` are ids, which allow the client to resume the stream.
    Storing { stored: Stored, ids: usize, text: Bytes },
    /// A stream of one event, to be taken by the reader.
    Event(Bytes),
    /// A stream of events.
    Stream,
}

/// How much memory is reserved for `unread` bytes: in steps, so that many short messages need one look at the limits. Short
/// messages wait in a vector that grows by doubling, long ones as they are.
pub(crate) fn memory_for(unread: usize) -> usize {
    match unread {
        0 => 0,
        1..STEP => STEP,
        STEP..DOUBLING => unread.next_power_of_two(),
        _ => unread.next_multiple_of(STEP),
    }
}

impl StreamState {
    pub(super) fn new(phase: Phase, owed: usize, primes: bool) -> Self {
        Self {
            phase,
            queue: Queue::default(),
            held: None,
            begun: false,
            is_lost: false,
            beyond: 0,
            owed,
            ended: false,
            reservation: None,
            base: MIN_COST,
            behind: 0,
            uncounted: 0,
            is_closing: false,
            cut: None,
            attached: false,
            generation: 0,
            place: 0,
            primes,
            last_activity: 0,
            attached_at: 0,
            reader_waker: None,
            room_waker: None,
            exchange_waker: None,
        }
    }

    pub(super) fn reserve(&mut self, reservation: Option<Reservation>) {
        self.base = reservation.as_ref().map_or(0, Reservation::amount);
        self.reservation = reservation;
    }

    /// Ends the stream: no more frames will be put in.
    pub(super) fn end(&mut self) {
        self.ended = true;
        (self.base, self.behind) = (MIN_COST, 0);
        self.release();
    }

    /// How much memory is needed for the unread bytes and `more`.
    pub(super) fn needed(&self, more: usize) -> usize {
        memory_for(self.unread() + more) + self.behind
    }

    /// Gives back memory that is no longer needed.
    pub(super) fn release(&mut self) {
        let needed = match self.phase {
            // The reservation moves to the response with the text.
            Phase::Json(..) | Phase::Storing { .. } | Phase::Event(_) => return,
            _ if self.attached => self.base.max(self.needed(0)),
            _ if self.ended || self.owed == 0 => 0,
            _ => self.base,
        };
        match &mut self.reservation {
            Some(_) if needed == 0 => self.reservation = None,
            Some(reservation) => reservation.shrink_to(needed),
            None => {}
        }
    }

    /// Begins a generation of readers at tick `now`. Returns the waker of the previous reader, which then ends.
    pub(super) fn begin_generation(&mut self, now: u32) -> Option<Waker> {
        self.attached = true;
        self.cut = None;
        self.generation += 1;
        (self.last_activity, self.attached_at) = (now, now);
        self.reader_waker.take()
    }

    /// Takes all wakers.
    pub(super) fn all(&mut self) -> [Option<Waker>; 3] {
        [self.reader_waker.take(), self.room_waker.take(), self.exchange_waker.take()]
    }

    /// Detaches the reader, and drops the unread bytes.
    pub(super) fn leave(&mut self) {
        self.attached = false;
        self.forget();
    }

    /// Drops the unread bytes.
    pub(super) fn forget(&mut self) {
        self.queue.clear();
        if let Some(held) = &mut self.held {
            held.clear();
        }
        self.beyond = 0;
        self.release();
    }

    /// How many bytes the reader has not taken.
    pub(super) fn unread(&self) -> usize {
        self.queue.len() + self.held.as_ref().map_or(0, |held| held.len())
    }

    /// Whether the last bytes wait for the store.
    pub(super) fn is_held(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_empty())
    }

    /// Ready unless the stream is one event that waits for the store.
    pub(super) fn poll_only_event(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Phase::Storing { stored, .. } = &mut self.phase else { return Poll::Ready(()) };
        let stored = ready!(stored.poll_unpin(cx));
        let Phase::Storing { ids, text, .. } = std::mem::replace(&mut self.phase, Phase::Stream) else {
            return Poll::Ready(());
        };
        match stored {
            Ok(()) => self.phase = Phase::Event(text),
            Err(StoreError::TakenOver) => self.cut_taken_over(),
            // No client can resume the stream.
            Err(_) => self.phase = Phase::Event(text.slice(ids..)),
        }
        Poll::Ready(())
    }

    /// Whether the reader loses nothing if its response ends: it has an id to resume the stream after, or nothing is owed and unread.
    pub(super) fn can_be_left(&self) -> bool {
        let is_idle = self.owed == 0 && !self.ended && self.queue.is_empty();
        matches!(self.phase, Phase::Stream) && !self.is_held() && (!self.is_lost || is_idle)
    }

    /// The queue to which further bytes go.
    pub(super) fn end_of_queue(&mut self) -> &mut Queue {
        match self.held.as_mut().and_then(|held| held.last()) {
            Some(last) => last,
            None => &mut self.queue,
        }
    }

    /// Adds the beginning of an event that waits until it is stored. With `is_required` its id leaves only once it is. `id` is the line
    /// in it that has the id.
    #[cold]
    pub(super) fn hold(&mut self, stored: Stored, is_required: bool, id: Range<usize>, bytes: Queue) {
        self.held.get_or_insert_default().push(stored, is_required, id, bytes);
    }

    /// Adds the range of a line with an id that was just written behind what waits for the store.
    pub(super) fn hold_id(&mut self, id: Range<usize>) {
        if let Some(held) = &mut self.held {
            held.add_id(id);
        }
    }

    /// Ready when nothing waits for the store any more. Cuts a stream that another node has taken over.
    pub(super) fn poll_held(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(held) = &mut self.held else { return Poll::Ready(()) };
        match held.poll(cx, &mut self.queue, &mut self.is_lost) {
            Poll::Ready(Ok(())) => Poll::Ready(()),
            Poll::Ready(Err(TakenOver)) => {
                self.cut_taken_over();
                Poll::Ready(())
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Cuts a stream that another node has taken over.
    pub(super) fn cut_taken_over(&mut self) {
        self.end();
        self.cut(Cut::TakenOver);
    }

    /// Whether a reader has left `high_water` bytes unread.
    pub(super) fn is_full(&self, high_water: usize) -> bool {
        self.attached && self.unread() >= high_water
    }

    pub(super) fn cut(&mut self, cut: Cut) {
        self.cut = Some(cut);
        self.leave();
    }
}

impl fmt::Debug for StreamState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamState")
            .field("phase", &self.phase)
            .field("unread", &self.unread())
            .field("owed", &self.owed)
            .field("ended", &self.ended)
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

/// Takes wakers, releases the lock, and wakes them.
#[inline]
pub(super) fn wake<const N: usize>(
    mut state: MutexGuard<'_, StreamState>,
    take: impl FnOnce(&mut StreamState) -> [Option<Waker>; N],
) {
    let wakers = take(&mut state);
    drop(state);
    let _ = wakers.map(|waker| waker.map(Waker::wake));
}

pub(super) fn set(slot: &mut Option<Waker>, cx: &Context<'_>) {
    match slot {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *slot = Some(cx.waker().clone()),
    }
}
