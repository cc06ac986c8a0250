//! A connection on which a check writes HTTP requests byte by byte, where a library would be too polite.

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::connect::Duplex;
use super::http::HttpTarget;
use crate::fault::Head;
use crate::verdict::{Outcome, Stop};

/// The most bytes of a response's head.
const MAX_HEAD: usize = 64 << 10;
/// The most bytes of a response's body.
const MAX_BODY: usize = 16 << 20;

/// A connection. Dropping it closes it.
pub(crate) struct Tcp {
    target: HttpTarget,
    stream: Box<dyn Duplex>,
    /// Bytes that were read and belong to no response yet.
    unread: Vec<u8>,
    exchange: u32,
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct WholeResponse {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Tcp {
    pub(super) fn new(target: HttpTarget, stream: Box<dyn Duplex>) -> Self {
        Self { target, stream, unread: Vec::new(), exchange: 0 }
    }

    /// The connection after a switch of protocols, and the bytes that were read of it already.
    pub(super) fn into_parts(self) -> (Box<dyn Duplex>, Vec<u8>) {
        (self.stream, self.unread)
    }

    /// Announces a request that is about to be written to the trace and to faults: its head as lines, and its body.
    pub(crate) fn announce(&mut self, head: &str, body: &[u8]) {
        (self.exchange, ..) = self.target.note(head.trim_end(), body);
    }

    /// Writes bytes; fails if the server has closed the connection.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Outcome {
        let written = async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        };
        let expected = "a server that reads the request";
        match tokio::time::timeout(self.target.wait(), written).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Stop::failed(expected, format!("writing failed: {error}"))),
            Err(_) => Err(Stop::failed(expected, "it read nothing more")),
        }
    }

    /// The next response, without those of 1xx.
    pub(crate) async fn response(&mut self) -> Outcome<WholeResponse> {
        loop {
            let head = self.next_head().await?;
            if head.status >= 200 {
                let body = self.body(&head).await?;
                let mut forged = Vec::new();
                let head = self.target.take_head(head, &mut forged);
                let body = self.target.take_body(self.exchange, body, &mut forged);
                return Ok(WholeResponse { head, body });
            }
        }
    }

    /// The next head, also one of 1xx. What follows it is not read.
    pub(crate) async fn head(&mut self) -> Outcome<Head> {
        let head = self.next_head().await?;
        Ok(self.target.take_head(head, &mut Vec::new()))
    }

    async fn next_head(&mut self) -> Outcome<Head> {
        let end = loop {
            if let Some(at) = position(&self.unread, b"\r\n\r\n") {
                break at;
            }
            if self.unread.len() > MAX_HEAD {
                return Err(Stop::failed("a response", "its head is too long"));
            }
            if self.read("a response").await? == 0 {
                return Err(Stop::failed("a response", "the server closed the connection"));
            }
        };
        let head: Vec<u8> = self.unread.drain(..end + 4).collect();
        self.parse_head(&String::from_utf8_lossy(&head))
    }

    fn parse_head(&self, text: &str) -> Outcome<Head> {
        let mut lines = text.trim_end().split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
        let status =
            status.ok_or_else(|| Stop::failed("a response of HTTP/1.1", format!("the line `{first}`")))?;
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Ok(Head { exchange: self.exchange, status, headers })
    }

    /// The body that follows a head.
    async fn body(&mut self, head: &Head) -> Outcome<Vec<u8>> {
        if matches!(head.status, 204 | 304) {
            return Ok(Vec::new());
        }
        if head.header("transfer-encoding").is_some_and(|coding| coding.ends_with("chunked")) {
            return self.chunks().await;
        }
        match head.header("content-length").map(str::parse) {
            Some(Ok(length)) => self.exactly(length).await,
            Some(Err(_)) => Err(Stop::failed("a Content-Length that is a number", "it is none")),
            None => {
                while self.read("the end of the body").await? > 0 {}
                Ok(std::mem::take(&mut self.unread))
            }
        }
    }

    async fn chunks(&mut self) -> Outcome<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16)
                .map_err(|_| Stop::failed("the length of a chunk", format!("the line `{line}`")))?;
            if size == 0 {
                while !self.line().await?.is_empty() {}
                return Ok(body);
            }
            body.extend(self.exactly(size).await?);
            self.line().await?;
            if body.len() > MAX_BODY {
                return Err(Stop::failed("a body", "it is too long"));
            }
        }
    }

    async fn line(&mut self) -> Outcome<String> {
        loop {
            if let Some(end) = position(&self.unread, b"\r\n") {
                let line: Vec<u8> = self.unread.drain(..end + 2).take(end).collect();
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            if self.unread.len() > MAX_BODY || self.read("the rest of a chunk").await? == 0 {
                return Err(Stop::failed("the rest of a chunk", "the body ended"));
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Outcome<Vec<u8>> {
        let expected = format!("a body of {length} bytes");
        if length > MAX_BODY {
            return Err(Stop::failed("a body", format!("one of {length} bytes is announced")));
        }
        while self.unread.len() < length {
            if self.read(&expected).await? == 0 {
                return Err(Stop::failed(expected, format!("it ended after {}", self.unread.len())));
            }
        }
        Ok(self.unread.drain(..length).collect())
    }

    /// Whether the server closes the connection within a time, whatever it sends before.
    #[cfg(test)]
    pub(crate) async fn closes_within(&mut self, time: std::time::Duration) -> bool {
        let end = async { while read_some(&mut self.stream, &mut self.unread).await > 0 {} };
        tokio::time::timeout(time, end).await.is_ok()
    }

    async fn read(&mut self, expected: &str) -> Outcome<usize> {
        let wait = self.target.wait();
        tokio::time::timeout(wait, read_some(&mut self.stream, &mut self.unread))
            .await
            .map_err(|_| Stop::failed(expected, format!("nothing came within {} ms", wait.as_millis())))
    }
}

/// Reads what there is; 0 for the end or a broken connection.
async fn read_some(stream: &mut (impl AsyncRead + Unpin), into: &mut Vec<u8>) -> usize {
    let mut buffer = [0; 8192];
    let count = stream.read(&mut buffer).await.unwrap_or(0);
    into.extend_from_slice(&buffer[..count]);
    count
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
