//! The JSON-RPC connection as a state machine without I/O: takes frames and calls, returns events, frames to send and deadlines.

use std::collections::VecDeque;
use std::time::Instant;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Notification, RawJson, Request, RequestId, Response};
use bytestring::ByteString;

use crate::calls::{CallOptions, Calls};
use crate::config::Config;
use crate::event::{CallFailure, CallId, Event, IncomingId};
use crate::pending_requests::PendingRequests;
use crate::queue::{EntryKind, Queue, Transmit};
use crate::response_policy::ResponsePolicy;

/// The capacity that each collection keeps while the connection is idle.
const IDLE_CAPACITY: usize = 16;

/// One side of a connection, from the first message to the last.
///
/// It does no I/O, never waits, and reads no clock. The methods are of four kinds:
///
/// - *input*: [`handle_frame`](Self::handle_frame), [`handle_caller_left`](Self::handle_caller_left),
///   [`handle_failure`](Self::handle_failure), [`handle_timeout`](Self::handle_timeout), [`handle_end`](Self::handle_end);
/// - *output*: [`poll_event`](Self::poll_event), [`poll_transmit`](Self::poll_transmit),
///   [`poll_timeout`](Self::poll_timeout);
/// - *mutators*: [`call`](Self::call), [`notify`](Self::notify), [`answer`](Self::answer),
///   [`cancel`](Self::cancel);
/// - *getters*: [`has_room`](Self::has_room), [`may_run_handlers`](Self::may_run_handlers), [`wants_input`](Self::wants_input)
///   and the counts.
///
/// After any input or mutator, call `poll_event` until it returns `None`, then `poll_transmit` while the transport is ready,
/// then set a timer by `poll_timeout`. A response that is passed to `handle_frame` before `handle_timeout` is called resolves
/// its call, even at the instant of the deadline.
#[derive(Debug)]
pub struct Connection {
    pub(crate) config: Config,
    pub(crate) calls: Calls,
    pub(crate) requests: PendingRequests,
    pub(crate) queue: Queue,
    pub(crate) events: VecDeque<Event>,
    ended: bool,
}

impl Connection {
    /// Makes a connection before its first message.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            calls: Calls::default(),
            requests: PendingRequests::new(),
            queue: Queue::new(),
            // Growing from none would make room for four events, which an idle session keeps.
            events: VecDeque::with_capacity(1),
            ended: false,
        }
    }

    /// Handles a frame that has arrived.
    pub fn handle_frame(&mut self, now: Instant, frame: Frame) {
        match frame {
            Frame::Single(message) => self.handle_message(now, message, None),
            Frame::Malformed(malformed) => self.handle_malformed(now, malformed, None),
            Frame::Batch(messages) if !self.config.dialect.batches => self.refuse_batch(now, messages),
            Frame::Batch(messages) => self.handle_batch(now, messages),
        }
    }

    /// Handles the transport's report that the caller of the request with this id has left: a response cannot be delivered.
    pub fn handle_caller_left(&mut self, id: &RequestId) {
        if let Some((incoming, entry)) = self.requests.find(id) {
            entry.abandoned = true;
            if !std::mem::replace(&mut entry.cancelled, true) {
                self.events.push_back(Event::Cancelled(incoming));
            }
        }
    }

    /// Handles the transport's report that it could not carry the request with this id. Its call fails, if it is open. The
    /// peer gets no cancel, because it may never have received the request. Returns the call that failed.
    pub fn handle_failure(&mut self, id: &RequestId) -> Option<CallId> {
        let call = self.take_call(id)?;
        self.events.push_back(Event::CallEnded { call, outcome: Err(CallFailure::Failed) });
        Some(call)
    }

    /// Fails the calls whose deadline has passed, and cancels them at the peer, as [`cancel`](Self::cancel) does.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((id, mut call, waited)) = self.calls.take_expired(now) {
            let failure = call.suspected_failure.take().unwrap_or(CallFailure::TimedOut(waited));
            // A peer that does not answer cancelled calls has sent a later response before the cancel arrived. That response is
            // reported as unmatched, because it shows that the time-out is too short.
            if self.withdraw(id, call, "timed out") && self.config.dialect.answers_cancelled {
                self.calls.note_cancelled(id);
            }
            self.events.push_back(Event::CallEnded { call: id, outcome: Err(failure) });
        }
    }

    /// Handles the end of input: calls fail. Requests of the peer can still be answered.
    pub fn handle_end(&mut self) {
        self.ended = true;
        for (id, call) in self.calls.take_all() {
            self.queue.withdraw(id);
            let failure = call.suspected_failure.unwrap_or(CallFailure::Closed);
            self.events.push_back(Event::CallEnded { call: id, outcome: Err(failure) });
        }
    }

    /// Returns the next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the next frame to send.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.queue.pop()
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.calls.next_deadline()
    }

    /// Reserves an id for a call. A call whose parameters contain the id, as MCP's progress token does, needs it early.
    pub fn reserve_call(&mut self) -> CallId {
        self.calls.reserve()
    }

    /// Makes a call, under an id from [`reserve_call`](Self::reserve_call). It ends with an [`Event::CallEnded`]. `in_reply_to` is
    /// the request of the peer that the call belongs to.
    pub fn call(
        &mut self,
        now: Instant,
        id: CallId,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        options: CallOptions,
        in_reply_to: Option<RequestId>,
    ) {
        if self.ended {
            self.events.push_back(Event::CallEnded { call: id, outcome: Err(CallFailure::Closed) });
            return;
        }
        let method = method.into();
        self.calls.insert(now, id, &method, &self.config.dialect, options, in_reply_to.clone());
        let request = Request::new(id.request_id(), method, params);
        self.queue.push(Message::from(request), in_reply_to, EntryKind::Call(id));
    }

    /// Queues a notification. `in_reply_to` is the request of the peer that it belongs to.
    #[inline]
    pub fn notify(
        &mut self,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        in_reply_to: Option<RequestId>,
    ) {
        let notification = Notification::new(method, params);
        self.calls.note_other_message();
        self.queue.push(Message::from(notification), in_reply_to, EntryKind::Notification);
    }

    /// Queues a notification unless an identical one is already queued, so that the queue does not grow while a peer reads
    /// slowly. Returns whether it was queued.
    pub fn notify_coalesced(
        &mut self,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        in_reply_to: Option<RequestId>,
    ) -> bool {
        let frame = Frame::from(Message::from(Notification::new(method, params)));
        let transmit = Transmit { size: frame.size_hint(), frame, in_reply_to };
        let is_news = !self.queue.has_notification(&transmit);
        if is_news {
            self.calls.note_other_message();
            self.queue.push(transmit.frame, transmit.in_reply_to, EntryKind::Notification);
        }
        is_news
    }

    /// Answers a request of the peer. A second call for the same request does nothing.
    pub fn answer(&mut self, incoming: IncomingId, outcome: Result<RawJson, ErrorObject>) {
        let Some(entry) = self.requests.remove(incoming) else {
            return;
        };
        let unwanted = entry.abandoned
            || (entry.cancelled && !self.config.dialect.answers_cancelled)
            || !self.responds_to(&entry.id);
        let response = Response::new(entry.id, outcome);
        match entry.batch {
            Some(batch) => {
                let limit = self.config.batch_response_limit;
                let responses = self.requests.settle(batch, (!unwanted).then_some(response), limit);
                self.send_batch(responses);
            }
            None if unwanted => {}
            None => {
                self.calls.note_other_message();
                let in_reply_to = Some(response.id.clone());
                self.queue.push(Message::from(response), in_reply_to, EntryKind::Responses(1));
            }
        }
    }

    /// Cancels a call. A request that is still queued is withdrawn. Otherwise the peer gets a cancel, unless the
    /// [`Dialect`](crate::Dialect) forbids to cancel the method, and its response becomes an [`Event::CancelledResponse`].
    /// The call causes no other event.
    pub fn cancel(&mut self, call: CallId, reason: &str) {
        if let Some(entry) = self.calls.remove(call)
            && self.withdraw(call, entry, reason)
        {
            self.calls.note_cancelled(call);
        }
    }

    /// Whether a call's request is still queued. Then cancelling the call withdraws the request.
    pub fn is_queued(&self, call: CallId) -> bool {
        self.queue.holds(call)
    }

    /// Sets whether batches are accepted from now on. In MCP the negotiated revision decides.
    pub fn set_batches(&mut self, batches: bool) {
        self.config.dialect.batches = batches;
    }

    /// Whether batches are accepted.
    pub fn accepts_batches(&self) -> bool {
        self.config.dialect.batches
    }

    /// Sets which messages of the peer get a response from now on. Earlier requests that are not among them get no response
    /// either.
    pub fn set_responses(&mut self, responses: ResponsePolicy) {
        self.config.responses = responses;
    }

    /// Whether a request with this id, or an unreadable message that may be a request, gets a response. The id is null if none
    /// could be read.
    pub fn responds_to(&self, id: &RequestId) -> bool {
        match self.config.responses {
            ResponsePolicy::All => true,
            ResponsePolicy::WithId => !id.is_null(),
            ResponsePolicy::None => false,
        }
    }

    /// Releases unused memory, unless it is little. Call it when the connection becomes idle: it may stay idle for hours.
    pub fn shrink(&mut self) {
        if self.events.capacity() > IDLE_CAPACITY {
            self.events.shrink_to_fit();
        }
        self.queue.shrink(IDLE_CAPACITY);
        self.requests.shrink(IDLE_CAPACITY);
    }

    /// Whether fewer than [`Config::high_water`] bytes are queued. The queue accepts frames beyond it.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queue.is_empty() || self.queue.size() < self.config.high_water
    }

    /// [`Config::high_water`], in bytes.
    #[inline]
    pub fn high_water(&self) -> usize {
        self.config.high_water
    }

    /// Whether handlers may run: fewer than [`Config::backlog_limit`] bytes are queued. A peer that sends requests and does
    /// not read must not fill the memory with responses. `unsent` is how many bytes the transport holds.
    ///
    /// Reading continues as [`wants_input`](Self::wants_input) requires. The pause delays no response, because a new response
    /// would wait in the queue after the other frames.
    #[inline]
    pub fn may_run_handlers(&self, unsent: usize) -> bool {
        let waiting = self.queue.size().saturating_add(unsent);
        waiting == 0 || waiting < self.config.backlog_limit.max(self.config.high_water)
    }

    /// Whether frames should be read. Reading pauses only while [`Config::request_limit`] requests are unanswered *and*
    /// [`Config::backlog_limit`] bytes are queued: a peer that sends requests and never reads must not fill the memory.
    #[inline]
    pub fn wants_input(&self) -> bool {
        self.has_room()
            || self.queue.size() < self.config.backlog_limit
            || self.requests.count_with_batched() + self.queue.responses() < self.config.request_limit
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) would return a frame.
    #[inline]
    pub fn wants_output(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The approximate size of the queue, in bytes.
    pub fn queued_bytes(&self) -> usize {
        self.queue.size()
    }

    /// How many calls of this side are open.
    pub fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    /// How many requests of the peer are unanswered.
    pub fn pending_requests(&self) -> usize {
        self.requests.len()
    }

    /// The id under which a request arrived, while it is unanswered.
    pub fn incoming_request_id(&self, incoming: IncomingId) -> Option<&RequestId> {
        self.requests.id(incoming)
    }

    /// Whether no frame is queued, no call is open on either side and no event is left.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.events.is_empty()
            && self.calls.len() == 0
            && self.requests.len() == 0
            && self.requests.open_batches() == 0
    }
}
