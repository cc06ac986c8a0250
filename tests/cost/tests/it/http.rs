//! Requests to an endpoint in this process.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;

/// A body of some pieces, and whether it ends after them.
pub(crate) struct Sent {
    pieces: std::vec::IntoIter<Bytes>,
    ends: bool,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        match self.pieces.next() {
            None if !self.ends => Poll::Pending,
            piece => Poll::Ready(piece.map(|piece| Ok(http_body::Frame::data(piece)))),
        }
    }
}

pub(crate) fn post(session: Option<&str>, body: impl Into<Bytes>) -> Request<Sent> {
    send(session, vec![body.into()], true)
}

pub(crate) fn send(session: Option<&str>, pieces: Vec<Bytes>, ends: bool) -> Request<Sent> {
    let mut request =
        Request::post("/").header("host", "localhost").header("content-type", "application/json");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.body(Sent { pieces: pieces.into_iter(), ends }).unwrap()
}
