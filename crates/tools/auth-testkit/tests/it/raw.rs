//! HTTP over a socket, by hand: one request a connection.

use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How much of a body is read, and for how long. What is longer is cut.
const BODY_LIMIT: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(3);

/// An answer. Without a status, the connection was closed instead.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body was longer than the limit, or did not end in time.
    pub(crate) is_cut: bool,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A parameter of the URL in `Location`.
    pub(crate) fn location_param(&self, name: &str) -> Option<String> {
        let (_, query) = self.header("location")?.split_once('?')?;
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    }
}

pub(crate) async fn get(url: &str) -> Answer {
    send("GET", url, &[], "").await
}

/// Posts a form.
pub(crate) async fn post(url: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend(headers);
    send("POST", url, &all, &body).await
}

pub(crate) async fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let rest = url.strip_prefix("http://").expect("http");
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    let mut stream = TcpStream::connect(authority).await.expect("a connection");
    stream.write_all(request.as_bytes()).await.expect("a request");
    let (bytes, is_cut) = read(stream).await;
    parse(&bytes, is_cut)
}

async fn read(mut stream: TcpStream) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let end = tokio::time::Instant::now() + TIMEOUT;
    loop {
        let mut piece = [0; 16 << 10];
        match tokio::time::timeout_at(end, stream.read(&mut piece)).await {
            Ok(Ok(0) | Err(_)) => return (bytes, false),
            Ok(Ok(count)) => bytes.extend_from_slice(&piece[..count]),
            Err(_) => return (bytes, true),
        }
        if bytes.len() > BODY_LIMIT {
            return (bytes, true);
        }
    }
}

fn parse(bytes: &[u8], is_cut: bool) -> Answer {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Answer { is_cut, ..Answer::default() };
    };
    let head = std::str::from_utf8(&bytes[..end]).expect("a head of text");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
    let header = |line: &str| {
        let (name, value) = line.split_once(':').expect("a header");
        (name.to_ascii_lowercase(), value.trim().to_owned())
    };
    let headers: Vec<_> = lines.map(header).collect();
    let body = &bytes[end + 4..];
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { dechunk(body) } else { body.to_vec() };
    Answer { status, headers, body, is_cut }
}

fn dechunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let size =
            std::str::from_utf8(&bytes[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        let data = &bytes[end + 2..];
        body.extend_from_slice(&data[..size.min(data.len())]);
        bytes = data.get(size + 2..).unwrap_or_default();
    }
    body
}
