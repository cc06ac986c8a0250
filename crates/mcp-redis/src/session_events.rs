//! Bounds the events that this node has stored of one session.

use std::collections::VecDeque;
use std::time::Instant;

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

    /// A stream has so many bytes of events now. Returns the streams to be deleted so that all have at most `limit`.
    pub(crate) fn set(&mut self, stream: u64, bytes: usize, limit: usize) -> Vec<u64> {
        self.written = Instant::now();
        if let Some(place) = self.streams.iter().rposition(|(other, _)| *other == stream)
            && let Some((_, before)) = self.streams.remove(place)
        {
            self.bytes -= before;
        }
        self.streams.push_back((stream, bytes));
        self.bytes += bytes;
        let mut deleted = Vec::new();
        while self.bytes > limit
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
    use super::*;

    #[test]
    fn the_streams_that_were_written_longest_ago_give_way() {
        let mut events = SessionEvents::new();
        assert!(events.set(1, 40, 100).is_empty());
        assert!(events.set(2, 40, 100).is_empty());
        assert!(events.set(1, 50, 100).is_empty(), "it replaces its 40");
        assert_eq!(events.set(3, 60, 100), [2, 1]);
        assert!(events.set(3, 200, 100).is_empty(), "a stream has a limit of its own");
        assert_eq!((events.bytes, events.streams.len()), (200, 1));
    }
}
