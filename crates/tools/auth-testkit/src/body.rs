//! Bodies of answers: whole ones, endless ones, and those that come drop by drop.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use tokio::time::Sleep;

/// The error of a body that a handler of the resource returns.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of any answer.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, BoxError>;

/// How many bytes an endless body has.
const ENDLESS: usize = 100 << 20;

/// The size of its pieces.
const PIECE: usize = 64 << 10;

/// How many bytes drip, and how long each takes: five minutes in all.
const DRIPS: usize = 3000;
const DRIP_DELAY: Duration = Duration::from_millis(100);

pub(crate) fn whole(bytes: impl Into<Bytes>) -> AnswerBody {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A JSON document whose one string does not end for 100 MiB.
pub(crate) fn endless() -> AnswerBody {
    let padding = Bytes::from(vec![b'a'; PIECE]);
    let first = Some(Bytes::from_static(b"{\"issuer\":\""));
    Padding { first, padding, left: ENDLESS, delay: None, sleep: None }.boxed_unsync()
}

/// A JSON document that begins, and goes on by one space each 100 ms.
pub(crate) fn dripping() -> AnswerBody {
    let padding = Bytes::from_static(b" ");
    let first = Some(Bytes::from_static(b"{"));
    Padding { first, padding, left: DRIPS, delay: Some(DRIP_DELAY), sleep: None }.boxed_unsync()
}

struct Padding {
    first: Option<Bytes>,
    padding: Bytes,
    left: usize,
    delay: Option<Duration>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Body for Padding {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(delay) = self.delay {
            let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(delay)));
            std::task::ready!(sleep.as_mut().poll(context));
            self.sleep = None;
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = self.padding.slice(..self.padding.len().min(self.left));
        self.left -= piece.len();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}
