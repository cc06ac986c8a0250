//! The Streamable HTTP client transport. Runs request POSTs concurrently, POSTs of notifications and answers one by one, and ends
//! the session with DELETE.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Message, RequestId};
use agentwire_sync::Wakers;
use agentwire_transport::{Packet, TransportError};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{AbortHandle, BoxStream, SelectAll, abortable, unfold};
use futures::{FutureExt, Sink, Stream, StreamExt};
use http::{HeaderMap, StatusCode};
use tokio::time::Sleep;

use crate::client::exchange::Exchange;
use crate::client::exchange::arrival::Arrival;
use crate::client::exchange::purpose::Purpose;
use crate::client::exchange::requests::Requests;
use crate::client::exchange::route;
use crate::client::exchange::route::{MessageKind, Route};
use crate::client::{Config, HttpClient, HttpError, Wait};

/// A transport to a server that speaks Streamable HTTP; see [the module](crate::client).
///
/// Its sink is ready while no notification or answer waits to be accepted. So these keep their order, also towards later
/// requests. All requests run concurrently.
///
/// A program that serves a remote server on its own stdio, for clients that know only that:
///
/// ```no_run
/// # #[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use agentwire_transport::bridge;
/// use agentwire_transport_http::client::Http;
/// use agentwire_transport_stdio::stdio;
///
/// bridge(stdio()?, Http::new("https://example.com/mcp")?).await?;
/// # Ok(())
/// # }
/// ```
pub struct Http {
    requests: Arc<Requests>,
    /// All streams that are being read, or will be.
    exchanges: SelectAll<BoxStream<'static, Arrival>>,
    /// The exchanges with unanswered requests, by the id of each request.
    calls: HashMap<RequestId, PendingCall>,
    next_serial: u64,
    /// The POST of a notification or an answer.
    posting: Option<BoxFuture<'static, PostOutcome>>,
    /// A packet that has arrived and was not taken. No stream is read until it is.
    arrived: Option<Packet>,
    state: HttpState,
    /// Set once the server no longer knows the session: how long the requests in flight may still take.
    expiring: Option<Pin<Box<Sleep>>>,
    /// The time limit of closing, once that has begun.
    closing_time: Option<Pin<Box<Sleep>>>,
    wakers: Arc<Wakers<2>>,
    waker: Waker,
}

struct PendingCall {
    serial: u64,
    modern: bool,
    abort: AbortHandle,
}

/// The outcome of the POST of a notification or an answer.
struct PostOutcome {
    kind: MessageKind,
    outcome: Result<(), HttpError>,
}

enum HttpState {
    Open,
    /// The error that ended it, until it has been reported.
    Failed(Option<TransportError>),
    Closing(BoxFuture<'static, ()>),
    Closed,
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("url", &self.requests.config.url).finish_non_exhaustive()
    }
}

impl Http {
    /// A transport to the server at `url`, with the defaults of [`Config`]. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// When that is not a URL of a server, or TLS cannot be set up.
    #[cfg(any(feature = "reqwest", feature = "rustls-no-provider"))]
    pub fn new(url: &str) -> Result<Self, TransportError> {
        Ok(Config::new(url).map_err(TransportError::other)?.open()?)
    }

    pub(crate) fn with(config: Config, client: impl HttpClient + 'static) -> Self {
        let wakers = Arc::<Wakers<2>>::default();
        Self {
            requests: Arc::new(Requests::new(config, Box::new(client))),
            exchanges: SelectAll::new(),
            calls: HashMap::new(),
            next_serial: 0,
            posting: None,
            arrived: None,
            state: HttpState::Open,
            expiring: None,
            closing_time: None,
            waker: wakers.clone().into(),
            wakers,
        }
    }

    /// Advances everything for the task that writes. What it sends may be answered in the same poll, which wakes no task, so the
    /// task that reads is woken here.
    fn poll_as_writer(&mut self, cx: &mut Context<'_>) {
        self.wakers.register(Wakers::WRITER, cx.waker());
        let had_arrived = self.arrived.is_some();
        self.poll_all();
        if !had_arrived && self.arrived.is_some() {
            self.wakers.wake_one(Wakers::READER);
        }
    }

    /// Advances all streams and POSTs, whichever half is polled.
    fn poll_all(&mut self) {
        if !matches!(self.state, HttpState::Open) {
            return;
        }
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        self.poll_posting(cx);
        while self.arrived.is_none() && matches!(self.state, HttpState::Open) {
            match self.exchanges.poll_next_unpin(cx) {
                Poll::Ready(Some(Arrival::Packet(packet))) => self.arrived = Some(packet),
                Poll::Ready(Some(Arrival::Settled(serial, id))) => {
                    // Not if the id was used again since.
                    if self.calls.get(&id).is_some_and(|call| call.serial == serial) {
                        self.calls.remove(&id);
                    }
                }
                Poll::Ready(Some(Arrival::SessionExpired)) => self.expire(),
                Poll::Ready(None) | Poll::Pending => break,
            }
        }
        self.poll_expiring(cx);
    }

    /// Begins the end of the transport, because the server no longer knows the session. The requests in flight get their
    /// outcomes first: a request that the server refuses too may be sent again in another session.
    fn expire(&mut self) {
        let limit = self.requests.config.limits.close_timeout;
        self.expiring.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        self.waker.wake_by_ref();
    }

    fn poll_expiring(&mut self, cx: &mut Context<'_>) {
        if let Some(limit) = &mut self.expiring
            && matches!(self.state, HttpState::Open)
            && (self.calls.is_empty() && self.arrived.is_none() || limit.poll_unpin(cx).is_ready())
        {
            self.end(HttpState::Failed(Some(HttpError::SessionExpired.into())));
        }
    }

    fn poll_posting(&mut self, cx: &mut Context<'_>) {
        let Some(Poll::Ready(posted)) = self.posting.as_mut().map(|posting| posting.poll_unpin(cx)) else {
            return;
        };
        self.posting = None;
        match posted {
            // The next request gets the same refusal. Unlike a notification, a request can be sent again in another
            // session.
            PostOutcome { kind: MessageKind::Initialized, outcome: Err(HttpError::SessionExpired) } => {}
            PostOutcome { outcome: Err(HttpError::SessionExpired), .. } => self.expire(),
            // Some servers refuse the notification and serve the session all the same. A refusal of the GET is reported.
            PostOutcome { kind: MessageKind::Initialized, .. } if self.requests.config.listen => {
                self.add(Exchange::listen(self.requests.clone()));
            }
            PostOutcome { kind: MessageKind::Cancelled(Some(id)), .. } => self.abandon(&id),
            // Its outcome is not reported. If the server cannot be reached, the next request fails.
            PostOutcome { .. } => {}
        }
    }

    /// Closes every stream.
    fn end(&mut self, state: HttpState) {
        self.exchanges.clear();
        self.calls.clear();
        self.posting = None;
        self.state = state;
        self.waker.wake_by_ref();
    }

    fn add(&mut self, exchange: Exchange) -> AbortHandle {
        // It moves in and out with every arrival, and it is large.
        let arrivals = unfold(Box::new(exchange), |mut exchange| async move {
            exchange.next().await.map(|arrival| (arrival, exchange))
        });
        let (arrivals, abort) = abortable(arrivals);
        self.exchanges.push(arrivals.boxed());
        abort
    }

    /// Fails requests for a session that the server no longer knows. Nothing is sent.
    fn refuse(&mut self, requests: impl IntoIterator<Item = RequestId>) {
        let error = Arc::new(HttpError::SessionExpired.into());
        let failed = |id| Arrival::Packet(Packet::RequestFailed { id, error: Arc::clone(&error) });
        let arrivals: Vec<_> = requests.into_iter().map(failed).collect();
        self.exchanges.push(futures::stream::iter(arrivals).boxed());
    }

    /// Closes the stream of a request.
    fn abandon(&mut self, id: &RequestId) {
        if let Some(call) = self.calls.remove(id) {
            // A batch is given up with its last request.
            if !self.calls.values().any(|other| other.serial == call.serial) {
                call.abort.abort();
            }
        }
    }

    fn take(&mut self, frame: Frame) {
        let mut route = Route::of(&frame);
        let headers = match route.modern.take() {
            Some(mut headers) => {
                if let (MessageKind::CallTool, Frame::Single(Message::Request(call))) = (&route.kind, &frame)
                {
                    self.requests.param_headers().add(call.params.as_ref(), &mut headers);
                }
                let version = headers.get(crate::header::PROTOCOL_VERSION).cloned();
                let mut session = self.requests.session();
                if session.version.is_none() {
                    session.modern = version;
                }
                drop(session);
                self.post(frame, route, headers, true);
                return;
            }
            None if route.kind == MessageKind::Initialize => HeaderMap::new(),
            None => {
                let modern = self.requests.session().modern.clone();
                match modern {
                    Some(version) => return self.take_modern(frame, route, version),
                    None => self.requests.session_headers(),
                }
            }
        };
        self.post(frame, route, headers, false);
    }

    /// Sends a frame that names no revision, after a modern request and before a session.
    fn take_modern(&mut self, frame: Frame, route: Route, version: http::HeaderValue) {
        if let MessageKind::Cancelled(id) = &route.kind {
            // A modern request is cancelled by closing its stream alone.
            return id.iter().for_each(|id| self.abandon(id));
        }
        // Modern servers send no requests, so answers are not sent.
        if !route.answers {
            let headers = route::modern_notification(&frame, version);
            self.post(frame, route, headers, true);
        }
    }

    fn post(&mut self, frame: Frame, route: Route, mut headers: HeaderMap, modern: bool) {
        if let MessageKind::Cancelled(Some(id)) = &route.kind
            && (modern || self.calls.get(id).is_some_and(|call| call.modern))
        {
            return self.abandon(id);
        }
        if self.expiring.is_some() && !modern {
            return self.refuse(route.requests);
        }
        let mut body = Vec::with_capacity(frame.size_hint());
        frame.write(&mut body);
        let body = Bytes::from(body);
        headers.extend(route.trace);
        if route.requests.is_empty() {
            self.posting = Some(post(self.requests.clone(), route.kind, headers, body).boxed());
            return;
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        let purpose = Purpose::Call {
            serial,
            pending: route.requests.clone(),
            kind: route.kind,
            modern,
            unreadable: None,
        };
        let abort = self.add(Exchange::call(self.requests.clone(), purpose, headers, body));
        for id in route.requests {
            self.calls.insert(id, PendingCall { serial, modern, abort: abort.clone() });
        }
    }
}

/// Sends a notification or an answer.
async fn post(requests: Arc<Requests>, kind: MessageKind, headers: HeaderMap, body: Bytes) -> PostOutcome {
    let in_session = headers.contains_key(crate::header::SESSION_ID);
    let outcome = match requests.post(headers, body, Wait::Acceptance).await {
        Ok(reply) if reply.status.is_success() => {
            reply.body.drain().await;
            Ok(())
        }
        Ok(reply) if in_session && reply.status == StatusCode::NOT_FOUND => Err(HttpError::SessionExpired),
        Ok(reply) => Err(HttpError::Refused(Box::new(reply.refusal().await.0))),
        Err(error) => Err(error),
    };
    PostOutcome { kind, outcome }
}

impl Stream for Http {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::READER, cx.waker());
        this.poll_all();
        if let Some(packet) = this.arrived.take() {
            return Poll::Ready(Some(Ok(packet)));
        }
        match &mut this.state {
            HttpState::Open => Poll::Pending,
            HttpState::Failed(fault) => Poll::Ready(fault.take().map(Err)),
            HttpState::Closing(_) | HttpState::Closed => Poll::Ready(None),
        }
    }
}

impl Sink<Packet> for Http {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.poll_flush(cx)
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        let this = self.get_mut();
        match packet {
            Packet::Frame { frame, .. } => this.take(frame),
            Packet::CallerLeft(id) => this.abandon(&id),
            // No other packet has a form that could be sent.
            _ => {}
        }
        Ok(())
    }

    /// Completes when the server has accepted every notification and answer. Requests have been sent then, unless a packet
    /// waits to be taken.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.poll_as_writer(cx);
        match this.state {
            HttpState::Open if this.posting.is_some() => Poll::Pending,
            HttpState::Open => Poll::Ready(Ok(())),
            _ => Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into())),
        }
    }

    /// Drops unanswered requests, and ends the session at the server, if there is one. It takes [`Config::close_timeout`] at
    /// most. A refusal of the server is not an error.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.poll_as_writer(cx);
        let limit = this.requests.config.limits.close_timeout;
        let time = this.closing_time.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        let is_late = time.poll_unpin(cx).is_ready();
        loop {
            match &mut this.state {
                HttpState::Open if this.posting.is_some() && !is_late => return Poll::Pending,
                HttpState::Open => {
                    let (requests, is_expired) = (this.requests.clone(), this.expiring.is_some());
                    let closing = async move {
                        if requests.session().id.is_some() && !is_expired {
                            // Some servers do not let their sessions be ended, and some are gone.
                            let _ = requests.delete().await;
                        }
                    };
                    this.end(HttpState::Closing(closing.boxed()));
                }
                HttpState::Closing(closing) => {
                    if closing.poll_unpin(cx).is_pending() && !is_late {
                        return Poll::Pending;
                    }
                    this.state = HttpState::Closed;
                }
                HttpState::Failed(_) | HttpState::Closed => return Poll::Ready(Ok(())),
            }
        }
    }
}
