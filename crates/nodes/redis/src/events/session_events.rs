//! Bounds the events that this node has stored of one session.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use crate::events::message::{GROUP, StreamLimits};
use crate::events::running_stream::RunningStream;

/// The memory of a stream in the engine beside its events, in bytes: a page of its list is allocated at once.
pub(crate) const STREAM_COST: usize = 4608;

/// The memory of a stream that is one event, in bytes: a string with its key.
pub(crate) const RESULT_COST: usize = 512;

/// Of so many streams and bytes one in this many is deleted together, so that few commands do it.
const PART: usize = 64;

/// The streams of a session that this node writes or has written.
#[derive(Debug, Default)]
pub(crate) struct SessionEvents {
    /// The beginning of its streams' keys.
    prefix: String,
    bytes: usize,
    /// Their bytes, those first that were written to longest ago.
    streams: VecDeque<(u64, usize)>,
    /// Those that have not ended.
    pub(crate) running: BTreeMap<u64, RunningStream>,
    /// The groups that this node has listed, and when.
    groups: BTreeMap<u64, Instant>,
    written: Option<Instant>,
}

impl SessionEvents {
    pub(crate) fn new(prefix: String) -> Self {
        Self { prefix, ..Self::default() }
    }

    /// Writes the key of a stream in place of what the string has.
    pub(crate) fn write_key(&self, stream: u64, key: &mut String) {
        key.clear();
        key.push_str(&self.prefix);
        key.push_str(itoa::Buffer::new().format(stream));
    }

    /// A stream, which may be a new one, takes so many bytes. Returns the streams to be deleted so that all are within the limits.
    pub(crate) fn set(&mut self, stream: u64, is_new: bool, bytes: usize, limits: &StreamLimits) -> Vec<u64> {
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
            // One that runs goes on with what comes.
            if let Some(running) = self.running.get_mut(&oldest) {
                running.forget_all();
            }
        }
        deleted
    }

    /// A stream is written to. Returns whether the list of the session has it. Otherwise it is to be listed.
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

    /// Drops what is known of streams that have expired. Returns whether anything is left.
    pub(crate) fn sweep(&mut self, now: Instant, time: Duration) -> bool {
        self.running.retain(|_, running| now.duration_since(running.written) < time);
        self.written.is_some_and(|written| now.duration_since(written) < time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_that_were_written_longest_ago_give_way() {
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
