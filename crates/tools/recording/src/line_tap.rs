//! Cuts a stream of bytes into lines, and records each.

use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use crate::event::{EventKind, Line, Side};
use crate::line_buffer::LineBuffer;
use crate::recorder::Recorder;

/// Records the lines of a stream: messages and other text, or stderr. Takes bytes in any pieces.
#[derive(Debug)]
pub struct LineTap {
    open: Option<(Recorder, LineBuffer)>,
    from: Side,
    is_stderr: bool,
}

impl LineTap {
    /// Records the messages of a side. Without a recorder it does nothing.
    pub fn messages(recorder: Option<Recorder>, from: Side) -> Self {
        let open = recorder.map(|recorder| {
            let line = recorder.line_buffer();
            (recorder, line)
        });
        Self { open, from, is_stderr: false }
    }

    /// Records the lines of a side's stderr.
    pub fn stderr(recorder: Option<Recorder>, from: Side) -> Self {
        Self { is_stderr: true, ..Self::messages(recorder, from) }
    }

    /// Takes bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some((_, line)) = &mut self.open else { return };
            let content = piece.strip_suffix(b"\n");
            line.push(content.unwrap_or(piece));
            if content.is_some() {
                self.end_line();
            }
        }
    }

    /// Records the incomplete last line, and that the side has closed its stream.
    pub fn end(&mut self) {
        self.end_line();
        if let Some((recorder, _)) = self.open.take()
            && !self.is_stderr
        {
            recorder.record(self.from, EventKind::Closed);
        }
    }

    fn end_line(&mut self) {
        let Some((recorder, line)) = &mut self.open else { return };
        let mut line = line.take();
        if line.is_whole() && line.bytes.ends_with(b"\r") {
            line.bytes.pop();
            line.length -= 1;
        }
        let kind = match self.is_stderr {
            true if line.bytes.is_empty() => None,
            true => Some(EventKind::Stderr(line)),
            false => message_or_text(line),
        };
        if let Some(kind) = kind {
            recorder.record(self.from, kind);
        }
    }
}

/// A message if a whole line or body is a JSON object or array, else text. `None` if it is empty.
pub(crate) fn message_or_text(line: Line) -> Option<EventKind> {
    if line.length == 0 {
        return None;
    }
    let first = line.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if !line.is_whole() || first.is_none_or(|byte| !b"{[".contains(byte)) {
        return Some(EventKind::Text(line));
    }
    let text = match String::from_utf8(line.bytes) {
        Ok(text) => ByteString::from(text),
        Err(error) => return Some(EventKind::Text(Line::new(error.into_bytes()))),
    };
    Some(match RawJson::parse(text.clone()) {
        Ok(json) => EventKind::Message(one_line(json)),
        Err(_) => EventKind::Text(Line::new(text.into_bytes())),
    })
}

/// Returns the JSON without line breaks.
fn one_line(json: RawJson) -> RawJson {
    if !json.as_str().contains(['\n', '\r']) {
        return json;
    }
    RawJson::parse(ByteString::from(crate::json_text::rewrite(json.as_str(), &mut |_, _| None)))
        .unwrap_or(json)
}
