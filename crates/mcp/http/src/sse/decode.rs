//! Decodes a `text/event-stream` body into events, with a limit on the length of each line and each event.

use std::time::Duration;

use agentwire_jsonrpc::DEFAULT_LINE_LIMIT;
use bytes::{Bytes, BytesMut};
use bytestring::ByteString;

/// The longest line by default: 32 MiB, as on a transport of lines, and room for the
/// name of the field.
pub const DEFAULT_EVENT_LIMIT: usize = DEFAULT_LINE_LIMIT + 64;

/// From this length on, a line shares the memory of the piece that arrived, and is not copied.
const SHARE_FROM: usize = 16 << 10;

/// An id longer than this is not remembered: it goes back in a header, and servers refuse long ones.
const MAX_ID: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Cuts the body of an HTTP response into server-sent events.
///
/// It does no I/O: [`push`](Self::push) what arrived, then take events with [`next_event`](Self::next_event)
/// until there is none. Lines may end in LF, CRLF or CR alone, and be cut anywhere: an event is given as soon
/// as the line end of its empty line is there, even where that is a CR whose LF may still come.
///
/// ```
/// use agentwire_transport_http::sse::Decoder;
///
/// let mut decoder = Decoder::default();
/// decoder.push(b"id: 1\nda"[..].into());
/// assert!(decoder.next_event().unwrap().is_none());
/// decoder.push(b"ta: {}\r\n\r"[..].into());
/// let event = decoder.next_event().unwrap().unwrap();
/// assert_eq!((event.data.as_deref(), event.id.as_deref()), (Some("{}"), Some("1")));
/// ```
///
/// Differences from a browser: a block without data is returned too if it has an id or a `retry`, because a
/// stream that is resumed needs them; text that is not UTF-8 is an error and not replaced, because the messages
/// inside would change.
#[derive(Debug)]
pub struct Decoder {
    limit: usize,
    /// The piece that is being read; lines are looked for from `at`.
    piece: Bytes,
    at: usize,
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// Whether the last line ended with a CR, so that a LF now belongs to it.
    after_return: bool,
    /// Whether a line was taken yet, after which a byte order mark means nothing.
    started: bool,
    /// Whether there was a line that is neither a field of an event nor a comment.
    has_other_lines: bool,
    /// The fields of the event so far, and how many bytes they hold.
    event: Event,
    data: Data,
    size: usize,
}

/// The data of an event so far. Most events have one line.
#[derive(Debug, Default)]
enum Data {
    #[default]
    None,
    One(Bytes),
    Many(BytesMut),
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// Its name; `None` means `message`.
    pub name: Option<ByteString>,
    /// Its lines of data, joined by LF; `None` if it had no such field.
    pub data: Option<ByteString>,
    /// Its id, if it set one. An empty one clears the id from here on.
    pub id: Option<ByteString>,
    /// How long to wait before resuming the stream once it ended, if the event has a `retry`.
    pub retry: Option<Duration>,
}

/// Why a body cannot be read as events. Nothing after it can be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An event is longer than the decoder takes.
    #[error("an event of the stream is longer than the limit of {limit} bytes")]
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// A field of an event is not UTF-8.
    #[error("the stream is not UTF-8: {0}")]
    NotUtf8(std::str::Utf8Error),
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

impl Decoder {
    /// A decoder that takes events of up to `limit` bytes: all their fields together, and each line, comments
    /// included.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            piece: Bytes::new(),
            at: 0,
            partial: Vec::new(),
            after_return: false,
            started: false,
            has_other_lines: false,
            event: Event::default(),
            data: Data::None,
            size: 0,
        }
    }

    /// Adds what arrived. Take all events first: what is left of an earlier piece is kept, at the cost of a copy.
    pub fn push(&mut self, piece: Bytes) {
        if self.at < self.piece.len() {
            let mut joined = self.piece.split_off(self.at).to_vec();
            joined.extend_from_slice(&piece);
            self.piece = joined.into();
        } else {
            self.piece = piece;
        }
        self.at = 0;
    }

    /// Takes the next event. None when more must arrive first.
    ///
    /// An event that the body's end cuts off is never given.
    ///
    /// # Errors
    ///
    /// When the stream breaks a limit or is not text. It must not be read on then.
    pub fn next_event(&mut self) -> Result<Option<Event>, DecodeError> {
        while let Some(line) = self.next_line()? {
            if !line.is_empty() {
                self.take_field(line)?;
            } else if let Some(event) = self.take_event()? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The content that was not returned as an event, once the body has ended.
    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the client names it"))]
    pub(crate) fn unread(&self) -> Option<&'static str> {
        let begins = |name: &str| self.partial.starts_with(name.as_bytes());
        let is_field =
            self.partial.is_empty() || [":", "data", "event", "id", "retry"].into_iter().any(begins);
        if self.has_other_lines || !is_field {
            Some("text that is not an event")
        } else if self.partial.starts_with(b"data") || !matches!(self.data, Data::None) {
            Some("an event without a blank line at its end")
        } else {
            None
        }
    }

    fn take_event(&mut self) -> Result<Option<Event>, DecodeError> {
        self.size = 0;
        let mut event = std::mem::take(&mut self.event);
        event.data = match std::mem::take(&mut self.data) {
            Data::None => None,
            Data::One(line) => Some(text(line)?),
            Data::Many(lines) => Some(text(lines.freeze())?),
        };
        let is_event = event.data.is_some() || event.id.is_some() || event.retry.is_some();
        Ok(is_event.then_some(event))
    }

    /// Takes the next line without its end; an empty one ends an event.
    fn next_line(&mut self) -> Result<Option<Bytes>, DecodeError> {
        if self.after_return && self.at < self.piece.len() {
            self.after_return = false;
            self.at += usize::from(self.piece[self.at] == b'\n');
        }
        let rest = &self.piece[self.at..];
        let Some(length) = memchr::memchr2(b'\n', b'\r', rest) else {
            self.check(self.partial.len() + rest.len())?;
            self.partial.extend_from_slice(rest);
            (self.piece, self.at) = (Bytes::new(), 0);
            return Ok(None);
        };
        self.check(self.partial.len() + length)?;
        self.after_return = rest[length] == b'\r';
        let mut line = if self.partial.is_empty() {
            self.piece.slice(self.at..self.at + length)
        } else {
            self.partial.extend_from_slice(&rest[..length]);
            Bytes::from(std::mem::take(&mut self.partial))
        };
        self.at += length + 1;
        if !std::mem::replace(&mut self.started, true) && line.starts_with(BYTE_ORDER_MARK) {
            line = line.slice(BYTE_ORDER_MARK.len()..);
        }
        Ok(Some(line))
    }

    fn take_field(&mut self, line: Bytes) -> Result<(), DecodeError> {
        let colon = memchr::memchr(b':', &line);
        let name_ends = colon.unwrap_or(line.len());
        let value_starts = match colon {
            Some(at) if line.get(at + 1) == Some(&b' ') => at + 2,
            Some(at) => at + 1,
            None => line.len(),
        };
        let value = || line.slice(value_starts..);
        match &line[..name_ends] {
            b"data" => {
                let line = self.keep(value())?;
                self.add_data(line);
            }
            b"event" => {
                let name = text(self.keep(value())?)?;
                self.event.name = Some(name).filter(|name| !name.is_empty());
            }
            b"id" if !line[value_starts..].contains(&0) => {
                let id = text(self.keep(value())?)?;
                // Rather resume from nowhere than from the wrong place.
                self.event.id = Some(if id.len() <= MAX_ID { id } else { ByteString::new() });
            }
            b"retry" => {
                if let Some(millis) = milliseconds(&line[value_starts..]) {
                    self.event.retry = Some(millis);
                }
            }
            // A comment begins with the colon.
            b"id" | b"" => {}
            _ => self.has_other_lines = true,
        }
        Ok(())
    }

    fn add_data(&mut self, line: Bytes) {
        self.data = match std::mem::take(&mut self.data) {
            Data::None => Data::One(line),
            Data::One(first) => {
                let mut lines = BytesMut::with_capacity(2 * (first.len() + line.len() + 1));
                lines.extend_from_slice(&first);
                join(lines, &line)
            }
            Data::Many(lines) => join(lines, &line),
        };
    }

    /// Counts a value towards the limit of the event. A short one is copied, so that keeping it does not keep
    /// all that arrived with it.
    fn keep(&mut self, value: Bytes) -> Result<Bytes, DecodeError> {
        self.size += value.len() + 1;
        self.check(self.size)?;
        Ok(if value.len() >= SHARE_FROM { value } else { Bytes::copy_from_slice(&value) })
    }

    fn check(&self, size: usize) -> Result<(), DecodeError> {
        if size > self.limit { Err(DecodeError::TooLong { limit: self.limit }) } else { Ok(()) }
    }
}

fn join(mut lines: BytesMut, line: &[u8]) -> Data {
    lines.extend_from_slice(b"\n");
    lines.extend_from_slice(line);
    Data::Many(lines)
}

fn text(bytes: Bytes) -> Result<ByteString, DecodeError> {
    ByteString::try_from(bytes).map_err(DecodeError::NotUtf8)
}

/// Reads digits only. None for a sign, a space, or a number above `u64::MAX`: then the field is ignored.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: impl IntoIterator<Item = Vec<u8>>) -> Result<Vec<Event>, DecodeError> {
        let mut decoder = Decoder::new(1 << 10);
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece.into());
            while let Some(event) = decoder.next_event()? {
                events.push(event);
            }
        }
        Ok(events)
    }

    fn whole(body: &[u8]) -> Vec<Event> {
        let events = decode([body.to_vec()]).unwrap();
        let in_bytes = decode(body.iter().map(|byte| vec![*byte])).unwrap();
        assert_eq!(events, in_bytes, "cut at every byte: {}", body.escape_ascii());
        events
    }

    fn data(body: &[u8]) -> Vec<String> {
        whole(body).into_iter().filter_map(|event| event.data).map(|data| data.to_string()).collect()
    }

    #[test]
    fn lines_end_in_any_of_three_ways() {
        for body in [
            &b"data: a\n\ndata: b\n\n"[..],
            b"data: a\r\n\r\ndata: b\r\n\r\n",
            b"data: a\r\rdata: b\r\r",
            b"data: a\r\n\ndata: b\n\r",
            b"data: a\n\r\ndata: b\r\r\n",
            b"\xEF\xBB\xBFdata: a\n\ndata:b\n\ndata: cut",
            b":\n\n: hi\r\rdata: a\nfoo: 1\nbar\n: mid\n\nretry: 5x\n\nevent: x\ndata: b\n\ndata: cut\n",
        ] {
            assert_eq!(data(body), ["a", "b"], "{}", body.escape_ascii());
        }
    }

    #[test]
    fn data_of_several_lines_is_joined() {
        assert_eq!(data(b"data: a\ndata\ndata:  b\ndata:c\n\n"), ["a\n\n b\nc"]);
        assert_eq!(data(b"data:\n\ndata\ndata\n\n"), ["", "\n"]);
        let separators = "a\u{2028}b\u{85}c\u{b}d\0e";
        assert_eq!(data(format!("data: {separators}\n\n").as_bytes()), [separators]);
    }

    #[test]
    fn fields_are_read_by_the_rules_of_the_format() {
        let events = whole(
            b"id: 7\nretry: 50\n\nid\nevent: endpoint\ndata: x\n\nid: a\0b\nevent:\nretry: +5\ndata: y\n\n",
        );
        let event = |name: Option<&str>, data: Option<&str>, id: Option<&str>, retry: Option<u64>| Event {
            name: name.map(Into::into),
            data: data.map(Into::into),
            id: id.map(Into::into),
            retry: retry.map(Duration::from_millis),
        };
        assert_eq!(
            events,
            [
                event(None, None, Some("7"), Some(50)),
                event(Some("endpoint"), Some("x"), Some(""), None),
                event(None, Some("y"), None, None),
            ]
        );
    }

    #[test]
    fn limits_hold_for_lines_events_and_comments() {
        let limit = 1 << 10;
        let line = |name: &str, length: usize| [name.as_bytes(), &vec![b'x'; length]].concat();
        assert_eq!(data(&[line("data:", limit - 5), b"\n\n".to_vec()].concat())[0].len(), limit - 5);
        let too_long = Err(DecodeError::TooLong { limit });
        assert_eq!(decode([line("data:", limit - 4)]), too_long, "a line without an end");
        assert_eq!(decode([line(":", limit)]), too_long, "a comment");
        assert_eq!(decode((0..300).map(|_| b"data: x\n".to_vec())), Ok(vec![]), "under the limit");
        assert_eq!(decode((0..600).map(|_| b"data: x\n".to_vec())), too_long, "many lines");
        let named = (0..600).map(|_| b"event: x\n\n".to_vec());
        assert_eq!(decode(named), Ok(vec![]), "what an event held is forgotten with it");
    }

    #[test]
    fn invalid_utf8_is_an_error_at_once() {
        assert!(matches!(decode([b"data: a\xFFb\n\n".to_vec()]), Err(DecodeError::NotUtf8(_))));
        assert!(matches!(decode([b"id: \xE6\x97\n".to_vec()]), Err(DecodeError::NotUtf8(_))));
        assert_eq!(data(b": \xFF\n\ndata: c\n\n"), ["c"], "comments are not decoded");
    }

    #[test]
    fn an_id_that_no_header_could_carry_is_forgotten() {
        let mut decoder = Decoder::default();
        let id = |length| format!("id: {}\ndata: x\n\n", "i".repeat(length));
        decoder.push((id(MAX_ID) + &id(MAX_ID + 1)).into());
        assert_eq!(decoder.next_event().unwrap().unwrap().id.unwrap().len(), MAX_ID);
        assert_eq!(decoder.next_event().unwrap().unwrap().id.unwrap(), "");
    }

    proptest! {
        #[test]
        fn how_a_stream_is_cut_makes_no_difference(
            parts in prop::collection::vec(
                prop::sample::select(vec!["data", "id", ":", " ", "\r", "\n", "x", "\u{feff}", "retry:1", "日", "\0"]), 0..40),
            size in 1_usize..9,
        ) {
            let body = parts.concat().into_bytes();
            let cut = decode(body.chunks(size).map(<[u8]>::to_vec)).unwrap();
            prop_assert_eq!(cut, decode([body]).unwrap());
        }
    }
}
