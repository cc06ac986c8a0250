//! The load generator's half of HTTP/1.1: bytes out, one response in, read without parsing more of it than has to be.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;

/// Room for all that a socket gives at once.
const CHUNK: usize = 64 * 1024;

/// The longest head that a response may have.
const HEAD: usize = 16 * 1024;

/// A response that has come whole.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// The value of the first header of that name, which is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// All of it as text, without what no two responses share: the date, and the name of a session.
    pub(crate) fn text(&self) -> String {
        let (head, body) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.body));
        let own = |line: &&str| !line.starts_with("date:") && !line.starts_with("mcp-session-id:");
        head.lines().filter(own).chain(["", &*body]).collect::<Vec<_>>().join("\n")
    }
}

/// A keep-alive connection with at most one request on its way.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Bytes that have come and are not looked at yet.
    raw: Vec<u8>,
    chunk: Box<[u8]>,
    state: State,
    response: Response,
}

/// What the next bytes are.
#[derive(Clone, Copy)]
enum State {
    Head,
    Body {
        left: usize,
    },
    ChunkSize,
    /// With the line break that ends it.
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
            state: State::Done,
            response: Response::default(),
        })
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request. The response to the one before it must have come.
    pub(crate) fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.state = State::Head;
        self.response.head.clear();
        self.response.body.clear();
        self.stream.write_all(request)
    }

    /// Waits for some bytes and gives the response if they complete it.
    pub(crate) fn receive(&mut self) -> Result<Option<&Response>> {
        let read = self.stream.read(&mut self.chunk)?;
        ensure!(read > 0, "the server closed the connection");
        self.raw.extend_from_slice(&self.chunk[..read]);
        self.advance()?;
        Ok(matches!(self.state, State::Done).then_some(&self.response))
    }

    /// Sends a request and waits for the response.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<&Response> {
        self.send(request)?;
        while self.receive()?.is_none() {}
        Ok(&self.response)
    }

    /// Room for a response of that length, made before a clock runs.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.response.body.reserve(bytes);
    }

    fn advance(&mut self) -> Result<()> {
        let mut at = 0;
        loop {
            let rest = &self.raw[at..];
            match self.state {
                State::Head => {
                    let Some(end) = memmem::find(rest, b"\r\n\r\n") else {
                        ensure!(rest.len() < HEAD, "the head of a response is too long");
                        break;
                    };
                    self.response.head.extend_from_slice(&rest[..end + 2]);
                    at += end + 4;
                    self.state = self.after_head()?;
                }
                State::Body { left } | State::Chunk { left } if rest.is_empty() && left > 0 => break,
                State::Body { left } => {
                    let taken = left.min(rest.len());
                    self.response.body.extend_from_slice(&rest[..taken]);
                    at += taken;
                    self.state = if taken == left { State::Done } else { State::Body { left: left - taken } };
                }
                State::ChunkSize => {
                    let Some(end) = memmem::find(rest, b"\r\n") else { break };
                    let size = std::str::from_utf8(&rest[..end])?;
                    let size =
                        usize::from_str_radix(size, 16).with_context(|| format!("chunk of {size:?}"))?;
                    at += end + 2;
                    self.state = if size == 0 { State::Trailer } else { State::Chunk { left: size + 2 } };
                }
                State::Chunk { left } => {
                    let taken = left.min(rest.len());
                    // The last two bytes are the line break.
                    let data = taken.min(left.saturating_sub(2));
                    self.response.body.extend_from_slice(&rest[..data]);
                    at += taken;
                    self.state =
                        if taken == left { State::ChunkSize } else { State::Chunk { left: left - taken } };
                }
                State::Trailer => {
                    if rest.len() < 2 {
                        break;
                    }
                    ensure!(rest.starts_with(b"\r\n"), "trailers are not expected");
                    at += 2;
                    self.state = State::Done;
                }
                State::Done => {
                    ensure!(rest.is_empty(), "bytes after the response");
                    break;
                }
            }
        }
        self.raw.drain(..at);
        Ok(())
    }

    fn after_head(&mut self) -> Result<State> {
        let head = &self.response.head;
        let status = head.get(9..12).and_then(|status| std::str::from_utf8(status).ok());
        self.response.status = status.and_then(|status| status.parse().ok()).context("no status")?;
        if let Some(length) = header(head, "content-length") {
            return Ok(match length.parse()? {
                0 => State::Done,
                left => State::Body { left },
            });
        }
        match header(head, "transfer-encoding") {
            Some("chunked") => Ok(State::ChunkSize),
            None if matches!(self.response.status, 202 | 204) => Ok(State::Done),
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

    /// Gives the response that is read from bytes which come in pieces of that length.
    fn read(bytes: &[u8], piece: usize) -> Result<(u16, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut connection = Connection::open(listener.local_addr()?)?;
        connection.state = State::Head;
        for piece in bytes.chunks(piece) {
            connection.raw.extend_from_slice(piece);
            connection.advance()?;
        }
        ensure!(matches!(connection.state, State::Done), "not done");
        Ok((connection.response.status, connection.response.body))
    }

    #[test]
    fn bodies_of_both_kinds_come_whole_in_any_pieces() {
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
