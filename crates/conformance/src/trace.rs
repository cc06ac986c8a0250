//! What a check's conversation looked like, byte by byte, for reports and audits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The most bytes of one check that are kept. What comes later is counted.
const MAX_BYTES: usize = 4 << 20;

/// One step of a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The time since the check began.
    pub at: Duration,
    /// Who sent it.
    pub from: Sender,
    /// What it is.
    pub what: Part,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How many bytes more it had; reports keep the first ones of each step.
    pub cut: usize,
}

/// Who sent something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sender {
    /// The suite.
    Suite,
    /// The program under test.
    Subject,
}

/// What was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A line on standard input or output, without its end.
    Line,
    /// A request's or a response's first line and headers.
    Head,
    /// The body of a request, or of a response that is no event stream.
    Body,
    /// An event of an event stream.
    Event,
    /// A text frame of a WebSocket.
    TextFrame,
    /// A binary frame of a WebSocket.
    BinaryFrame,
    /// Text on standard error.
    Stderr,
    /// The end of a stream or of a process.
    End,
}

/// A conversation that is being written down. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    inner: Arc<Mutex<Inner>>,
    begun: Instant,
}

#[derive(Debug, Default)]
struct Inner {
    events: Vec<TraceEvent>,
    bytes: usize,
    omitted: usize,
    /// The bytes of the subject, kept or not.
    received: usize,
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { inner: Arc::default(), begun: Instant::now() }
    }

    pub(crate) fn add(&self, from: Sender, what: Part, bytes: &[u8]) {
        self.add_all(from, &[(what, bytes)]);
    }

    /// Writes several steps down, with none of another task between them.
    pub(crate) fn add_all(&self, from: Sender, steps: &[(Part, &[u8])]) {
        let at = self.begun.elapsed();
        let mut inner = self.lock();
        for (what, bytes) in steps {
            if from == Sender::Subject {
                inner.received += bytes.len();
            }
            if inner.bytes + bytes.len() > MAX_BYTES {
                inner.omitted += 1;
                continue;
            }
            inner.bytes += bytes.len();
            inner.events.push(TraceEvent { at, from, what: *what, bytes: bytes.to_vec(), cut: 0 });
        }
    }

    /// What was written down so far.
    pub(crate) fn events(&self) -> Vec<TraceEvent> {
        self.lock().events.clone()
    }

    /// The last line on standard error, if there is any: it often says why a program ended.
    pub(crate) fn last_error_line(&self) -> Option<String> {
        let inner = self.lock();
        let mut lines = inner.events.iter().rev().filter(|event| event.what == Part::Stderr);
        let line = |event: &TraceEvent| String::from_utf8_lossy(&event.bytes).trim().to_owned();
        lines.find_map(|event| Some(line(event)).filter(|line| !line.is_empty()))
    }

    /// How many bytes the subject has sent.
    pub(crate) fn received(&self) -> usize {
        self.lock().received
    }

    /// How many steps were left out because they were too long.
    pub(crate) fn omitted(&self) -> usize {
        self.lock().omitted
    }

    /// The JSON-RPC messages of one side, in order; the members of a batch one by one.
    pub(crate) fn messages(&self, from: Sender) -> Vec<Value> {
        let mut messages = Vec::new();
        for event in self.lock().events.iter().filter(|event| event.from == from) {
            if !matches!(event.what, Part::Line | Part::Body | Part::Event | Part::TextFrame) {
                continue;
            }
            match message_of(event) {
                Some(Value::Array(batch)) => messages.extend(batch),
                Some(message) => messages.push(message),
                None => {}
            }
        }
        messages
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The JSON of a line, a body, an event or a frame.
pub(crate) fn message_of(event: &TraceEvent) -> Option<Value> {
    if event.what == Part::Event {
        return serde_json::from_str(&crate::link::events::Event::parse(&event.bytes).data).ok();
    }
    serde_json::from_slice(&event.bytes).ok()
}
