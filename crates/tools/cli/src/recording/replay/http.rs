//! Plays a server at an address, over Streamable HTTP and HTTP+SSE.

use std::collections::{HashMap, VecDeque};
use std::future::IntoFuture as _;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, Notification, RawJson, Response, code};
use agentwire_recording::{Incoming, Outgoing, Recording, Replay, ReplayConfig, Side, TransportKind, Wire};
use agentwire_transport::{Exchange, MessageSource, Packet, Service, Transport, TransportError};
use agentwire_transport_http::server::{Endpoint, EndpointConfig, serve as serve_http};
use agentwire_transport_sse::server as sse;
use anyhow::{Context as _, Result};
use bytestring::ByteString;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::drive;
use crate::output::text::Notes;

/// The most queued messages between a connection and the replay.
const QUEUE: usize = 4096;

/// The silence of clients after the last event of the recording, after which the server ends: 1 s.
const LINGER: Duration = Duration::from_secs(1);

/// Serves until all events of the recording have occurred.
pub(super) async fn serve(
    address: &str,
    recording: &Recording,
    replay: &mut Replay,
    config: ReplayConfig,
    notes: &Notes,
) -> Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let (sender, receiver) = mpsc::channel(QUEUE);
    let service = ReplayService { sender };
    let (mut streamable, mut old) = (EndpointConfig::new(), sse::EndpointConfig::new());
    if !local.ip().to_canonical().is_loopback() {
        (streamable, old) = (streamable.any_host(), old.with_http(EndpointConfig::any_host));
    }
    let streamable = Endpoint::serving(streamable, service.clone());
    let routes = sse::Endpoint::serving(old, service).mount(streamable.into());
    let path = if recording.transport() == Some(TransportKind::Sse) { "/sse" } else { "/mcp" };
    notes.add(&format!("listening on http://{local}{path}"));
    let wire = ServiceWire { receiver, routes: HashMap::new(), session: None, queue: VecDeque::new() };
    tokio::select! {
        () = serve_http(listener, routes).into_future() => {}
        () = drive(wire, replay, Side::Server, config.linger(LINGER), notes) => {}
    }
    Ok(())
}

/// The destination of the messages for a request or a session.
type Route = mpsc::Sender<Outgoing>;

/// The events of connections and exchanges for the replay.
enum Arrival {
    Message { message: RawJson, route: Option<Route>, is_session: bool },
    SessionEnded,
}

/// Passes the messages of all connections and exchanges to the replay.
#[derive(Clone)]
struct ReplayService {
    sender: mpsc::Sender<Arrival>,
}

impl<C: Transport + Send + 'static> Service<C> for ReplayService {
    fn connection(&self, connection: C) -> impl Future<Output = ()> + Send + 'static {
        let sender = self.sender.clone();
        async move {
            run_session(connection, &sender).await;
            let _ended = sender.send(Arrival::SessionEnded).await;
        }
    }

    fn exchange(&self, exchange: Exchange) -> impl Future<Output = Response> + Send + 'static {
        let sender = self.sender.clone();
        async move { run_exchange(exchange, &sender).await }
    }

    fn notification(&self, notification: Notification, _source: Option<Arc<dyn MessageSource>>) {
        if let Some(message) = json(Message::from(notification)) {
            let _full = self.sender.try_send(Arrival::Message { message, route: None, is_session: false });
        }
    }
}

/// Runs a session until its client or the replay ends.
async fn run_session(mut connection: impl Transport, sender: &mpsc::Sender<Arrival>) {
    let (route, mut outgoing) = mpsc::channel(QUEUE);
    loop {
        tokio::select! {
            packet = connection.next() => {
                let Some(Ok(packet)) = packet else { return };
                let text = packet.into_json().map(ByteString::from);
                let Some(Ok(message)) = text.map(RawJson::parse) else { continue };
                let arrival = Arrival::Message { message, route: Some(route.clone()), is_session: true };
                if sender.send(arrival).await.is_err() {
                    return;
                }
            }
            Some(outgoing) = outgoing.recv() => {
                if connection.send(outgoing.into_packet()).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Runs a modern request.
async fn run_exchange(exchange: Exchange, sender: &mpsc::Sender<Arrival>) -> Response {
    let id = exchange.request.id.clone();
    let failed =
        |why: &'static str| Response::new(id.clone(), Err(ErrorObject::new(code::INTERNAL_ERROR, why)));
    let (route, mut outgoing) = mpsc::channel(QUEUE);
    let Some(message) = json(Message::from(exchange.request)) else { return failed("no JSON") };
    let arrival = Arrival::Message { message, route: Some(route), is_session: false };
    if sender.send(arrival).await.is_err() {
        return failed("the replay has ended");
    }
    while let Some(outgoing) = outgoing.recv().await {
        match Frame::parse(ByteString::from(outgoing.text)) {
            Frame::Single(Message::Response(response)) => return response,
            Frame::Single(Message::Notification(notification)) => {
                let _left = exchange.notifications.send(notification).await;
            }
            _ => {}
        }
    }
    failed("the replay has ended")
}

fn json(message: Message) -> Option<RawJson> {
    RawJson::parse(ByteString::from(Packet::from(message).into_json()?)).ok()
}

/// A wire that combines all connections and exchanges.
struct ServiceWire {
    receiver: mpsc::Receiver<Arrival>,
    /// The routes of unanswered requests, by their ids as JSON text.
    routes: HashMap<String, Route>,
    /// The newest session.
    session: Option<Route>,
    /// Messages for routes without room.
    queue: VecDeque<(Route, Outgoing)>,
}

impl Wire for ServiceWire {
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Incoming, TransportError>>> {
        let arrival = ready!(self.receiver.poll_recv(cx));
        let Some(Arrival::Message { message, route, is_session }) = arrival else {
            return Poll::Ready(None);
        };
        if is_session {
            self.session.clone_from(&route);
        }
        let is_request = message.member("method").is_some();
        if let (Some(id), Some(route), true) = (message.member("id"), route, is_request) {
            self.routes.insert(id.to_string(), route);
        }
        Poll::Ready(Some(Ok(Incoming::Message(message))))
    }

    fn send(&mut self, outgoing: Outgoing) {
        let route = match (&outgoing.answers, &outgoing.in_reply_to) {
            (Some(id), _) => self.routes.remove(id),
            (None, Some(id)) => self.routes.get(id).cloned(),
            (None, None) => None,
        };
        // Messages for a client that has left are dropped.
        if let Some(route) = route.or_else(|| self.session.clone()) {
            self.queue.push_back((route, outgoing));
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some((route, outgoing)) = self.queue.pop_front() {
            match route.try_send(outgoing) {
                Err(mpsc::error::TrySendError::Full(outgoing)) => {
                    self.queue.push_front((route, outgoing));
                    // The session takes messages in this same task.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            }
        }
        Poll::Ready(())
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_flush(cx)
    }
}
