//! Plays one side of a script against the other, in strict order.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use agentwire_wire_derive::Build;
use futures_util::future::{Either, select};
use serde_json::Value;

use crate::script::format::{Script, ScriptEvent};
use crate::script::pattern::Bindings;
use crate::script::wire::ScriptWire;
use crate::shown::Shown;

/// The timeouts of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Build)]
#[non_exhaustive]
pub struct ScriptConfig {
    /// The timeout of a message of the judged side, and of a write (default 10 s).
    #[build(skip)]
    pub message: Duration,
    /// The timeout of the first message, before which a program has to start (default 10 s).
    pub first_message: Duration,
    /// The time of silence that the event `quiet`, and the end, require (default 1 s).
    pub quiet: Duration,
}

impl ScriptConfig {
    /// The defaults.
    pub fn new() -> Self {
        let message = Duration::from_secs(10);
        Self { message, first_message: message, quiet: Duration::from_secs(1) }
    }

    /// Sets the timeout of each message, including the first.
    #[must_use]
    pub fn message(mut self, limit: Duration) -> Self {
        (self.message, self.first_message) = (limit, limit);
        self
    }
}

impl Default for ScriptConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// The judged side's deviation from an event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptFailure {
    /// The number of the event, from 1, without the header. `None` after the last.
    pub event: Option<usize>,
    /// The expected event.
    pub expected: String,
    /// The event that was seen.
    pub seen: String,
}

impl fmt::Display for ScriptFailure {
    /// Text for a terminal: text of the judged side is escaped, and long values are cut.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event {
            Some(event) => write!(f, "event {event}: ")?,
            None => f.write_str("after the last event: ")?,
        }
        write!(f, "expected {}, seen {}", Shown(&self.expected), Shown(&self.seen))
    }
}

impl std::error::Error for ScriptFailure {}

/// Plays the side that is not judged: sends its lines, and compares the messages of the judged side, one after the other. Then closes
/// the wire, and expects silence or the end. `sleep` returns a future that waits.
///
/// Lines that follow one another are sent in one write.
///
/// # Errors
///
/// Fails at the first event that the judged side does not match.
pub async fn play<W, S>(
    script: &Script,
    wire: &mut W,
    config: ScriptConfig,
    sleep: impl Fn(Duration) -> S,
) -> Result<(), ScriptFailure>
where
    W: ScriptWire,
    S: Future<Output = ()>,
{
    let mut player = Player {
        wire,
        config,
        sleep,
        bindings: Bindings::default(),
        unsent: Vec::new(),
        has_received: false,
    };
    for (number, event) in (1..).zip(&script.events) {
        if !matches!(event, ScriptEvent::Send(_)) {
            player.flush().await;
        }
        let played = match event {
            ScriptEvent::Note(_) => Ok(()),
            ScriptEvent::Send(line) => {
                player.queue(line);
                Ok(())
            }
            ScriptEvent::Expect(pattern) => player.expect(pattern).await,
            ScriptEvent::Quiet => player.expect_quiet().await,
        };
        played.map_err(|Mismatch { expected, seen }| ScriptFailure {
            event: Some(number),
            expected,
            seen,
        })?;
    }
    player.flush().await;
    player.wire.close().await;
    let ended = player.expect_quiet().await;
    ended.map_err(|Mismatch { expected, seen }| ScriptFailure { event: None, expected, seen })
}

struct Player<'w, W, F> {
    wire: &'w mut W,
    config: ScriptConfig,
    sleep: F,
    bindings: Bindings,
    /// Lines that are sent in one write.
    unsent: Vec<u8>,
    has_received: bool,
}

struct Mismatch {
    expected: String,
    seen: String,
}

/// A line that arrived, or the reason why none did.
enum Arrival {
    Line(Vec<u8>),
    Nothing(String),
}

impl<W, F, S> Player<'_, W, F>
where
    W: ScriptWire,
    F: Fn(Duration) -> S,
    S: Future<Output = ()>,
{
    fn queue(&mut self, line: &[u8]) {
        self.unsent.extend(self.bindings.fill_in(line));
        self.unsent.push(b'\n');
    }

    /// Writes the queued lines. If the judged side does not read them, the next expected message does not arrive.
    async fn flush(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        let unsent = std::mem::take(&mut self.unsent);
        let timer = pin!((self.sleep)(self.config.message));
        let write = pin!(self.wire.write(&unsent));
        let _written = select(write, timer).await;
    }

    async fn receive(&mut self, limit: Duration) -> Arrival {
        let timer = pin!((self.sleep)(limit));
        let read = pin!(self.wire.read_line());
        match select(read, timer).await {
            Either::Left((Ok(Some(line)), _)) => {
                self.has_received = true;
                Arrival::Line(line)
            }
            Either::Left((Ok(None), _)) => Arrival::Nothing("the end".into()),
            Either::Left((Err(error), _)) => Arrival::Nothing(error.to_string()),
            Either::Right(_) => Arrival::Nothing(format!("nothing within {} ms", limit.as_millis())),
        }
    }

    async fn expect(&mut self, pattern: &Value) -> Result<(), Mismatch> {
        let limit = if self.has_received { self.config.message } else { self.config.first_message };
        let seen = match self.receive(limit).await {
            // read: scripts judge the readers of this project, so they share none of them.
            Arrival::Line(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) if self.bindings.matches(pattern, &message) => return Ok(()),
                Ok(message) => message.to_string(),
                Err(_) => format!("not JSON: {}", String::from_utf8_lossy(&line)),
            },
            Arrival::Nothing(why) => why,
        };
        Err(Mismatch { expected: pattern.to_string(), seen })
    }

    async fn expect_quiet(&mut self) -> Result<(), Mismatch> {
        match self.receive(self.config.quiet).await {
            Arrival::Line(line) => {
                let seen = String::from_utf8_lossy(&line).into_owned();
                Err(Mismatch { expected: "silence".into(), seen })
            }
            Arrival::Nothing(_) => Ok(()),
        }
    }
}
