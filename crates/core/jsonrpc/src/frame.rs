//! Parses and writes a frame: one message, a batch up to a limit, or malformed text with its error response.

pub(crate) mod envelope;
pub(crate) mod frame_reader;
pub(crate) mod line;
pub(crate) mod malformed;

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::frame::envelope::{Envelope, EnvelopeSeed};
use crate::frame::line::LineError;
use crate::frame::malformed::{Intent, Malformed};
use crate::text::scan::{skip_space, value_end};
use crate::{ErrorObject, Message, RequestId, reader};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The maximum number of messages in a batch, unless a caller sets another.
pub const DEFAULT_BATCH_LIMIT: usize = 1024;

/// The content of one line, one HTTP body or one SSE event.
///
/// Reading loses nothing: text that is not a message becomes [`Malformed`], with the response to send or the call to fail.
/// A byte order mark at the start is skipped.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "a frame is one message, many, or none")]
pub enum Frame {
    /// One message.
    Single(Message),
    /// An array of messages, each of which may be malformed on its own.
    Batch(Vec<Result<Message, Malformed>>),
    /// Text that is not a JSON-RPC message.
    Malformed(Malformed),
}

impl Frame {
    /// Reads a frame; a batch may hold [`DEFAULT_BATCH_LIMIT`] messages.
    pub fn parse(text: ByteString) -> Self {
        Self::parse_with(text, DEFAULT_BATCH_LIMIT)
    }

    /// Reads a frame. A batch with more than `batch_limit` messages is refused as a whole, and its further messages are not parsed.
    pub fn parse_with(text: ByteString, batch_limit: usize) -> Self {
        Self::parse_text(&text, batch_limit)
    }

    pub(crate) fn parse_text(text: &ByteString, batch_limit: usize) -> Self {
        match text.trim_start().as_bytes().first() {
            Some(b'[') => parse_batch(text, batch_limit),
            Some(b'{') => match parse_message(text, text) {
                Ok(message) => Self::Single(message),
                Err(malformed) => Self::Malformed(malformed),
            },
            _ => match text.trim_start_matches(BYTE_ORDER_MARK) {
                rest if rest.len() < text.len() => Self::parse_text(&text.slice_ref(rest), batch_limit),
                _ => Self::Malformed(not_an_object(text)),
            },
        }
    }

    /// Reads a frame from bytes that may not be UTF-8.
    pub fn parse_bytes(bytes: Bytes) -> Self {
        Self::parse_bytes_with(bytes, DEFAULT_BATCH_LIMIT)
    }

    /// Reads a frame from bytes that may not be UTF-8; a batch may hold `batch_limit` messages.
    pub fn parse_bytes_with(bytes: Bytes, batch_limit: usize) -> Self {
        match ByteString::try_from(bytes.clone()) {
            Ok(text) => Self::parse_with(text, batch_limit),
            Err(error) => LineError::not_utf8(error, &bytes).into(),
        }
    }

    /// Whether the frame contains a response to the request with this id, readable or not. A response with the id's number as a string
    /// (`"7"` for `7`) counts.
    pub fn answers(&self, id: &RequestId) -> bool {
        let answers = |message: Result<&Message, &Malformed>| match message {
            Ok(Message::Response(response)) => response.id.answers(id),
            Err(malformed) => malformed.intent.answers(id),
            _ => false,
        };
        match self {
            Self::Single(message) => answers(Ok(message)),
            Self::Malformed(malformed) => answers(Err(malformed)),
            Self::Batch(messages) => messages.iter().map(Result::as_ref).any(answers),
        }
    }

    /// Writes the frame as one line of JSON without its line end. In place of malformed text it writes an error response, with the id
    /// null if the text must not be answered.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Single(message) => message.write(out),
            Self::Batch(messages) => {
                out.push(b'[');
                for (index, message) in messages.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    match message {
                        Ok(message) => message.write(out),
                        Err(malformed) => malformed.write_response(out),
                    }
                }
                out.push(b']');
            }
            Self::Malformed(malformed) => malformed.write_response(out),
        }
    }

    /// About how many bytes the frame takes: what queues count.
    #[inline]
    pub fn size_hint(&self) -> usize {
        match self {
            Self::Single(message) => message.size_hint(),
            Self::Batch(messages) => messages
                .iter()
                .map(|message| message.as_ref().map_or_else(Malformed::size_hint, Message::size_hint))
                .sum(),
            Self::Malformed(malformed) => malformed.size_hint(),
        }
    }
}

impl From<Message> for Frame {
    fn from(message: Message) -> Self {
        Self::Single(message)
    }
}

impl From<LineError> for Frame {
    fn from(error: LineError) -> Self {
        Self::Malformed(match error {
            LineError::NotUtf8 { error, intent } => {
                Malformed { error: ErrorObject::parse_error(format_args!("not UTF-8: {error}")), intent }
            }
            LineError::TooLong { limit, intent } => Malformed {
                error: ErrorObject::invalid_request(format_args!(
                    "the message is longer than the limit of {limit} bytes"
                ))
                .with_data(&Exceeded { limit }),
                intent,
            },
        })
    }
}

impl From<Result<ByteString, LineError>> for Frame {
    fn from(line: Result<ByteString, LineError>) -> Self {
        line.map_or_else(Self::from, Self::parse)
    }
}

/// The data of an error that names an exceeded limit.
#[derive(Serialize)]
struct Exceeded {
    limit: usize,
}

/// Reads one message from `text`, which lies within `frame`.
fn parse_message(frame: &ByteString, text: &str) -> Result<Message, Malformed> {
    match read_envelope(text) {
        Ok(envelope) => envelope.into_message(frame, text),
        Err(error) => match reader::whole_pairs(text) {
            Cow::Borrowed(_) => {
                let intent = Intent::of_unreadable(text.as_bytes());
                Err(Malformed { error: ErrorObject::parse_error(error), intent })
            }
            // A member name of the envelope with half a surrogate pair is an unknown name.
            Cow::Owned(text) => {
                let text = ByteString::from(text);
                parse_message(&text, &text)
            }
        },
    }
}

fn read_envelope(text: &str) -> Result<Envelope<'_>, serde_json::Error> {
    let mut envelope = Envelope::default();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    EnvelopeSeed(&mut envelope).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(envelope)
}

/// The fault of text that does not begin an object.
#[cold]
fn not_an_object(text: &str) -> Malformed {
    let error = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => ErrorObject::invalid_request("a message is a JSON object"),
        Err(error) => ErrorObject::parse_error(error),
    };
    Malformed { error, intent: Intent::of_unreadable(text.as_bytes()) }
}

fn parse_batch(frame: &ByteString, limit: usize) -> Frame {
    let mut batch = BatchVisitor { frame, limit, messages: Vec::new(), too_long: false };
    let mut deserializer = serde_json::Deserializer::from_str(frame);
    let read = deserializer.deserialize_seq(&mut batch).and_then(|()| deserializer.end());
    let error = match read {
        _ if batch.too_long => ErrorObject::invalid_request(format_args!(
            "the batch is longer than the limit of {limit} messages"
        ))
        .with_data(&Exceeded { limit }),
        Err(error) => {
            let error = ErrorObject::parse_error(error);
            match unreadable_answers(frame, limit, &error) {
                Some(answers) => return Frame::Batch(answers),
                None => {
                    let intent = Intent::of_unreadable(frame.as_bytes());
                    return Frame::Malformed(Malformed { error, intent });
                }
            }
        }
        Ok(()) if batch.messages.is_empty() => ErrorObject::invalid_request("an empty batch"),
        Ok(()) => return Frame::Batch(batch.messages),
    };
    Frame::Malformed(Malformed::request(RequestId::NULL, error))
}

/// The elements of an array that is not JSON, if each of them looks like a response. Each fails its own call.
#[cold]
fn unreadable_answers(
    frame: &str,
    limit: usize,
    error: &ErrorObject,
) -> Option<Vec<Result<Message, Malformed>>> {
    let bytes = frame.as_bytes();
    let mut answers = Vec::new();
    let mut at = skip_space(bytes, 0) + 1;
    loop {
        let start = skip_space(bytes, at);
        let end = value_end(bytes, start).unwrap_or(bytes.len());
        let element = bytes.get(start..end).filter(|_| answers.len() < limit)?;
        let intent = Intent::recover(element).filter(|intent| matches!(intent, Intent::Response(_)))?;
        answers.push(Err(Malformed { error: error.clone(), intent }));
        at = skip_space(bytes, end) + 1;
        if bytes.get(at - 1) != Some(&b',') {
            return Some(answers);
        }
    }
}

/// Takes the messages of an array one by one and stops at the limit.
struct BatchVisitor<'a> {
    frame: &'a ByteString,
    limit: usize,
    messages: Vec<Result<Message, Malformed>>,
    too_long: bool,
}

impl<'de> Visitor<'de> for &mut BatchVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&'de RawValue>()? {
            if self.messages.len() == self.limit {
                self.too_long = true;
                return Err(de::Error::custom("batch too long"));
            }
            self.messages.push(if element.get().starts_with('{') {
                parse_message(self.frame, element.get())
            } else {
                Err(not_an_object(element.get()))
            });
        }
        Ok(())
    }
}
