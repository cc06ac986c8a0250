//! The fields of a session behind its lock. Routes each outgoing frame to the response stream of its request, or keeps it for a
//! GET.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Intent, Malformed, Message, RequestId};
use agentwire_mcp_wire::{Revision, initialize_version};
use agentwire_transport::Packet;

use crate::server::admission::quota::Reservation;
use crate::server::endpoint::resources::Resources;
use crate::server::response_stream::ResponseStream;
use crate::server::session::full_streams::FullStreams;
use crate::server::session::pending::PendingResponses;

/// The queues, response streams and wakers of a session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    /// The packets from the client. A packet without requests has its memory reserved here; requests have it in their stream.
    pub(crate) inbox: VecDeque<(Packet, Option<Reservation>)>,
    /// Wakes the connection, which waits for packets.
    pub(crate) packet_waker: Option<Waker>,
    /// The POSTs that wait for room in the inbox.
    pub(crate) posts: Vec<Waker>,
    /// The responses on which unanswered requests are answered.
    pub(crate) routes: PendingResponses,
    /// The streams of GETs.
    pub(crate) listeners: Vec<Arc<ResponseStream>>,
    /// Frames that belong to no request, while no GET is open, and their size.
    pub(crate) unsent: VecDeque<Frame>,
    pub(crate) unsent_size: usize,
    /// The streams that have more unread than each has room for.
    pub(super) full: FullStreams,
    /// The request that opened the session, until it is answered.
    pub(crate) initialize: Option<RequestId>,
    pub(super) revision: Option<Revision>,
    pub(crate) streams: u64,
    /// The tick of the client's last request.
    pub(crate) last_request: u32,
    /// Nothing more comes from the client.
    pub(crate) closed: bool,
    /// The input ends with the last unanswered request, because the endpoint shuts down.
    pub(super) draining: bool,
}

impl SessionState {
    /// Whether the endpoint shuts down and the session has answered its last request.
    pub(super) fn is_drained(&self) -> bool {
        self.draining && !self.closed && self.routes.len() == 0
    }

    /// The response stream of a frame, if it belongs to requests, and the number of requests that it answers.
    pub(super) fn route(
        &mut self,
        frame: &Frame,
        in_reply_to: Option<&RequestId>,
    ) -> (Option<Arc<ResponseStream>>, usize) {
        match frame {
            Frame::Single(Message::Response(response)) => (self.routes.remove(&response.id), 1),
            Frame::Single(_) => (self.in_reply_to(in_reply_to), 0),
            Frame::Malformed(malformed) => (answers_to(malformed).and_then(|id| self.routes.remove(id)), 1),
            Frame::Batch(messages) => {
                let mut answered = messages.iter().filter_map(|message| match message {
                    Ok(Message::Response(response)) => self.routes.remove(&response.id),
                    Ok(_) => None,
                    Err(malformed) => answers_to(malformed).and_then(|id| self.routes.remove(id)),
                });
                let stream = answered.next();
                let answers = answered.count() + usize::from(stream.is_some());
                (stream.or_else(|| self.in_reply_to(in_reply_to)), answers)
            }
        }
    }

    fn in_reply_to(&self, in_reply_to: Option<&RequestId>) -> Option<Arc<ResponseStream>> {
        in_reply_to.and_then(|id| self.routes.get(id)).cloned()
    }

    /// Reads the revision from the answer to `initialize`. Returns whether the answer is an error.
    pub(super) fn settle(&mut self, frame: &Frame) -> bool {
        let Some(initialize) = &self.initialize else {
            return false;
        };
        let Frame::Single(Message::Response(response)) = frame else {
            return false;
        };
        if response.id != *initialize {
            return false;
        }
        self.initialize = None;
        let version = response.outcome.as_ref().ok().and_then(initialize_version);
        self.revision = version.and_then(|version| Revision::parse(&version));
        response.outcome.is_err()
    }

    /// Registers a POST to be woken when there may be room for it. Ready if `limit` POSTs wait already.
    pub(super) fn poll_post(&mut self, cx: &Context<'_>, limit: usize) -> Poll<()> {
        if !self.posts.iter().any(|waker| waker.will_wake(cx.waker())) {
            // They include POSTs whose clients have left, until the inbox is read again.
            if self.posts.len() >= limit {
                return Poll::Ready(());
            }
            self.posts.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The oldest stream that has a reader.
    pub(crate) fn listener(&self) -> Option<Arc<ResponseStream>> {
        self.listeners.iter().find(|listener| listener.is_attached()).cloned()
    }

    /// Keeps a frame that cannot be sent yet. Drops the oldest while the kept frames have more than `limit` bytes.
    pub(super) fn keep(&mut self, frame: Frame, limit: usize) {
        if self.closed {
            return;
        }
        self.unsent_size += frame.size_hint();
        self.unsent.push_back(frame);
        while self.unsent_size > limit {
            match self.unsent.pop_front() {
                Some(oldest) => self.unsent_size -= oldest.size_hint(),
                None => break,
            }
        }
    }

    /// Sends the kept frames.
    pub(super) fn flush(&mut self, listener: &ResponseStream, resources: &Resources) {
        self.unsent_size = 0;
        for frame in std::mem::take(&mut self.unsent) {
            listener.put(&frame, 0, resources);
        }
    }
}

/// The id of the request that the answer to malformed text answers.
pub(super) fn answers_to(malformed: &Malformed) -> Option<&RequestId> {
    match &malformed.intent {
        Intent::Request(id) | Intent::ResponseOrRequest(id) => Some(id).filter(|id| !id.is_null()),
        _ => None,
    }
}
