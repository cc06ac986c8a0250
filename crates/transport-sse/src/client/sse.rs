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
use agentwire_transport_http::sse::Event;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, Sink, Stream, StreamExt};
use tokio::time::Sleep;

use crate::client::requests::{Failure, Opened, Requests};
use crate::client::{Config, SseError};

/// A transport to a server that speaks HTTP+SSE; see [the module](crate::client).
///
/// Its sink is not ready before the server has said where to send messages, nor while it has yet to accept a
/// notification or an answer, so those keep their order, also towards the requests after them. Requests run
/// beside each other, as many as there are.
pub struct Sse {
    requests: Arc<Requests>,
    state: State,
    /// The POSTs of requests.
    posts: FuturesUnordered<BoxFuture<'static, Posted>>,
    /// The requests whose POST has not ended, and that have not been answered, each with the serial number of its
    /// POST.
    posting: HashMap<RequestId, u64>,
    next_serial: u64,
    /// The POST of a notification or an answer. What comes of it nobody waits to hear; if the server cannot be
    /// reached, the next request says so.
    saying: Option<BoxFuture<'static, ()>>,
    /// What came in and was not taken. While anything is here, the stream is not read.
    arrived: VecDeque<Packet>,
    /// How long closing may take, once it was begun.
    closing_time: Option<Pin<Box<Sleep>>>,
    wakers: Arc<Wakers<2>>,
    waker: Waker,
}

enum State {
    Opening(BoxFuture<'static, Result<Opened, SseError>>),
    Open(Box<Opened>),
    /// What ended it, until that has been said.
    Failed(Option<SseError>),
    Closed,
}

/// What came of the POST of requests.
struct Posted {
    serial: u64,
    outcome: Result<(), Failure>,
}

impl fmt::Debug for Sse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sse").field("url", self.requests.config.server.url()).finish_non_exhaustive()
    }
}

impl Sse {
    /// A transport to the server whose stream is at `url`, with the defaults of [`Config`]. Nothing is sent before it
    /// is polled.
    ///
    /// # Errors
    ///
    /// When that is no URL of a server, or TLS cannot be set up.
    #[cfg(feature = "reqwest")]
    pub fn new(url: &str) -> Result<Self, TransportError> {
        Ok(Config::new(url).map_err(TransportError::other)?.open()?)
    }

    pub(crate) fn with(config: Config, client: Box<dyn HttpClient>) -> Self {
        let wakers = Arc::<Wakers<2>>::default();
        let requests = Arc::new(Requests::new(config, client));
        let opening = requests.clone();
        Self {
            state: State::Opening(async move { opening.open().await }.boxed()),
            requests,
            posts: FuturesUnordered::new(),
            posting: HashMap::new(),
            next_serial: 0,
            saying: None,
            arrived: VecDeque::new(),
            closing_time: None,
            waker: wakers.clone().into(),
            wakers,
        }
    }

    /// Waits until the stream is open and the server has said where to send messages. There is no need to: whoever
    /// does not finds out by using it. It is for those who want to know whether a server speaks this transport
    /// before they count on it.
    ///
    /// # Errors
    ///
    /// Why there is no such stream. The transport has ended then.
    pub async fn opened(&mut self) -> Result<(), SseError> {
        poll_fn(|cx| {
            self.wakers.register(Wakers::READER, cx.waker());
            self.poll_all();
            match &mut self.state {
                State::Opening(_) => Poll::Pending,
                State::Open(_) => Poll::Ready(Ok(())),
                State::Failed(error) => Poll::Ready(Err(error.take().unwrap_or(SseError::Ended))),
                State::Closed => Poll::Ready(Err(SseError::Ended)),
            }
        })
        .await
    }

    /// Goes on with everything, whichever side is polled.
    fn poll_all(&mut self) {
        let waker = self.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        if let State::Opening(opening) = &mut self.state {
            match opening.poll_unpin(cx) {
                Poll::Ready(Ok(opened)) => {
                    self.state = State::Open(Box::new(opened));
                    // Whoever waits to send can.
                    self.waker.wake_by_ref();
                }
                Poll::Ready(Err(error)) => self.end(State::Failed(Some(error))),
                Poll::Pending => return,
            }
        }
        if self.saying.as_mut().is_some_and(|saying| saying.poll_unpin(cx).is_ready()) {
            self.saying = None;
        }
        while self.arrived.is_empty() && self.poll_one(cx) {}
    }

    /// Takes one thing that has happened, if any has.
    fn poll_one(&mut self, cx: &mut Context<'_>) -> bool {
        let State::Open(opened) = &mut self.state else {
            return false;
        };
        // The stream comes first: what is answered there has not failed, whatever becomes of its POST.
        match opened.events.poll_event(cx) {
            Poll::Ready(Ok(Some(event))) => {
                self.take_event(event);
                return true;
            }
            Poll::Ready(Ok(None)) => {
                self.end(State::Failed(Some(SseError::Ended)));
                return false;
            }
            Poll::Ready(Err(error)) => {
                self.end(State::Failed(Some(error.into())));
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
        let frame = Frame::parse_with(data, self.requests.config.batch_limit);
        // To answer what has no id would tell the server nothing that it could use.
        if matches!(&frame, Frame::Malformed(malformed) if malformed.intent == Intent::Request(RequestId::NULL))
        {
            return;
        }
        for id in answered(&frame) {
            self.posting.remove(id);
        }
        self.arrived.push_back(Packet::new(frame));
    }

    fn settle(&mut self, Posted { serial, outcome }: Posted) {
        let mut pending = Vec::new();
        self.posting.retain(|id, of| {
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
        let State::Open(opened) = &self.state else {
            return;
        };
        let mut body = Vec::with_capacity(frame.size_hint());
        frame.write(&mut body);
        let (requests, endpoint, body) = (self.requests.clone(), opened.endpoint.clone(), Bytes::from(body));
        let asked = asked(frame);
        if asked.is_empty() {
            let saying = async move {
                let _ = requests.post(&endpoint, body, Wait::Acceptance).await;
            };
            self.saying = Some(saying.boxed());
            return;
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        self.posting.extend(asked.into_iter().map(|id| (id, serial)));
        let post = async move {
            let outcome = requests.post(&endpoint, body, Wait::FirstByte).await;
            Posted { serial, outcome }
        };
        self.posts.push(post.boxed());
    }

    /// Closes the stream, and gives up what is on its way.
    fn end(&mut self, state: State) {
        self.posts.clear();
        self.posting.clear();
        self.saying = None;
        self.state = state;
        self.waker.wake_by_ref();
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
            State::Opening(_) | State::Open(_) => Poll::Pending,
            State::Failed(error) => Poll::Ready(error.take().map(|error| Err(error.into()))),
            State::Closed => Poll::Ready(None),
        }
    }
}

impl Sink<Packet> for Sse {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        self.poll_flush(cx)
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        // Of all else the server cannot be told.
        if let Packet::Frame { frame, .. } = packet {
            self.get_mut().take(&frame);
        }
        Ok(())
    }

    /// Completes when the server has accepted every notification and answer. Requests are on their way then,
    /// unless something waits to be read.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::WRITER, cx.waker());
        this.poll_all();
        match this.state {
            State::Opening(_) => Poll::Pending,
            State::Open(_) if this.saying.is_some() => Poll::Pending,
            State::Open(_) => Poll::Ready(Ok(())),
            State::Failed(_) | State::Closed => {
                Poll::Ready(Err(io::Error::from(io::ErrorKind::BrokenPipe).into()))
            }
        }
    }

    /// Waits until the server has accepted the last notification or answer, for [`Config::close_timeout`] at most,
    /// and closes the stream. What is still asked is given up.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::WRITER, cx.waker());
        this.poll_all();
        let limit = this.requests.config.close_timeout;
        let time = this.closing_time.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        if time.poll_unpin(cx).is_pending() && this.saying.is_some() {
            return Poll::Pending;
        }
        if matches!(this.state, State::Opening(_) | State::Open(_)) {
            this.end(State::Closed);
        }
        Poll::Ready(Ok(()))
    }
}

/// The ids of the requests in a frame that goes out.
fn asked(frame: &Frame) -> Vec<RequestId> {
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

/// The ids of the requests that a frame which came in answers, well or badly.
fn answered(frame: &Frame) -> impl Iterator<Item = &RequestId> {
    let (single, batch) = match frame {
        Frame::Single(message) => (Some(Ok(message)), &[][..]),
        Frame::Malformed(malformed) => (Some(Err(malformed)), &[][..]),
        Frame::Batch(messages) => (None, &messages[..]),
    };
    single.into_iter().chain(batch.iter().map(Result::as_ref)).filter_map(|message| match message {
        Ok(Message::Response(response)) => Some(&response.id),
        Err(malformed) => match &malformed.intent {
            Intent::Response(id) => Some(id),
            _ => None,
        },
        Ok(_) => None,
    })
}
