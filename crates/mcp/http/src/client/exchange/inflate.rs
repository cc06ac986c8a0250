//! Sends `Accept-Encoding: gzip`, and decompresses response bodies piece by piece as they arrive.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use futures::{StreamExt, TryStreamExt, stream};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Response};

use crate::client::{Body, BoxError};

/// How many compressed bytes are decompressed at once. One byte becomes about 1,000 bytes at most, and the reader counts
/// them before the next step.
const STEP: usize = 1 << 10;

/// Sets `Accept-Encoding: gzip`, unless the request has that header.
pub(crate) fn offer(headers: &mut HeaderMap) {
    headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
}

/// Decompresses the body of a response whose content coding is `gzip` or `x-gzip`.
pub(crate) fn inflated(mut response: Response<Body>) -> Response<Body> {
    let coding = response.headers().get(CONTENT_ENCODING).map(HeaderValue::as_bytes).unwrap_or_default();
    if !coding.eq_ignore_ascii_case(b"gzip") && !coding.eq_ignore_ascii_case(b"x-gzip") {
        return response;
    }
    response.headers_mut().remove(CONTENT_ENCODING);
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(inflate)
}

/// Each piece is passed on as soon as it can be read, so that a stream of events stays one.
fn inflate(body: Body) -> Body {
    let inflater = Inflater { body, piece: Bytes::new(), decoder: MultiGzDecoder::new(Vec::new()) };
    let pieces = stream::try_unfold(inflater, |mut inflater| async move {
        let piece = inflater.next_piece().await?;
        Ok::<_, BoxError>(piece.map(|piece| (piece, inflater)))
    });
    pieces.boxed()
}

struct Inflater {
    body: Body,
    /// Received bytes that are not decompressed yet.
    piece: Bytes,
    decoder: MultiGzDecoder<Vec<u8>>,
}

impl Inflater {
    async fn next_piece(&mut self) -> Result<Option<Bytes>, BoxError> {
        loop {
            while !self.piece.is_empty() {
                let step = self.piece.split_to(self.piece.len().min(STEP));
                let text = self.step(&step)?;
                if !text.is_empty() {
                    return Ok(Some(text));
                }
            }
            match self.body.try_next().await? {
                Some(piece) => self.piece = piece,
                None => {
                    // An error if the end is missing.
                    self.decoder.try_finish()?;
                    let rest = std::mem::take(self.decoder.get_mut());
                    return Ok(Some(rest.into()).filter(|rest: &Bytes| !rest.is_empty()));
                }
            }
        }
    }

    fn step(&mut self, compressed: &[u8]) -> io::Result<Bytes> {
        self.decoder.write_all(compressed)?;
        self.decoder.flush()?;
        Ok(std::mem::take(self.decoder.get_mut()).into())
    }
}
