//! One session: the messages of its client that the connection has not taken, and the events that wait to be sent.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Message, RequestId, Response};
use agentwire_store::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::Packet;
use agentwire_transport_http::runtime::server::{Quota, QuotaExceeded, Reservation, cancelled_by, cut_error};
use agentwire_transport_http::server::{Caller, Principal};
use agentwire_transport_http::sse;
use bytes::Bytes;

/// The unread bytes of a session that no quota counts: the size of other buffers of a connection.
const UNCOUNTED: usize = 8 << 10;

/// The most unanswered requests of a session that a shutdown waits for, and the most bytes of their ids. The service must
/// finish others by itself.
const MAX_TRACKED: usize = 1024;
const MAX_TRACKED_ID: usize = 128;

pub(crate) struct Session {
    id: SessionId,
    principal: Option<Principal>,
    /// The caller that opened it.
    caller: Caller,
    /// Counts the memory of unread events.
    budget: Quota,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    /// Messages of the client that the connection has not taken.
    inbox: VecDeque<Packet>,
    /// Events for the client.
    outbox: Vec<u8>,
    /// The memory reserved for them, if they are more than [`UNCOUNTED`].
    unread: Option<Reservation>,
    phase: Phase,
    /// The requests that the service has not answered, up to [`MAX_TRACKED`].
    unanswered: Vec<RequestId>,
    /// The client's messages end with the last unanswered request, because the endpoint shuts down.
    draining: bool,
    /// Whether the client has sent a message.
    used: bool,
    /// Wakes the connection's stream, which waits for a message.
    packet_waker: Option<Waker>,
    /// Wakes the connection's sink, which waits for room.
    room_waker: Option<Waker>,
    /// Wakes the response body, which waits for an event.
    body_waker: Option<Waker>,
    /// Wake the POSTs that wait for room in the inbox, in the order of their arrival.
    posts: BTreeMap<u64, Waker>,
    /// The number of POSTs that have had to wait so far.
    waited: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Takes no more messages from the client; the service still sends.
    Retired,
    /// The service sends no more; queued events still go out.
    Finished,
    /// The client has gone.
    Left,
    /// The client has read nothing for too long.
    Cut,
}

/// The readiness of a sink for a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Free,
    /// The session is over.
    Ended,
}

/// The result of a read of queued events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    Bytes(Bytes),
    End,
    Cut,
}

impl Session {
    /// A session whose stream begins with the event `endpoint`, which names `uri`.
    pub(crate) fn new(
        id: SessionId,
        principal: Option<Principal>,
        caller: Caller,
        budget: Quota,
        uri: &str,
    ) -> Self {
        let mut state = SessionState::default();
        sse::event(Some("endpoint"), None, uri, &mut state.outbox);
        Self { id, principal, caller, budget, state: Mutex::new(state) }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.id
    }

    /// Whether requests of this principal may use the session.
    pub(crate) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }

    /// Queues a message of the client once there is room for it. Completes with false if the session is over.
    pub(crate) fn deliver(&self, packet: Packet, limit: usize) -> Delivery<'_> {
        Delivery { session: self, packet: Some(packet), limit, place: None }
    }

    /// The client's next message. None when no more come.
    pub(crate) fn poll_packet(&self, cx: &Context<'_>) -> Poll<Option<Packet>> {
        let mut state = self.lock();
        if let Some(packet) = state.inbox.pop_front() {
            wake(state, |state| [state.next_post()]);
            return Poll::Ready(Some(packet));
        }
        if state.phase != Phase::Open {
            return Poll::Ready(None);
        }
        set(&mut state.packet_waker, cx);
        Poll::Pending
    }

    /// Ready while fewer than `high_water` bytes are unread.
    pub(crate) fn poll_room(&self, cx: &Context<'_>, high_water: usize) -> Poll<Room> {
        let mut state = self.lock();
        match state.phase {
            Phase::Left | Phase::Cut | Phase::Finished => Poll::Ready(Room::Ended),
            Phase::Open | Phase::Retired if state.outbox.len() < high_water => Poll::Ready(Room::Free),
            Phase::Open | Phase::Retired => {
                set(&mut state.room_waker, cx);
                Poll::Pending
            }
        }
    }

    /// Queues a frame for the client. Ends the session if the quota has no room for it.
    pub(crate) fn send(&self, frame: &Frame) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Open | Phase::Retired) {
            return;
        }
        if let Frame::Single(Message::Response(response)) = frame {
            state.unanswered.retain(|id| *id != response.id);
        }
        if self.make_room(&mut state, frame.size_hint()).is_err() {
            drop(state);
            return self.leave();
        }
        state.outbox.reserve(frame.size_hint() + 32);
        // The specification names the events `message`, and strict clients require the name.
        sse::begin(Some("message"), None, &mut state.outbox);
        frame.write(&mut state.outbox);
        state.outbox.extend_from_slice(sse::END);
        let is_drained = state.is_drained();
        wake(state, |state| [state.body_waker.take()]);
        if is_drained {
            self.retire();
        }
    }

    /// Takes no more messages once every request is answered.
    pub(crate) fn drain(&self) {
        let mut state = self.lock();
        state.draining = true;
        if state.is_drained() {
            drop(state);
            self.retire();
        }
    }

    /// Answers every unanswered request with an error, and ends the stream.
    pub(crate) fn cut_unanswered(&self) {
        let unanswered = std::mem::take(&mut self.lock().unanswered);
        for id in unanswered {
            self.send(&Frame::Single(Response::new(id, Err(cut_error())).into()));
        }
        self.finish();
    }

    /// Reserves memory for `more` unread bytes.
    fn make_room(&self, state: &mut SessionState, more: usize) -> Result<(), QuotaExceeded> {
        let needed = state.outbox.len() + more;
        if needed <= UNCOUNTED {
            return Ok(());
        }
        match &mut state.unread {
            Some(unread) => unread.grow_last(needed),
            None => {
                state.unread = Some(self.budget.reserve_last(&self.caller, needed)?);
                Ok(())
            }
        }
    }

    /// All queued events, in one piece.
    pub(crate) fn poll_read(&self, cx: &Context<'_>) -> Poll<ReadOutcome> {
        let mut state = self.lock();
        if state.phase == Phase::Cut {
            return Poll::Ready(ReadOutcome::Cut);
        }
        if !state.outbox.is_empty() {
            let bytes = Bytes::from(std::mem::take(&mut state.outbox));
            // The bytes count until they have been written.
            let bytes = match state.unread.take() {
                Some(unread) => unread.held_by(bytes),
                None => bytes,
            };
            wake(state, |state| [state.room_waker.take()]);
            return Poll::Ready(ReadOutcome::Bytes(bytes));
        }
        if !matches!(state.phase, Phase::Open | Phase::Retired) {
            return Poll::Ready(ReadOutcome::End);
        }
        set(&mut state.body_waker, cx);
        Poll::Pending
    }

    /// Drops the waker of the body, whose poll is about to read.
    pub(crate) fn forget_reader(&self) {
        self.lock().body_waker = None;
    }

    /// Whether the client has sent a message.
    pub(crate) fn is_used(&self) -> bool {
        self.lock().used
    }

    /// Takes no more messages; requests that were taken can still be answered.
    pub(crate) fn retire(&self) {
        self.advance(Phase::Retired);
    }

    /// Queues no more events. Those that are queued are sent.
    pub(crate) fn finish(&self) {
        self.advance(Phase::Finished);
    }

    /// Ends the session because the client has gone.
    pub(crate) fn leave(&self) {
        self.advance(Phase::Left);
    }

    /// Ends the session because the client does not read.
    pub(crate) fn cut(&self) {
        self.advance(Phase::Cut);
    }

    fn advance(&self, to: Phase) {
        let mut state = self.lock();
        match (state.phase, to) {
            // A later phase is kept.
            (Phase::Left | Phase::Cut, _) | (Phase::Finished, Phase::Retired) => return,
            _ => state.phase = to,
        }
        if matches!(to, Phase::Left | Phase::Cut) {
            state.outbox = Vec::new();
            state.unread = None;
            state.inbox.clear();
        }
        let posts = std::mem::take(&mut state.posts);
        wake(state, |state| [state.packet_waker.take(), state.room_waker.take(), state.body_waker.take()]);
        posts.into_values().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }
}

impl SessionState {
    /// Whether the endpoint shuts down and every tracked request is answered.
    fn is_drained(&self) -> bool {
        self.draining && self.phase == Phase::Open && self.unanswered.is_empty()
    }

    /// Tracks the request in a message. Stops tracking the request that a message cancels.
    fn track(&mut self, packet: &Packet) {
        let Packet::Frame { frame, .. } = packet else { return };
        if let Some(cancelled) = cancelled_by(frame) {
            self.unanswered.retain(|id| *id != cancelled);
        }
        if let Frame::Single(Message::Request(request)) = frame
            && self.unanswered.len() < MAX_TRACKED
            && request.id.to_string().len() <= MAX_TRACKED_ID
        {
            self.unanswered.push(request.id.clone());
        }
    }

    /// The waker of the POST that has waited longest.
    fn next_post(&mut self) -> Option<Waker> {
        self.posts.pop_first().map(|(_, waker)| waker)
    }
}

/// The future of [`Session::deliver`].
pub(crate) struct Delivery<'a> {
    session: &'a Session,
    /// None once the session has it.
    packet: Option<Packet>,
    limit: usize,
    /// Its place among those that wait, once it has waited.
    place: Option<u64>,
}

impl Future for Delivery<'_> {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let this = &mut *self;
        let mut state = this.session.lock();
        if state.phase != Phase::Open {
            return Poll::Ready(false);
        }
        if state.inbox.len() >= this.limit {
            let place = *this.place.get_or_insert(state.waited);
            state.waited = state.waited.max(place + 1);
            state.posts.insert(place, cx.waker().clone());
            return Poll::Pending;
        }
        state.used = true;
        if let Some(packet) = &this.packet {
            state.track(packet);
        }
        state.inbox.extend(this.packet.take());
        let is_drained = state.is_drained();
        wake(state, |state| [state.packet_waker.take()]);
        if is_drained {
            this.session.retire();
        }
        Poll::Ready(true)
    }
}

/// Gives up the place among the waiting POSTs, and passes on a wake that came for it.
impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        let (Some(place), Some(_)) = (self.place, &self.packet) else { return };
        let mut state = self.session.lock();
        if state.posts.remove(&place).is_none() && state.inbox.len() < self.limit {
            wake(state, |state| [state.next_post()]);
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Session")
            .field("phase", &state.phase)
            .field("unread", &state.outbox.len())
            .finish_non_exhaustive()
    }
}

/// Takes wakers, releases the lock, and wakes them.
fn wake<const N: usize>(
    mut state: MutexGuard<'_, SessionState>,
    take: impl FnOnce(&mut SessionState) -> [Option<Waker>; N],
) {
    let wakers = take(&mut state);
    drop(state);
    wakers.into_iter().flatten().for_each(Waker::wake);
}

fn set(slot: &mut Option<Waker>, cx: &Context<'_>) {
    match slot {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *slot = Some(cx.waker().clone()),
    }
}
