//! A client that writes and reads HTTP/1.1 byte by byte.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::patiently;

/// Accepts both forms of a response.
pub const BOTH: (&str, &str) = ("Accept", "application/json, text/event-stream");
/// Announces a body of JSON.
pub const JSON: (&str, &str) = ("Content-Type", "application/json");

/// One connection of a client that writes and reads HTTP/1.1 byte by byte.
///
/// All methods panic where the server breaks the protocol or does not answer in time.
#[derive(Debug)]
#[non_exhaustive]
pub struct Raw {
    /// The socket. What has been read of it and not been used is not in it.
    pub stream: TcpStream,
    unread: Vec<u8>,
    port: u16,
    /// The unread bytes of a body of known length.
    length: Option<usize>,
    path: &'static str,
    headers: &'static [(&'static str, &'static str)],
}

/// The head of a response.
#[derive(Debug)]
#[non_exhaustive]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Head {
    /// The first header of that name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[expect(clippy::missing_panics_doc, reason = "the type's docs say it of all of them")]
impl Raw {
    /// Connects to a port of this machine.
    pub async fn connect(port: u16) -> Self {
        Self::connect_from(1, port).await
    }

    /// Not every system has more than the address 127.0.0.1.
    async fn connect_from(address: u8, port: u16) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        if address != 1 {
            socket.bind(([127, 0, 0, address], 0).into()).unwrap();
        }
        let stream = socket.connect(([127, 0, 0, 1], port).into()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, unread: Vec::new(), port, length: None, path: "/", headers: &[] }
    }

    /// Connects as a client of MCP: requests go to `/mcp`, with the headers of a POST.
    pub async fn mcp(port: u16) -> Self {
        Self::mcp_from(1, port).await
    }

    /// Connects as a client of MCP at the address 127.0.0.`address`.
    pub async fn mcp_from(address: u8, port: u16) -> Self {
        Self { path: "/mcp", headers: &[BOTH, JSON], ..Self::connect_from(address, port).await }
    }

    /// Writes bytes.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends a request with a body of known length. `line` is the method, and the path if it is not the default one. A header that is
    /// given replaces the default.
    pub async fn send(&mut self, line: &str, headers: &[(&str, &str)], body: &str) {
        let (method, path) = line.split_once(' ').unwrap_or((line, self.path));
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        let host = format!("127.0.0.1:{}", self.port);
        let usual = [("Host", host.as_str())];
        let usual = usual.iter().chain(self.headers);
        let usual =
            usual.filter(|(name, _)| !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)));
        for (name, value) in usual.chain(headers) {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        self.write((text + "\r\n" + body).as_bytes()).await;
    }

    /// Sends a request and reads the whole response.
    pub async fn exchange(&mut self, line: &str, headers: &[(&str, &str)], body: &str) -> (Head, String) {
        self.send(line, headers, body).await;
        self.response().await
    }

    /// Reads a whole response.
    pub async fn response(&mut self) -> (Head, String) {
        let head = self.head().await;
        let body = self.body(&head).await;
        (head, body)
    }

    /// Reads the head of a response.
    pub async fn head(&mut self) -> Head {
        let text = self.until("\r\n\r\n").await.expect("a response");
        let mut lines = text.trim_end().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.map(|line| line.split_once(": ").unwrap());
        let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        let head = Head { status, headers };
        self.length = head.header("content-length").map(|length| length.parse().unwrap());
        head
    }

    /// Reads the whole body of a response.
    pub async fn body(&mut self, head: &Head) -> String {
        let mut body = Vec::new();
        if self.length.is_some() || head.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
            assert!(self.length.is_none_or(|length| length == 0), "the body was cut");
        } else {
            assert_eq!(head.status, 204, "a body has a length: {head:?}");
        }
        String::from_utf8(body).unwrap()
    }

    /// Reads a part of the body. None at the end, or when the connection is cut.
    pub async fn chunk(&mut self) -> Option<Vec<u8>> {
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

    /// Reads up to and with a mark. `None` if the connection ends before it.
    pub async fn until(&mut self, mark: &str) -> Option<String> {
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
    pub fn reset(self) {
        #[allow(
            deprecated,
            reason = "it is the one way to cut a connection with a reset, and nothing waits"
        )]
        self.stream.set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Reads something; 0 at the end of the connection.
    pub async fn read(&mut self) -> usize {
        patiently(self.stream.read_buf(&mut self.unread)).await.unwrap_or(0)
    }
}
