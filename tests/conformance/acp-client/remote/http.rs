//! An agent over HTTP: messages are posted, and event streams of the connection and of each session bring what the agent sends.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Frame, Message, RawJson, RequestId, Response as RpcResponse};
use agentwire_transport::{Duplex, Packet};
use agentwire_transport_http::client::{Body, HttpClient as _, Hyper};
use agentwire_transport_http::sse::Decoder;
use anyhow::{Context as _, Result, anyhow, bail};
use bytes::Bytes;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::request::Builder;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::task::JoinSet;

const CONNECT_TIME: Duration = Duration::from_secs(10);
/// The most bytes of a response that is not an event stream.
const MAX_BODY: usize = 32 << 20;

/// A connection to an agent.
struct Connection {
    url: String,
    http: Hyper,
    to_client: tokio::sync::Mutex<SplitSink<Duplex, Packet>>,
    known: Mutex<Known>,
}

/// The agent's facts about the connection.
#[derive(Default)]
struct Known {
    id: Option<String>,
    version: Option<String>,
    cookies: HashMap<String, String>,
    /// Sessions whose stream is open.
    streams: HashSet<String>,
    /// The session of each request of the agent that belongs to one.
    asked: HashMap<RequestId, String>,
    reading: JoinSet<()>,
}

/// Carries messages until either side ends.
pub(super) async fn carry(url: &str, client: Duplex) -> Result<()> {
    let (to_client, mut from_client) = client.split();
    let http = Hyper::new(CONNECT_TIME)?;
    let connection = Arc::new(Connection {
        url: url.to_owned(),
        http,
        to_client: tokio::sync::Mutex::new(to_client),
        known: Mutex::default(),
    });
    let carried = async {
        while let Some(Ok(packet)) = from_client.next().await {
            if let Packet::Frame { frame: Frame::Single(message), .. } = packet {
                connection.post(message).await?;
            }
        }
        Ok(())
    };
    let ended = carried.await;
    let delete = connection.request(Method::DELETE);
    if connection.known().id.is_some() {
        // The agent may have ended the connection.
        let _ended = connection.send(delete, Bytes::new()).await;
    }
    connection.known().reading.abort_all();
    ended
}

impl Connection {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Posts a message, and opens the stream of its session before, or after if the agent knows the session only then.
    async fn post(self: &Arc<Self>, message: Message) -> Result<()> {
        let session = self.session_of(&message);
        if let Some(session) = &session {
            self.listen_to(session).await?;
        }
        let mut request = self.request(Method::POST).header(CONTENT_TYPE, "application/json");
        if let Some(session) = &session {
            request = request.header("acp-session-id", session);
        }
        let mut text = Vec::new();
        message.write(&mut text);
        let response = self.send(request, Bytes::from(text)).await?;
        let status = response.status();
        match &message {
            Message::Request(request) if &*request.method == "initialize" => {
                self.take_initialized(response).await?;
            }
            _ if status == StatusCode::ACCEPTED => {}
            _ if is_end(status) => bail!("the agent answers a message with the status {status}"),
            Message::Request(request) => {
                let error = ErrorObject::internal_error(format_args!("status {status}"));
                let response = RpcResponse::new(request.id.clone(), Err(error));
                self.receive(Packet::new(Message::Response(response))).await?;
            }
            _ => {}
        }
        match &session {
            Some(session) => self.listen_to(session).await,
            None => Ok(()),
        }
    }

    /// Takes the response to `initialize`, and opens the stream of the connection.
    async fn take_initialized(self: &Arc<Self>, response: Response<Body>) -> Result<()> {
        let status = response.status();
        let id = text(response.headers(), "acp-connection-id").map(str::to_owned);
        let body = whole(response.into_body()).await?;
        if status != StatusCode::OK {
            bail!("the agent answers initialize with the status {status}");
        }
        let frame = Frame::parse_bytes(body);
        if let Frame::Single(Message::Response(RpcResponse { outcome: Ok(result), .. })) = &frame {
            let mut known = self.known();
            known.version = result.member("protocolVersion").map(|version| version.as_str().to_owned());
            known.id = Some(id.context("the response to initialize has no Acp-Connection-Id")?);
        }
        if self.known().id.is_some() {
            let response = self.open(None).await?;
            if response.status() != StatusCode::OK {
                bail!("the agent answers the GET of the connection's stream with {}", response.status());
            }
            let reading = self.read(response.into_body(), None);
            self.known().reading.spawn(reading);
        }
        self.receive(Packet::new(frame)).await
    }

    /// Opens the stream of a session, unless it is open. An agent may know the session later.
    async fn listen_to(self: &Arc<Self>, session: &str) -> Result<()> {
        if !self.known().streams.insert(session.to_owned()) {
            return Ok(());
        }
        let response = self.open(Some(session)).await?;
        if response.status() == StatusCode::OK {
            let reading = self.read(response.into_body(), Some(session.to_owned()));
            self.known().reading.spawn(reading);
        } else {
            self.known().streams.remove(session);
        }
        Ok(())
    }

    async fn open(&self, session: Option<&str>) -> Result<Response<Body>> {
        let mut request = self.request(Method::GET).header(ACCEPT, "text/event-stream");
        if let Some(session) = session {
            request = request.header("acp-session-id", session);
        }
        self.send(request, Bytes::new()).await
    }

    /// A request with the headers of the connection.
    fn request(&self, method: Method) -> Builder {
        let known = self.known();
        let mut request = Request::builder().method(method).uri(&self.url);
        if let Some(id) = &known.id {
            request = request.header("acp-connection-id", id);
        }
        if let Some(version) = &known.version {
            request = request.header("acp-protocol-version", version);
        }
        if !known.cookies.is_empty() {
            let cookies: Vec<String> =
                known.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(COOKIE, cookies.join("; "));
        }
        request
    }

    async fn send(&self, request: Builder, body: Bytes) -> Result<Response<Body>> {
        let response = self.http.send(request.body(body)?).await.map_err(|error| anyhow!(error))?;
        let mut known = self.known();
        for cookie in response.headers().get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok())
        {
            let pair = cookie.split(';').next().unwrap_or_default();
            if let Some((name, value)) = pair.split_once('=') {
                known.cookies.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
        drop(known);
        Ok(response)
    }

    /// The session of a message to the agent.
    fn session_of(&self, message: &Message) -> Option<String> {
        match message {
            Message::Request(request) => named_session(&request.method, request.params.as_ref()),
            Message::Notification(notification) => {
                named_session(&notification.method, notification.params.as_ref())
            }
            Message::Response(response) => self.known().asked.remove(&response.id),
        }
    }

    /// Reads a stream. The end of the connection's own ends the connection.
    fn read(
        self: &Arc<Self>,
        body: Body,
        session: Option<String>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let connection = Arc::clone(self);
        Box::pin(async move {
            // What breaks is as good as ended.
            let _ended = connection.read_events(body, session.as_deref()).await;
            match session {
                Some(session) => drop(connection.known().streams.remove(&session)),
                None => drop(connection.to_client.lock().await.close().await),
            }
        })
    }

    async fn read_events(self: &Arc<Self>, mut body: Body, session: Option<&str>) -> Result<()> {
        let mut decoder = Decoder::default();
        while let Some(piece) = body.next().await {
            decoder.push(piece.map_err(|error| anyhow!(error))?);
            while let Some(event) = decoder.next_event()? {
                let Some(data) = event.data else { continue };
                let frame = Frame::parse(data);
                match &frame {
                    Frame::Single(Message::Request(request)) => {
                        let named = named_session(&request.method, request.params.as_ref());
                        if let Some(session) = named.or_else(|| session.map(str::to_owned)) {
                            self.known().asked.insert(request.id.clone(), session);
                        }
                    }
                    Frame::Single(Message::Response(RpcResponse { outcome: Ok(result), .. })) => {
                        if let Some(session) = text_member(result, "sessionId") {
                            self.listen_to(&session).await?;
                        }
                    }
                    _ => {}
                }
                self.receive(Packet::new(frame)).await?;
            }
        }
        Ok(())
    }

    async fn receive(&self, packet: Packet) -> Result<()> {
        Ok(self.to_client.lock().await.send(packet).await?)
    }
}

/// Whether a status means that the connection is lost.
fn is_end(status: StatusCode) -> bool {
    matches!(status.as_u16(), 401 | 403 | 404 | 410)
}

async fn whole(mut body: Body) -> Result<Bytes> {
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece.map_err(|error| anyhow!(error))?);
        if whole.len() > MAX_BODY {
            bail!("the response is longer than {MAX_BODY} bytes");
        }
    }
    Ok(whole.into())
}

fn named_session(method: &str, params: Option<&RawJson>) -> Option<String> {
    if method.starts_with("$/") { None } else { text_member(params?, "sessionId") }
}

fn text_member(json: &RawJson, name: &str) -> Option<String> {
    json.member(name)?.decode().ok()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
