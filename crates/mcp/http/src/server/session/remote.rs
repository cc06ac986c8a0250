//! A session that several nodes share: it is opened again from its record or its id, and gets messages that have come to other nodes.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_store::{SessionId, SessionRecord};
use agentwire_transport::Packet;

use crate::server::admission::quota::Reservation;
use crate::server::endpoint::resources::Resources;
use crate::server::nodes::readiness::{Readiness, Told};
use crate::server::session::Session;
use crate::server::session::sealed::SealedSession;
use crate::server::session::shared::SharedSession;
use crate::server::session::state::SessionState;
use crate::server::session::take::cancelled_by;
use crate::server::{Caller, Head, Principal};

impl Session {
    /// A session of another node, which is to be [fed](Self::feed) the messages of its record.
    pub(crate) fn restored(id: SessionId, principal: Option<Principal>, caller: Caller, now: u32) -> Self {
        Self::new(id, principal, caller, RequestId::NULL, now)
    }

    /// The same, with the record that other nodes have, and the memory of that.
    pub(crate) fn sharing(
        self,
        record: SessionRecord,
        reservation: Reservation,
        (now, is_opener): (u32, bool),
    ) -> Self {
        let shared = SharedSession::new(record, reservation, (now, is_opener));
        Self { shared: Some(Box::new(shared)), ..self }
    }

    /// The same, opened here with an id that is sealed.
    pub(crate) fn sealed_until(self, expires: Duration, now: u32) -> Self {
        Self { sealed: Some(SealedSession::new(expires, now)), ..self }
    }

    /// The same, opened by an id that another node has sealed, or this one before. Its streams have numbers above `streams`.
    pub(crate) fn unsealed(self, expires: Duration, streams: u64, now: u32) -> Self {
        self.lock().streams = streams;
        Self { sealed: Some(SealedSession::new(expires, now)), ..self }
    }

    /// What is remembered where its id is sealed.
    pub(crate) fn sealed(&self) -> Option<&SealedSession> {
        self.sealed.as_deref()
    }

    /// Whether its id is sealed and has expired.
    pub(super) fn has_expired(&self, resources: &Resources) -> bool {
        let sealed = self.sealed().zip(resources.config.sealed.as_ref());
        sealed.is_some_and(|(session, sealed)| sealed.has_expired(session.expires()))
    }

    /// What other nodes share. None where there are none.
    pub(crate) fn shared(&self) -> Option<&SharedSession> {
        self.shared.as_deref()
    }

    /// Whether a request of the client is unanswered here.
    pub(crate) fn has_request(&self, id: &RequestId) -> bool {
        self.lock().routes.get(id).is_some()
    }

    /// How far its client is. None where no other node has it.
    pub(crate) fn readiness(&self) -> Option<&Readiness> {
        let shared = self.shared().map(|shared| &shared.readiness);
        shared.or_else(|| self.sealed().map(|sealed| &sealed.readiness))
    }

    /// Tells the service once that the client is ready, before a frame that shows it. Returns what is left of the frame.
    pub(super) fn tell_ready(
        &self,
        state: &mut SessionState,
        frame: Frame,
        head: Option<&Arc<Head>>,
    ) -> Option<Frame> {
        let Some(readiness) = self.readiness() else { return Some(frame) };
        let Told { first, rest } = readiness.tell(frame);
        let Some(first) = first else { return rest };
        self.shared().into_iter().for_each(SharedSession::compare_readiness);
        if rest.is_none() {
            return Some(Frame::Single(first));
        }
        state.inbox.push_back((packet(Frame::Single(first), head), None));
        rest
    }

    /// Gives the service of the session a message that another node has taken. The answer is dropped. `notifications/initialized` is
    /// given to it once.
    pub(crate) fn feed(&self, frame: Frame, head: Option<&Arc<Head>>) {
        let mut state = self.lock();
        let frame = match &frame {
            Frame::Single(Message::Request(request))
                if state.initialize.as_ref().is_some_and(RequestId::is_null) =>
            {
                // The first of them opens the session.
                state.initialize = Some(request.id.clone());
                frame
            }
            _ => {
                let Some(frame) = self.tell_ready(&mut state, frame, head) else { return };
                frame
            }
        };
        state.inbox.push_back((packet(frame, head), None));
        let waker = state.stream.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes a message of the client that has come to another node, if there is room for it.
    pub(crate) fn receive(&self, frame: Frame, resources: &Resources) {
        let state = self.lock();
        let cancelled = cancelled_by(&frame);
        let is_others = cancelled.as_ref().is_some_and(|id| state.routes.get(id).is_none());
        if state.closed || is_others || state.inbox.len() >= resources.config.limits.inbox_limit {
            return;
        }
        self.enqueue(state, (Packet::new(frame), None), Waker::wake, resources);
    }

    /// Ready when the request that opens the session is answered, or the session has ended.
    pub(crate) fn poll_answered(&self, cx: &Context<'_>) -> Poll<()> {
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

    /// Wakes the POSTs that wait for room in the inbox, or for a number of a stream.
    pub(crate) fn wake_posts(&self) {
        let posts = std::mem::take(&mut self.lock().posts);
        posts.into_iter().for_each(Waker::wake);
    }

    /// Whether the time to live of the record should be restarted, or the record looked at.
    pub(crate) fn is_due(&self, now: u32, every: u32) -> bool {
        let heard = (self.lock().heard, self.is_used());
        self.shared.as_ref().is_some_and(|shared| shared.is_due(now, heard, every))
    }
}

fn packet(frame: Frame, head: Option<&Arc<Head>>) -> Packet {
    match head {
        Some(head) => head.brings(frame),
        None => Packet::new(frame),
    }
}
