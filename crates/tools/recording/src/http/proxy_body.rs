//! The body of a response that passes through the proxy. Rewrites the URL of the event `endpoint` to the proxy's origin.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::Uri;
use http_body::{Body, Frame};

use super::event_stream::{EventDecoder, StreamEvent, StreamStep};
use super::exchange::ExchangeTap;
use super::proxy::{ProxyError, UpstreamBody};
use crate::line_buffer::LineBuffer;

/// The most bytes at the start of a stream that are searched for the URL of the endpoint: 16 KiB.
const ENDPOINT_LIMIT: usize = 16 << 10;

/// A body that is passed on as it arrives.
pub struct ProxyBody {
    stream: UpstreamBody,
    tap: Option<ExchangeTap>,
    rewriting: Option<EndpointRewriter>,
    /// An error that follows the held-back bytes.
    error: Option<ProxyError>,
}

impl std::fmt::Debug for ProxyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProxyBody").finish_non_exhaustive()
    }
}

impl ProxyBody {
    /// Our own text.
    pub(super) fn text(text: &str) -> Self {
        let bytes = Bytes::from(text.to_owned());
        Self { stream: stream::iter([Ok(bytes)]).boxed(), tap: None, rewriting: None, error: None }
    }

    /// A body of the server. `rewriting` changes its event `endpoint`.
    pub(super) fn passing(
        stream: UpstreamBody,
        tap: ExchangeTap,
        rewriting: Option<EndpointRewriter>,
    ) -> Self {
        Self { stream: stream.fuse().boxed(), tap: Some(tap), rewriting, error: None }
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
            if let Some(error) = this.error.take() {
                return Poll::Ready(Some(Err(error)));
            }
            let bytes = match ready!(Pin::new(&mut this.stream).poll_next(cx)) {
                Some(Ok(bytes)) => this.passed(bytes),
                ended => {
                    this.error = ended.and_then(Result::err);
                    this.tap = None;
                    match this.rewriting.take() {
                        Some(rewriter) => rewriter.held.into(),
                        None if this.error.is_some() => continue,
                        None => return Poll::Ready(None),
                    }
                }
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
        }
    }
}

/// Holds back the first event of a stream until it is complete, and changes the origin of the URL of `endpoint`. Reads each byte
/// once, and passes comments on.
pub(super) struct EndpointRewriter {
    server: Uri,
    /// The origin of the proxy.
    proxy: String,
    decoder: EventDecoder,
    held: Vec<u8>,
    /// The number of bytes that have arrived.
    length: usize,
}

impl EndpointRewriter {
    /// A rewriter of URLs of a server's origin.
    pub(super) fn new(server: Uri, proxy: String, data: LineBuffer) -> Self {
        Self { server, proxy, decoder: EventDecoder::new(data), held: Vec::new(), length: 0 }
    }

    /// Takes bytes. Returns those to pass on, and whether all further ones are passed on unchanged.
    fn push(&mut self, bytes: &[u8]) -> (Vec<u8>, bool) {
        self.length = self.length.saturating_add(bytes.len());
        let mut passed = Vec::new();
        let mut is_done = self.length > ENDPOINT_LIMIT;
        let mut rest = bytes;
        while !is_done {
            let before = rest;
            let step = self.decoder.step(&mut rest);
            self.held.extend_from_slice(&before[..before.len() - rest.len()]);
            match step {
                StreamStep::More => return (passed, false),
                StreamStep::Blank => passed.append(&mut self.held),
                StreamStep::Event(event) => {
                    self.rewrite(&event);
                    is_done = true;
                }
            }
        }
        passed.append(&mut self.held);
        passed.extend_from_slice(rest);
        (passed, true)
    }

    /// Changes the data of the event that is held, if it is `endpoint` and its URL has the server's origin.
    fn rewrite(&mut self, event: &StreamEvent) {
        let url = str::from_utf8(&event.data.bytes).ok().filter(|_| event.name == "endpoint");
        let Some(path) = url.and_then(|url| path_at(url.trim(), &self.server)) else { return };
        let mut has_data = false;
        let mut lines = Vec::with_capacity(self.held.len());
        for line in self.held.split_inclusive(|byte| b"\r\n".contains(byte)) {
            let content = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            let is_data =
                content.starts_with(b"data") && matches!(content.get(4), Some(b':' | b'\r' | b'\n'));
            if !is_data {
                lines.extend_from_slice(line);
                continue;
            }
            if !std::mem::replace(&mut has_data, true) {
                lines.extend_from_slice(&line[..line.len() - content.len()]);
                lines.extend_from_slice(format!("data: {}{path}", self.proxy).as_bytes());
            }
            lines.extend(line.last());
        }
        self.held = lines;
    }
}

/// The path and the query of a URL that has the given origin. `None` for other origins, and for URLs without an origin, which need
/// no change to lead to the proxy.
fn path_at(url: &str, origin: &Uri) -> Option<String> {
    let scheme = origin.scheme_str()?;
    let absolute: Uri = match url.starts_with("//") {
        true => format!("{scheme}:{url}").parse().ok()?,
        false => url.parse().ok()?,
    };
    let port = |url: &Uri| url.port_u16().or(if url.scheme_str()? == "https" { Some(443) } else { Some(80) });
    let is_same = absolute.scheme() == origin.scheme()
        && absolute.host()?.eq_ignore_ascii_case(origin.host()?)
        && port(&absolute) == port(origin);
    is_same.then(|| absolute.path_and_query().map_or("/", |path| path.as_str()).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_buffer::Budget;

    fn rewriter() -> EndpointRewriter {
        let data = LineBuffer::new(ENDPOINT_LIMIT, &Budget::new(ENDPOINT_LIMIT));
        EndpointRewriter::new("http://server:80/sse".parse().unwrap(), "http://proxy".into(), data)
    }

    fn rewritten(stream: &[u8], size: usize) -> String {
        let mut rewriter = rewriter();
        let (mut passed, mut is_done) = (Vec::new(), false);
        for piece in stream.chunks(size) {
            if is_done {
                passed.extend_from_slice(piece);
            } else {
                let (bytes, done) = rewriter.push(piece);
                passed.extend(bytes);
                is_done = done;
            }
        }
        passed.append(&mut rewriter.held);
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn url_of_the_endpoint_becomes_one_of_the_proxy() {
        for (stream, expected) in [
            (
                "event: endpoint\ndata: http://Server:80/m?a=1\n\ndata: http://server:80/x\n\n",
                "event: endpoint\ndata: http://proxy/m?a=1\n\ndata: http://server:80/x\n\n",
            ),
            ("event: endpoint\rdata: http://server/m\r\r", "event: endpoint\rdata: http://proxy/m\r\r"),
            (
                "\u{feff}data: HTTP://server/m\nevent: endpoint\n\r\n",
                "\u{feff}data: http://proxy/m\nevent: endpoint\n\r\n",
            ),
            (
                ":\r\n\r\nevent: endpoint\r\ndata: //server/m\r\n\r\n",
                ":\r\n\r\nevent: endpoint\r\ndata: http://proxy/m\r\n\r\n",
            ),
            ("event: endpoint\ndata: http://server\n\n", "event: endpoint\ndata: http://proxy/\n\n"),
        ] {
            for size in [1, 5, 1000] {
                assert_eq!(rewritten(stream.as_bytes(), size), expected);
            }
        }
        for stream in [
            ": hi\r\n\r\ndata:/m\r\nevent:endpoint\r\n\r\n",
            "event: endpoint\ndata: http://server:12/m\n\n",
            "event: endpoint\ndata: https://server/m\n\n",
            "event: endpoint\ndata: http://server.example/m\n\n",
            "data: http://server/m\n\nevent: endpoint\ndata: http://server/m\n\n",
            "event: endpoint\ndata: http://server/m",
        ] {
            assert_eq!(rewritten(stream.as_bytes(), 3), stream);
        }
    }

    #[test]
    fn comments_are_passed_on_and_counted() {
        let mut rewriter = rewriter();
        assert_eq!(rewriter.push(b":\n\n: x"), (b":\n\n".to_vec(), false));
        assert_eq!(rewriter.push(b"\n\n"), (b": x\n\n".to_vec(), false));
        // Many at once are not looked at one by one.
        let many = b":\n\n".repeat(1 << 20);
        assert_eq!(rewriter.push(&many), (many.clone(), true));
    }

    #[test]
    fn held_back_bytes_come_before_an_error() {
        let recorder = crate::RecorderConfig::new(crate::TransportKind::Http);
        let folder = tempfile::tempdir().unwrap();
        let recorder = recorder.create(folder.path().join("x")).unwrap();
        let tap =
            ExchangeTap::new(&recorder, &http::Method::GET, &Uri::from_static("/"), &http::HeaderMap::new());
        let pieces = [Ok(Bytes::from_static(b"data: begun")), Err("broken".into())];
        let mut body = ProxyBody::passing(stream::iter(pieces).boxed(), tap, Some(rewriter()));
        let mut next = || futures::executor::block_on(http_body_util::BodyExt::frame(&mut body));
        assert_eq!(next().unwrap().unwrap().into_data().unwrap(), "data: begun");
        assert!(next().unwrap().is_err());
        assert!(next().is_none());
    }
}
