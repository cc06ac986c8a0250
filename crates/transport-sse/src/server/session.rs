//! One session: the messages of its client that the connection has not taken, and the events that wait to be sent.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::Frame;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::Packet;
use agentwire_transport_http::runtime::server::{Quota, QuotaExceeded, Reservation};
use agentwire_transport_http::server::{Caller, Principal};
use agentwire_transport_http::sse;
use bytes::Bytes;

/// The parameter of a query that names a session.
const QUERY: &str = "sessionId";

/// How many unread bytes of a session no budget counts: the size of other buffers of a connection.
const UNCOUNTED: usize = 8 << 10;

/// Names a session: 128 bits of the operating system's randomness, on the wire 32 hexadecimal digits. A caller
/// that knows it can send messages to the session, so there is no debug form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(u128);

impl SessionId {
    /// A new one. None where the system has no randomness.
    pub(crate) fn random() -> Option<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        Some(Self(u128::from_be_bytes(bytes)))
    }

    /// Finds it in the query of a URI. None where there is no such parameter; an inner none where it is no id.
    pub(crate) fn in_query(query: &str) -> Option<Option<Self>> {
        let mut values = query.split('&').filter_map(|pair| pair.strip_prefix(QUERY)?.strip_prefix('='));
        let first = values.next()?;
        Some(Self::parse(first).filter(|_| values.next().is_none()))
    }

    /// The URI of a path with this id in its query.
    pub(crate) fn append_to(self, path: &str) -> String {
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{QUERY}={:032x}", self.0)
    }

    fn parse(digits: &str) -> Option<Self> {
        let valid =
            digits.len() == 32 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
        u128::from_str_radix(digits, 16).ok().filter(|_| valid).map(Self)
    }
}

pub(crate) struct Session {
    id: SessionId,
    principal: Option<Principal>,
    /// Who opened it.
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
    /// The memory reserved for them, where they are more than [`UNCOUNTED`].
    unread: Option<Reservation>,
    phase: Phase,
    /// Whether the client has sent a message.
    used: bool,
    /// Wakes the connection's stream, which waits for a message.
    stream: Option<Waker>,
    /// Wakes the connection's sink, which waits for room.
    sink: Option<Waker>,
    /// Wakes the response body, which waits for an event.
    body: Option<Waker>,
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

/// Whether a sink may send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Some,
    /// The session is over.
    Left,
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

    /// Whether a caller may speak in this session.
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
        set(&mut state.stream, cx);
        Poll::Pending
    }

    /// Ready while fewer than `high_water` bytes are unread.
    pub(crate) fn poll_room(&self, cx: &Context<'_>, high_water: usize) -> Poll<Room> {
        let mut state = self.lock();
        match state.phase {
            Phase::Left | Phase::Cut | Phase::Finished => Poll::Ready(Room::Left),
            Phase::Open | Phase::Retired if state.outbox.len() < high_water => Poll::Ready(Room::Some),
            Phase::Open | Phase::Retired => {
                set(&mut state.sink, cx);
                Poll::Pending
            }
        }
    }

    /// Queues a frame for the client. Ends the session where the budget has no room for it.
    pub(crate) fn send(&self, frame: &Frame) {
        let mut state = self.lock();
        if !matches!(state.phase, Phase::Open | Phase::Retired) {
            return;
        }
        if self.make_room(&mut state, frame.size_hint()).is_err() {
            drop(state);
            return self.leave();
        }
        state.outbox.reserve(frame.size_hint() + 32);
        // A client that goes by the letter of the specification looks for the name.
        sse::begin(Some("message"), None, &mut state.outbox);
        frame.write(&mut state.outbox);
        state.outbox.extend_from_slice(sse::END);
        wake(state, |state| [state.body.take()]);
    }

    /// Reserves memory for so many bytes that will wait to be read.
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
            // It counts until it has been written.
            let bytes = match state.unread.take() {
                Some(unread) => unread.held_by(bytes),
                None => bytes,
            };
            wake(state, |state| [state.sink.take()]);
            return Poll::Ready(ReadOutcome::Bytes(bytes));
        }
        if !matches!(state.phase, Phase::Open | Phase::Retired) {
            return Poll::Ready(ReadOutcome::End);
        }
        set(&mut state.body, cx);
        Poll::Pending
    }

    /// Drops the waker of the body, whose poll is about to read.
    pub(crate) fn forget_reader(&self) {
        self.lock().body = None;
    }

    /// Whether the client has sent a message.
    pub(crate) fn is_used(&self) -> bool {
        self.lock().used
    }

    /// Takes no more messages; requests that were taken can still be answered.
    pub(crate) fn retire(&self) {
        self.advance(Phase::Retired);
    }

    /// Sends no more events than are queued.
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
            // What is further on stays there.
            (Phase::Left | Phase::Cut, _) | (Phase::Finished, Phase::Retired) => return,
            _ => state.phase = to,
        }
        if matches!(to, Phase::Left | Phase::Cut) {
            state.outbox = Vec::new();
            state.unread = None;
            state.inbox.clear();
        }
        let posts = std::mem::take(&mut state.posts);
        wake(state, |state| [state.stream.take(), state.sink.take(), state.body.take()]);
        posts.into_values().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }
}

impl SessionState {
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
        state.inbox.extend(this.packet.take());
        wake(state, |state| [state.stream.take()]);
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

/// Wakes the wakers that `whom` gives, after it has released the lock.
fn wake<const N: usize>(
    mut state: MutexGuard<'_, SessionState>,
    whom: impl FnOnce(&mut SessionState) -> [Option<Waker>; N],
) {
    let wakers = whom(&mut state);
    drop(state);
    wakers.into_iter().flatten().for_each(Waker::wake);
}

fn set(slot: &mut Option<Waker>, cx: &Context<'_>) {
    match slot {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *slot = Some(cx.waker().clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_from_the_uri_it_was_written_to() {
        let id = SessionId::random().unwrap();
        for path in ["/messages", "messages?x=1"] {
            let uri = id.append_to(path);
            let (_, query) = uri.split_once('?').unwrap();
            assert!(SessionId::in_query(query) == Some(Some(id)), "{uri}");
            assert!(SessionId::in_query(&format!("a=b&{query}&c")) == Some(Some(id)), "{uri}");
            assert!(SessionId::in_query(&format!("{query}&{query}")) == Some(None), "twice");
        }
        assert!(SessionId::in_query("a=b&sessionID=0&sessionId").is_none());
        for other in ["", "1", "+0000000000000000000000000000000", "0000000000000000000000000000000A"] {
            assert!(SessionId::in_query(&format!("sessionId={other}")) == Some(None), "{other}");
        }
    }
}
