//! The HTTP+SSE client transport: reads packets from one event stream and sends each frame by POST.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_jsonrpc::{Frame, Intent, Message, RequestId, Response};
use agentwire_sync::Wakers;
use agentwire_transport::{Packet, TransportError};
use agentwire_transport_http::client::{HttpClient, HttpError, Wait};
use agentwire_transport_http::runtime::client::trace_headers;
use agentwire_transport_http::sse::Event;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, Sink, Stream, StreamExt};
use tokio::time::Sleep;

use crate::client::requests::{Failure, OpenStream, Requests};
use crate::client::{Config, SseError};

/// A transport to a server that speaks HTTP+SSE; see [the module](crate::client).
///
/// Its sink is ready once the event `endpoint` has arrived, and while no notification or answer waits to be
/// accepted. So these keep their order, also towards later requests. All requests run concurrently.
///
/// ```no_run
/// # #[cfg(feature = "http-client")]
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use agentwire_transport::Packet;
/// use agentwire_transport_sse::client::Sse;
/// use futures_util::{SinkExt, StreamExt};
///
/// let mut server = Sse::new("https://example.com/sse")?;
/// server.opened().await?; // fails with the reason, without such a server
/// server.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await?;
/// println!("{:?}", server.next().await);
/// # Ok(())
/// # }
/// ```
pub struct Sse {
    requests: Arc<Requests>,
    state: SseState,
    /// The POSTs of requests.
    posts: FuturesUnordered<BoxFuture<'static, PostOutcome>>,
    /// The unanswered requests whose POST has not ended, each with the serial number of its POST.
    unaccepted: HashMap<RequestId, u64>,
    next_serial: u64,
    /// The POST of a notification or an answer. Its outcome is not reported: if the server cannot be reached, the next
    /// request fails.
    notification_post: Option<BoxFuture<'static, ()>>,
    /// Packets that have arrived and were not taken. The stream is not read until this is empty.
    arrived: VecDeque<Packet>,
    /// The time limit of closing, once that has begun.
    closing_time: Option<Pin<Box<Sleep>>>,
    wakers: Arc<Wakers<2>>,
    waker: Waker,
}

enum SseState {
    Opening(BoxFuture<'static, Result<OpenStream, SseError>>),
    Open(Box<OpenStream>),
    /// The error that ended it, until it has been reported.
    Failed(Option<SseError>),
    Closed,
}

/// The outcome of the POST of requests.
struct PostOutcome {
    serial: u64,
    outcome: Result<(), Failure>,
}

impl fmt::Debug for Sse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sse").field("url", self.requests.config.http.url()).finish_non_exhaustive()
    }
}

impl Sse {
    /// A transport to the server whose stream is at `url`, with the defaults of [`Config`]. Nothing is sent before it
    /// is polled.
    ///
    /// # Errors
    ///
    /// When that is not a URL of a server, or TLS cannot be set up.
    #[cfg(feature = "http-client")]
    pub fn new(url: &str) -> Result<Self, TransportError> {
        Ok(Config::new(url).map_err(TransportError::other)?.open()?)
    }

    pub(crate) fn with(config: Config, client: Box<dyn HttpClient>) -> Self {
        let wakers = Arc::<Wakers<2>>::default();
        let requests = Arc::new(Requests::new(config, client));
        let opening = requests.clone();
        Self {
            state: SseState::Opening(async move { opening.open().await }.boxed()),
            requests,
            posts: FuturesUnordered::new(),
            unaccepted: HashMap::new(),
            next_serial: 0,
            notification_post: None,
            arrived: VecDeque::new(),
            closing_time: None,
            waker: wakers.clone().into(),
            wakers,
        }
    }

    /// Waits until the stream is open and its event `endpoint` has arrived. Sending and reading do the same;
    /// this finds out first whether a server speaks this transport.
    ///
    /// # Errors
    ///
    /// The reason why there is no such stream. The transport has ended then.
    pub async fn opened(&mut self) -> Result<(), SseError> {
        poll_fn(|cx| {
            self.wakers.register(Wakers::READER, cx.waker());
            self.poll_all();
            match &mut self.state {
                SseState::Opening(_) => Poll::Pending,
                SseState::Open(_) => Poll::Ready(Ok(())),
                SseState::Failed(error) => Poll::Ready(Err(error.take().unwrap_or(SseError::Ended))),
                SseState::Closed => Poll::Ready(Err(SseError::Ended)),
            }
        })
        .await
    }

    /// Advances everything for the task that writes. What it sends may be answered in the same poll, which wakes no task, so the
    /// task that reads is woken here.
    fn poll_as_writer(&mut self, cx: &mut Context<'_>) {
        self.wakers.register(Wakers::WRITER, cx.waker());
        let had_arrived = !self.arrived.is_empty();
        self.poll_all();
        if !had_arrived && !self.arrived.is_empty() {
            self.wakers.wake_one(Wakers::READER);
        }
    }

    /// Advances the stream and all POSTs, whichever half is polled.
    fn poll_all(&mut self) {
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        if let SseState::Opening(opening) = &mut self.state {
            match opening.poll_unpin(cx) {
                Poll::Ready(Ok(opened)) => {
                    self.state = SseState::Open(Box::new(opened));
                    // The sink is ready now.
                    self.waker.wake_by_ref();
                }
                Poll::Ready(Err(error)) => self.end(SseState::Failed(Some(error))),
                Poll::Pending => return,
            }
        }
        if self
            .notification_post
            .as_mut()
            .is_some_and(|notification_post| notification_post.poll_unpin(cx).is_ready())
        {
            self.notification_post = None;
        }
        while self.arrived.is_empty() && self.poll_one(cx) {}
    }

    /// Takes one event of the stream or one outcome of a POST. Returns false if neither has arrived.
    fn poll_one(&mut self, cx: &mut Context<'_>) -> bool {
        let SseState::Open(opened) = &mut self.state else {
            return false;
        };
        // The stream comes first: a request that is answered there has not failed, whatever the outcome of its POST.
        match opened.events.poll_event(cx) {
            Poll::Ready(Ok(Some(event))) => {
                self.take_event(event);
                return true;
            }
            Poll::Ready(Ok(None)) => {
                self.end(SseState::Failed(Some(SseError::Ended)));
                return false;
            }
            Poll::Ready(Err(error)) => {
                self.end(SseState::Failed(Some(error.into())));
                return false;
            }
            Poll::Pending => {}
        }
        match self.posts.poll_next_unpin(cx) {
            Poll::Ready(Some(posted)) => {
                self.settle(posted);
                true
            }
            Poll::Ready(None) | Poll::Pending => false,
        }
    }

    fn take_event(&mut self, event: Event) {
        let is_message = event.name.is_none_or(|name| name == "message");
        let Some(data) = event.data.filter(|data| is_message && !data.is_empty()) else {
            return;
        };
        let mut frame = Frame::parse_with(data, self.requests.config.http.limits().batch_limit);
        // An answer without an id would be of no use to the server.
        if let Frame::Malformed(malformed) = &mut frame
            && malformed.intent == Intent::Request(RequestId::NULL)
        {
            malformed.intent = Intent::Notification;
        }
        self.unaccepted.retain(|id, _| !frame.answers(id));
        self.arrived.push_back(Packet::new(frame));
    }

    fn settle(&mut self, PostOutcome { serial, outcome }: PostOutcome) {
        let mut pending = Vec::new();
        self.unaccepted.retain(|id, of| {
            if *of == serial {
                pending.push(id.clone());
            }
            *of != serial
        });
        let (Err(Failure { error, answers }), [id, rest @ ..]) = (outcome, &pending[..]) else {
            return;
        };
        if let (SseError::Http(HttpError::Refused(refusal)), Some(answered), []) = (&error, answers, rest)
            && answered == *id
            && !refusal.is_overload()
            && let Some(error) = &refusal.error
        {
            // It answers the request by its id, whatever the status.
            self.arrived.push_back(Message::from(Response::new(answered, Err(error.clone()))).into());
            return;
        }
        let fault = Arc::new(TransportError::from(error));
        self.arrived.extend(pending.into_iter().map(|id| Packet::RequestFailed { id, error: fault.clone() }));
    }

    fn take(&mut self, frame: &Frame) {
        let SseState::Open(opened) = &self.state else {
            return;
        };
        let mut body = Vec::with_capacity(frame.size_hint());
        frame.write(&mut body);
        let (requests, endpoint) = (self.requests.clone(), opened.endpoint.clone());
        let message = (trace_headers(frame), Bytes::from(body));
        let ids = request_ids(frame);
        if ids.is_empty() {
            let notification_post = async move {
                let _ = requests.post(&endpoint, message, Wait::Acceptance).await;
            };
            self.notification_post = Some(notification_post.boxed());
            return;
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        self.unaccepted.extend(ids.into_iter().map(|id| (id, serial)));
        let post = async move {
            let outcome = requests.post(&endpoint, message, Wait::FirstByte).await;
            PostOutcome { serial, outcome }
        };
        self.posts.push(post.boxed());
    }

    /// Closes the stream and drops every POST.
    fn end(&mut self, state: SseState) {
        self.posts.clear();
        self.unaccepted.clear();
        self.notification_post = None;
        self.state = state;
        self.waker.wake_by_ref();
    }
}

impl Config {
    /// A transport that uses [`DefaultClient`](agentwire_transport_http::client::DefaultClient). Nothing is sent before it
    /// is polled.
    ///
    /// # Errors
    ///
    /// When TLS cannot be set up.
    #[cfg(feature = "http-client")]
    pub fn open(self) -> Result<Sse, SseError> {
        let client = agentwire_transport_http::client::DefaultClient::new(self.http.limits().connect_timeout);
        Ok(self.open_with(client.map_err(|error| HttpError::Unsent(error.into()))?))
    }

    /// A transport that uses the client given. Nothing is sent before it is polled.
    pub fn open_with(self, client: impl HttpClient + 'static) -> Sse {
        Sse::with(self, Box::new(client))
    }
}

impl Stream for Sse {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::READER, cx.waker());
        this.poll_all();
        if let Some(packet) = this.arrived.pop_front() {
            return Poll::Ready(Some(Ok(packet)));
        }
        match &mut this.state {
            SseState::Opening(_) | SseState::Open(_) => Poll::Pending,
            SseState::Failed(error) => Poll::Ready(error.take().map(|error| Err(error.into()))),
            SseState::Closed => Poll::Ready(None),
        }
    }
}

impl Sink<Packet> for Sse {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.poll_flush(cx)
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // No other packet has a form that could be sent.
        if let Packet::Frame { frame, .. } = packet {
            self.get_mut().take(&frame);
        }
        Ok(())
    }

    /// Completes when the server has accepted every notification and answer. Requests have been sent then, unless a packet
    /// waits to be taken.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.poll_as_writer(cx);
        match this.state {
            SseState::Opening(_) => Poll::Pending,
            SseState::Open(_) if this.notification_post.is_some() => Poll::Pending,
            SseState::Open(_) => Poll::Ready(Ok(())),
            SseState::Failed(_) | SseState::Closed => {
                Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()))
            }
        }
    }

    /// Waits until the server has accepted the last notification or answer, for the close timeout of the configuration at most,
    /// and closes the stream. Unanswered requests are dropped.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.poll_as_writer(cx);
        let limit = this.requests.config.http.limits().close_timeout;
        let time = this.closing_time.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if time.poll_unpin(cx).is_pending() && this.notification_post.is_some() {
            return Poll::Pending;
        }
        if matches!(this.state, SseState::Opening(_) | SseState::Open(_)) {
            this.end(SseState::Closed);
        }
        Poll::Ready(Ok(()))
    }
}

/// The ids of the requests in an outgoing frame.
fn request_ids(frame: &Frame) -> Vec<RequestId> {
    let id = |message: &Message| match message {
        Message::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    match frame {
        Frame::Single(message) => id(message).into_iter().collect(),
        Frame::Batch(messages) => messages.iter().flatten().filter_map(id).collect(),
        Frame::Malformed(_) => Vec::new(),
    }
}
