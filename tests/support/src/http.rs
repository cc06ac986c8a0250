//! HTTP/1.1 on blocking sockets, without the project's own client and server.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The longest body or chunk, in bytes.
const LENGTH_LIMIT: usize = 1 << 20;

/// A request or a response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Message {
    /// The first line.
    pub first: String,
    headers: Vec<(String, String)>,
    /// The body, without the framing of chunks.
    pub body: Vec<u8>,
    /// The message as received.
    pub bytes: Vec<u8>,
}

impl Message {
    /// Reads the next request; none at the end of the connection.
    pub fn request(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let Some(mut message) = Self::head(reader)? else { return Ok(None) };
        if message.header("transfer-encoding").contains("chunked") {
            message.chunks(reader)?;
        } else {
            let length = message.header("content-length").parse().unwrap_or_default();
            message.body = exactly(reader, length, &mut message.bytes)?;
        }
        Ok(Some(message))
    }

    /// Reads a request, or what a client of another protocol has sent, such as the beginning of TLS.
    fn any(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let sent = reader.fill_buf()?;
        if sent.first().is_none_or(u8::is_ascii_alphabetic) {
            return Self::request(reader);
        }
        Ok(Some(Self { first: String::new(), headers: Vec::new(), body: Vec::new(), bytes: sent.to_vec() }))
    }

    /// Reads a response whose connection ends with it.
    fn response(reader: &mut impl BufRead) -> Result<Self> {
        let mut message = Self::head(reader)?.ok_or(ErrorKind::UnexpectedEof)?;
        if message.header("transfer-encoding").contains("chunked") {
            message.chunks(reader)?;
        } else {
            reader.read_to_end(&mut message.body)?;
        }
        Ok(message)
    }

    /// Reads the head of a message, up to and with the empty line; none at the end of the connection.
    pub fn head(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let mut bytes = Vec::new();
        let Some(first) = line(reader, &mut bytes)? else { return Ok(None) };
        let mut headers = Vec::new();
        while let Some(header) = line(reader, &mut bytes)?.filter(|header| !header.is_empty()) {
            let (name, value) = header.split_once(':').unwrap_or((&header, ""));
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        Ok(Some(Self { first, headers, body: Vec::new(), bytes }))
    }

    fn chunks(&mut self, reader: &mut impl BufRead) -> Result<()> {
        loop {
            let size = line(reader, &mut self.bytes)?.unwrap_or_default();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16);
            let size = size.unwrap_or_default();
            self.body.extend(exactly(reader, size, &mut self.bytes)?);
            line(reader, &mut self.bytes)?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    /// The method of a request.
    pub fn method(&self) -> &str {
        self.word(0)
    }

    /// The target of a request: its path and query.
    pub fn path(&self) -> &str {
        self.word(1)
    }

    /// The status of a response; 0 if its first line has none.
    pub fn status(&self) -> u16 {
        self.word(1).parse().unwrap_or_default()
    }

    fn word(&self, at: usize) -> &str {
        self.first.split(' ').nth(at).unwrap_or_default()
    }

    /// The value of a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        let mut found = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    }

    /// The body as text.
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

/// One line without its end; none when there is nothing more.
fn line(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> Result<Option<String>> {
    let begin = bytes.len();
    reader.read_until(b'\n', bytes)?;
    let line = String::from_utf8_lossy(&bytes[begin..]).trim_end().to_owned();
    Ok((bytes.len() > begin).then_some(line))
}

fn exactly(reader: &mut impl Read, size: usize, bytes: &mut Vec<u8>) -> Result<Vec<u8>> {
    if size > LENGTH_LIMIT {
        return Err(Error::new(ErrorKind::InvalidData, format!("{size} bytes, at most {LENGTH_LIMIT}")));
    }
    let mut body = vec![0; size];
    reader.read_exact(&mut body)?;
    bytes.extend_from_slice(&body);
    Ok(body)
}

/// Starts a server that answers one request on each connection with the bytes that `answer` makes of it, and closes the
/// connection. It adds `connection: close` to the head, so that the client sends no other request on the connection. It runs
/// until the process exits. Returns its origin.
///
/// # Panics
///
/// If no port is free.
pub fn serve<R: AsRef<[u8]>>(answer: impl FnMut(Message) -> R + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let origin = format!("http://{}", listener.local_addr().expect("it listens"));
    thread::spawn(move || {
        let answer = Mutex::new(answer);
        thread::scope(|scope| {
            for client in listener.incoming().flatten() {
                let answer = &answer;
                scope.spawn(move || {
                    let Ok(Some(request)) = Message::any(&mut BufReader::new(&client)) else { return };
                    let response = answer.lock().unwrap_or_else(PoisonError::into_inner)(request);
                    // The client may have read enough.
                    let _gone = (&client).write_all(&with_close(response.as_ref()));
                });
            }
        });
    });
    origin
}

/// The response with `connection: close` below its status line.
fn with_close(response: &[u8]) -> Vec<u8> {
    let status_line = response.windows(2).position(|bytes| bytes == b"\r\n").unwrap_or(response.len());
    let (status_line, rest) = response.split_at(status_line);
    [status_line, b"\r\nconnection: close", rest].concat()
}

/// A response with this head, such as `200 OK` and the headers below it, and a body of known length.
pub fn response(head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Sends a request on a connection of its own and reads the whole response. `head` is the request line without the version,
/// and the headers below it; `Host` is added if it is missing.
pub fn exchange(origin: &str, head: &str, body: &str) -> Result<Message> {
    let address = origin.trim_start_matches("http://");
    let (line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    let mut request = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
    if !headers.to_ascii_lowercase().contains("host:") {
        request += &format!("host: {address}\r\n");
    }
    for header in headers.lines() {
        request += &format!("{header}\r\n");
    }
    if !body.is_empty() {
        request += &format!("content-length: {}\r\n", body.len());
    }
    let stream = TcpStream::connect(address)?;
    (&stream).write_all((request + "\r\n" + body).as_bytes())?;
    Message::response(&mut BufReader::new(&stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &mut &[u8]) -> Option<(String, Vec<u8>)> {
        Message::request(bytes).unwrap().map(|request| (request.method().to_owned(), request.body))
    }

    #[test]
    fn requests_are_read_whole_and_one_after_the_other() {
        let mut bytes: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}\
            POST /mcp HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n\
            DELETE /mcp HTTP/1.1\r\nhost: a\r\n\r\n";
        let all = bytes;
        assert_eq!(read(&mut bytes), Some(("POST".to_owned(), b"{}".to_vec())));
        assert_eq!(read(&mut bytes), Some(("POST".to_owned(), b"{}".to_vec())));
        assert_eq!(read(&mut bytes), Some(("DELETE".to_owned(), Vec::new())));
        assert_eq!(read(&mut bytes), None);
        let first = Message::request(&mut &*all).unwrap().unwrap();
        assert_eq!((first.header("host"), all.starts_with(&first.bytes)), ("a", true));
        assert!(Message::request(&mut &b"POST / HTTP/1.1\r\ncontent-length: 1048577\r\n\r\n"[..]).is_err());
    }

    #[test]
    fn response_is_read_to_the_end_of_its_connection() {
        let origin =
            serve(|request| response("403 No\r\nx-a: 1", [request.path(), &request.text()].concat()));
        let answer = exchange(&origin, "POST /a", "b").unwrap();
        assert_eq!((answer.status(), answer.header("X-A"), &*answer.text()), (403, "1", "/ab"));
    }
}
