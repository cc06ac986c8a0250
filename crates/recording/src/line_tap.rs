//! Cuts a stream of bytes into lines, and records each.

use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use crate::event::{EventKind, KEPT_OF_LONG_LINE, Line, Side};
use crate::recorder::Recorder;

/// Records the lines of a stream: messages and other text, or stderr. It takes the bytes as they come, in any pieces.
#[derive(Debug)]
pub struct LineTap {
    recorder: Option<Recorder>,
    from: Side,
    is_stderr: bool,
    line: Vec<u8>,
    /// How long the line is so far. Beyond the limit, only its beginning is kept.
    length: u64,
}

impl LineTap {
    /// Records the messages of a side. Without a recorder it does nothing.
    pub fn messages(recorder: Option<Recorder>, from: Side) -> Self {
        Self { recorder, from, is_stderr: false, line: Vec::new(), length: 0 }
    }

    /// Records the lines of a side's stderr.
    pub fn stderr(recorder: Option<Recorder>, from: Side) -> Self {
        Self { is_stderr: true, ..Self::messages(recorder, from) }
    }

    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let Some(limit) = self.recorder.as_ref().map(Recorder::line_limit) else { return };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (content, is_whole) = match piece.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (piece, false),
            };
            self.length += content.len() as u64;
            if self.length <= limit as u64 {
                self.line.extend_from_slice(content);
            } else {
                let room = KEPT_OF_LONG_LINE.saturating_sub(self.line.len());
                self.line.extend_from_slice(&content[..room.min(content.len())]);
                self.line.truncate(KEPT_OF_LONG_LINE);
                self.line.shrink_to(KEPT_OF_LONG_LINE);
            }
            if is_whole {
                self.end_line();
            }
        }
    }

    /// Records the last line, which has no end, and that the side has closed its stream.
    pub fn end(&mut self) {
        self.end_line();
        if let Some(recorder) = self.recorder.take()
            && !self.is_stderr
        {
            recorder.record(self.from, EventKind::Closed);
        }
    }

    fn end_line(&mut self) {
        let (line, length) = (std::mem::take(&mut self.line), std::mem::take(&mut self.length));
        let Some(recorder) = &self.recorder else { return };
        let is_cut = length > line.len() as u64;
        let line = match line.strip_suffix(b"\r") {
            Some(content) if !is_cut => content.to_vec(),
            _ => line,
        };
        if line.is_empty() {
            return;
        }
        let kind = match (is_cut, self.is_stderr) {
            (true, true) => EventKind::Stderr(Line::cut(line, length)),
            (true, false) => EventKind::Text(Line::cut(line, length)),
            (false, true) => EventKind::Stderr(Line::new(line)),
            (false, false) => message_or_text(line),
        };
        recorder.record(self.from, kind);
    }
}

/// A message if the bytes are a JSON object or array, else text.
pub(crate) fn message_or_text(bytes: Vec<u8>) -> EventKind {
    let is_message =
        bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|byte| b"{[".contains(byte));
    if is_message
        && let Ok(text) = String::from_utf8(bytes.clone())
        && let Ok(json) = RawJson::parse(ByteString::from(text))
    {
        return EventKind::Message(one_line(json));
    }
    EventKind::Text(Line::new(bytes))
}

/// The same JSON without line breaks.
fn one_line(json: RawJson) -> RawJson {
    if !json.as_str().contains(['\n', '\r']) {
        return json;
    }
    RawJson::parse(ByteString::from(crate::json_text::rewrite(json.as_str(), &mut |_, _| None)))
        .unwrap_or(json)
}
