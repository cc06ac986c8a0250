//! The server's side of one HTTP request, answered by a test byte by byte.

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{QUIET, patiently};

/// The response to a notification.
pub const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// The beginning of a response that is a stream of events and ends with its connection.
pub const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A request that a test answers, and its connection.
///
/// All methods panic if the client breaks the protocol or the connection.
#[derive(Debug)]
pub struct Received<S = TcpStream> {
    head: String,
    body: String,
    socket: S,
}

#[expect(clippy::missing_panics_doc, reason = "the type's docs say it of all of them")]
impl Received {
    /// Accepts the next connection and reads its request.
    pub async fn next(listener: &TcpListener) -> Self {
        let (socket, _) = patiently(listener.accept()).await.unwrap();
        Self::read(socket).await
    }
}

#[expect(clippy::missing_panics_doc, reason = "the type's docs say it of all of them")]
impl<S: AsyncRead + AsyncWrite + Unpin> Received<S> {
    /// Reads a request.
    pub async fn read(mut socket: S) -> Self {
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

    /// The method.
    pub fn method(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    /// The path and query.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// The only header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.head.lines().skip(1).filter_map(|line| {
            let (field, value) = line.split_once(':').unwrap();
            field.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        let value = found.next();
        assert_eq!(found.next(), None, "{name} is repeated");
        value
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The id of the request in the body.
    pub fn id(&self) -> u64 {
        self.json()["id"].as_u64().unwrap()
    }

    /// Writes, and closes the connection.
    pub async fn finish(self, bytes: &(impl AsRef<[u8]> + ?Sized)) {
        let mut socket = self.open(bytes).await;
        socket.shutdown().await.unwrap();
    }

    /// Writes, and leaves the connection open.
    pub async fn open(mut self, bytes: &(impl AsRef<[u8]> + ?Sized)) -> S {
        self.socket.write_all(bytes.as_ref()).await.unwrap();
        self.socket
    }

    /// Answers the request in the body with an empty result.
    pub async fn answer(self) {
        let body = result(self.id()).to_string();
        self.finish(&response("200 OK", "Content-Type: application/json\r\n", &body)).await;
    }
}

/// Whether no connection comes for a while.
pub async fn is_quiet(listener: &TcpListener) -> bool {
    tokio::time::timeout(QUIET, listener.accept()).await.is_err()
}

/// Waits until the client has closed the connection.
pub async fn closed(mut socket: TcpStream) {
    let mut rest = Vec::new();
    // A reset is an end too.
    let _ = patiently(socket.read_to_end(&mut rest)).await;
}

/// An empty result.
pub fn result(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

/// A response with a body of known length, whose connection ends with it. Each header ends with a line break.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}
