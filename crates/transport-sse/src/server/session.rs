//! One session: what its client has sent and the link has not taken, and what waits to be sent to it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::Frame;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Caller, Principal, Quota, QuotaExceeded, Reservation};
use agentwire_transport_http::sse;
use bytes::Bytes;

/// What the query that names a session begins with.
const QUERY: &str = "sessionId";

/// How many bytes that wait to be read count for nothing: as many as other buffers of a connection have.
const UNCOUNTED: usize = 8 << 10;

/// Names a session: 128 bits of the operating system's randomness, on the wire 32 hexadecimal digits. Whoever knows
/// it can speak in the session, so there is no debug form.
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
    /// The memory of what waits to be read counts there.
    budget: Quota,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What the client has sent.
    inbox: VecDeque<Packet>,
    /// Events for the client.
    outbox: Vec<u8>,
    /// The memory reserved for them, once there are more than a few.
    unread: Option<Reservation>,
    phase: Phase,
    /// Whether the client has sent anything.
    heard: bool,
    /// The half of the link that waits for a message.
    stream: Option<Waker>,
    /// The half of the link that waits for room.
    sink: Option<Waker>,
    /// The body that waits for something to send.
    body: Option<Waker>,
    /// The POSTs that wait for room in the inbox, in the order in which they came.
    posts: BTreeMap<u64, Waker>,
    /// How many POSTs have ever had to wait.
    waited: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Nothing more is taken from the client; it still gets what is said.
    Retired,
    /// Nothing more is said; what was said is still sent.
    Finished,
    /// The client has gone.
    Left,
    /// The client read nothing for too long.
    Cut,
}

/// What a sink finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Some,
    /// Nobody will read it.
    Left,
}

/// What a body finds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Bytes(Bytes),
    End,
    Cut,
}

impl Session {
    /// A session whose stream begins with the event that tells where to send messages.
    pub(crate) fn new(
        id: SessionId,
        principal: Option<Principal>,
        caller: Caller,
        budget: Quota,
        uri: &str,
    ) -> Self {
        let mut state = State::default();
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

    /// Takes what a client sent, once there is room for it. Gives whether it was taken; not, if the session is over.
    pub(crate) fn take(&self, packet: Packet, limit: usize) -> Taking<'_> {
        Taking { session: self, packet: Some(packet), limit, place: None }
    }

    /// What the client sent next. None when nothing more comes.
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

    /// Ready while little waits to be read.
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

    /// Says something to the client. A client that leaves more unread than there is memory for is given up.
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
    fn make_room(&self, state: &mut State, more: usize) -> Result<(), QuotaExceeded> {
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

    /// What is to be sent next, all of it in one piece.
    pub(crate) fn poll_read(&self, cx: &Context<'_>) -> Poll<Reading> {
        let mut state = self.lock();
        if state.phase == Phase::Cut {
            return Poll::Ready(Reading::Cut);
        }
        if !state.outbox.is_empty() {
            let bytes = Bytes::from(std::mem::take(&mut state.outbox));
            // It counts until it has been written.
            let bytes = match state.unread.take() {
                Some(unread) => unread.held_by(bytes),
                None => bytes,
            };
            wake(state, |state| [state.sink.take()]);
            return Poll::Ready(Reading::Bytes(bytes));
        }
        if !matches!(state.phase, Phase::Open | Phase::Retired) {
            return Poll::Ready(Reading::End);
        }
        set(&mut state.body, cx);
        Poll::Pending
    }

    /// Whoever polls the body is about to look, and need not be woken until then.
    pub(crate) fn look(&self) {
        self.lock().body = None;
    }

    /// Whether the client has sent anything.
    pub(crate) fn is_heard(&self) -> bool {
        self.lock().heard
    }

    /// Takes nothing more, but lets what was asked be answered.
    pub(crate) fn retire(&self) {
        self.advance(Phase::Retired);
    }

    /// Says nothing more.
    pub(crate) fn finish(&self) {
        self.advance(Phase::Finished);
    }

    /// The client has gone.
    pub(crate) fn leave(&self) {
        self.advance(Phase::Left);
    }

    /// Gives the client up.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    /// The POST that has waited longest, to be told of room.
    fn next_post(&mut self) -> Option<Waker> {
        self.posts.pop_first().map(|(_, waker)| waker)
    }
}

/// What brings a message into a session; see [`Session::take`].
pub(crate) struct Taking<'a> {
    session: &'a Session,
    /// None when it was taken.
    packet: Option<Packet>,
    limit: usize,
    /// Its place among those that wait, once it has waited.
    place: Option<u64>,
}

impl Future for Taking<'_> {
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
        state.heard = true;
        state.inbox.extend(this.packet.take());
        wake(state, |state| [state.stream.take()]);
        Poll::Ready(true)
    }
}

/// A client that leaves gives its place up, and passes on what it was told.
impl Drop for Taking<'_> {
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

/// Wakes whom `whom` gives, after the lock is given back.
fn wake<const N: usize>(
    mut state: MutexGuard<'_, State>,
    whom: impl FnOnce(&mut State) -> [Option<Waker>; N],
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
