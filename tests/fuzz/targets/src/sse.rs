//! Server-sent events.

use agentwire_transport_http::sse::{DecodeError, Decoder, Event};
use bytes::Bytes;

use crate::pieces::pieces;

pub(crate) const WORDS: &[&[u8]] = &[
    b"data: ",
    b"data",
    b"\n\n",
    b"\r\n\r\n",
    b"\r",
    b"id: 1\n",
    b"retry: 10\n",
    b"event: message\n",
    b":\n",
];

/// How a body is cut makes no difference to its events, up to where it breaks a limit or is not text.
pub(crate) fn run(bytes: &[u8]) {
    let (limit, rest) =
        bytes.split_first().map_or((64, bytes), |(first, rest)| (usize::from(*first) + 1, rest));
    let (cuts, body) = rest.split_at(rest.len().min(4));
    let whole = decode(limit, std::iter::once(body));
    let pieces = decode(limit, pieces(cuts, body));
    assert_eq!(whole.0, pieces.0, "how the body was cut makes a difference");
    assert_eq!(whole.1.is_some(), pieces.1.is_some(), "how the body was cut decides whether it can be read");
    let data = whole.0.iter().filter_map(|event| event.data.as_ref());
    assert!(data.map(|data| data.len()).sum::<usize>() <= body.len(), "more came out than went in");
}

fn decode<'a>(limit: usize, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, Option<DecodeError>) {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        loop {
            match decoder.next_event() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}
