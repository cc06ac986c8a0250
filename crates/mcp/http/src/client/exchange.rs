//! Runs one POST with requests, or the GET stream of a session, as a state machine. Resumes a broken stream by a GET with
//! `Last-Event-ID`.

pub(crate) mod arrival;
pub(crate) mod backoff;
pub(crate) mod body;
pub(crate) mod event_stream;
#[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
pub(crate) mod inflate;
pub(crate) mod param_headers;
pub(crate) mod purpose;
pub(crate) mod requests;
pub(crate) mod route;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Intent, Message, RequestId, Response};
use agentwire_mcp_wire::header::is_session_id;
use agentwire_transport::{Packet, TransportError};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::client::exchange::arrival::Arrival;
use crate::client::exchange::backoff::Backoff;
use crate::client::exchange::body::LINGER;
use crate::client::exchange::event_stream::EventStream;
use crate::client::exchange::purpose::Purpose;
use crate::client::exchange::requests::{Content, Reply, Requests};
use crate::client::exchange::route::MessageKind;
use crate::client::{ConnectFault, HttpError, Wait};
use crate::header;
use crate::sse::Event;

/// The most consecutive refused connections before a call fails: a server that was restarted has forgotten the request.
const MAX_REFUSALS: u32 = 2;

/// The longest name of an event in an error, in characters.
const MAX_NAME: usize = 64;

/// One stream: a POST with requests and the events that answer them, or the GET stream of the session.
///
/// ```text
///  Send ──▶ Read ──▶ Linger ──▶ Over
///            │ ▲
///   cut off  ▼ │  GET with Last-Event-ID
///           Wait
/// ```
pub(crate) struct Exchange {
    requests: Arc<Requests>,
    purpose: Purpose,
    state: ExchangeState,
    /// Arrivals that `next` returns before anything else.
    ready: VecDeque<Arrival>,
    last_event_id: Option<HeaderValue>,
    backoff: Backoff,
    /// The last event that was skipped for its name. The error names it if no answer comes.
    ignored: Option<String>,
    /// Held until all of its requests are answered.
    permit: Option<OwnedSemaphorePermit>,
}

enum ExchangeState {
    Send(HeaderMap, Bytes),
    Read(EventStream),
    Wait(Duration),
    /// Reads on until this time, at most.
    Linger(EventStream, Instant),
    Over,
}

impl Exchange {
    pub(crate) fn call(requests: Arc<Requests>, purpose: Purpose, headers: HeaderMap, body: Bytes) -> Self {
        Self::new(requests, purpose, ExchangeState::Send(headers, body))
    }

    pub(crate) fn listen(requests: Arc<Requests>) -> Self {
        Self::new(requests, Purpose::Listen { opened: false }, ExchangeState::Wait(Duration::ZERO))
    }

    fn new(requests: Arc<Requests>, purpose: Purpose, state: ExchangeState) -> Self {
        let ready = VecDeque::new();
        Self {
            requests,
            purpose,
            state,
            ready,
            last_event_id: None,
            backoff: Backoff::default(),
            ignored: None,
            permit: None,
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Arrival> {
        loop {
            if let Some(arrival) = self.ready.pop_front() {
                return Some(arrival);
            }
            match std::mem::replace(&mut self.state, ExchangeState::Over) {
                ExchangeState::Over => return None,
                ExchangeState::Send(headers, body) => self.send(headers, body).await,
                ExchangeState::Read(events) => self.read(events).await,
                ExchangeState::Wait(delay) => self.resume(delay).await,
                ExchangeState::Linger(events, until) => self.linger(events, until).await,
            }
        }
    }

    async fn send(&mut self, headers: HeaderMap, body: Bytes) {
        if !matches!(self.purpose, Purpose::Call { kind: MessageKind::Listen, .. }) {
            self.permit = self.requests.permit().await;
        }
        let reply = match self.requests.post(headers, body, Wait::FirstByte).await {
            Ok(reply) => reply,
            Err(error) => return self.fail(error),
        };
        if !reply.status.is_success() {
            return self.refused(reply, true).await;
        }
        if matches!(self.purpose, Purpose::Call { kind: MessageKind::Initialize, .. }) {
            let id = reply.headers.get(&header::SESSION_ID);
            let id = id.filter(|id| is_session_id(id.as_bytes())).cloned();
            let mut session = self.requests.session();
            (session.id, session.version) = (id, None);
        }
        match reply.content() {
            Content::Events => self.state = ExchangeState::Read(self.events(reply)),
            Content::Json => match reply.body.collect(self.requests.config.limits.message_limit).await {
                Ok(body) if body.is_empty() => {
                    self.fail(HttpError::OtherContent { found: "the body is empty".to_owned() });
                }
                Ok(body) => {
                    self.take_message(Frame::parse_bytes_with(body, self.requests.config.limits.batch_limit));
                    self.end_without_answer(HttpError::NoAnswer);
                }
                Err(error) => self.fail(error),
            },
            Content::Other => {
                let error = reply.unexpected();
                reply.body.drain().await;
                self.fail(error);
            }
        }
    }

    fn events(&self, reply: Reply) -> EventStream {
        EventStream::of(reply.body, self.requests.config.limits.line_limit())
    }

    /// Handles a refusal of the request itself (`is_request`), or of resuming the stream of an accepted request.
    async fn refused(&mut self, reply: Reply, is_request: bool) {
        let (refusal, id) = reply.refusal().await;
        if let Some(answer) = self.purpose.answer_in(&refusal, id, self.has_expired(refusal.status)) {
            self.take_frame(Message::from(answer).into());
            return self.end_without_answer(HttpError::Refused(Box::new(refusal)));
        }
        if self.has_expired(refusal.status) {
            // The server has not worked on this request. Requests that fail with the transport may have run.
            if is_request {
                self.fail(HttpError::SessionExpired);
            }
            self.ready.push_back(Arrival::SessionExpired);
        } else {
            self.fail(HttpError::Refused(Box::new(refusal)));
        }
    }

    /// Whether a response with this status means that the server has ended the session.
    fn has_expired(&self, status: StatusCode) -> bool {
        status == StatusCode::NOT_FOUND
            && self.purpose.is_in_session()
            && self.requests.session().id.is_some()
    }

    async fn read(&mut self, mut events: EventStream) {
        match events.next_event().await {
            Ok(Some(event)) => {
                self.take_event(event);
                self.state = match &self.purpose {
                    Purpose::Call { pending, .. } if pending.is_empty() => {
                        ExchangeState::Linger(events, Instant::now() + LINGER)
                    }
                    _ => ExchangeState::Read(events),
                };
            }
            // A server that has sent `retry` ends the stream on purpose.
            Ok(None) if self.backoff.has_retry() => self.wait(HttpError::NoAnswer),
            Ok(None) => {
                let found = events.unread().map(str::to_owned).or_else(|| self.ignored.take());
                let other = found.map(|found| HttpError::OtherContent { found });
                self.wait_after_failure(other.unwrap_or(HttpError::NoAnswer));
            }
            // The server may have nothing to send, but a silent connection may also be dead.
            Err(HttpError::TimedOut { .. }) if matches!(self.purpose, Purpose::Listen { .. }) => {
                self.state = ExchangeState::Wait(Duration::ZERO);
            }
            Err(error @ (HttpError::Broken(_) | HttpError::TimedOut { .. })) => {
                self.wait_after_failure(error)
            }
            // A resumed stream would begin with the same unreadable event.
            Err(error) => self.fail(error),
        }
    }

    /// Reads on after the last answer, until the stream ends or the time is over.
    async fn linger(&mut self, mut events: EventStream, until: Instant) {
        let last = tokio::time::timeout_at(until, async {
            while let Ok(Some(event)) = events.next_event().await {
                if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                    return Some(event);
                }
            }
            None
        });
        if let Ok(Some(event)) = last.await {
            self.take_event(event);
            self.state = ExchangeState::Linger(events, until);
        }
    }

    /// Waits longer each time that a stream was opened and brought nothing.
    fn wait_after_failure(&mut self, why: HttpError) {
        self.backoff.failed();
        self.wait(why);
    }

    /// Waits until the stream is resumed, if it can be.
    fn wait(&mut self, why: HttpError) {
        let (resumable, is_kept) = match self.purpose {
            Purpose::Call { modern, .. } => (!modern && self.last_event_id.is_some(), false),
            Purpose::Listen { .. } => (true, true),
        };
        match self.backoff.delay(&self.requests.config, is_kept).filter(|_| resumable) {
            Some(delay) => self.state = ExchangeState::Wait(delay),
            None => self.end_without_answer(why),
        }
    }

    async fn resume(&mut self, delay: Duration) {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        let reply = match self.requests.get(self.last_event_id.clone()).await {
            Ok(reply) => reply,
            Err(error @ HttpError::Redirected { .. }) => return self.fail(error),
            Err(error) => {
                self.backoff.refused();
                let is_call = matches!(self.purpose, Purpose::Call { .. });
                if is_call
                    && self.backoff.failures() > MAX_REFUSALS
                    && error.connect_fault() == Some(ConnectFault::Refused)
                {
                    return self.end_without_answer(error);
                }
                return self.wait(error);
            }
        };
        if reply.status.is_success() {
            if reply.content() != Content::Events {
                let error = reply.unexpected();
                return self.fail(error);
            }
            if let Purpose::Listen { opened } = &mut self.purpose {
                let is_late = std::mem::replace(opened, true) || self.backoff.failures() > 0;
                self.backoff.opened();
                // Without an id the new stream brings nothing of what was sent before it.
                let has_gap = is_late && self.last_event_id.is_none();
                self.ready.extend(has_gap.then(|| Arrival::gap(None)));
            }
            self.state = ExchangeState::Read(self.events(reply));
        } else if self.purpose.may_succeed_later(reply.status) {
            self.backoff.refused();
            let (refusal, _) = reply.refusal().await;
            self.wait(HttpError::Refused(Box::new(refusal)));
        } else if matches!(reply.status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND)
            && !self.has_expired(reply.status)
            && matches!(self.purpose, Purpose::Listen { .. })
            && self.last_event_id.take().is_some()
        {
            // The server has forgotten the stream, or another node had it. A new stream has only later messages. This does not count as a
            // failure: the new stream names no event, so it cannot be refused for that again.
            let (refusal, _) = reply.refusal().await;
            self.wait(HttpError::Refused(Box::new(refusal)));
        } else {
            self.refused(reply, false).await;
        }
    }

    fn take_event(&mut self, event: Event) {
        if let Some(id) = event.id {
            // An empty id resets it, and so does one that no header can carry.
            let id = Some(id).filter(|id| !id.is_empty());
            self.last_event_id = id.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok());
        }
        self.backoff.event(event.retry);
        let other = event.name.filter(|name| name != "message");
        if let Some(data) = event.data.filter(|data| !data.is_empty()) {
            if let Some(name) = other {
                let name: String = name.chars().take(MAX_NAME).collect();
                self.ignored = Some(format!("an event `{name}` in place of `message`"));
                return;
            }
            self.backoff.message();
            self.take_message(Frame::parse_with(data, self.requests.config.limits.batch_limit));
        }
    }

    fn take_message(&mut self, mut frame: Frame) {
        if let Purpose::Call { pending, .. } = &self.purpose
            && let [only] = &pending[..]
        {
            route::name_answer(&mut frame, only);
        }
        match frame {
            // An answer without an id would be of no use to the server.
            Frame::Malformed(malformed) if malformed.intent == Intent::Request(RequestId::NULL) => {
                match &mut self.purpose {
                    Purpose::Call { unreadable, .. } => *unreadable = Some(malformed.error),
                    Purpose::Listen { .. } => self.ready.push_back(Arrival::unreadable(malformed.error)),
                }
            }
            frame => self.take_frame(frame),
        }
    }

    fn take_frame(&mut self, frame: Frame) {
        let mut settled = Vec::new();
        if let Purpose::Call { serial, pending, unreadable, .. } = &mut self.purpose
            && !pending.is_empty()
        {
            let answered = pending.extract_if(.., |id| frame.answers(id));
            settled.extend(answered.map(|id| Arrival::Settled(*serial, id)));
            if pending.is_empty() {
                self.permit = None;
                // The answer has come all the same, so no call fails with this.
                if let Some(error) = unreadable.take() {
                    self.ready.push_back(Arrival::unreadable(error));
                }
            }
        }
        if !settled.is_empty()
            && let Frame::Single(Message::Response(response)) = &frame
        {
            self.look_into(response);
        }
        self.ready.push_back(Arrival::Packet(Packet::new(frame)));
        self.ready.extend(settled);
    }

    /// Reads the parts of an answer that later requests need.
    fn look_into(&self, answer: &Response) {
        match (&self.purpose, &answer.outcome) {
            (Purpose::Call { kind: MessageKind::Initialize, .. }, Ok(result)) => {
                if let Some(version) = route::agreed_version(result) {
                    let mut session = self.requests.session();
                    (session.version, session.modern) = (Some(version), None);
                }
            }
            (Purpose::Call { kind: MessageKind::ListTools, modern: true, .. }, Ok(result)) => {
                self.requests.param_headers().learn(result);
            }
            _ => {}
        }
    }

    /// Ends with the error of a malformed message, if there was one, else with `error`.
    fn end_without_answer(&mut self, error: HttpError) {
        let unreadable = match &mut self.purpose {
            Purpose::Call { unreadable, .. } => unreadable.take(),
            Purpose::Listen { .. } => None,
        };
        self.fail(unreadable.map_or(error, HttpError::NotAMessage));
    }

    /// Ends the exchange. Each unanswered request fails. The end of a session's stream is a gap, and so is what was lost before.
    fn fail(&mut self, error: HttpError) {
        self.state = ExchangeState::Over;
        self.permit = None;
        let fault = Arc::new(TransportError::from(error));
        match &mut self.purpose {
            Purpose::Call { serial, pending, .. } => {
                for id in pending.drain(..) {
                    let failed = Packet::RequestFailed { id: id.clone(), error: fault.clone() };
                    self.ready.extend([Arrival::Packet(failed), Arrival::Settled(*serial, id)]);
                }
            }
            Purpose::Listen { opened } => {
                self.ready.extend(opened.then(|| Arrival::gap(None)));
                self.ready.push_back(Arrival::gap(Some(fault)));
            }
        }
    }
}
