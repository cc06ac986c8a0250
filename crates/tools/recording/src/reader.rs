//! Reads a recording from its lines. The header and the times may be missing.

use std::io::{self, BufRead, Read as _};
use std::time::Duration;

use agentwire_jsonrpc::{DEFAULT_LINE_LIMIT, RawJson, read};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::event::{
    EVENT_LIMIT, Event, EventKind, Exit, FORMAT, Header, HttpHead, Line, Protocol, Side, TransportKind,
};

/// The longest line that is read: the longest message, its masks and its envelope.
const LINE_LIMIT: u64 = 4 * DEFAULT_LINE_LIMIT as u64;

/// The most bytes of a recording that are read: 1 GiB.
const SIZE_LIMIT: u64 = 1 << 30;

/// A recording in memory.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The header. Empty if the file has none.
    pub header: Header,
    /// The events, in order.
    pub events: Vec<Event>,
}

/// The reasons why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not one of a recording.
    #[error("line {line}: {error}")]
    #[non_exhaustive]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The fault.
        error: serde_json::Error,
    },
    /// A line has no member of an event, or has one that a script does not allow.
    #[error("line {line} contains no event")]
    #[non_exhaustive]
    NoEvent {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A later version of the format.
    #[error("the recording has version {0} of the format, and this program reads version {FORMAT}")]
    Version(u32),
    /// A script where a recording was expected: its messages are patterns.
    #[error("it is a script, not a recording")]
    IsScript,
    /// A recording where a script was expected.
    #[error("it is not a script: its first line has no member `script`")]
    NoScript,
    /// The file is larger than 1 GiB, or a line longer than 128 MiB.
    #[error("the recording is longer than the limit of {0} bytes")]
    TooLong(u64),
    /// The file has more than 2,000,000 events.
    #[error("the recording has more than {0} events")]
    TooManyEvents(usize),
}

/// A line of a recording or of a script.
#[derive(Deserialize)]
pub(crate) struct AnyLine {
    recording: Option<u32>,
    pub(crate) protocol: Option<Protocol>,
    transport: Option<TransportKind>,
    started: Option<String>,
    pub(crate) script: Option<Side>,
    pub(crate) revision: Option<String>,
    pub(crate) requirements: Option<Vec<String>>,
    pub(crate) note: Option<String>,
    pub(crate) quiet: Option<bool>,
    at: Option<f64>,
    pub(crate) from: Option<Side>,
    exchange: Option<u64>,
    message: Option<RawJson>,
    text: Option<TextOrBytes>,
    stderr: Option<TextOrBytes>,
    length: Option<u64>,
    unreadable: Option<String>,
    http: Option<HttpHead>,
    closed: Option<bool>,
    exit: Option<Exit>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrBytes {
    Text(String),
    Bytes { base64: String },
}

impl TextOrBytes {
    fn into_line(self, length: Option<u64>) -> Line {
        let bytes = match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes { base64 } => STANDARD.decode(&base64).unwrap_or_else(|_| base64.into_bytes()),
        };
        let length = length.unwrap_or_default().max(bytes.len() as u64);
        Line { bytes, length }
    }
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    ///
    /// When reading fails, or a line is not one of a recording.
    pub fn read(from: impl BufRead) -> Result<Self, ReadError> {
        Self::read_up_to(from, EVENT_LIMIT)
    }

    fn read_up_to(from: impl BufRead, event_limit: usize) -> Result<Self, ReadError> {
        let mut recording = Self::default();
        read_lines(from, |number, line| {
            recording.add(number, line)?;
            if recording.events.len() > event_limit {
                return Err(ReadError::TooManyEvents(event_limit));
            }
            Ok(())
        })?;
        Ok(recording)
    }

    fn add(&mut self, number: usize, line: AnyLine) -> Result<(), ReadError> {
        if line.is_header()? {
            if line.script.is_some() {
                return Err(ReadError::IsScript);
            }
            let AnyLine { protocol, transport, started, .. } = line;
            self.header = Header { protocol, transport, started };
            return Ok(());
        }
        self.events.push(line.event().ok_or(ReadError::NoEvent { line: number })?);
        Ok(())
    }

    /// The transport of the messages: that of the header, or HTTP+SSE if a client used it after an attempt with another.
    pub fn transport(&self) -> Option<TransportKind> {
        let is_get = |exchange: u64| {
            self.events.iter().any(|event| {
                event.exchange == Some(exchange)
                    && matches!(&event.kind, EventKind::Http(head) if head.method.as_deref() == Some("GET"))
            })
        };
        // Streams of Streamable HTTP have messages only, and those of HTTP+SSE begin with the URL of the endpoint.
        let is_endpoint = |event: &Event| {
            matches!(event.kind, EventKind::Text(_))
                && !event.from.is_client()
                && event.exchange.is_some_and(is_get)
        };
        let is_sse =
            self.header.transport == Some(TransportKind::Http) && self.events.iter().any(is_endpoint);
        if is_sse { Some(TransportKind::Sse) } else { self.header.transport }
    }

    /// The recording as text, which [`read`](Self::read) reads.
    pub fn to_text(&self) -> String {
        let mut text = self.header.to_line();
        text.push('\n');
        for event in &self.events {
            text.push_str(&event.to_line(self.header.protocol));
            text.push('\n');
        }
        text
    }
}

/// Reads the lines of a file within the limits, and passes each one on with its number, from 1. Skips blank lines.
pub(crate) fn read_lines(
    from: impl BufRead,
    mut take: impl FnMut(usize, AnyLine) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut from = from.take(SIZE_LIMIT + 1);
    let (mut line, mut number, mut size) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let count = (&mut from).take(LINE_LIMIT + 1).read_until(b'\n', &mut line)? as u64;
        if count == 0 {
            return Ok(());
        }
        size += count;
        for (value, limit) in [(count, LINE_LIMIT), (size, SIZE_LIMIT)] {
            if value > limit {
                return Err(ReadError::TooLong(limit));
            }
        }
        number += 1;
        if !line.iter().all(u8::is_ascii_whitespace) {
            let text = String::from_utf8_lossy(&line);
            let any = read(&text).map_err(|error| ReadError::Line { line: number, error })?;
            take(number, any)?;
        }
    }
}

/// The event of a line. `None` if the line has another meaning.
pub(crate) fn event_of(line: &str) -> Result<Option<Event>, serde_json::Error> {
    read::<AnyLine>(line).map(AnyLine::event)
}

impl AnyLine {
    /// Whether it is a header. Fails for another version of the format.
    pub(crate) fn is_header(&self) -> Result<bool, ReadError> {
        match self.recording {
            Some(FORMAT) => Ok(true),
            Some(other) => Err(ReadError::Version(other)),
            None => Ok(false),
        }
    }

    fn event(self) -> Option<Event> {
        let at = self.at.and_then(|at| Duration::try_from_secs_f64(at / 1000.0).ok());
        let (from, exchange) = (self.from?, self.exchange);
        Some(Event { at, from, exchange, kind: self.kind()? })
    }

    pub(crate) fn kind(self) -> Option<EventKind> {
        let length = self.length;
        let kinds = [
            self.message.map(EventKind::Message),
            self.text.map(|text| EventKind::Text(text.into_line(length))),
            self.stderr.map(|text| EventKind::Stderr(text.into_line(length))),
            self.unreadable.map(EventKind::Unreadable),
            self.http.map(EventKind::Http),
            self.closed.map(|_| EventKind::Closed),
            self.exit.map(EventKind::Exit),
        ];
        kinds.into_iter().flatten().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_event_is_written_and_read() {
        let text = r#"{"recording":1,"protocol":"mcp","transport":"http","started":"2026-01-01T00:00:00.000Z"}
{"at":0.001,"from":"client","exchange":1,"http":{"method":"POST","path":"/mcp","headers":[["accept","*/*"]]}}
{"at":12.345,"from":"server","exchange":1,"message":{"id":1e400,"b":1,"a":2}}
{"at":1200.000,"from":"server","text":"\u001b[2J"}
{"at":1200.000,"from":"server","text":{"base64":"/w=="},"length":99}
{"at":1200.000,"from":"server","stderr":"x"}
{"at":1200.000,"from":"server","unreadable":"why"}
{"at":1200.000,"from":"client","closed":true}
{"from":"server","exit":{"code":3}}
"#;
        let recording = Recording::read(text.as_bytes()).unwrap();
        assert_eq!(recording.events.len(), 8);
        assert_eq!(recording.events[1].at, Some(Duration::from_micros(12_345)));
        assert_eq!(recording.to_text(), text);
    }

    #[test]
    fn lines_without_times_are_read_and_other_lines_are_refused() {
        let old = r#"{"from":"client","message":{"method":"a"}}"#;
        let recording = Recording::read(old.as_bytes()).unwrap();
        assert_eq!((recording.events.len(), recording.events[0].at), (1, None));
        let error = |text: &str| Recording::read(text.as_bytes()).unwrap_err();
        assert!(matches!(error("{\"from\":\"client\"}"), ReadError::NoEvent { line: 1 }));
        assert!(matches!(error("\n\nnonsense"), ReadError::Line { line: 3, .. }));
        assert!(matches!(error("{\"recording\":2}"), ReadError::Version(2)));
        assert!(matches!(error("{\"recording\":1,\"script\":\"agent\"}"), ReadError::IsScript));
        assert!(matches!(error("{\"note\":\"only scripts have notes\"}"), ReadError::NoEvent { line: 1 }));
        assert!(matches!(error("{\"at\":-1,\"from\":\"nobody\"}"), ReadError::Line { .. }));
    }

    #[test]
    fn the_number_of_events_is_limited() {
        let text = "{\"from\":\"client\",\"closed\":true}\n".repeat(4);
        assert_eq!(Recording::read_up_to(text.as_bytes(), 4).unwrap().events.len(), 4);
        let error = Recording::read_up_to(text.as_bytes(), 3).unwrap_err();
        assert_eq!(error.to_string(), "the recording has more than 3 events");
    }
}
