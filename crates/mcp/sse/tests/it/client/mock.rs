//! A server that plays the given bytes, one request a connection, and a client that is driven.

use std::time::Duration;

use agentwire_jsonrpc::Frame;
use agentwire_transport::{Packet, TransportError};
use agentwire_transport_sse::client::{Config, Sse, SseError};
use futures::StreamExt;
use futures::channel::mpsc;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::patiently;

/// How long it is watched that something does not happen.
pub(crate) const QUIET: Duration = Duration::from_millis(80);

pub(crate) struct Mock {
    listener: TcpListener,
}

impl Mock {
    pub(crate) async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.listener.local_addr().unwrap())
    }

    pub(crate) fn config(&self) -> Config {
        Config::new(&format!("{}/v1/sse?x=1", self.origin())).unwrap()
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

    /// Answers the next request, which must be the GET, with a stream.
    pub(crate) async fn stream(&self, begins: &str) -> TcpStream {
        let get = self.next().await;
        assert_eq!(get.method(), "GET");
        assert_eq!(get.header("accept"), Some("text/event-stream"));
        get.open(&format!("{EVENTS}{begins}")).await
    }

    /// A client whose stream is open.
    pub(crate) async fn open(&self) -> (Client, TcpStream) {
        let client = Client::new(self.config().open().unwrap());
        let stream = self.stream("event: endpoint\ndata: /messages?sessionId=s-1\n\n").await;
        (client, stream)
    }
}

/// A request, and the connection it came on.
pub(crate) struct Received {
    head: String,
    body: String,
    socket: TcpStream,
}

impl Received {
    async fn read(mut socket: TcpStream) -> Self {
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

    /// Writes, and closes the connection.
    pub(crate) async fn finish(self, bytes: &str) {
        let mut socket = self.open(bytes).await;
        socket.shutdown().await.unwrap();
    }

    /// Writes, and leaves the connection open.
    pub(crate) async fn open(mut self, bytes: &str) -> TcpStream {
        self.socket.write_all(bytes.as_bytes()).await.unwrap();
        self.socket
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
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";

pub(crate) fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

/// A client whose two halves are driven by two tasks.
pub(crate) struct Client {
    say: mpsc::UnboundedSender<Packet>,
    heard: mpsc::UnboundedReceiver<Result<Packet, TransportError>>,
    writing: JoinHandle<Result<(), TransportError>>,
}

impl Client {
    pub(crate) fn new(transport: Sse) -> Self {
        let (sink, stream) = transport.split();
        let (say, said) = mpsc::unbounded();
        let (hear, heard) = mpsc::unbounded();
        let writing = tokio::spawn(said.map(Ok).forward(sink));
        tokio::spawn(stream.map(Ok).forward(hear));
        Self { say, heard, writing }
    }

    pub(crate) fn say(&self, message: Value) {
        self.say.unbounded_send(Packet::from_json(&message.to_string())).unwrap();
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
    pub(crate) async fn failed(&mut self, request: u64, look: impl FnOnce(&SseError)) {
        match self.heard().await {
            Some(Ok(Packet::RequestFailed { id, error: fault })) => {
                assert_eq!(id, request.into());
                look(SseError::of(&fault).expect("an error of this transport"));
            }
            other => panic!("no failure: {other:?}"),
        }
    }

    /// Waits for the end of the transport, and gives the reason.
    pub(crate) async fn ended(mut self) -> SseError {
        let fault = match self.heard().await {
            Some(Err(fault)) => fault,
            other => panic!("no end: {other:?}"),
        };
        assert!(self.heard().await.is_none(), "a fault is the last that is heard");
        let TransportError::Other(error) = fault else { panic!("{fault}") };
        *error.downcast().expect("an error of this transport")
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

/// A sequence that looks random and is the same in every run.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}
