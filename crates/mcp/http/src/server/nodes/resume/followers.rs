//! Limits the responses that follow streams of other nodes, and keeps one response for each stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentwire_store::SessionId;
use agentwire_sync::Mutex;

use crate::server::Caller;
use crate::server::admission::quota::{Quota, Reservation};

/// The responses that follow streams of other nodes. Each stream has one, so its events are sent once.
#[derive(Clone, Debug)]
pub(crate) struct Followers {
    streams: Arc<Mutex<Streams>>,
    places: Quota,
}

#[derive(Debug, Default)]
struct Streams {
    /// The number of the response that follows a stream.
    open: BTreeMap<(SessionId, u64), u64>,
    /// The number of responses so far.
    count: u64,
}

/// A response that follows a stream, until a newer one does or it is dropped.
#[derive(Debug)]
pub(crate) struct Follower {
    followers: Followers,
    stream: (SessionId, u64),
    number: u64,
    _place: Reservation,
}

/// One caller has up to this part of the places: each asks the store ten times a second.
const CALLER_SHARE: usize = 8;

impl Followers {
    pub(crate) fn new(limit: usize) -> Self {
        let places = Quota::new(limit, (limit / CALLER_SHARE).max(1));
        Self { streams: Arc::default(), places }
    }

    /// Registers a response that follows a stream, in place of an earlier one. `None` if there is no place for the caller.
    pub(crate) fn follow(&self, stream: (SessionId, u64), caller: &Caller) -> Option<Follower> {
        let _place = self.places.reserve(caller, 1).ok()?;
        let streams = &mut *self.streams.lock();
        streams.count += 1;
        streams.open.insert(stream, streams.count);
        Some(Follower { followers: self.clone(), stream, number: streams.count, _place })
    }
}

impl Follower {
    /// Whether no newer response follows the stream.
    pub(crate) fn is_newest(&self) -> bool {
        self.followers.streams.lock().open.get(&self.stream) == Some(&self.number)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let open = &mut self.followers.streams.lock().open;
        if open.get(&self.stream) == Some(&self.number) {
            open.remove(&self.stream);
        }
    }
}
