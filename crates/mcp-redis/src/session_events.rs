//! Bounds the events that this node has stored of one session.

use std::collections::VecDeque;
use std::time::Instant;

use crate::message::StreamLimits;

/// What a stream takes in the engine beside its events, in bytes: a page of its list is allocated at once.
pub(crate) const STREAM_COST: usize = 4608;

/// What a stream takes that is one event, in bytes: a string with its key, and an entry in the list of streams.
pub(crate) const RESULT_COST: usize = 512;

/// The streams of a session that this node has written, those first that were written to longest ago.
#[derive(Debug)]
pub(crate) struct SessionEvents {
    bytes: usize,
    streams: VecDeque<(u64, usize)>,
    pub(crate) written: Instant,
}

impl SessionEvents {
    pub(crate) fn new() -> Self {
        Self { bytes: 0, streams: VecDeque::new(), written: Instant::now() }
    }

    /// A stream, which may be a new one, takes so many bytes now. Returns the streams to be deleted so that all are within the limits.
    pub(crate) fn set(&mut self, stream: u64, is_new: bool, bytes: usize, limits: &StreamLimits) -> Vec<u64> {
        self.written = Instant::now();
        // A new one is not looked for: a session has most of them for one result each.
        if !is_new
            && let Some(place) = self.streams.iter().rposition(|(other, _)| *other == stream)
            && let Some((_, before)) = self.streams.remove(place)
        {
            self.bytes -= before;
        }
        self.streams.push_back((stream, bytes));
        self.bytes += bytes;
        let mut deleted = Vec::new();
        while (self.bytes > limits.session_bytes || self.streams.len() > limits.session_streams)
            && self.streams.len() > 1
            && let Some((oldest, bytes)) = self.streams.pop_front()
        {
            self.bytes -= bytes;
            deleted.push(oldest);
        }
        deleted
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_streams_that_were_written_longest_ago_give_way() {
        let limits =
            StreamLimits { time: Duration::MAX, events: 1, bytes: 1, session_bytes: 100, session_streams: 4 };
        let mut events = SessionEvents::new();
        assert!(events.set(1, true, 40, &limits).is_empty());
        assert!(events.set(2, true, 40, &limits).is_empty());
        assert!(events.set(1, false, 50, &limits).is_empty(), "it replaces its 40");
        assert_eq!(events.set(3, true, 60, &limits), [2, 1]);
        assert_eq!(events.set(4, true, 200, &limits), [3], "a stream has a limit of its own");
        assert_eq!((events.bytes, events.streams.len()), (200, 1));
        for stream in 5..100 {
            let deleted = events.set(stream, true, 1, &limits);
            assert_eq!(deleted.len(), usize::from(stream == 5 || stream > 8));
        }
        assert_eq!((events.bytes, events.streams.len()), (4, 4));
    }
}
