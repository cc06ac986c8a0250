//! Masks the texts of events.

use agentwire_jsonrpc::RawJson;
use bytestring::ByteString;

use super::Masker;
use super::boundary::{ceil, floor};
use super::spans::masked;
use crate::event::{Event, EventKind};
use crate::json_text::{Replacement, Token, rewrite};

/// The most bytes of the last lines that are kept.
const LAST_LINES: usize = 1 << 10;

/// Appends a line to the last lines, and keeps at most [`LAST_LINES`] bytes of them.
fn last_lines(mut lines: String, line: &str) -> String {
    lines.push_str(&line[..floor(line, LAST_LINES)]);
    lines.push('\n');
    let start = ceil(&lines, lines.len().saturating_sub(LAST_LINES));
    // A line that is cut at its beginning could name something else.
    if start > 0 {
        let end = lines[start..].find('\n').map_or(lines.len(), |at| start + at + 1);
        lines.drain(..end);
    }
    lines
}

/// A text of an event.
enum Part<'a> {
    Message(&'a str),
    /// A line of text, or of stderr.
    Line {
        bytes: &'a [u8],
        stream: usize,
    },
    Text(&'a str),
    Header {
        name: &'a str,
        value: &'a str,
    },
}

impl Masker {
    /// Masks the secrets of an event.
    pub(crate) fn event(&mut self, event: &mut Event) {
        change(event, &mut |part| {
            Some(match part {
                Part::Message(json) => self.message(json),
                Part::Line { bytes, stream } => return self.masked_line(bytes, stream),
                Part::Text(text) => self.text(text),
                Part::Header { name, value } => self.header(name, value),
            })
        });
    }

    /// Masks the known secrets of an event that was masked before, and returns whether it has any.
    pub(crate) fn event_again(&mut self, event: &mut Event) -> bool {
        let mut has_changed = false;
        change(event, &mut |part| {
            let masked = match part {
                Part::Message(json) => self.known_in_json(json),
                Part::Line { bytes, .. } => self.known(&String::from_utf8_lossy(bytes)),
                Part::Text(text) | Part::Header { value: text, .. } => self.known(text),
            };
            has_changed |= masked.is_some();
            masked
        });
        has_changed
    }

    /// Whether a line of a recording may have a known secret.
    pub(crate) fn may_have_known(&mut self, line: &str) -> bool {
        line.contains("\"base64\":") || self.secrets.occur_in(line)
    }

    /// Returns a line with masks, or `None` if it contains no secret. Each line of a private key is a secret.
    fn masked_line(&mut self, bytes: &[u8], stream: usize) -> Option<String> {
        let text = String::from_utf8_lossy(bytes);
        if self.key_lines[stream].has(&text) {
            let line = text.trim();
            return (!line.is_empty()).then(|| text.replacen(line, &self.credentials(line), 1));
        }
        let lines = std::mem::take(&mut self.last_lines[stream]);
        let masked = self.masked_line_after(&lines, &text);
        self.last_lines[stream] = last_lines(lines, &text);
        masked
    }

    fn known(&mut self, text: &str) -> Option<String> {
        let spans = self.secrets.spans_outside_masks(text);
        masked(text, spans, |user| self.secrets.mask("user", user))
    }

    fn known_in_json(&mut self, json: &str) -> Option<String> {
        let mut has_changed = false;
        let masked = rewrite(json, &mut |_, token| {
            let (Token::Name(text) | Token::Text(text) | Token::Plain(text)) = token;
            let masked = self.known(text)?;
            has_changed = true;
            Some(Replacement::Text(masked))
        });
        has_changed.then_some(masked)
    }
}

/// Replaces the texts of an event for which `change` returns a new one.
fn change(event: &mut Event, change: &mut dyn FnMut(Part<'_>) -> Option<String>) {
    let stream = usize::from(matches!(event.kind, EventKind::Stderr(_)));
    match &mut event.kind {
        EventKind::Message(message) => {
            let Some(masked) = change(Part::Message(message.as_str())) else { return };
            // A mask is valid JSON in every place, so this parses.
            match RawJson::parse(ByteString::from(masked)) {
                Ok(masked) => *message = masked,
                Err(_) => event.kind = EventKind::Unreadable("the message cannot be masked".into()),
            }
        }
        EventKind::Text(line) | EventKind::Stderr(line) => {
            let Some(masked) = change(Part::Line { bytes: &line.bytes, stream }) else { return };
            if line.is_whole() {
                line.length = masked.len() as u64;
            }
            line.bytes = masked.into_bytes();
        }
        EventKind::Unreadable(why) => {
            if let Some(masked) = change(Part::Text(why)) {
                *why = masked;
            }
        }
        EventKind::Http(head) => {
            if let Some(path) = &mut head.path
                && let Some(masked) = change(Part::Text(path))
            {
                *path = masked;
            }
            for (name, value) in &mut head.headers {
                if let Some(masked) = change(Part::Header { name, value }) {
                    *value = masked;
                }
            }
        }
        EventKind::Closed | EventKind::Exit(_) => {}
    }
}
