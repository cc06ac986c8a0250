//! The trace of a check's conversation, byte by byte, for reports and audits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::secrets::Secrets;
use crate::verdict::{Outcome, Stop};

/// The most bytes of one check that are kept. What comes later is counted.
const MAX_BYTES: usize = 4 << 20;
/// The most bytes of standard error that are kept beside them.
const MAX_ERRORS: usize = 1 << 20;
/// How much a subject may send in the conversations of one check, by [`weight`]. Checks need up to 20 MiB.
const MAX_RECEIVED: usize = 48 << 20;
/// The memory of a step beyond its bytes.
const STEP_WEIGHT: usize = 64;
/// The least share of [`MAX_BYTES`] that a kept step takes, so that at most 8,192 are kept: each audit reads all of them.
const KEPT_STEP: usize = 512;
/// The memory that a JSON value may take when it is read.
const VALUE_WEIGHT: usize = 128;

/// One step of a conversation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The time since the check began.
    pub at: Duration,
    /// Who sent it.
    pub from: Sender,
    /// The kind of the step.
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

/// The kind of content that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// A line on standard input or output, without its end.
    Line,
    /// A request's or a response's first line and headers.
    Head,
    /// The body of a request, or of a response that is not an event stream.
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
    /// Secrets that reports do not show.
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct Inner {
    events: Vec<TraceEvent>,
    messages: SpaceUsed,
    errors: SpaceUsed,
    /// The weight of what the subject sent, kept or not.
    received: usize,
}

/// The space that the kept steps of one kind take, and the number of those left out.
#[derive(Debug, Default)]
struct SpaceUsed {
    bytes: usize,
    omitted: usize,
}

impl SpaceUsed {
    /// Whether a step is kept. After one that is not, none is: audits need each message up to there.
    fn take(&mut self, step: &[u8], most: usize) -> bool {
        let bytes = self.bytes + step.len().max(KEPT_STEP);
        let is_kept = self.omitted == 0 && bytes <= most;
        if is_kept {
            self.bytes = bytes;
        } else {
            self.omitted += 1;
        }
        is_kept
    }
}

impl Trace {
    pub(crate) fn new() -> Self {
        Self { inner: Arc::default(), begun: Instant::now(), secrets: Secrets::default() }
    }

    /// The same, and reports of it do not show the secrets.
    pub(crate) fn hiding(self, secrets: &Secrets) -> Self {
        Self { secrets: secrets.clone(), ..self }
    }

    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
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
                inner.received += weight(*what, bytes);
            }
            let has_room = match what {
                Part::Stderr => inner.errors.take(bytes, MAX_ERRORS),
                _ => inner.messages.take(bytes, MAX_BYTES),
            };
            if has_room {
                inner.events.push(TraceEvent { at, from, what: *what, bytes: bytes.to_vec(), cut: 0 });
            }
        }
    }

    /// Whether a quarter of what can be kept is.
    pub(crate) fn is_long(&self) -> bool {
        self.lock().messages.bytes > MAX_BYTES / 4
    }

    /// The steps so far.
    pub(crate) fn events(&self) -> Vec<TraceEvent> {
        self.lock().events.clone()
    }

    /// The first `first` steps and the last ones, `most` in all, and how many between them are left out.
    pub(crate) fn ends(&self, first: usize, most: usize) -> (Vec<TraceEvent>, usize) {
        let events = &self.lock().events;
        let left_out = events.len().saturating_sub(most);
        if left_out == 0 {
            return (events.clone(), 0);
        }
        (events[..first].iter().chain(&events[first + left_out..]).cloned().collect(), left_out)
    }

    /// The last line on standard error, if there is any: it often has the reason why a program ended.
    pub(crate) fn last_error_line(&self) -> Option<String> {
        let inner = self.lock();
        let mut lines = inner.events.iter().rev().filter(|event| event.what == Part::Stderr);
        let line = |event: &TraceEvent| String::from_utf8_lossy(&event.bytes).trim().to_owned();
        lines.find_map(|event| Some(line(event)).filter(|line| !line.is_empty()))
    }

    /// Fails when the subject has sent so much that the suite reads no further. What was written down last is not read either.
    pub(crate) fn expect_within_limit(&self) -> Outcome {
        if self.lock().received <= MAX_RECEIVED {
            return Ok(());
        }
        let most = MAX_RECEIVED >> 20;
        Err(Stop::inconclusive(format!(
            "the program sent more than one check reads, which is {most} MiB in memory"
        )))
    }

    /// How many steps were left out because they were too long.
    pub(crate) fn omitted(&self) -> usize {
        let inner = self.lock();
        inner.messages.omitted + inner.errors.omitted
    }

    /// The JSON-RPC messages of one side, in order; the members of a batch one by one.
    pub(crate) fn messages(&self, from: Sender) -> Vec<Value> {
        self.read(|sender| sender == from).into_iter().map(|(_, message)| message).collect()
    }

    /// The JSON-RPC messages of both sides in the same way.
    pub(crate) fn exchanged(&self) -> Vec<(Sender, Value)> {
        self.read(|_| true)
    }

    fn read(&self, is_wanted: impl Fn(Sender) -> bool) -> Vec<(Sender, Value)> {
        let mut messages = Vec::new();
        for event in self.lock().events.iter().filter(|event| is_wanted(event.from)) {
            if !matches!(event.what, Part::Line | Part::Body | Part::Event | Part::TextFrame) {
                continue;
            }
            match message_of(event) {
                Some(Value::Array(batch)) => {
                    messages.extend(batch.into_iter().map(|message| (event.from, message)))
                }
                Some(message) => messages.push((event.from, message)),
                None => {}
            }
        }
        messages
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most memory that a step takes, with its JSON.
fn weight(what: Part, bytes: &[u8]) -> usize {
    let values = if matches!(what, Part::Stderr | Part::Head | Part::End) { 0 } else { values_in(bytes) };
    bytes.len() + STEP_WEIGHT + values * VALUE_WEIGHT
}

/// How many values a text has at most if it is JSON: each follows one of three characters outside strings, but the first.
fn values_in(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' | b',' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

/// The JSON of a line, a body, an event or a frame.
pub(crate) fn message_of(event: &TraceEvent) -> Option<Value> {
    if event.what == Part::Event {
        return serde_json::from_str(&crate::link::events::Event::parse(&event.bytes).data).ok();
    }
    serde_json::from_slice(&event.bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_strings() {
        let counts = [r#"{"a":[1,2],"b":"x,y[{"}"#, r#""\",[""#, "7", "[[0],[0]]"]
            .map(|text| values_in(text.as_bytes()));
        assert_eq!(counts, [5, 1, 1, 5]);
    }

    #[test]
    fn empty_lines_and_small_values_have_a_limit() {
        let lines = Trace::new();
        let mut count = 0;
        while lines.expect_within_limit().is_ok() {
            lines.add_all(Sender::Subject, &[(Part::Line, b"".as_slice()); 1000]);
            count += 1000;
        }
        assert!(count <= MAX_RECEIVED / STEP_WEIGHT + 1000, "{count}");
        assert!(lines.events().len() <= MAX_BYTES / KEPT_STEP, "{}", lines.events().len());

        let values = Trace::new();
        values.add(Sender::Subject, Part::Line, "[0],".repeat(1 << 16).as_bytes());
        assert!(values.expect_within_limit().is_ok());
        values.add(Sender::Subject, Part::Line, "[0],".repeat(1 << 18).as_bytes());
        assert!(values.expect_within_limit().is_err());
    }
}
