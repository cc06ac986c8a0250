//! Methods of [`Session`] for several nodes: those for requests at this node, and those for messages of other nodes.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, Request, RequestId};
use agentwire_store::{SessionId, SessionRecord};
use agentwire_transport::Packet;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::HeaderValue;

use crate::server::admission::quota::Reservation;
use crate::server::admission::record_limits::record_size;
use crate::server::endpoint::endpoint_core::EndpointCore;
use crate::server::endpoint::resources::Resources;
use crate::server::nodes::address;
use crate::server::nodes::peers::SessionPeers;
use crate::server::nodes::record::change::send_stored;
use crate::server::nodes::record::readiness::Readiness;
use crate::server::nodes::record::shared::{SharedSession, WaitingAnswer};
use crate::server::nodes::record::{self, principal_digest};
use crate::server::nodes::sealed::sealed_session::SealedSession;
use crate::server::response::refusal::Refusal;
use crate::server::session::Session;
use crate::server::session::deliver::cancelled_by;
use crate::server::session::sessions::Sessions;
use crate::server::{Caller, Head, Principal};

/// Methods for requests at this node.
impl Session {
    /// Gives a new session its record or its sealed id, so that other nodes can continue it. Also returns the value of
    /// `Mcp-Session-Id`.
    pub(crate) fn opened(
        mut self,
        request: &Request,
        resources: &Resources,
    ) -> Result<(Self, HeaderValue), Refusal> {
        let (config, now) = (&resources.config, resources.now());
        if config.is_shared() {
            let message = record::opening(request, config)?;
            let record = record::new(self.principal.as_ref(), &self.caller, message);
            let reserved = resources.nodes.records.reserve(&self.caller, record_size(&record));
            self = self.sharing(record, reserved.map_err(Refusal::too_many_records)?, (now, true));
        }
        if let Some(sealed) = &config.sealed {
            let params = request.params.as_ref();
            match sealed.seal(self.id, principal_digest(self.principal.as_ref()), params) {
                Some((value, expires)) => return Ok((self.sealed_until(expires, now), value)),
                None => config.warnings.unsealed_session(params.map_or(0, |params| params.as_str().len())),
            }
        }
        let header = self.id.header();
        Ok((self, header))
    }

    /// Stores the record of a session that was opened here. `None` if there is nothing to store.
    pub(crate) fn create(
        self: &Arc<Self>,
        core: &EndpointCore,
    ) -> Option<BoxFuture<'static, Result<(), Refusal>>> {
        self.shared()?;
        let (resources, session) = (core.resources.clone(), self.clone());
        let created = async move {
            let created = record::create(&resources, &session).await;
            created.map_err(|error| Refusal::store(&error, &resources.config))
        };
        Some(created.boxed())
    }

    /// Prepares a frame of the service for the client. `None` if the frame waits until the change that it confirms is stored.
    #[inline]
    pub(crate) fn outgoing(
        self: &Arc<Self>,
        sessions: &Arc<Sessions>,
        mut frame: Frame,
        in_reply_to: Option<&RequestId>,
    ) -> Option<Frame> {
        let Some(node) = sessions.resources().nodes.id else { return Some(frame) };
        address::outgoing(node, &mut frame);
        let changes = self.shared().map_or(Vec::new(), |shared| shared.take_answered(&frame));
        if changes.is_empty() {
            return Some(frame);
        }
        send_stored(sessions, self, WaitingAnswer { frame, in_reply_to: in_reply_to.cloned(), changes });
        None
    }

    /// Drops the stored events of a session that was removed from the table, unless other nodes may have the session.
    pub(crate) fn leave(&self, sessions: &Sessions) {
        if self.shared().is_none() {
            sessions.forget(self.id);
        }
    }

    /// Deletes the record of a session that no client has used.
    pub(crate) fn delete_unused(&self, sessions: &Arc<Sessions>) {
        let resources = sessions.resources();
        let Some(node) = resources.config.shared_node().filter(|_| self.shared().is_some()) else { return };
        let (sessions, id) = (sessions.clone(), self.id);
        let deleted = node.stores().records.delete_unused(id);
        resources.spawn(async move {
            // If the store is unreachable, the record expires.
            if let Ok(true) = deleted.await {
                sessions.forget(id);
            }
        });
    }

    /// Whether a batch must wait until the replayed `initialize` is answered: the revision decides whether batches are allowed.
    pub(crate) fn is_awaited_by(&self, frame: &Frame, resources: &Resources) -> bool {
        resources.nodes.id.is_some() && matches!(frame, Frame::Batch(_)) && self.revision().is_none()
    }
}

/// Methods for messages of other nodes, and for loading their sessions.
impl Session {
    /// Makes a session of another node, which is then [fed](Self::feed) the messages of its record.
    pub(super) fn restored(id: SessionId, principal: Option<Principal>, caller: Caller, now: u32) -> Self {
        Self::new(id, principal, caller, RequestId::NULL, now)
    }

    /// Adds the record that the nodes share, and the memory reserved for it.
    pub(super) fn sharing(
        mut self,
        record: SessionRecord,
        reservation: Reservation,
        (now, is_opener): (u32, bool),
    ) -> Self {
        let shared = SharedSession::new(record, reservation, (now, is_opener));
        self.peers = SessionPeers::Record(Box::new(shared));
        self
    }

    /// Marks the session as one with a sealed id.
    fn sealed_until(mut self, expires: Duration, now: u32) -> Self {
        self.peers = SessionPeers::Sealed(SealedSession::new(expires, now));
        self
    }

    /// Marks the session as one that was opened by its sealed id. Its streams have numbers above `streams`.
    pub(super) fn unsealed(self, expires: Duration, streams: u64, now: u32) -> Self {
        self.lock().streams = streams;
        self.sealed_until(expires, now)
    }

    /// The state for a sealed id. `None` if the id is not sealed.
    pub(super) fn sealed(&self) -> Option<&SealedSession> {
        if let SessionPeers::Sealed(sealed) = &self.peers { Some(sealed) } else { None }
    }

    /// The state that nodes share through a record. `None` without a shared store.
    pub(super) fn shared(&self) -> Option<&SharedSession> {
        if let SessionPeers::Record(shared) = &self.peers { Some(shared) } else { None }
    }

    pub(super) fn readiness(&self) -> Option<&Readiness> {
        self.peers.readiness()
    }

    /// Whether a request of the client is unanswered here.
    pub(super) fn has_request(&self, id: &RequestId) -> bool {
        self.lock().routes.get(id).is_some()
    }

    /// Gives the service of the session a message that another node has received, and drops the response.
    /// `notifications/initialized` is given once.
    pub(super) fn feed(&self, frame: Frame, head: Option<&Arc<Head>>) {
        let mut state = self.lock();
        let is_opened = state.initialize.as_ref().is_none_or(|id| !id.is_null());
        let (before, frame) = match frame {
            Frame::Single(Message::Request(request)) if !is_opened => {
                // The first message opens the session.
                state.initialize = Some(request.id.clone());
                (None, Some(Frame::Single(request.into())))
            }
            frame => self.peers.receive(frame),
        };
        let packet = |frame| match head {
            Some(head) => head.packet(frame),
            None => Packet::new(frame),
        };
        state.inbox.extend(before.into_iter().chain(frame).map(|frame| (packet(frame), None)));
        let waker = state.packet_waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes a message of the client that another node has forwarded, if there is room for it.
    pub(super) fn take_forwarded(&self, frame: Frame, resources: &Resources) {
        let state = self.lock();
        let is_others = cancelled_by(&frame).is_some_and(|id| state.routes.get(&id).is_none());
        if !state.closed && !is_others && state.inbox.len() < resources.config.limits.inbox_limit {
            self.enqueue(state, (Packet::new(frame), None), Waker::wake, resources);
        }
    }

    /// Ready when the request that opens the session is answered, or the session has ended.
    pub(super) fn poll_answered(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.closed || state.initialize.is_none() {
            return Poll::Ready(());
        }
        // The wakers of POSTs are woken when the service takes a packet, and when it answers.
        if !state.posts.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.posts.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Whether a job should restart the record's time to live or load the record again.
    pub(super) fn is_due(&self, now: u32, every: u32) -> bool {
        let activity = (self.lock().last_request, self.is_used());
        self.shared().is_some_and(|shared| shared.is_due(now, activity, every))
    }
}
