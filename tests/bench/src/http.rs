//! Reads HTTP/1.1 requests, for a server and a proxy of tests.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The longest body or chunk, in bytes.
const LENGTH_LIMIT: usize = 1 << 20;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The request as it was received.
    pub(crate) bytes: Vec<u8>,
}

impl Request {
    /// Reads the next request; none at the end of the connection.
    pub(crate) fn read(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let mut bytes = Vec::new();
        let Some(first) = line(reader, &mut bytes)? else { return Ok(None) };
        let mut headers = Vec::new();
        while let Some(header) = line(reader, &mut bytes)?.filter(|header| !header.is_empty()) {
            let (name, value) = header.split_once(':').unwrap_or((&header, ""));
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let method = first.split(' ').next().unwrap_or_default().to_owned();
        let mut request = Self { method, headers, body: Vec::new(), bytes: Vec::new() };
        if request.header("transfer-encoding").contains("chunked") {
            loop {
                let size = line(reader, &mut bytes)?.unwrap_or_default();
                let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16);
                let size = size.unwrap_or_default();
                request.body.extend(exactly(reader, size, &mut bytes)?);
                line(reader, &mut bytes)?;
                if size == 0 {
                    break;
                }
            }
        } else {
            let length = request.header("content-length").parse().unwrap_or_default();
            request.body = exactly(reader, length, &mut bytes)?;
        }
        request.bytes = bytes;
        Ok(Some(request))
    }

    /// The value of a header, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut found = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &mut &[u8]) -> Option<(String, Vec<u8>)> {
        Request::read(bytes).unwrap().map(|request| (request.method, request.body))
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
        let first = Request::read(&mut &*all).unwrap().unwrap();
        assert_eq!((first.header("host"), all.starts_with(&first.bytes)), ("a", true));
        assert!(Request::read(&mut &b"POST / HTTP/1.1\r\ncontent-length: 1048577\r\n\r\n"[..]).is_err());
    }
}
