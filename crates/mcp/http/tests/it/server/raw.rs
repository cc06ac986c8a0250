//! A client that knows no more of HTTP than it needs.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// No test waits for longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

/// One connection.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
    port: u16,
    /// How much of a body of known length has not been read.
    length: Option<usize>,
}

/// The head of a response.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Raw {
    pub(crate) async fn connect(port: u16) -> Self {
        Self::connect_from(1, port).await
    }

    /// A client at the address 127.0.0.`address`. Not every system has more than the first.
    pub(crate) async fn connect_from(address: u8, port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        if address != 1 {
            socket.bind(([127, 0, 0, address], 0).into()).unwrap();
        }
        let stream = socket.connect(([127, 0, 0, 1], port).into()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new(), port, length: None }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends a request with a body of known length. A header that is given replaces the usual one.
    pub(crate) async fn send(&mut self, method: &str, headers: &[(&str, &str)], body: &str) {
        let mut text = format!("{method} /mcp HTTP/1.1\r\n");
        let host = format!("127.0.0.1:{}", self.port);
        let usual = [("Host", host.as_str()), BOTH, JSON];
        let usual = usual
            .iter()
            .filter(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
        for (name, value) in usual.chain(headers) {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text += "\r\n";
        text += body;
        self.write(text.as_bytes()).await;
    }

    /// Sends a request and reads all of the response.
    pub(crate) async fn exchange(
        &mut self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (Head, String) {
        self.send(method, headers, body).await;
        let head = self.head().await;
        let body = self.body(&head).await;
        (head, body)
    }

    pub(crate) async fn head(&mut self) -> Head {
        let text = self.until("\r\n\r\n").await.expect("a response");
        let mut lines = text.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let head = Head { status, headers };
        self.length = head.header("content-length").map(|length| length.parse().unwrap());
        head
    }

    /// The whole body.
    pub(crate) async fn body(&mut self, head: &Head) -> String {
        let mut body = Vec::new();
        if self.length.is_some() || head.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
            assert!(self.length.is_none_or(|length| length == 0), "the body was cut");
        }
        String::from_utf8(body).unwrap()
    }

    /// A part of the body. None at the end, or when the connection is cut.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        if let Some(length) = self.length {
            if length == 0 || (self.unread.is_empty() && self.read().await == 0) {
                return None;
            }
            let part: Vec<u8> = self.unread.drain(..length.min(self.unread.len())).collect();
            self.length = Some(length - part.len());
            return Some(part);
        }
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
    pub(crate) async fn until(&mut self, mark: &str) -> Option<String> {
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

    /// Cuts the connection with a reset.
    pub(crate) fn reset(self) {
        #[allow(
            deprecated,
            reason = "it is the one way to cut a connection with a reset, and nothing waits"
        )]
        self.stream.set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Reads something; 0 at the end of the connection.
    pub(crate) async fn read(&mut self) -> usize {
        let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.unread)).await;
        read.expect("the server said nothing").unwrap_or(0)
    }
}

/// A stream of events that is being read.
pub(crate) struct Events {
    pub(crate) raw: Raw,
    text: String,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) data: String,
    pub(crate) retry: Option<String>,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {}", self.data))
    }
}

impl Events {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, text: String::new() }
    }

    /// The next event. None at the end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let block: String = self.text.drain(..at + 2).collect();
                if let Some(event) = parse_events(&block).pop() {
                    return Some(event);
                }
                continue;
            }
            self.text += std::str::from_utf8(&self.raw.chunk().await?).unwrap();
        }
    }

    /// All that is left.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The events in a text, without comments.
pub(crate) fn parse_events(text: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for block in text.split_terminator("\n\n") {
        let mut event = None;
        for line in block.lines().filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("a field: {line:?}"));
            let event: &mut Event = event.get_or_insert_default();
            match name {
                "id" => event.id = Some(value.to_owned()),
                "data" => event.data += value,
                "retry" => event.retry = Some(value.to_owned()),
                other => panic!("the field {other}"),
            }
        }
        events.extend(event);
    }
    events
}
