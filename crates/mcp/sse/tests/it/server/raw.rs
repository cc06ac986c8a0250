//! A client that knows no more of HTTP than it needs.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::patiently;

pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

/// One connection.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
    port: u16,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Raw {
    pub(crate) async fn connect(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new(), port }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends a request with a body of known length. A header that is given replaces the usual one.
    pub(crate) async fn send(&mut self, line: &str, headers: &[(&str, &str)], body: &str) {
        let mut text = format!("{line} HTTP/1.1\r\n");
        let host = format!("127.0.0.1:{}", self.port);
        let host = ("Host", host.as_str());
        let usual = (!headers.iter().any(|(name, _)| *name == "Host")).then_some(&host);
        for (name, value) in usual.into_iter().chain(headers) {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.write((text + "\r\n" + body).as_bytes()).await;
    }

    /// Sends a request and reads all of the response, which has a known length.
    pub(crate) async fn exchange(
        &mut self,
        line: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (Head, String) {
        self.send(line, headers, body).await;
        self.response().await
    }

    /// Reads a response of known length.
    pub(crate) async fn response(&mut self) -> (Head, String) {
        let head = self.head().await;
        let length = match head.status {
            204 => 0,
            _ => head.header("content-length").expect("a length").parse().unwrap(),
        };
        while self.unread.len() < length {
            assert!(self.read().await > 0, "the body was cut");
        }
        let body = self.unread.drain(..length).collect();
        (head, String::from_utf8(body).unwrap())
    }

    pub(crate) async fn head(&mut self) -> Head {
        let text = self.until("\r\n\r\n").await.expect("a response");
        let mut lines = text.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Head { status, headers }
    }

    /// A chunk of a body. None at the end, or when the connection is cut.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.until("\r\n").await?;
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        while self.unread.len() < size + 2 {
            if self.read().await == 0 {
                return None;
            }
        }
        let chunk: Vec<u8> = self.unread.drain(..size).collect();
        self.unread.drain(..2);
        Some(chunk).filter(|chunk| !chunk.is_empty())
    }

    /// The text up to and with a mark. `None` if the connection ends before it.
    async fn until(&mut self, mark: &str) -> Option<String> {
        loop {
            let found = self.unread.windows(mark.len()).position(|window| window == mark.as_bytes());
            if let Some(at) = found {
                return Some(String::from_utf8(self.unread.drain(..at + mark.len()).collect()).unwrap());
            }
            if self.read().await == 0 {
                return None;
            }
        }
    }

    /// Reads something; 0 at the end of the connection.
    async fn read(&mut self) -> usize {
        patiently(self.stream.read_buf(&mut self.unread)).await.unwrap_or(0)
    }
}

/// A session: its stream, and how to post to it.
pub(crate) struct Session {
    pub(crate) raw: Raw,
    pub(crate) endpoint: String,
    text: String,
    port: u16,
}

impl Session {
    pub(crate) async fn open(port: u16) -> Self {
        Self::open_at(port, "/sse").await
    }

    pub(crate) async fn open_at(port: u16, path: &str) -> Self {
        let mut raw = Raw::connect(port).await;
        raw.send(&format!("GET {path}"), &[("Accept", "text/event-stream")], "").await;
        let head = raw.head().await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
        let mut session = Self { raw, endpoint: String::new(), text: String::new(), port };
        let (name, endpoint) = session.event().await.expect("an event");
        assert_eq!(name, "endpoint");
        session.endpoint = endpoint;
        session
    }

    /// The name and the data of the next event. None at the end.
    pub(crate) async fn event(&mut self) -> Option<(String, String)> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                if block.starts_with(':') {
                    continue;
                }
                let block = block.strip_prefix("event: ").expect("the name is always said");
                let (name, data) = block.split_once("\ndata: ").expect("one line of data");
                return Some((name.to_owned(), data.trim_end().to_owned()));
            }
            self.text += std::str::from_utf8(&self.raw.chunk().await?).unwrap();
        }
    }

    /// The next message, as JSON.
    pub(crate) async fn message(&mut self) -> Value {
        let (name, data) = self.event().await.expect("a message");
        assert_eq!(name, "message");
        serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"))
    }

    /// Posts a text on a connection of its own. Gives the status and the body.
    pub(crate) async fn post(&self, body: &str) -> (u16, String) {
        let (head, body) =
            Raw::connect(self.port).await.exchange(&format!("POST {}", self.endpoint), &[JSON], body).await;
        (head.status, body)
    }

    /// Posts a request.
    pub(crate) async fn call(&self, id: u64, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        assert_eq!(self.post(&request.to_string()).await, (202, String::new()));
    }
}

pub(crate) fn result(id: u64, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
