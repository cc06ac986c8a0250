//! The load generator's side of HTTP/1.1: sends bytes and reads one response, parsing no more of it than it must.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;

/// The size of one read.
const CHUNK: usize = 64 * 1024;

/// The maximum length of a response's head.
const HEAD_LIMIT: usize = 16 * 1024;

/// A complete response.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The value of the first header of this name, given in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The head and the body as text, without the date and the session id, which differ between responses.
    pub(crate) fn text(&self) -> String {
        let (head, body) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.body));
        let own = |line: &&str| !line.starts_with("date:") && !line.starts_with("mcp-session-id:");
        head.lines().filter(own).chain(["", &*body]).collect::<Vec<_>>().join("\n")
    }
}

/// A keep-alive connection with at most one request in flight.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Received bytes that are not parsed yet.
    raw: Vec<u8>,
    chunk: Box<[u8]>,
    part: Part,
    response: Response,
}

/// The part of the response that comes next.
#[derive(Clone, Copy)]
enum Part {
    Head,
    Body {
        left: usize,
    },
    ChunkSize,
    /// Including the line break after it.
    Chunk {
        left: usize,
    },
    /// The empty line after the last chunk.
    Trailer,
    Done,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            raw: Vec::new(),
            chunk: vec![0; CHUNK].into_boxed_slice(),
            part: Part::Done,
            response: Response::default(),
        })
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request. The response to the previous one must be complete.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.part = Part::Head;
        self.response.head.clear();
        self.response.body.clear();
        self.stream.write_all(request)
    }

    /// Waits for some bytes, and returns the response if they complete it.
    pub(crate) fn receive(&mut self) -> Result<Option<&Response>> {
        let read = self.stream.read(&mut self.chunk)?;
        ensure!(read > 0, "the server closed the connection");
        self.raw.extend_from_slice(&self.chunk[..read]);
        self.advance()?;
        Ok(matches!(self.part, Part::Done).then_some(&self.response))
    }

    /// Sends a request and waits for the response.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<&Response> {
        self.send(request)?;
        while self.receive()?.is_none() {}
        Ok(&self.response)
    }

    /// Reserves memory for a response of this length before the measurement.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.response.body.reserve(bytes);
    }

    fn advance(&mut self) -> Result<()> {
        let mut at = 0;
        loop {
            let rest = &self.raw[at..];
            match self.part {
                Part::Head => {
                    let Some(end) = memmem::find(rest, b"\r\n\r\n") else {
                        ensure!(rest.len() < HEAD_LIMIT, "the head of a response is too long");
                        break;
                    };
                    self.response.head.extend_from_slice(&rest[..end + 2]);
                    at += end + 4;
                    self.part = self.after_head()?;
                }
                Part::Body { left } | Part::Chunk { left } if rest.is_empty() && left > 0 => break,
                Part::Body { left } => {
                    let taken = left.min(rest.len());
                    self.response.body.extend_from_slice(&rest[..taken]);
                    at += taken;
                    self.part = if taken == left { Part::Done } else { Part::Body { left: left - taken } };
                }
                Part::ChunkSize => {
                    let Some(end) = memmem::find(rest, b"\r\n") else { break };
                    let size = std::str::from_utf8(&rest[..end])?;
                    let size =
                        usize::from_str_radix(size, 16).with_context(|| format!("chunk of {size:?}"))?;
                    at += end + 2;
                    self.part = if size == 0 { Part::Trailer } else { Part::Chunk { left: size + 2 } };
                }
                Part::Chunk { left } => {
                    let taken = left.min(rest.len());
                    // The last two bytes are the line break.
                    let data = taken.min(left.saturating_sub(2));
                    self.response.body.extend_from_slice(&rest[..data]);
                    at += taken;
                    self.part =
                        if taken == left { Part::ChunkSize } else { Part::Chunk { left: left - taken } };
                }
                Part::Trailer => {
                    if rest.len() < 2 {
                        break;
                    }
                    ensure!(rest.starts_with(b"\r\n"), "trailers are not expected");
                    at += 2;
                    self.part = Part::Done;
                }
                Part::Done => {
                    ensure!(rest.is_empty(), "bytes after the response");
                    break;
                }
            }
        }
        self.raw.drain(..at);
        Ok(())
    }

    fn after_head(&mut self) -> Result<Part> {
        let head = &self.response.head;
        let status = head.get(9..12).and_then(|status| std::str::from_utf8(status).ok());
        self.response.status = status.and_then(|status| status.parse().ok()).context("no status")?;
        if let Some(length) = header(head, "content-length") {
            return Ok(match length.parse()? {
                0 => Part::Done,
                left => Part::Body { left },
            });
        }
        match header(head, "transfer-encoding") {
            Some("chunked") => Ok(Part::ChunkSize),
            None if matches!(self.response.status, 202 | 204) => Ok(Part::Done),
            other => bail!("a response without a length, in the encoding {other:?}"),
        }
    }
}

fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let mut start = 0;
    for end in memmem::find_iter(head, b"\r\n") {
        let line = &head[start..end];
        start = end + 2;
        if line.len() > name.len()
            && line[name.len()] == b':'
            && line[..name.len()].eq_ignore_ascii_case(name.as_bytes())
        {
            return std::str::from_utf8(&line[name.len() + 1..]).ok().map(str::trim);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Reads a response from bytes that arrive in pieces of this length.
    fn read(bytes: &[u8], piece: usize) -> Result<(u16, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut connection = Connection::open(listener.local_addr()?)?;
        connection.part = Part::Head;
        for piece in bytes.chunks(piece) {
            connection.raw.extend_from_slice(piece);
            connection.advance()?;
        }
        ensure!(matches!(connection.part, Part::Done), "not done");
        Ok((connection.response.status, connection.response.body))
    }

    #[test]
    fn bodies_of_both_kinds_are_read_in_any_pieces() {
        let length = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let chunked =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
        for piece in 1..chunked.len() {
            for bytes in [&length[..], &chunked[..]] {
                assert_eq!(read(bytes, piece).unwrap(), (200, b"hello".to_vec()), "in pieces of {piece}");
            }
        }
        assert_eq!(read(b"HTTP/1.1 202 Accepted\r\n\r\n", 100).unwrap(), (202, Vec::new()));
    }

    #[test]
    fn more_than_the_response_is_an_error() {
        assert!(read(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab", 100).is_err());
    }
}
