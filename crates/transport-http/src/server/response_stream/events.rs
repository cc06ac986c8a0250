//! Writes the events of a response, and gives them to the store that replays them.

use agentwire_jsonrpc::Frame;
use bytes::Bytes;

use crate::server::queue::COPY_LIMIT;
use crate::server::response_stream::state::{Phase, StreamState};
use crate::server::response_stream::{AROUND, ResponseStream};
use crate::server::store::GuardedStore;
use crate::server::text::Text;
use crate::server::{EndpointConfig, Event, EventId, SessionId};
use crate::sse;

impl ResponseStream {
    /// Turns the response into a stream.
    pub(super) fn open(&self, state: &mut StreamState, config: &EndpointConfig) {
        state.phase = Phase::Stream;
        if state.attached {
            self.prime(state, config);
        }
    }

    /// Writes the first event, without data, whose id allows the client to resume the stream.
    pub(super) fn prime(&self, state: &mut StreamState, config: &EndpointConfig) {
        if self.is_to_prime(state, config) {
            self.write_prime(state.queue.tail(), config);
            state.queue.grown();
        }
    }

    fn is_to_prime(&self, state: &StreamState, config: &EndpointConfig) -> bool {
        state.primes && state.place == 0 && self.remembers(config)
    }

    fn write_prime(&self, out: &mut Vec<u8>, config: &EndpointConfig) {
        sse::retry(config.retry, out);
        self.begin_event(0, config, out);
        out.extend_from_slice(sse::END);
    }

    pub(super) fn remembers(&self, config: &EndpointConfig) -> bool {
        self.session.is_some() && config.store.is_some()
    }

    fn begin_event(&self, place: u64, config: &EndpointConfig, out: &mut Vec<u8>) {
        if self.remembers(config) {
            out.extend_from_slice(b"id: ");
            EventId::new(self.number, place).write(out);
            out.push(b'\n');
        }
        sse::begin(None, None, out);
    }

    /// Writes the only event of a response. The store gets a slice of the same text.
    pub(super) fn only_event(
        &self,
        state: &mut StreamState,
        frame: &Frame,
        size: usize,
        config: &EndpointConfig,
    ) -> Bytes {
        let mut text = Vec::with_capacity(AROUND + size);
        if self.is_to_prime(state, config) {
            self.write_prime(&mut text, config);
        }
        state.place += 1;
        self.begin_event(state.place, config, &mut text);
        let start = text.len();
        frame.write(&mut text);
        let end = text.len();
        text.extend_from_slice(sse::END);
        let text = Bytes::from(text);
        if let Some((session, store)) = self.remember(size, config) {
            let id = EventId::new(self.number, state.place);
            store.append(session, Event::new(id, text.slice(start..end)));
        }
        text
    }

    /// The store for a frame of this size, and its session. None where the frame is not remembered.
    fn remember<'a>(&self, size: usize, config: &'a EndpointConfig) -> Option<(SessionId, &'a GuardedStore)> {
        let remember = self.session.zip(config.store.as_ref());
        remember.filter(|_| size <= config.event_limit)
    }

    /// Appends an event to the queue and to the store.
    #[inline]
    pub(super) fn event(&self, state: &mut StreamState, frame: &Frame, size: usize, config: &EndpointConfig) {
        let remember = self.remember(size, config);
        if !state.attached && remember.is_none() {
            return;
        }
        state.place += 1;
        let place = state.place;
        let tail = state.queue.tail();
        self.begin_event(place, config, tail);
        let data = if size >= COPY_LIMIT {
            let text = Text::of(frame);
            let data = remember.is_some().then(|| text.joined());
            match &data {
                Some(data) => state.queue.push(data.clone()),
                None => text.0.into_iter().for_each(|piece| state.queue.push(piece)),
            }
            data
        } else {
            let start = tail.len();
            frame.write(tail);
            remember.is_some().then(|| Bytes::copy_from_slice(&tail[start..]))
        };
        state.queue.tail().extend_from_slice(sse::END);
        state.queue.grown();
        if !state.attached {
            state.queue.clear();
        }
        if let Some(((session, store), data)) = remember.zip(data) {
            store.append(session, Event::new(EventId::new(self.number, place), data));
        }
    }
}
