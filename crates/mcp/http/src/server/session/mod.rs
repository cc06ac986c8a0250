//! One session: the packets of its client that the connection has not taken, and the response stream of each unanswered request.

pub(crate) mod connection;
pub(crate) mod deliver;
mod ending;
mod full_streams;
mod listen;
mod pending;
pub(crate) mod session_table;
pub(crate) mod sessions;
pub(crate) mod state;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_mcp_wire::Revision;
use agentwire_store::SessionId;
use agentwire_sync::{Mutex, MutexGuard};
use agentwire_transport::Packet;

use crate::server::endpoint::resources::Resources;
use crate::server::inline_task::InlineTask;
use crate::server::nodes::peers::SessionPeers;
use crate::server::session::state::SessionState;
use crate::server::{Caller, EndpointConfig, Principal};

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) principal: Option<Principal>,
    /// The caller that opened it.
    pub(crate) caller: Caller,
    /// Whether the client has named the session in a request, and so has got its id.
    used: AtomicBool,
    state: Mutex<SessionState>,
    /// The task that serves it, once that runs.
    task: OnceLock<Weak<InlineTask>>,
    /// The parts of the session that other nodes share.
    pub(crate) peers: SessionPeers,
}

/// Why a POST is not taken.
pub(crate) enum DeliverError {
    /// There is no such session any more.
    Gone,
    /// The session has left this node, or waits for stream numbers. The client can retry at once.
    Away,
    /// A request has the id of one that is not answered yet.
    InFlight(RequestId),
    /// As many requests as there may be are unanswered.
    TooMany(usize),
    /// A stream that runs here has sent no such event.
    NoEvent,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        principal: Option<Principal>,
        caller: Caller,
        initialize: RequestId,
        now: u32,
    ) -> Self {
        // Mostly one message waits at a time.
        let inbox = VecDeque::with_capacity(1);
        let state = SessionState {
            inbox,
            initialize: Some(initialize),
            last_request: now,
            ..SessionState::default()
        };
        Self {
            id,
            principal,
            caller,
            used: AtomicBool::new(false),
            state: Mutex::new(state),
            task: OnceLock::new(),
            peers: SessionPeers::None,
        }
    }

    /// Sets the task that serves the session, which requests poll inline.
    pub(crate) fn serve(&self, task: Weak<InlineTask>) {
        // A session is served once.
        let _ = self.task.set(task);
    }

    pub(crate) fn id(&self) -> SessionId {
        self.id
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whether requests of this principal may use the session.
    pub(crate) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }

    /// Notes that the client names the session in a request. True for the first that does.
    pub(crate) fn is_first_use(&self) -> bool {
        !self.used.load(Ordering::Relaxed) && !self.used.swap(true, Ordering::Relaxed)
    }

    /// Whether the client has named it in a request.
    pub(crate) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        self.lock().revision
    }

    /// Whether the request that opens it is answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.lock().initialize.is_none()
    }

    /// Whether it has begun, and is still there.
    pub(crate) fn is_open(&self) -> bool {
        !self.lock().closed
    }

    /// The next packet of the client. `None` when no more packets come.
    pub(crate) fn poll_packet(&self, cx: &Context<'_>) -> Poll<Option<Packet>> {
        let mut state = self.lock();
        if let Some((packet, _reservation)) = state.inbox.pop_front() {
            let posts = std::mem::take(&mut state.posts);
            drop(state);
            posts.into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(packet));
        }
        if state.closed {
            return Poll::Ready(None);
        }
        match &mut state.packet_waker {
            Some(waker) => waker.clone_from(cx.waker()),
            slot => *slot = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Ready while the session can take another message; see `FullStreams`.
    pub(crate) fn poll_room(&self, cx: &Context<'_>, config: &EndpointConfig) -> Poll<()> {
        let state = &mut *self.lock();
        if state.full.is_empty() {
            return Poll::Ready(());
        }
        state.full.poll_room(cx, &state.routes, config)
    }

    /// Sends a frame on the one stream that it belongs to. Returns whether it was the refusal of the session.
    pub(crate) fn send(&self, frame: Frame, in_reply_to: Option<&RequestId>, resources: &Resources) -> bool {
        let mut state = self.lock();
        let (stream, answers) = state.route(&frame, in_reply_to);
        let stream = stream.filter(|stream| stream.takes(answers));
        let refused = state.settle(&frame);
        state.closed |= refused;
        let stream = match stream {
            Some(stream) => stream,
            // An answer whose request is gone belongs on no other stream.
            None if is_answer(&frame) => {
                // POSTs to a session that is being loaded wait for the answer to `initialize`.
                let posts = std::mem::take(&mut state.posts);
                drop(state);
                posts.into_iter().for_each(Waker::wake);
                return refused;
            }
            None if !self.peers.delivers(&frame) => return false,
            None => match state.listener() {
                Some(listener) => listener,
                None => {
                    state.keep(frame, resources.config.limits.high_water);
                    return false;
                }
            },
        };
        // The lock is kept, so that events get their places in the order in which they are sent.
        if stream.put(&frame, answers, resources) {
            state.full.add(stream);
        }
        if state.is_drained() {
            drop(state);
            self.retire(resources);
        }
        refused
    }

    /// Lets time pass. Returns true if the session should end: its client was silent for too long, waits for no answer and has no GET
    /// open; or its sealed id has expired and no answer is owed.
    pub(crate) fn tick(&self, now: u32, resources: &Resources) -> bool {
        let state = &mut *self.lock();
        state.full.cut_slow_readers(&state.routes, now, resources);
        // An answer is also waited for by a client that has lost its stream, and comes back for it.
        if state.routes.len() > 0 || state.listeners.iter().any(|listener| listener.is_attached()) {
            state.last_request = now;
        }
        if state.routes.len() == 0 && self.peers.has_expired(resources) {
            return true;
        }
        now.wrapping_sub(state.last_request)
            >= if self.is_used() { resources.ticks.idle } else { resources.ticks.opening }
    }

    /// Wakes the POSTs that wait for room in the inbox, or for the number of a stream.
    pub(crate) fn wake_posts(&self) {
        let posts = std::mem::take(&mut self.lock().posts);
        posts.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock()
    }
}

fn is_answer(frame: &Frame) -> bool {
    match frame {
        Frame::Single(message) => matches!(message, Message::Response(_)),
        Frame::Batch(messages) => messages.iter().any(|m| matches!(m, Ok(Message::Response(_)))),
        Frame::Malformed(_) => true,
    }
}
