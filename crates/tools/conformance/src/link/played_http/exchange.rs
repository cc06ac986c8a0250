//! One request of a client under test, and the ways to answer it: as a whole, with an event stream, or not at all.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::upgrade::{OnUpgrade, Upgraded};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use crate::fault::{Answer, ClientRequest, Incoming};
use crate::link::events::Event;
use crate::link::http::masked;
use crate::link::received::Received;
use crate::trace::{Part, Sender, Trace};
use crate::verdict::{Outcome, Stop};

/// How many parts of a response wait for the client.
const PARTS: usize = 256;

/// A request that waits for its answer. Dropping it cuts its connection.
pub(crate) struct Exchange {
    pub(crate) request: ClientRequest,
    /// Numbers the requests of one server.
    pub(crate) number: u32,
    /// None for a request that a fault forged.
    reply: Option<oneshot::Sender<Reply>>,
    /// The connection after a response that switches protocols.
    upgrade: Option<OnUpgrade>,
    shared: Shared,
}

pub(super) enum Reply {
    Response(http::Response<ResponseBody>),
    Cut,
}

/// An event stream that the check writes. Dropping it ends the stream in order.
pub(crate) struct EventStream {
    pub(crate) number: u32,
    headers: Vec<(String, String)>,
    parts: mpsc::Sender<io::Result<Bytes>>,
    shared: Shared,
}

impl Exchange {
    pub(super) fn new(
        request: ClientRequest,
        number: u32,
        (reply, upgrade): (Option<oneshot::Sender<Reply>>, Option<OnUpgrade>),
        shared: &Shared,
    ) -> Self {
        Self { request, number, reply, upgrade, shared: shared.clone() }
    }

    /// Passes its message, or a body that is none, to a check.
    pub(super) async fn deliver(&self, received: &mpsc::Sender<Received>) {
        let arrived = match self.request.message() {
            Some(message) => Received::Message { message, stream: self.number },
            None => Received::Text(self.request.body.clone()),
        };
        // The check may have ended.
        let _ended = received.send(arrived).await;
    }

    /// Whether a fault forged it.
    pub(crate) fn is_forged(&self) -> bool {
        self.reply.is_none()
    }

    /// Answers with a status, headers and a body.
    pub(crate) fn respond(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) -> Outcome {
        let head = head_text(status, headers);
        let parts = [(Part::Head, head.as_bytes()), (Part::Body, body)];
        let count = if body.is_empty() { 1 } else { 2 };
        self.shared.trace.add_all(Sender::Suite, &parts[..count]);
        let body = match self.shared.faults.answer(Answer::Body(body.to_vec())) {
            Some(Answer::Body(body)) => body,
            _ => Vec::new(),
        };
        self.begin(status, headers, ResponseBody::whole(body))
    }

    /// Answers with a status and no body.
    pub(crate) fn status(&mut self, status: u16) -> Outcome {
        self.respond(status, &[], b"")
    }

    /// Answers with a message as JSON, and with further headers.
    pub(crate) async fn json(&mut self, status: u16, headers: &[(&str, &str)], message: &Value) -> Outcome {
        let (kept, messages) = self.shared.faults.outgoing(message);
        if !kept {
            let mut all = vec![("content-type", "application/json")];
            all.extend(headers);
            self.respond(status, &all, message.to_string().as_bytes())?;
        }
        self.shared.forge(&self.request.headers, messages).await;
        Ok(())
    }

    /// Begins an event stream, with further headers.
    pub(crate) fn stream(&mut self, headers: &[(&str, &str)]) -> Outcome<EventStream> {
        let mut all = vec![("content-type", "text/event-stream"), ("cache-control", "no-cache")];
        all.extend(headers);
        let (parts, received) = mpsc::channel(PARTS);
        self.shared.trace.add(Sender::Suite, Part::Head, head_text(200, &all).as_bytes());
        self.begin(200, &all, ResponseBody::Stream { received, error: None })?;
        Ok(EventStream {
            number: self.number,
            headers: self.request.headers.clone(),
            parts,
            shared: self.shared.clone(),
        })
    }

    /// Switches to another protocol: what carries its bytes.
    pub(crate) async fn upgrade(&mut self, headers: &[(&str, &str)]) -> Outcome<Upgraded> {
        self.respond(101, headers, b"")?;
        let upgrade = self.upgrade.take();
        let upgrade = upgrade.ok_or_else(|| Stop::inconclusive("the client asks for no other protocol"))?;
        upgrade.await.map_err(|error| Stop::inconclusive(format!("no other protocol began: {error}")))
    }

    /// Cuts the connection without an answer.
    pub(crate) fn cut(mut self) {
        self.shared.trace.add(Sender::Suite, Part::End, b"connection");
        self.finish(Reply::Cut);
    }

    /// Passes the head of the response through the fault to the client. A head that is kept back cuts the connection.
    fn begin(&mut self, status: u16, headers: &[(&str, &str)], body: ResponseBody) -> Outcome {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let Some(Answer::Head { status, headers }) =
            self.shared.faults.answer(Answer::Head { status, headers })
        else {
            self.finish(Reply::Cut);
            return Ok(());
        };
        let mut response = http::Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        let response = response.body(body);
        let response = response.map_err(|error| Stop::inconclusive(format!("no such response: {error}")))?;
        self.finish(Reply::Response(response));
        Ok(())
    }

    fn finish(&mut self, reply: Reply) {
        if let Some(sender) = self.reply.take() {
            // The client may be gone.
            let _gone = sender.send(reply);
        }
    }
}

impl EventStream {
    /// Writes an event.
    pub(crate) async fn event(&self, event: &Event) -> Outcome {
        self.shared.trace.add(Sender::Suite, Part::Event, event.to_text().as_bytes());
        match self.shared.faults.answer(Answer::Event(event.clone())) {
            Some(Answer::Event(event)) => self.write(format!("{}\n\n", event.to_text()).as_bytes()).await,
            _ => Ok(()),
        }
    }

    /// Writes a message as an event.
    pub(crate) async fn message(&self, message: &Value) -> Outcome {
        self.message_as(message, Event::default()).await
    }

    /// Writes a message as an event that has further fields.
    pub(crate) async fn message_as(&self, message: &Value, fields: Event) -> Outcome {
        let (kept, messages) = self.shared.faults.outgoing(message);
        if !kept {
            self.event(&Event { data: message.to_string(), has_data: true, ..fields }).await?;
        }
        self.shared.forge(&self.headers, messages).await;
        Ok(())
    }

    /// Writes bytes as they are.
    pub(crate) async fn bytes(&self, bytes: &[u8]) -> Outcome {
        self.shared.trace.add(Sender::Suite, Part::Event, bytes);
        self.write(bytes).await
    }

    async fn write(&self, bytes: &[u8]) -> Outcome {
        let sent = self.parts.send(Ok(Bytes::copy_from_slice(bytes))).await;
        sent.map_err(|_| Stop::failed("the client reads the event stream", "it has closed the stream"))
    }

    /// Ends the stream in order.
    pub(crate) fn end(self) {
        self.shared.trace.add(Sender::Suite, Part::End, b"event stream");
        if self.shared.faults.answer(Answer::End).is_none() {
            self.shared.hold(self.parts);
        }
    }

    /// Cuts the connection in the middle of the stream.
    pub(crate) async fn cut(self) {
        self.shared.trace.add(Sender::Suite, Part::End, b"connection");
        if self.shared.faults.answer(Answer::End).is_none() {
            return self.shared.hold(self.parts);
        }
        // The client may be gone.
        let _gone = self.parts.send(Err(super::cut())).await;
    }

    /// Waits until the client closes the stream.
    pub(crate) async fn closed(&self) {
        self.parts.closed().await;
        self.shared.closed(self.number).await;
    }

    /// Whether the client has closed the stream.
    pub(crate) fn is_closed(&self) -> bool {
        self.parts.is_closed()
    }
}

impl Shared {
    /// Lets messages arrive that a fault forges.
    async fn forge(&self, headers: &[(String, String)], messages: Vec<Value>) {
        for message in messages {
            let request = self.forged(headers, &message);
            write_down(&self.trace, &request);
            // The check may have ended.
            let _ended = self.requests.send(Exchange::new(request, 0, (None, None), self)).await;
        }
    }

    /// Keeps a stream open whose end the fault hides from the client.
    fn hold(&self, parts: mpsc::Sender<io::Result<Bytes>>) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push(parts);
    }

    /// Waits for ever if the fault hides that the client closed a stream.
    async fn closed(&self, exchange: u32) {
        if self.faults.incoming(Incoming::StreamEnd { exchange }).is_empty() {
            pending::<()>().await;
        }
        self.trace.add(Sender::Subject, Part::End, b"response");
    }
}

/// The body of a response: whole, or in parts.
pub(super) enum ResponseBody {
    Whole(Option<Bytes>),
    Stream { received: mpsc::Receiver<io::Result<Bytes>>, error: Option<io::Error> },
}

impl ResponseBody {
    pub(super) fn whole(body: Vec<u8>) -> Self {
        Self::Whole(Some(Bytes::from(body)).filter(|body| !body.is_empty()))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Stream { received, error } => {
                if let Some(error) = error.take() {
                    return Poll::Ready(Some(Err(error)));
                }
                match received.poll_recv(cx) {
                    Poll::Ready(Some(Err(broken))) => {
                        // hyper writes out what it has before it sees the error.
                        *error = Some(broken);
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                    Poll::Ready(part) => Poll::Ready(part.map(|part| part.map(Frame::data))),
                    Poll::Pending => Poll::Pending,
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Self::Stream { .. } => SizeHint::default(),
        }
    }
}

fn head_text(status: u16, headers: &[(&str, &str)]) -> String {
    let headers = headers.iter().map(|(name, value)| format!("\n{name}: {value}"));
    format!("HTTP/1.1 {status}") + &headers.collect::<String>()
}

/// Writes down a request of the client.
pub(super) fn write_down(trace: &Trace, request: &ClientRequest) {
    let headers = request.headers.iter().map(|(name, value)| format!("\n{name}: {}", masked(name, value)));
    let head = format!("{} {} HTTP/1.1", request.method, request.target) + &headers.collect::<String>();
    let parts = [(Part::Head, head.as_bytes()), (Part::Body, request.body.as_slice())];
    let count = if request.body.is_empty() { 1 } else { 2 };
    trace.add_all(Sender::Subject, &parts[..count]);
}

/// The requests of a client that a trace has, in order.
pub(super) fn requests_in(trace: &Trace) -> Vec<ClientRequest> {
    let mut requests: Vec<ClientRequest> = Vec::new();
    let mut after_head = false;
    for event in trace.events().into_iter().filter(|event| event.from == Sender::Subject) {
        match event.what {
            Part::Head => requests.extend(parse_head(&String::from_utf8_lossy(&event.bytes))),
            Part::Body if after_head => {
                if let Some(request) = requests.last_mut() {
                    request.body = event.bytes;
                }
            }
            _ => {}
        }
        after_head = event.what == Part::Head;
    }
    requests
}

fn parse_head(head: &str) -> Option<ClientRequest> {
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Some(ClientRequest { method, target, headers, body: Vec::new() })
}

/// A request as a text for reports: its first line, some of its headers, and its body.
pub(crate) fn text(request: &ClientRequest) -> String {
    let shown = ["accept", "last-event-id"];
    let headers =
        request.headers.iter().filter(|(name, _)| name.starts_with("mcp-") || shown.contains(&name.as_str()));
    let headers: String = headers.map(|(name, value)| format!(" [{name}: {value}]")).collect();
    let body = String::from_utf8_lossy(&request.body);
    format!("{} {}{headers} `{body}`", request.method, request.target)
}
