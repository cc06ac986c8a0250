use std::time::Instant;

use agentwire_jsonrpc::{
    ErrorObject, Frame, Intent, Malformed, Message, Notification, RawJson, Request, RequestId, Response,
};
use bytestring::ByteString;
use serde::{Deserialize, Serialize};

use crate::calls::{Call, CallOptions, Calls};
use crate::config::Config;
use crate::event::{CallFailure, CallId, Event, OwedId};
use crate::line::Line;
use crate::owed::Ledger;
use crate::queue::{Kind, Queue, Transmit};

/// From how many places on empty ones are given back.
const MANY: usize = 16;

/// One side of an exchange, from the first message to the last.
///
/// Nothing here reads, writes, waits or looks at a clock. The methods are of four kinds:
///
/// - *input*: [`handle_frame`](Self::handle_frame), [`handle_abandon`](Self::handle_abandon),
///   [`handle_failure`](Self::handle_failure), [`handle_timeout`](Self::handle_timeout), [`handle_end`](Self::handle_end);
/// - *output*: [`poll_event`](Self::poll_event), [`poll_transmit`](Self::poll_transmit),
///   [`poll_timeout`](Self::poll_timeout);
/// - *mutators*: [`call`](Self::call), [`notify`](Self::notify), [`answer`](Self::answer),
///   [`cancel`](Self::cancel);
/// - *getters*: [`has_room`](Self::has_room), [`takes_answers`](Self::takes_answers), [`wants_input`](Self::wants_input)
///   and the counts.
///
/// After any input or mutator, ask `poll_event` until it gives none, then `poll_transmit` while the transport
/// is ready, then set a timer by `poll_timeout`. An answer that is handed in before the timer is wins,
/// even at the very instant of the deadline.
#[derive(Debug)]
pub struct Connection {
    config: Config,
    calls: Calls,
    ledger: Ledger,
    queue: Queue,
    events: Line<Event>,
    ended: bool,
}

impl Connection {
    /// A connection on which nothing has been said.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            calls: Calls::default(),
            ledger: Ledger::default(),
            queue: Queue::default(),
            events: Line::default(),
            ended: false,
        }
    }

    /// Takes a frame that arrived.
    pub fn handle_frame(&mut self, now: Instant, frame: Frame) {
        match frame {
            Frame::Single(message) => self.handle_message(now, message, None),
            Frame::Malformed(malformed) => self.handle_malformed(malformed, None),
            Frame::Batch(_) if !self.config.dialect.batches => {
                let error = ErrorObject::invalid_request("an array of messages is not taken here");
                self.events.push(Event::Unreadable(error.clone()));
                self.refuse(RequestId::NULL, error, None);
            }
            Frame::Batch(messages) => self.handle_batch(now, messages),
        }
    }

    /// Takes the news that whoever sent the request with this id cannot be answered any more.
    pub fn handle_abandon(&mut self, id: &RequestId) {
        if let Some((owed, entry)) = self.ledger.find(id) {
            entry.abandoned = true;
            if !std::mem::replace(&mut entry.cancelled, true) {
                self.events.push(Event::Cancelled(owed));
            }
        }
    }

    /// Takes the news that the request with this id gets no answer, because what carried it failed. If it is a
    /// call of ours that waits, it is over. The peer is not told: it may never have heard of it.
    pub fn handle_failure(&mut self, id: &RequestId) -> Option<CallId> {
        let call = self.take_call(id)?;
        self.events.push(Event::Answered { call, outcome: Err(CallFailure::Failed) });
        Some(call)
    }

    /// Takes the time: calls whose deadline has come fail, and the peer is told.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((id, call, waited)) = self.calls.take_expired(now) {
            self.withdraw(id, call, "timed out");
            self.events.push(Event::Answered { call: id, outcome: Err(CallFailure::TimedOut(waited)) });
        }
    }

    /// Takes the news that nothing more will arrive. Calls of ours fail; what we owe can still be answered.
    pub fn handle_end(&mut self) {
        self.ended = true;
        for call in self.calls.take_all() {
            self.queue.take_back(call);
            self.events.push(Event::Answered { call, outcome: Err(CallFailure::Closed) });
        }
    }

    /// The next thing that happened.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The next frame to send.
    #[inline]
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.queue.pop()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.calls.next_deadline()
    }

    /// Takes an id for a call that is about to be made, for calls whose parameters carry it (as MCP's
    /// progress token).
    pub fn reserve_call(&mut self) -> CallId {
        self.calls.reserve()
    }

    /// Makes a call, under an id from [`reserve_call`](Self::reserve_call). Its end is an
    /// [`Event::Answered`]. `related` is the peer's request in the course of which we ask.
    pub fn call(
        &mut self,
        now: Instant,
        id: CallId,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        options: CallOptions,
        related: Option<RequestId>,
    ) {
        if self.ended {
            self.events.push(Event::Answered { call: id, outcome: Err(CallFailure::Closed) });
            return;
        }
        let method = method.into();
        self.calls.insert(now, id, &method, &self.config.dialect, options, related.clone());
        let request = Request::new(id.request_id(), method, params);
        self.queue.push(Message::from(request), related, Kind::Call(id));
    }

    /// Says something. `related` is the peer's request in the course of which it is said.
    #[inline]
    pub fn notify(
        &mut self,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        related: Option<RequestId>,
    ) {
        let notification = Notification::new(method, params);
        self.queue.push(Message::from(notification), related, Kind::Notification);
    }

    /// Says something that is said as well by the same that waits to be sent already: then it does nothing. So a peer
    /// that reads slowly makes no queue grow. False if it did nothing.
    pub fn notify_once(
        &mut self,
        method: impl Into<ByteString>,
        params: Option<RawJson>,
        related: Option<RequestId>,
    ) -> bool {
        let frame = Frame::from(Message::from(Notification::new(method, params)));
        let transmit = Transmit { size: frame.size_hint(), frame, related };
        let is_news = !self.queue.has_notification(&transmit);
        if is_news {
            self.queue.push(transmit.frame, transmit.related, Kind::Notification);
        }
        is_news
    }

    /// Answers a request of the peer's. Answering one that has been answered does nothing.
    pub fn answer(&mut self, owed: OwedId, outcome: Result<RawJson, ErrorObject>) {
        let Some(entry) = self.ledger.remove(owed) else {
            return;
        };
        let unwanted = entry.abandoned || (entry.cancelled && !self.config.dialect.answers_cancelled);
        let response = Response::new(entry.id, outcome);
        match entry.batch {
            Some(batch) => {
                let limit = self.config.batch_answers_limit;
                let answers = self.ledger.settle(batch, (!unwanted).then_some(response), limit);
                self.send_batch(answers);
            }
            None if unwanted => {}
            None => {
                let related = Some(response.id.clone());
                self.queue.push(Message::from(response), related, Kind::Answer(1));
            }
        }
    }

    /// No longer waits for a call. A request that has not left is taken back; otherwise the peer is told,
    /// and its answer will be a stray. There is no event for it.
    pub fn cancel(&mut self, call: CallId, reason: &str) {
        if let Some(entry) = self.calls.remove(call) {
            self.withdraw(call, entry, reason);
        }
    }

    /// Whether a call's request is still in the queue. If so, the peer never hears of a call that is cancelled now.
    pub fn is_queued(&self, call: CallId) -> bool {
        self.queue.holds(call)
    }

    /// Whether batches are taken from now on, which MCP decides by the revision agreed on.
    pub fn take_batches(&mut self, batches: bool) {
        self.config.dialect.batches = batches;
    }

    /// Gives memory back that a busier time has taken. Worth asking for when nothing is going on: a connection may
    /// stay like that for hours. With little to give back it does nothing.
    pub fn shrink(&mut self) {
        self.events.shrink(MANY);
        self.queue.shrink(MANY);
        self.ledger.shrink(MANY);
    }

    /// Whether little enough waits to be sent that more may be said. What is said regardless is kept.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.queue.is_empty() || self.queue.size() < self.config.high_water
    }

    /// Whether requests should be worked on, so that answers to them come. Not while much waits to be sent: a peer that
    /// asks for much and reads nothing would fill our memory. `unsent` is how many bytes the transport holds of what it
    /// was given.
    ///
    /// Reading must go on meanwhile, as [`wants_input`](Self::wants_input) says. So it holds up nobody else that work
    /// waits: its answers would stand behind what waits already.
    #[inline]
    pub fn takes_answers(&self, unsent: usize) -> bool {
        let waiting = self.queue.size().saturating_add(unsent);
        waiting == 0 || waiting < self.config.backlog_limit.max(self.config.high_water)
    }

    /// Whether frames should be read. Not while much waits to be sent and as many requests as may be wait for
    /// their answer: a peer that asks and asks and never reads would fill our memory.
    #[inline]
    pub fn wants_input(&self) -> bool {
        self.has_room()
            || self.queue.size() < self.config.backlog_limit
            || self.ledger.pending() + self.queue.answers() < self.config.request_limit
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) has something to give.
    #[inline]
    pub fn wants_output(&self) -> bool {
        !self.queue.is_empty()
    }

    /// How many calls of ours are not over.
    pub fn calls_in_flight(&self) -> usize {
        self.calls.len()
    }

    /// How many requests of the peer's have no answer yet.
    pub fn calls_owed(&self) -> usize {
        self.ledger.len()
    }

    /// The id under which a request arrived, while it is owed.
    pub fn owed_request_id(&self, owed: OwedId) -> Option<&RequestId> {
        self.ledger.id(owed)
    }

    /// Whether nothing waits to be sent, no call is open on either side and no event is left.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
            && self.events.is_empty()
            && self.calls.len() == 0
            && self.ledger.len() == 0
            && self.ledger.open_batches() == 0
    }

    fn handle_message(&mut self, now: Instant, message: Message, batch: Option<usize>) {
        match message {
            Message::Request(request) => self.handle_request(request, batch),
            Message::Notification(notification) => self.handle_notification(now, notification),
            Message::Response(response) => self.handle_response(response),
        }
    }

    fn handle_request(&mut self, request: Request, batch: Option<usize>) {
        let limit = self.config.request_limit;
        let id = request.id.clone();
        let error = if id.is_null() && !self.config.dialect.null_ids {
            ErrorObject::invalid_request("the id of a request is a string or an integer")
        } else if self.ledger.pending() >= limit {
            ErrorObject::internal_error(format_args!(
                "{limit} requests wait for an answer, which is the limit"
            ))
            .with_data(&Limit { limit })
        } else if let Some(owed) = self.ledger.insert(id.clone(), batch) {
            self.events.push(Event::Request { owed, request, in_batch: batch.is_some() });
            return;
        } else {
            ErrorObject::invalid_request(format_args!("the request {id} is still waiting for its answer"))
        };
        self.refuse(id, error, batch);
    }

    fn handle_notification(&mut self, now: Instant, notification: Notification) {
        let dialect = &self.config.dialect;
        let method = &*notification.method;
        if method == dialect.cancel_method {
            self.handle_cancel(&notification);
        } else if dialect.progress_method == Some(method) {
            self.handle_progress(now, notification);
        } else {
            self.events.push(Event::Notification(notification));
        }
    }

    /// A cancel that names no request, or cannot be read, is passed over: it may have crossed the answer.
    fn handle_cancel(&mut self, notification: &Notification) {
        let params = notification.params.as_ref().and_then(|params| params.decode::<CancelParams>().ok());
        let Some(CancelParams { request_id: id, .. }) = params else {
            return;
        };
        if let Some((owed, entry)) = self.ledger.find(&id) {
            if !std::mem::replace(&mut entry.cancelled, true) {
                self.events.push(Event::Cancelled(owed));
            }
        } else if let Some(call) = id.as_u64().map(CallId)
            && self.calls.find(call).is_some_and(|entry| entry.ended_by_cancel)
        {
            self.calls.remove(call);
            self.events.push(Event::Answered { call, outcome: Err(CallFailure::Cancelled) });
        }
    }

    fn handle_progress(&mut self, now: Instant, notification: Notification) {
        let Some(params) = notification.params.clone() else {
            return;
        };
        let Ok(ProgressParams { progress_token }) = params.decode() else {
            return;
        };
        match progress_token.as_u64().map(CallId) {
            Some(call) if self.calls.progress(now, call) => {
                self.events.push(Event::Progress { call, params })
            }
            // Our calls have numbers. Whoever gives out words for what outlives a call knows what they stand for.
            None if progress_token.as_str().is_some() => self.events.push(Event::Notification(notification)),
            _ => {}
        }
    }

    fn handle_response(&mut self, response: Response) {
        match self.take_call(&response.id) {
            Some(call) => {
                let outcome = response.outcome.map_err(CallFailure::Refused);
                self.events.push(Event::Answered { call, outcome });
            }
            None => self.events.push(Event::Stray(response)),
        }
    }

    fn handle_malformed(&mut self, malformed: Malformed, batch: Option<usize>) {
        match malformed.intent {
            Intent::Request(id) => {
                // In a batch the sender reads with the other answers which element it was.
                if id.is_null() && batch.is_none() {
                    self.events.push(Event::Unreadable(malformed.error.clone()));
                }
                self.refuse(id, malformed.error, batch);
            }
            Intent::Response(id) => {
                let event = match self.take_call(&id) {
                    Some(call) => {
                        let outcome = Err(CallFailure::Malformed(malformed.error));
                        Event::Answered { call, outcome }
                    }
                    None => Event::Stray(Response::new(id, Err(malformed.error))),
                };
                self.events.push(event);
            }
            // A notification is never answered, whatever is wrong with it.
            _ => self.events.push(Event::Unreadable(malformed.error)),
        }
    }

    fn handle_batch(&mut self, now: Instant, messages: Vec<Result<Message, Malformed>>) {
        let batch = self.ledger.open_batch();
        for message in messages {
            match message {
                Ok(message) => self.handle_message(now, message, Some(batch)),
                Err(malformed) => self.handle_malformed(malformed, Some(batch)),
            }
        }
        let answers = self.ledger.close_batch(batch);
        self.send_batch(answers);
    }

    /// The call of ours that an answer with this id is for; it is over then.
    fn take_call(&mut self, id: &RequestId) -> Option<CallId> {
        let call = CallId(id.as_u64()?);
        self.calls.remove(call).map(|_| call)
    }

    fn refuse(&mut self, id: RequestId, error: ErrorObject, batch: Option<usize>) {
        let related = Some(id.clone()).filter(|id| !id.is_null());
        let response = Response::new(id, Err(error));
        match batch {
            Some(batch) => self.ledger.add_to_batch(batch, response.into()),
            None => self.queue.push(Message::from(response), related, Kind::Answer(1)),
        }
    }

    fn send_batch(&mut self, answers: Option<Vec<Message>>) {
        if let Some(answers) = answers {
            let count = answers.len();
            let related = answers.iter().find_map(|answer| match answer {
                Message::Response(response) if !response.id.is_null() => Some(response.id.clone()),
                _ => None,
            });
            let frame = Frame::Batch(answers.into_iter().map(Ok).collect());
            self.queue.push(frame, related, Kind::Answer(count));
        }
    }

    /// Tells the peer that a call is no longer waited for, unless it never heard of it. That goes the way that
    /// the request went.
    fn withdraw(&mut self, call: CallId, entry: Call, reason: &str) {
        if self.queue.take_back(call) || entry.uncancellable {
            return;
        }
        let dialect = &self.config.dialect;
        let params = CancelParams {
            request_id: call.request_id(),
            reason: dialect.cancel_has_reason.then(|| reason.to_owned()),
        };
        let params = RawJson::encode(&params).expect("an id and a text always have a JSON form");
        self.notify(self.config.dialect.cancel_method, Some(params), entry.related);
    }
}

/// Both protocols spell these alike.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CancelParams {
    request_id: RequestId,
    #[serde(default, skip_serializing_if = "Option::is_none", skip_deserializing)]
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams {
    progress_token: RequestId,
}

#[derive(Serialize)]
struct Limit {
    limit: usize,
}
