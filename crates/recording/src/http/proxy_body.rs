//! The body of a response that passes through the proxy. The URL of the event `endpoint` becomes one of the proxy.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http_body::{Body, Frame};

use super::exchange::ExchangeTap;
use super::proxy::{ProxyError, UpstreamBody};

/// How long the first events of a stream may be that are looked at for the URL of the endpoint: 16 KiB.
const ENDPOINT_LIMIT: usize = 16 << 10;

/// A body that is passed on as it arrives.
pub struct ProxyBody {
    stream: UpstreamBody,
    tap: Option<ExchangeTap>,
    rewriting: Option<EndpointRewriter>,
}

impl std::fmt::Debug for ProxyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyBody").finish_non_exhaustive()
    }
}

impl ProxyBody {
    /// A text of ours.
    pub(super) fn text(text: &str) -> Self {
        let bytes = Bytes::from(text.to_owned());
        Self { stream: stream::iter([Ok(bytes)]).boxed(), tap: None, rewriting: None }
    }

    /// A body of the server. `origins` are those of the server and of the proxy, where the body may have the event `endpoint`.
    pub(super) fn passing(stream: UpstreamBody, tap: ExchangeTap, origins: Option<(String, String)>) -> Self {
        let rewriting = origins.map(|(server, proxy)| EndpointRewriter { server, proxy, held: Vec::new() });
        Self { stream, tap: Some(tap), rewriting }
    }

    fn passed(&mut self, bytes: Bytes) -> Bytes {
        if let Some(tap) = &mut self.tap {
            tap.response_body(&bytes);
        }
        let Some(rewriter) = &mut self.rewriting else { return bytes };
        let (bytes, is_done) = rewriter.push(&bytes);
        if is_done {
            self.rewriting = None;
        }
        bytes.into()
    }
}

impl Body for ProxyBody {
    type Data = Bytes;
    type Error = ProxyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ProxyError>>> {
        let this = self.get_mut();
        loop {
            let bytes = match ready!(Pin::new(&mut this.stream).poll_next(cx)) {
                Some(Ok(bytes)) => this.passed(bytes),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    this.tap = None;
                    let Some(rewriter) = this.rewriting.take() else { return Poll::Ready(None) };
                    rewriter.held.into()
                }
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
        }
    }
}

/// Holds back the first event of a stream until it is whole, and changes the origin of the URL of `endpoint`.
struct EndpointRewriter {
    server: String,
    proxy: String,
    held: Vec<u8>,
}

impl EndpointRewriter {
    /// Takes bytes. Gives those that are passed on, and whether all further ones are passed on unchanged.
    fn push(&mut self, bytes: &[u8]) -> (Vec<u8>, bool) {
        self.held.extend_from_slice(bytes);
        let mut passed = Vec::new();
        while let Some(end) = event_end(&self.held) {
            let event: Vec<u8> = self.held.drain(..end).collect();
            let is_comment = event.split(|byte| b"\r\n".contains(byte)).all(|line| {
                line.is_empty() || [&b":"[..], b"id", b"retry"].iter().any(|start| line.starts_with(start))
            });
            passed.extend(self.rewritten(&event));
            if !is_comment {
                passed.append(&mut self.held);
                return (passed, true);
            }
        }
        if self.held.len() > ENDPOINT_LIMIT {
            passed.append(&mut self.held);
            return (passed, true);
        }
        (passed, false)
    }

    /// The event with the proxy's origin, if it is `endpoint` and its URL has the server's.
    fn rewritten(&self, event: &[u8]) -> Vec<u8> {
        let Ok(text) = str::from_utf8(event) else { return event.to_vec() };
        let is_endpoint = text
            .lines()
            .any(|line| line.strip_prefix("event:").is_some_and(|name| name.trim() == "endpoint"));
        if !is_endpoint {
            return event.to_vec();
        }
        let line = |line: &str| {
            let data = line.strip_prefix("data:").map(|data| data.strip_prefix(' ').unwrap_or(data));
            match data.and_then(|url| strip_origin(url, &self.server)) {
                Some(path) => format!("data: {}{path}", self.proxy),
                None => line.to_owned(),
            }
        };
        text.split_inclusive('\n').map(line).collect::<String>().into_bytes()
    }
}

/// The rest of a URL behind an origin, whose letters may have any case.
fn strip_origin<'a>(url: &'a str, origin: &str) -> Option<&'a str> {
    let start = url.get(..origin.len())?;
    let rest = &url[origin.len()..];
    let is_whole = rest.starts_with(['/', '?', '#', '\r', '\n']) || rest.is_empty();
    (start.eq_ignore_ascii_case(origin) && is_whole).then_some(rest)
}

/// Where the first event of a stream ends.
fn event_end(bytes: &[u8]) -> Option<usize> {
    let ends = [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"];
    let found = ends.iter().filter_map(|end| {
        bytes.windows(end.len()).position(|window| window == *end).map(|at| at + end.len())
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_the_endpoint_stays_in_the_proxy() {
        for (stream, expected) in [
            (
                "event: endpoint\ndata: http://Server:1/m?a=1\n\ndata: http://server:1/x\n\n",
                "event: endpoint\ndata: http://proxy/m?a=1\n\ndata: http://server:1/x\n\n",
            ),
            (
                ": hi\r\n\r\ndata:/m\r\nevent:endpoint\r\n\r\n",
                ": hi\r\n\r\ndata:/m\r\nevent:endpoint\r\n\r\n",
            ),
            (
                "event: endpoint\ndata: http://server:12/m\n\n",
                "event: endpoint\ndata: http://server:12/m\n\n",
            ),
            ("data: http://server:1/m\n\n", "data: http://server:1/m\n\n"),
        ] {
            for size in [1, 5, 1000] {
                let mut rewriter = EndpointRewriter {
                    server: "http://server:1".into(),
                    proxy: "http://proxy".into(),
                    held: Vec::new(),
                };
                let (mut passed, mut is_done) = (Vec::new(), false);
                for piece in stream.as_bytes().chunks(size) {
                    if is_done {
                        passed.extend_from_slice(piece);
                    } else {
                        let (bytes, done) = rewriter.push(piece);
                        passed.extend(bytes);
                        is_done = done;
                    }
                }
                assert_eq!(String::from_utf8(passed).unwrap(), expected);
            }
        }
    }
}
