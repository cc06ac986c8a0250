//! Bounds the events that this node has stored of one session.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::events::message::{GROUP, StreamLimits};
use crate::events::running_stream::RunningStream;

/// The memory of a stream in the engine without its events, in bytes: a page of its list is allocated at once.
pub(crate) const STREAM_COST: usize = 4608;

/// The memory of a stream that is stored as a single event, in bytes: a string with its key.
pub(crate) const RESULT_COST: usize = 512;

/// Beyond a limit, one in this many of its streams or bytes is deleted together, so that few commands are needed.
const PART: usize = 64;

/// The streams of a session that this node writes or has written.
#[derive(Debug, Default)]
pub(crate) struct SessionEvents {
    /// The beginning of its streams' keys.
    prefix: String,
    bytes: usize,
    /// The streams with their sizes in bytes, the least recently written first.
    streams: VecDeque<(u64, usize)>,
    /// The streams that have not ended.
    pub(crate) running: BTreeMap<u64, RunningStream>,
    /// The groups that this node has listed, each with the time.
    groups: BTreeMap<u64, Instant>,
    written: Option<Instant>,
}

impl SessionEvents {
    pub(crate) fn new(prefix: String) -> Self {
        Self { prefix, ..Self::default() }
    }

    /// Replaces the content of `key` with the key of a stream.
    pub(crate) fn write_key(&self, stream: u64, key: &mut String) {
        key.clear();
        key.push_str(&self.prefix);
        key.push_str(itoa::Buffer::new().format(stream));
    }

    /// Sets the size of a stream. Returns the streams that must be deleted to keep the limits.
    pub(crate) fn set(&mut self, stream: u64, is_new: bool, bytes: usize, limits: &StreamLimits) -> Vec<u64> {
        // Most streams of a session are written once, with a single result, so a new one is not searched for.
        if !is_new
            && let Some(place) = self.streams.iter().rposition(|(other, _)| *other == stream)
            && let Some((_, before)) = self.streams.remove(place)
        {
            self.bytes -= before;
        }
        self.streams.push_back((stream, bytes));
        self.bytes += bytes;
        let mut deleted = Vec::new();
        let (most_bytes, most_streams) = (limits.session_bytes, limits.session_streams);
        if self.bytes <= most_bytes && self.streams.len() <= most_streams {
            return deleted;
        }
        let (bytes, streams) = (most_bytes - most_bytes / PART, most_streams - most_streams / PART);
        while (self.bytes > bytes || self.streams.len() > streams)
            && self.streams.len() > 1
            && let Some((oldest, bytes)) = self.streams.pop_front()
        {
            self.bytes -= bytes;
            deleted.push(oldest);
            // A running stream goes on with its later events.
            if let Some(running) = self.running.get_mut(&oldest) {
                running.forget_all();
            }
        }
        deleted
    }

    /// Called when a stream is written to. Returns whether it is in the list of the session. If not, the caller must list it.
    pub(crate) fn list(&mut self, stream: u64, now: Instant, limits: &StreamLimits) -> bool {
        let group = stream / GROUP;
        self.written = Some(now);
        let is_listed = |listed: &Instant| now.duration_since(*listed) <= limits.time / 2;
        if self.groups.get(&group).is_some_and(is_listed) {
            return true;
        }
        self.groups.insert(group, now);
        if self.groups.len() > limits.groups() {
            self.groups.pop_first();
        }
        false
    }

    /// The groups that this node has listed.
    pub(crate) fn into_groups(self) -> BTreeSet<u64> {
        self.groups.into_keys().collect()
    }

    /// Drops running streams that have expired. Returns false if the session was not written to for `time`.
    pub(crate) fn sweep(&mut self, now: Instant, time: Duration) -> bool {
        self.running.retain(|_, running| now.duration_since(running.written) < time);
        self.written.is_some_and(|written| now.duration_since(written) < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_written_streams_are_deleted_beyond_the_limits() {
        let limits =
            StreamLimits { time: Duration::MAX, events: 1, bytes: 1, session_bytes: 100, session_streams: 4 };
        let mut events = SessionEvents::default();
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
