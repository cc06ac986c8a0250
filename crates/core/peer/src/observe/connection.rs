//! Reports the packets and events of one port to its observer.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use agentwire_connection::{CallFailure, CallId, Event};
use agentwire_jsonrpc::{Frame, Intent, Malformed, Message, Notification, Request, RequestId, Response};
use agentwire_transport::{MessageSource, Packet, TransportError};

use super::open_call::OpenCall;
use super::{CallObserver, CallStart, ConnectionEnd, Direction, Observer, Outcome};
use crate::panics::guarded;
use crate::peer_inner::PeerInner;

/// Reports one connection to its observer, and keeps the open calls. It exists only if an observer is set.
pub(crate) struct ConnectionObservation {
    observer: Arc<dyn Observer>,
    shared: Arc<PeerInner>,
    began: Instant,
    /// Calls by this side whose requests are sent.
    outgoing: HashMap<RequestId, OpenCall>,
    /// Calls by the peer. There is an entry for each request that is unanswered or whose response is queued, so the limits
    /// of the connection bound them.
    incoming: HashMap<RequestId, OpenCall>,
    /// The size of the send queue when it was last reported.
    queued: usize,
    /// The notification that cancels a request.
    cancel_method: &'static str,
    /// Whether a request that the peer has cancelled is still answered.
    answers_cancelled: bool,
}

impl ConnectionObservation {
    /// Reports the start of a connection.
    pub(crate) fn begin(
        observer: &Arc<dyn Observer>,
        shared: &Arc<PeerInner>,
        dialect: &agentwire_connection::Dialect,
    ) -> Self {
        let mut own = None;
        guarded(|| own = observer.connection_started());
        if let (Some(own), Some(observer)) = (&own, shared.observer()) {
            observer.set_connection(own.clone());
        }
        Self {
            observer: own.unwrap_or_else(|| observer.clone()),
            shared: shared.clone(),
            began: shared.now(),
            outgoing: HashMap::new(),
            incoming: HashMap::new(),
            queued: 0,
            cancel_method: dialect.cancel_method,
            answers_cancelled: dialect.answers_cancelled,
        }
    }

    /// Reports a packet that has arrived, before the connection handles it.
    #[inline(never)]
    pub(crate) fn received(&mut self, packet: &Packet, now: Instant) {
        match packet {
            Packet::Frame { frame, source, .. } => {
                let bytes = frame.size_hint();
                guarded(|| self.observer.frame(Direction::In, bytes));
                self.received_frame(frame, source.as_ref(), now);
            }
            Packet::CallerLeft(id) => self.peer_cancelled(id, now, true),
            // For any other packet, the event loop reports the calls that it ends.
            _ => {}
        }
    }

    fn received_frame(&mut self, frame: &Frame, source: Option<&Arc<dyn MessageSource>>, now: Instant) {
        match frame {
            Frame::Single(message) => self.received_message(message, source, now),
            Frame::Malformed(malformed) => self.received_malformed(malformed, false, now),
            Frame::Batch(messages) => {
                if !self.shared.lock().connection.accepts_batches() {
                    // The connection reports it as one message that it cannot read.
                    return;
                }
                for message in messages {
                    match message {
                        Ok(message) => self.received_message(message, source, now),
                        Err(malformed) => self.received_malformed(malformed, true, now),
                    }
                }
            }
        }
    }

    fn received_message(&mut self, message: &Message, source: Option<&Arc<dyn MessageSource>>, now: Instant) {
        match message {
            // The connection turns a request that must not be answered into an event.
            Message::Request(request) if !self.responds_to(&request.id) => {}
            Message::Request(request) => {
                let call = self.begin_call(Direction::In, request, source, None, now);
                if let Some(call) = call {
                    let earlier = self.incoming.insert(request.id.clone(), call);
                    if let Some(call) = self.incoming.get_mut(&request.id) {
                        call.earlier = earlier.map(Box::new);
                    }
                }
            }
            Message::Notification(notification) => {
                guarded(|| self.observer.notification(Direction::In, notification));
                if let Some(id) = self.cancelled_id(notification) {
                    self.peer_cancelled(&id, now, !self.answers_cancelled);
                }
            }
            Message::Response(response) => self.end_outgoing(&response.id, outcome(response), now),
        }
    }

    /// Reports a malformed message, unless the connection turns it into an event, which [`event`](Self::event) reports.
    fn received_malformed(&mut self, malformed: &Malformed, in_batch: bool, now: Instant) {
        match &malformed.intent {
            Intent::ResponseOrRequest(id) if self.outgoing.contains_key(id) => {
                guarded(|| self.observer.malformed(&malformed.error));
                self.end_outgoing(id, Outcome::Malformed(&malformed.error), now);
            }
            Intent::Request(id) | Intent::ResponseOrRequest(id)
                if (!id.is_null() || in_batch) && self.responds_to(id) =>
            {
                guarded(|| self.observer.malformed(&malformed.error));
            }
            Intent::Response(id) => {
                guarded(|| self.observer.malformed(&malformed.error));
                self.end_outgoing(id, Outcome::Malformed(&malformed.error), now);
            }
            _ => {}
        }
    }

    fn responds_to(&self, id: &RequestId) -> bool {
        self.shared.lock().connection.responds_to(id)
    }

    /// Reports an event of the connection, before the event loop delivers it.
    #[inline(never)]
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Unreadable(error) => guarded(|| self.observer.malformed(error)),
            Event::UnmatchedResponse(response) | Event::CancelledResponse(response) => {
                guarded(|| self.observer.unmatched_response(response));
            }
            _ => {}
        }
    }

    /// Reports the end of a call by this side without a matching response.
    pub(crate) fn settled(&mut self, call: CallId, failure: &CallFailure, error: Option<&TransportError>) {
        let outcome = match failure {
            CallFailure::TimedOut(_) => Outcome::TimedOut,
            CallFailure::Cancelled => Outcome::Cancelled,
            CallFailure::Failed => Outcome::Failed(error),
            CallFailure::Closed => Outcome::Closed,
            // A response with the call's own id has ended the call already. These failures had no such response.
            CallFailure::Refused(error) => Outcome::Error(error),
            CallFailure::Malformed(error) => Outcome::Malformed(error),
            _ => return,
        };
        let now = self.shared.now();
        self.end_outgoing(&call.request_id(), outcome, now);
    }

    /// Reports a frame that is given to the transport.
    #[inline(never)]
    pub(crate) fn sent(&mut self, frame: &Frame, bytes: usize) {
        guarded(|| self.observer.frame(Direction::Out, bytes));
        let now = self.shared.now();
        match frame {
            Frame::Single(message) => self.sent_message(message, now),
            Frame::Batch(messages) => {
                messages.iter().flatten().for_each(|message| self.sent_message(message, now));
            }
            Frame::Malformed(_) => {}
        }
    }

    fn sent_message(&mut self, message: &Message, now: Instant) {
        match message {
            Message::Request(request) => {
                let context = CallId::from_request_id(&request.id)
                    .and_then(|call| self.shared.observer()?.take_context(call));
                if let Some(call) = self.begin_call(Direction::Out, request, None, context.as_ref(), now) {
                    self.outgoing.insert(request.id.clone(), call);
                }
            }
            Message::Notification(notification) => {
                guarded(|| self.observer.notification(Direction::Out, notification));
                let cancelled = self.cancelled_id(notification);
                if let Some((id, call)) = cancelled.and_then(|id| self.outgoing.remove_entry(&id)) {
                    call.cancelled();
                    self.end(call, &id, Outcome::Cancelled, now);
                }
            }
            Message::Response(response) => {
                if let Some(call) = self.take_incoming(&response.id) {
                    self.end(call, &response.id, outcome(response), now);
                }
            }
        }
    }

    /// Reports the size of the send queue in bytes, if it has changed.
    pub(crate) fn queue(&mut self, bytes: usize) {
        if std::mem::replace(&mut self.queued, bytes) != bytes {
            guarded(|| self.observer.queue(bytes));
        }
    }

    /// Returns the observer of an open call by the peer.
    pub(crate) fn call_observer(&self, id: &RequestId) -> Option<Arc<dyn CallObserver>> {
        self.incoming.get(id).map(|call| call.observer().clone())
    }

    fn begin_call(
        &self,
        direction: Direction,
        request: &Request,
        source: Option<&Arc<dyn MessageSource>>,
        context: Option<&Arc<dyn Any + Send + Sync>>,
        now: Instant,
    ) -> Option<OpenCall> {
        let Request { id, method, params, .. } = request;
        let revision = self.shared.revision();
        let call = CallStart { direction, method, id, params: params.as_ref(), source, revision, context };
        OpenCall::begin(&*self.observer, &call, method, now)
    }

    /// The id of the request that a notification cancels. `None` for any other notification.
    fn cancelled_id(&self, notification: &Notification) -> Option<RequestId> {
        let cancels = &*notification.method == self.cancel_method;
        let params = notification.params.as_ref().filter(|_| cancels)?;
        params.member("requestId")?.decode().ok()
    }

    fn peer_cancelled(&mut self, id: &RequestId, now: Instant, ends: bool) {
        let Some(call) = self.incoming.get(id) else { return };
        call.cancelled();
        if ends && let Some(call) = self.take_incoming(id) {
            self.end(call, id, Outcome::Cancelled, now);
        }
    }

    /// Takes the peer's latest call with this id.
    fn take_incoming(&mut self, id: &RequestId) -> Option<OpenCall> {
        let (id, mut call) = self.incoming.remove_entry(id)?;
        if let Some(earlier) = call.earlier.take() {
            self.incoming.insert(id, *earlier);
        }
        Some(call)
    }

    fn end_outgoing(&mut self, id: &RequestId, outcome: Outcome<'_>, now: Instant) {
        if let Some(call) = self.outgoing.remove(id) {
            self.end(call, id, outcome, now);
        }
    }

    fn end(&self, call: OpenCall, id: &RequestId, outcome: Outcome<'_>, now: Instant) {
        call.end(id, outcome, now, self.shared.revision());
    }
}

/// Reports the end of the connection, and of the calls that are still open.
impl Drop for ConnectionObservation {
    fn drop(&mut self) {
        let now = self.shared.now();
        for (id, call) in std::mem::take(&mut self.outgoing) {
            self.end(call, &id, Outcome::Closed, now);
        }
        for id in self.incoming.keys().cloned().collect::<Vec<_>>() {
            while let Some(call) = self.take_incoming(&id) {
                self.end(call, &id, Outcome::Closed, now);
            }
        }
        let reason = self.shared.lock().reason().reason;
        let end = ConnectionEnd {
            error: reason.as_deref(),
            duration: now.saturating_duration_since(self.began),
            revision: self.shared.revision(),
        };
        guarded(|| self.observer.connection_ended(&end));
    }
}

pub(super) fn outcome(response: &Response) -> Outcome<'_> {
    match &response.outcome {
        Ok(result) => Outcome::Result(result),
        Err(error) => Outcome::Error(error),
    }
}
