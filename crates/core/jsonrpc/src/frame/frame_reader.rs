//! Makes frames of lines. Recognises a message over several lines, and `Content-Length` headers.

use bytestring::ByteString;

use crate::frame::malformed::{Intent, Malformed};
use crate::text::scan::Nesting;
use crate::{DEFAULT_BATCH_LIMIT, DEFAULT_LINE_LIMIT, ErrorObject, Frame, LineError, RequestId};

/// Makes a frame of each line that a [`LineDecoder`](crate::LineDecoder) returns.
///
/// A pretty-printed message over several lines is not accepted: each line is malformed text. Its last line becomes an
/// error under the message's id, so that its call fails at once.
///
/// ```
/// use agentwire_jsonrpc::{Frame, FrameReader, Intent};
///
/// let mut frames = FrameReader::default();
/// let mut read = |line: &str| match frames.read(Ok(line.into())) {
///     Ok(Frame::Malformed(malformed)) => malformed.intent,
///     other => panic!("{other:?}"),
/// };
/// assert!(matches!(read("{"), Intent::Request(_)));
/// assert!(matches!(read(r#"  "jsonrpc": "2.0", "result": {},"#), Intent::Request(_)));
/// assert_eq!(read(r#"  "id": 2 }"#), Intent::Response(2_u64.into()));
/// ```
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    batch_limit: usize,
    /// Whether a message has been read.
    has_read: bool,
    /// A message whose first line was malformed text.
    unfinished: Option<Box<Unfinished>>,
}

/// The peer writes `Content-Length` headers before its messages, as in the Language Server Protocol. Such messages do
/// not end with a line, so they cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the peer writes `Content-Length` headers before its messages; a message must be one line of JSON instead"
)]
#[non_exhaustive]
pub struct ContentLength;

impl Default for FrameReader {
    fn default() -> Self {
        Self {
            limit: DEFAULT_LINE_LIMIT,
            batch_limit: DEFAULT_BATCH_LIMIT,
            has_read: false,
            unfinished: None,
        }
    }
}

impl FrameReader {
    /// Sets how many bytes of a message over several lines are searched for its id (default 32 MiB).
    pub fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// Sets how many messages a batch may hold (default 1024).
    pub fn set_batch_limit(&mut self, messages: usize) {
        self.batch_limit = messages;
    }

    /// Reads a line.
    ///
    /// # Errors
    ///
    /// When the first line is a `Content-Length` header.
    #[inline]
    pub fn read(&mut self, line: Result<ByteString, LineError>) -> Result<Frame, ContentLength> {
        let text = match line {
            Ok(text) => text,
            Err(error) => return Ok(error.into()),
        };
        match Frame::parse_text(&text, self.batch_limit) {
            Frame::Malformed(malformed) => self.read_malformed(&text, malformed).map(Frame::Malformed),
            frame => {
                self.has_read = true;
                self.unfinished = None;
                Ok(frame)
            }
        }
    }

    #[cold]
    fn read_malformed(&mut self, text: &str, malformed: Malformed) -> Result<Malformed, ContentLength> {
        if !self.has_read && is_content_length(text) {
            return Err(ContentLength);
        }
        if let Some(unfinished) = &mut self.unfinished {
            if unfinished.add(text) {
                return Ok(self.unfinished.take().and_then(|message| message.end()).unwrap_or(malformed));
            }
            self.unfinished.take_if(|unfinished| unfinished.text.len() > self.limit);
            return Ok(malformed);
        }
        if text.trim_start().starts_with(['{', '[']) {
            let mut unfinished = Box::new(Unfinished::new(&malformed));
            let is_whole = unfinished.add(text);
            self.unfinished = (!is_whole).then_some(unfinished);
        }
        Ok(malformed)
    }
}

fn is_content_length(line: &str) -> bool {
    const NAME: &str = "content-length:";
    line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// The lines so far of a message over several lines.
#[derive(Debug)]
struct Unfinished {
    text: String,
    lines: usize,
    nesting: Nesting,
    /// Whether the first line has failed the call that the message answers.
    has_failed: bool,
}

impl Unfinished {
    fn new(first: &Malformed) -> Self {
        let has_failed = matches!(&first.intent, Intent::Response(id) if !id.is_null());
        Self { text: String::new(), lines: 0, nesting: Nesting::default(), has_failed }
    }

    /// Adds a line, and returns whether it is the last.
    fn add(&mut self, line: &str) -> bool {
        let before = self.text.len();
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
        self.nesting.read(&self.text.as_bytes()[before..])
    }

    /// Returns the error for the whole message, or `None` if its first line was enough.
    fn end(self) -> Option<Malformed> {
        let intent = Intent::recover(self.text.as_bytes())?;
        let is_reported = self.has_failed || intent == Intent::Request(RequestId::NULL);
        let why = format_args!("a message must be one line, and this one has {} lines", self.lines);
        (!is_reported).then(|| Malformed { error: ErrorObject::invalid_request(why), intent })
    }
}
