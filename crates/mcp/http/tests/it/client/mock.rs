//! A server that plays the given bytes, one request a connection, and a client that is driven.

use std::time::Duration;

use agentwire_jsonrpc::Frame;
use agentwire_transport::{Packet, TransportError};
use agentwire_transport_http::client::{Config, Http, HttpError};
use futures::StreamExt;
use futures::channel::mpsc;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// How long anything that must happen may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it is watched that something does not happen.
pub(crate) const QUIET: Duration = Duration::from_millis(80);

/// Set where the tests are to use `Hyper`, although there is `Reqwest` too.
#[cfg(any(feature = "rustls", feature = "rustls-ring"))]
pub(crate) const HYPER: &str = "AGENTWIRE_TEST_HYPER";

/// A transport that uses the client that is tested.
pub(crate) fn open(config: Config) -> Http {
    open_within(config, PATIENCE)
}

/// The same with a limit for the time that a connection takes.
pub(crate) fn open_within(config: Config, connect_timeout: Duration) -> Http {
    #[cfg(any(feature = "rustls", feature = "rustls-ring"))]
    if std::env::var_os(HYPER).is_some() {
        let hyper = agentwire_transport_http::client::Hyper::new(connect_timeout).unwrap();
        return config.open_with(hyper);
    }
    config.connect_timeout(connect_timeout).open().unwrap()
}

pub(crate) struct Mock {
    listener: TcpListener,
}

impl Mock {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.listener.local_addr().unwrap())
    }

    /// The settings for this server, with waits that suit a test.
    pub(crate) fn config(&self) -> Config {
        Config::new(&self.url()).unwrap().retry_delay(Duration::from_millis(10))
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(open(self.config()))
    }

    /// The next request.
    pub(crate) async fn next(&self) -> Received {
        let (socket, _) = patiently(self.listener.accept()).await.unwrap();
        Received::read(socket).await
    }

    /// Whether no request comes for a while.
    pub(crate) async fn is_quiet(&self) -> bool {
        tokio::time::timeout(QUIET, self.listener.accept()).await.is_err()
    }

    /// Takes part in a handshake: the session id, if `session` has one, and a refused GET.
    pub(crate) async fn handshake(&self, client: &mut Client, session: Option<&str>, version: &str) {
        client.say(json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        }));
        let header = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let result = json!({"protocolVersion": version, "capabilities": {}});
        let request = self.next().await;
        assert_eq!(request.json()["method"], "initialize");
        request.finish(&ok(&header, &json!({"jsonrpc": "2.0", "id": 0, "result": result}))).await;
        client.frame().await;
        client.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let request = self.next().await;
        assert_eq!(request.json()["method"], "notifications/initialized");
        request.finish(ACCEPTED).await;
    }

    /// A whole handshake, without a stream for the session.
    pub(crate) async fn session(&self, client: &mut Client) {
        self.handshake(client, Some("s-1"), "2025-11-25").await;
        let get = self.next().await;
        assert_eq!(get.method(), "GET");
        get.finish(&status("405 Method Not Allowed")).await;
        client.stream_ended(|error| assert_eq!(error.status().unwrap(), 405)).await;
    }
}

/// A request, and the connection it came on.
pub(crate) struct Received<S = TcpStream> {
    head: String,
    body: String,
    socket: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Received<S> {
    pub(crate) async fn read(mut socket: S) -> Self {
        let mut bytes = Vec::new();
        let head = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at;
            }
            assert!(patiently(socket.read_buf(&mut bytes)).await.unwrap() > 0, "a request was cut off");
        };
        let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
        let mut received = Self { head: text, body: String::new(), socket };
        let length: usize = received.header("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = bytes.split_off(head + 4);
        while body.len() < length {
            assert!(patiently(received.socket.read_buf(&mut body)).await.unwrap() > 0, "a body was cut off");
        }
        received.body = String::from_utf8(body).unwrap();
        received
    }

    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.lines().skip(1).filter_map(|line| {
            let (field, value) = line.split_once(':').unwrap();
            field.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        let value = found.next();
        assert_eq!(found.next(), None, "{name} stands twice");
        value
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The id of the request in the body.
    pub(crate) fn id(&self) -> u64 {
        self.json()["id"].as_u64().unwrap()
    }

    /// Writes, and closes the connection.
    pub(crate) async fn finish(self, bytes: &(impl AsRef<[u8]> + ?Sized)) {
        let mut socket = self.open(bytes).await;
        socket.shutdown().await.unwrap();
    }

    /// Writes, and leaves the connection open.
    pub(crate) async fn open(mut self, bytes: &(impl AsRef<[u8]> + ?Sized)) -> S {
        self.socket.write_all(bytes.as_ref()).await.unwrap();
        self.socket
    }

    /// Answers the request in the body with an empty result.
    pub(crate) async fn answer(self) {
        let answer = result(self.id());
        self.finish(&ok("", &answer)).await;
    }
}

/// Waits until the client has closed the connection.
pub(crate) async fn closed(mut socket: TcpStream) {
    let mut rest = Vec::new();
    // A reset is an end too.
    let _ = patiently(socket.read_to_end(&mut rest)).await;
}

pub(crate) const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// The beginning of a response that is a stream of events and ends with its connection.
pub(crate) const EVENTS: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

pub(crate) fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

pub(crate) fn ok(headers: &str, body: &Value) -> String {
    response("200 OK", &format!("Content-Type: application/json\r\n{headers}"), &body.to_string())
}

pub(crate) fn status(status: &str) -> String {
    response(status, "", "")
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

pub(crate) fn event(fields: &str, message: &Value) -> String {
    format!("{fields}data: {message}\n\n")
}

/// A client whose two halves are driven by two tasks.
pub(crate) struct Client {
    say: mpsc::UnboundedSender<Packet>,
    heard: mpsc::UnboundedReceiver<Result<Packet, TransportError>>,
    writing: JoinHandle<Result<(), TransportError>>,
}

impl Client {
    pub(crate) fn new(http: Http) -> Self {
        let (sink, stream) = http.split();
        let (say, said) = mpsc::unbounded();
        let (hear, heard) = mpsc::unbounded();
        let writing = tokio::spawn(said.map(Ok).forward(sink));
        tokio::spawn(stream.map(Ok).forward(hear));
        Self { say, heard, writing }
    }

    pub(crate) fn say(&self, message: Value) {
        self.packet(Packet::from_json(&message.to_string()));
    }

    pub(crate) fn packet(&self, packet: Packet) {
        self.say.unbounded_send(packet).unwrap();
    }

    pub(crate) fn call(&self, id: u64) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t"}}));
    }

    /// The next packet or error of the transport.
    pub(crate) async fn heard(&mut self) -> Option<Result<Packet, TransportError>> {
        patiently(self.heard.next()).await
    }

    /// The next message, as JSON.
    pub(crate) async fn frame(&mut self) -> Value {
        match self.heard().await {
            Some(Ok(packet @ Packet::Frame { .. })) => {
                let Packet::Frame { frame, .. } = &packet else { unreachable!() };
                assert!(!matches!(frame, Frame::Malformed(_)), "{frame:?}");
                serde_json::from_str(&packet.into_json().unwrap()).unwrap()
            }
            other => panic!("no message: {other:?}"),
        }
    }

    /// Waits for the failure of a call, and looks at it.
    pub(crate) async fn failed(&mut self, request: u64, look: impl FnOnce(&HttpError)) {
        match self.heard().await {
            Some(Ok(Packet::RequestFailed { id, error: fault })) => {
                assert_eq!(id, request.into());
                look(HttpError::of(&fault).expect("an error of this transport"));
            }
            other => panic!("no failure: {other:?}"),
        }
    }

    /// Waits for the report that the session has no stream from now on, and looks at the reason.
    pub(crate) async fn stream_ended(&mut self, look: impl FnOnce(&HttpError)) {
        match self.heard().await {
            Some(Ok(Packet::Gap { end: Some(end) })) => look(HttpError::of(&end).expect("an error of HTTP")),
            other => panic!("no end of the stream: {other:?}"),
        }
    }

    /// Waits for the report that messages may be lost.
    pub(crate) async fn has_gap(&mut self) {
        let heard = self.heard().await;
        assert!(matches!(heard, Some(Ok(Packet::Gap { end: None }))), "{heard:?}");
    }

    /// Whether the transport returns nothing for a while.
    pub(crate) async fn hears_nothing(&mut self) -> bool {
        tokio::time::timeout(QUIET, self.heard.next()).await.is_err()
    }

    /// Closes the sink, and waits until that is done.
    pub(crate) async fn close(self) {
        drop(self.say);
        patiently(self.writing).await.unwrap().unwrap();
    }
}

pub(crate) async fn patiently<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened")
}

/// A sequence that looks random and is the same in every run.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}
