//! Splits a byte stream into lines up to a length limit, and recovers the id of a longer line. Returns an unterminated last line if it
//! is a complete object, for peers that never send the last line end.

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::IgnoredAny;

use crate::RequestId;
use crate::frame::malformed::Intent;
use crate::text::scan::Nesting;

/// The maximum length of a line, unless a caller sets another: 32 MiB.
pub const DEFAULT_LINE_LIMIT: usize = 32 << 20;

/// How much room a reader gets for one read, in bytes.
const CHUNK: usize = 64 << 10;

/// With less room than this, in bytes, the buffer is compacted or grows.
const MIN_READ_SPACE: usize = 4 << 10;

/// A line up to this length is copied, so that keeping a small message does not keep the buffer it came in.
const COPY_LIMIT: usize = 16 << 10;

/// A buffer that grew beyond this for one long line is freed when it is empty.
const MAX_KEPT: usize = 4 * CHUNK;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Cuts a stream of bytes into lines, one message each.
///
/// It does no I/O. A reader fills the [`room`](Self::room), reports how much of it was [`filled`](Self::filled), and takes
/// complete lines with [`next_line`](Self::next_line):
///
/// ```
/// # use agentwire_jsonrpc::LineDecoder;
/// # fn read_all(mut input: impl std::io::Read) -> std::io::Result<()> {
/// let mut lines = LineDecoder::default();
/// loop {
///     let count = input.read(lines.room())?;
///     lines.filled(count);
///     while let Some(line) = lines.next_line() {
///         println!("{line:?}");
///     }
///     if count == 0 {
///         println!("{:?}", lines.finish());
///         return Ok(());
///     }
/// }
/// # }
/// # read_all(&b"{}\n"[..]).unwrap();
/// ```
///
/// Line ends may be LF or CRLF, blank lines are passed over, and so is a byte order mark at the start. A line
/// over the limit is reported as soon as the limit is passed, without keeping what follows; the stream goes
/// on at the next line.
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    buffer: Vec<u8>,
    /// Bytes that were read and not yet taken: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// Up to here the buffer is known to hold no line end.
    scanned: usize,
    /// Whether the rest of the current line is dropped.
    skipping: bool,
    /// Whether the first line has been passed. A byte order mark is skipped only before that.
    started: bool,
    object: ObjectEnd,
}

/// The search for the end of the object that the current line begins with.
#[derive(Debug, Default)]
struct ObjectEnd {
    /// How many bytes of the line were read.
    read: usize,
    nesting: Nesting,
    /// Whether all brackets of the line were closed once, but the text was not an object. The line is not tried again.
    has_failed: bool,
}

impl ObjectEnd {
    /// Reads on, and returns whether nothing is open.
    fn is_at_end_of(&mut self, line: &[u8]) -> bool {
        let read = std::mem::replace(&mut self.read, line.len());
        self.nesting.read(&line[read..])
    }
}

/// Why a line cannot be read as text. The lines after it are still read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is not UTF-8.
    #[error("the line is not UTF-8: {error}")]
    #[non_exhaustive]
    NotUtf8 {
        /// The position of the fault. [`source`](std::error::Error::source) does not return it, because the error's text contains it.
        error: std::str::Utf8Error,
        /// The kind of message that the line resembles, which decides whether a call fails or the line is answered under null.
        intent: Intent,
    },
    /// The line is longer than the decoder takes.
    #[error("the line is longer than the limit of {limit} bytes")]
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// The kind of message, as far as the part within the limit shows it.
        intent: Intent,
    },
}

impl Default for LineDecoder {
    fn default() -> Self {
        Self::new(DEFAULT_LINE_LIMIT)
    }
}

impl LineDecoder {
    /// A decoder that takes lines of up to `limit` bytes, without their line end.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            scanned: 0,
            skipping: false,
            started: false,
            object: ObjectEnd::default(),
        }
    }

    /// Returns the room for the next read. It is never empty, and memory grows only with the current line.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end, self.scanned) = (0, 0, 0);
            if self.buffer.len() > MAX_KEPT {
                self.buffer = Vec::new();
            }
        }
        if self.buffer.len() - self.end < MIN_READ_SPACE {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
            if self.buffer.len() - self.end < MIN_READ_SPACE {
                self.grow();
            }
        }
        &mut self.buffer[self.end..]
    }

    fn grow(&mut self) {
        // A long line grows by a quarter, because all of the new memory is zeroed.
        let mut length = self.buffer.len() + (self.buffer.len() / 4).max(CHUNK);
        if self.end <= self.limit {
            length = length.min(self.limit.saturating_add(CHUNK));
        }
        self.buffer.reserve_exact(length - self.buffer.len());
        self.buffer.resize(length, 0);
    }

    /// Reports that a reader filled the first `count` bytes of the last [`room`](Self::room).
    ///
    /// # Panics
    ///
    /// If `count` is larger than that room.
    pub fn filled(&mut self, count: usize) {
        assert!(count <= self.buffer.len() - self.end, "more was read than there was room for");
        self.end += count;
    }

    /// Copies bytes into the buffer. Take the complete lines between two calls, because [`next_line`](Self::next_line) checks
    /// the limit.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// Takes the next complete line. `None` if more bytes must be read first.
    pub fn next_line(&mut self) -> Option<Result<ByteString, LineError>> {
        loop {
            let rest = &self.buffer[self.scanned..self.end];
            let Some(line_end) = memchr::memchr(b'\n', rest).map(|at| self.scanned + at) else {
                self.scanned = self.end;
                if self.skipping {
                    self.start = self.end;
                }
                return self.is_too_long().then(|| Err(self.refuse()));
            };
            if std::mem::take(&mut self.skipping) {
                self.start = line_end + 1;
                self.scanned = self.start;
            } else if let Some(line) = self.take_line(line_end, line_end + 1) {
                return Some(line);
            }
        }
    }

    /// Takes a last line without a line end. Call it when the stream has ended and [`next_line`](Self::next_line) has returned
    /// `None`.
    pub fn finish(&mut self) -> Option<Result<ByteString, LineError>> {
        if std::mem::take(&mut self.skipping) {
            self.start = self.end;
        }
        self.take_line(self.end, self.end)
    }

    /// Takes a line without its end if it is a complete object. Call it when [`next_line`](Self::next_line) has returned `None`
    /// and the reader must wait, because some peers never write the line end of their last message.
    #[inline]
    pub fn whole_object(&mut self) -> Option<Result<ByteString, LineError>> {
        let line = &self.buffer[self.start..self.end];
        if line.last() == Some(&b'}') { self.take_whole_object() } else { None }
    }

    #[cold]
    fn take_whole_object(&mut self) -> Option<Result<ByteString, LineError>> {
        if self.object.has_failed || !self.object.is_at_end_of(&self.buffer[self.start..self.end]) {
            return None;
        }
        let line = self.without_mark(&self.buffer[self.start..self.end]).trim_ascii_start();
        let is_object = line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok();
        self.object.has_failed = !is_object;
        if self.object.has_failed { None } else { self.take_line(self.end, self.end) }
    }

    /// Whether the first line of the buffer is over the limit, whatever bytes follow. A carriage return may be half of its line
    /// end.
    fn is_too_long(&self) -> bool {
        let line = self.without_mark(&self.buffer[self.start..self.end]);
        line.strip_suffix(b"\r").unwrap_or(line).len() > self.limit
    }

    /// Removes a byte order mark, or a part of one, from the first line of a stream.
    fn without_mark<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if self.started {
            line
        } else if BYTE_ORDER_MARK.starts_with(line) {
            &[]
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        }
    }

    /// Drops the first line of the buffer, and returns the error for it.
    fn refuse(&mut self) -> LineError {
        let error = self.too_long(self.without_mark(&self.buffer[self.start..self.end]));
        self.buffer = Vec::new();
        (self.start, self.end, self.scanned) = (0, 0, 0);
        (self.skipping, self.started, self.object) = (true, true, ObjectEnd::default());
        error
    }

    /// The error for a line over the limit. It reads the line only up to the limit, so the error does not depend on how the
    /// stream was cut into reads.
    fn too_long(&self, line: &[u8]) -> LineError {
        let intent = Intent::recover(&line[..self.limit]).unwrap_or(Intent::Request(RequestId::NULL));
        LineError::TooLong { limit: self.limit, intent }
    }

    /// Takes the line that ends at `line_end`; the one after it begins at `next`. None if it is blank.
    fn take_line(&mut self, line_end: usize, next: usize) -> Option<Result<ByteString, LineError>> {
        let (mut first, mut last) = (self.start, line_end);
        self.object = ObjectEnd::default();
        if !std::mem::replace(&mut self.started, true)
            && self.buffer[first..last].starts_with(BYTE_ORDER_MARK)
        {
            first += BYTE_ORDER_MARK.len();
        }
        if self.buffer[first..last].ends_with(b"\r") {
            last -= 1;
        }
        let line = &self.buffer[first..last];
        let taken = if line.len() > self.limit {
            Some(Err(self.too_long(line)))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else if line.len() <= COPY_LIMIT || line.len() < self.buffer.len() / 2 {
            let copy = ByteString::try_from(Bytes::copy_from_slice(line));
            Some(copy.map_err(|error| LineError::not_utf8(error, line)))
        } else {
            // A line that is most of the buffer takes over its memory, and the bytes after it move to a new buffer.
            let rest = self.buffer[next..self.end].to_vec();
            let buffer = Bytes::from(std::mem::replace(&mut self.buffer, rest));
            (self.start, self.end, self.scanned) = (0, self.end - next, 0);
            let line = ByteString::try_from(buffer.slice(first..last));
            return Some(line.map_err(|error| LineError::not_utf8(error, &buffer[first..last])));
        };
        (self.start, self.scanned) = (next, next);
        taken
    }
}

impl LineError {
    pub(crate) fn not_utf8(error: std::str::Utf8Error, bytes: &[u8]) -> Self {
        Self::NotUtf8 { error, intent: Intent::of_unreadable(bytes) }
    }
}
