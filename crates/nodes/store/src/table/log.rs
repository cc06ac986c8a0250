//! The events and streams of one session, with their size.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;

use crate::{Event, EventId, Replay, Rest, StoreError, StreamRun, TAKE_OVER_GAP};

/// The bytes of an event in addition to its text: its slot in the queue, up to half of which is empty, and the overhead of the
/// allocator, of [`Bytes`] and of the lines around the text in the response.
const EVENT_COST: usize = 2 * size_of::<Event>() + 160;

/// The bytes of a session without events.
pub(crate) const LOG_COST: usize = 256;

/// The bytes of a stream without events and requests.
const STREAM_COST: usize = 2 * size_of::<Stream>();

/// The bytes of the events of one owner. Each log changes it directly, without a search for the owner.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) owner: Option<Arc<str>>,
    pub(crate) size: AtomicUsize,
}

/// The events of one session.
#[derive(Debug)]
pub(crate) struct Log {
    account: Arc<Account>,
    events: VecDeque<Event>,
    /// Sorted by number.
    streams: VecDeque<Stream>,
    size: usize,
}

#[derive(Debug)]
struct Stream {
    number: u64,
    /// The highest place.
    last: u64,
    /// The number of its events that are stored.
    events: usize,
    ended: bool,
    /// Whether it was taken over. A stream that was taken over is remembered even without events, because its former node may
    /// still append.
    taken_over: bool,
    runs: Option<Box<StreamRun>>,
}

impl Log {
    pub(crate) fn new(account: Arc<Account>) -> Self {
        Self { account, events: VecDeque::new(), streams: VecDeque::new(), size: 0 }
    }

    pub(crate) fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The bytes of its events and streams.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether the log has no events and no streams.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.streams.is_empty()
    }

    pub(crate) fn begin(&mut self, number: u64, runs: StreamRun) -> Result<(), StoreError> {
        match self.position(number) {
            Ok(_) => Err(StoreError::TakenOver),
            Err(position) => {
                self.add_stream(position, number, Some(Box::new(runs)));
                Ok(())
            }
        }
    }

    /// Adds an event of up to `limit` bytes. A larger event is refused; if it is the last one, it ends its stream nevertheless.
    pub(crate) fn append(&mut self, event: Event, is_last: bool, limit: usize) -> Result<(), StoreError> {
        let EventId { stream, place } = event.id;
        let size = event_size(&event.data);
        let position = match self.position(stream) {
            Ok(position) => position,
            Err(_) if size > limit => return Err(too_large(limit)),
            Err(position) => {
                self.add_stream(position, stream, None);
                position
            }
        };
        let stream = &mut self.streams[position];
        if stream.ended || place <= stream.last {
            return Err(StoreError::TakenOver);
        }
        stream.ended = is_last;
        if size > limit {
            self.remove_if_empty(position);
            return Err(too_large(limit));
        }
        stream.last = place;
        stream.events += 1;
        self.push(event, size);
        Ok(())
    }

    pub(crate) fn end(&mut self, number: u64) {
        if let Ok(position) = self.position(number) {
            self.streams[position].ended = true;
            self.remove_if_empty(position);
        }
    }

    /// Ends a stream with an event, unless it has ended already. Returns whether it has ended the stream, and the event.
    pub(crate) fn take_over(
        &mut self,
        number: u64,
        last: Option<Bytes>,
        limit: usize,
    ) -> (bool, Option<Event>) {
        let Ok(position) = self.position(number) else { return (false, None) };
        let stream = &mut self.streams[position];
        if stream.ended {
            return (false, None);
        }
        (stream.ended, stream.taken_over) = (true, true);
        let Some(data) = last.filter(|data| event_size(data) <= limit) else { return (true, None) };
        stream.last = stream.last.saturating_add(TAKE_OVER_GAP);
        stream.events += 1;
        let event = Event::new(EventId::new(number, stream.last), data);
        let size = event_size(&event.data);
        self.push(event.clone(), size);
        (true, Some(event))
    }

    pub(crate) fn replay(&self, after: EventId, limit: usize) -> Replay {
        let Ok(position) = self.position(after.stream) else {
            return Replay::new(Vec::new(), Rest::Unknown);
        };
        let (mut events, mut size) = (Vec::new(), 0);
        let of_stream = |event: &&Event| event.id.stream == after.stream && event.id.place > after.place;
        for event in self.events.iter().filter(of_stream) {
            if size > limit {
                return Replay::new(events, Rest::More);
            }
            size += event.data.len();
            events.push(event.clone());
        }
        let Stream { ended, runs, .. } = &self.streams[position];
        Replay::new(events, if *ended { Rest::Ended } else { Rest::Running(runs.as_deref().cloned()) })
    }

    /// Forgets the oldest events, and then the oldest streams, down to `limit` bytes.
    pub(crate) fn shed(&mut self, limit: usize) {
        while self.size > limit && !self.is_empty() {
            match self.events.pop_front() {
                Some(event) => {
                    self.shrink(event_size(&event.data));
                    if let Ok(position) = self.position(event.id.stream) {
                        self.streams[position].events -= 1;
                        self.remove_if_empty(position);
                    }
                }
                None => self.remove_stream(0),
            }
        }
        if self.events.capacity() > 2 * self.events.len() + 4 {
            self.events.shrink_to(self.events.len() + self.events.len() / 2);
        }
    }

    /// Its events, oldest first.
    #[cfg(feature = "file")]
    pub(crate) fn events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// For each stream: its number, its run, whether it has ended, and whether it was taken over.
    #[cfg(feature = "file")]
    pub(crate) fn streams(&self) -> impl Iterator<Item = (u64, Option<&StreamRun>, bool, bool)> {
        self.streams
            .iter()
            .map(|stream| (stream.number, stream.runs.as_deref(), stream.ended, stream.taken_over))
    }

    fn push(&mut self, event: Event, size: usize) {
        if self.events.capacity() == 0 {
            // A session that only begins has one event.
            self.events.reserve_exact(1);
        }
        self.events.push_back(event);
        self.grow(size);
    }

    fn add_stream(&mut self, position: usize, number: u64, runs: Option<Box<StreamRun>>) {
        if self.streams.capacity() == 0 {
            self.streams.reserve_exact(1);
        }
        let stream = Stream { number, last: 0, events: 0, ended: false, taken_over: false, runs };
        self.grow(stream.size());
        self.streams.insert(position, stream);
    }

    /// Forgets a stream that has ended and has no event.
    fn remove_if_empty(&mut self, position: usize) {
        let Stream { ended, events, taken_over, .. } = self.streams[position];
        if ended && events == 0 && !taken_over {
            self.remove_stream(position);
        }
    }

    fn remove_stream(&mut self, position: usize) {
        if let Some(stream) = self.streams.remove(position) {
            self.shrink(stream.size());
        }
        if self.streams.capacity() > 2 * self.streams.len() + 4 {
            self.streams.shrink_to(self.streams.len() + self.streams.len() / 2);
        }
    }

    /// The index of a stream, or the one at which to insert it. Events mostly come on the newest stream, and go from the oldest.
    fn position(&self, number: u64) -> Result<usize, usize> {
        let (Some(oldest), Some(newest)) = (self.streams.front(), self.streams.back()) else { return Err(0) };
        match newest.number.cmp(&number) {
            Ordering::Less => Err(self.streams.len()),
            Ordering::Equal => Ok(self.streams.len() - 1),
            Ordering::Greater if oldest.number == number => Ok(0),
            Ordering::Greater => self.streams.binary_search_by_key(&number, |stream| stream.number),
        }
    }

    fn grow(&mut self, size: usize) {
        self.size += size;
        self.account.size.fetch_add(size, Relaxed);
    }

    fn shrink(&mut self, size: usize) {
        self.size -= size;
        self.account.size.fetch_sub(size, Relaxed);
    }
}

impl Stream {
    fn size(&self) -> usize {
        let requests = self.runs.iter().flat_map(|runs| &runs.requests);
        STREAM_COST + requests.map(|id| size_of_val(id) + id.to_string().len()).sum::<usize>()
    }
}

fn event_size(data: &Bytes) -> usize {
    data.len() + EVENT_COST
}

fn too_large(limit: usize) -> StoreError {
    StoreError::full(format!("the event is larger than the limit of {limit} bytes for a session"))
}
