//! A stream that this node writes, with the places that are kept of it.

use std::collections::VecDeque;
use std::time::Instant;

use bytes::Bytes;
use redis::Cmd;

use crate::events::message::StreamLimits;

/// A stream that this node writes.
#[derive(Debug)]
pub(crate) struct RunningStream {
    /// The `StreamRun` of the stream, as JSON.
    runs: Option<Bytes>,
    /// The places of the events that are kept, and their sizes in bytes.
    places: VecDeque<(u64, usize)>,
    pub(crate) bytes: usize,
    /// Whether its first entry is deleted. Each later event then repeats the `StreamRun`.
    is_trimmed: bool,
    pub(crate) written: Instant,
}

impl RunningStream {
    /// Makes a stream to which this node writes at `now` for the first time.
    pub(crate) fn new(runs: Option<Bytes>, now: Instant) -> Self {
        Self { runs, places: VecDeque::new(), bytes: 0, is_trimmed: false, written: now }
    }

    /// Called when the stream's events are deleted. Each later event then repeats the `StreamRun`.
    pub(crate) fn forget_all(&mut self) {
        self.places.clear();
        (self.bytes, self.is_trimmed) = (0, true);
    }

    /// The command that adds an event, and deletes the oldest ones beyond the limits.
    pub(crate) fn add(&mut self, key: &str, place: u64, data: &Bytes, limits: StreamLimits) -> Cmd {
        self.places.push_back((place, data.len()));
        self.bytes += data.len();
        let mut forgets = false;
        while self.places.len() > limits.events || self.bytes > limits.bytes && self.places.len() > 1 {
            let (_, bytes) = self.places.pop_front().expect("it has more than one");
            self.bytes -= bytes;
            forgets = true;
        }
        self.is_trimmed |= forgets;
        let mut command = redis::cmd("XADD");
        command.arg(key);
        if forgets && let Some((first, _)) = self.places.front() {
            command.arg("MINID").arg("=").arg(*first);
        }
        command.arg(format!("{place}-0"));
        if let Some(runs) = self.runs.as_ref().filter(|_| self.is_trimmed) {
            command.arg("r").arg(&**runs);
        }
        command.arg("d").arg(&**data);
        command
    }
}
