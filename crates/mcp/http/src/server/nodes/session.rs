//! The methods of [`Session`] for several nodes: those that requests at this node call, and those that messages of other nodes call.

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

/// Calls of this node's requests.
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

    /// Completes when other nodes can go on with a session that has opened here. `None` if there is nothing to wait for.
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

    /// Prepares a frame of the service for the client. None if it is sent later, once what it answers is stored.
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

    /// Drops the remembered events of a session that has left the table. Where other nodes have it, it goes on there.
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
            // Where the store is away, the record expires.
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

/// Calls of other nodes.
impl Session {
    /// A session of another node, which is to be [fed](Self::feed) the messages of its record.
    pub(super) fn restored(id: SessionId, principal: Option<Principal>, caller: Caller, now: u32) -> Self {
        Self::new(id, principal, caller, RequestId::NULL, now)
    }

    /// The same, with the record that other nodes have, and the memory of that.
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

    /// The same, opened here with an id that is sealed.
    fn sealed_until(mut self, expires: Duration, now: u32) -> Self {
        self.peers = SessionPeers::Sealed(SealedSession::new(expires, now));
        self
    }

    /// The same, opened by an id that another node has sealed, or this one before. Its streams have numbers above `streams`.
    pub(super) fn unsealed(self, expires: Duration, streams: u64, now: u32) -> Self {
        self.lock().streams = streams;
        self.sealed_until(expires, now)
    }

    /// The session's memory if its id is sealed.
    pub(super) fn sealed(&self) -> Option<&SealedSession> {
        if let SessionPeers::Sealed(sealed) = &self.peers { Some(sealed) } else { None }
    }

    /// The parts that other nodes share by its record.
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

    /// Gives the service of the session a message that another node has taken. The answer is dropped. `notifications/initialized` is
    /// given to it once.
    pub(super) fn feed(&self, frame: Frame, head: Option<&Arc<Head>>) {
        let mut state = self.lock();
        let is_opened = state.initialize.as_ref().is_none_or(|id| !id.is_null());
        let (before, frame) = match frame {
            Frame::Single(Message::Request(request)) if !is_opened => {
                // The first of them opens the session.
                state.initialize = Some(request.id.clone());
                (None, Some(Frame::Single(request.into())))
            }
            frame => self.peers.receive(frame),
        };
        let packet = |frame| match head {
            Some(head) => head.brings(frame),
            None => Packet::new(frame),
        };
        state.inbox.extend(before.into_iter().chain(frame).map(|frame| (packet(frame), None)));
        let waker = state.stream.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes a message of the client that has come to another node, if there is room for it.
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
        // The POSTs are woken at each packet, and at the answer.
        if !state.posts.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.posts.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Whether the time to live of the record should be restarted, or the record looked at.
    pub(super) fn is_due(&self, now: u32, every: u32) -> bool {
        let activity = (self.lock().last_request, self.is_used());
        self.shared().is_some_and(|shared| shared.is_due(now, activity, every))
    }
}
