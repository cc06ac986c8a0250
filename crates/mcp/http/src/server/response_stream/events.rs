//! Writes the events of a response, and gives them to the store that replays them.

use std::ops::Range;

use agentwire_jsonrpc::Frame;
use agentwire_store::{Event, EventId, SessionId};
use bytes::Bytes;

use crate::server::EndpointConfig;
use crate::server::endpoint_store::{EndpointStore, Stored};
use crate::server::response::queue::COPY_LIMIT;
use crate::server::response::text::Text;
use crate::server::response_stream::state::{Phase, StreamState};
use crate::server::response_stream::{AROUND, ResponseStream};
use crate::sse::{self, decimal};

impl ResponseStream {
    /// Turns the response into a stream.
    pub(super) fn open(&self, state: &mut StreamState, config: &EndpointConfig) {
        state.phase = Phase::Stream;
        if state.attached {
            self.prime(state, config);
        }
    }

    /// Writes the first event, without data, whose id allows the client to resume the stream. It waits until the store has the
    /// stream. A stream that has ended begins without it, because its events are not remembered.
    pub(super) fn prime(&self, state: &mut StreamState, config: &EndpointConfig) {
        if state.ended || !self.is_to_prime(state, config) {
            return;
        }
        match self.begin_stored(state, config) {
            Some(begun) => {
                let mut text = Vec::with_capacity(AROUND);
                let id = self.write_prime(&mut text, config);
                state.hold(begun, true, id, text.into());
            }
            None => {
                let queue = state.end_of_queue();
                self.write_prime(queue.tail(), config);
                queue.grown();
            }
        }
    }

    fn is_to_prime(&self, state: &StreamState, config: &EndpointConfig) -> bool {
        state.primes && state.place == 0 && self.remembers(config)
    }

    /// Returns the range of the line with the id.
    fn write_prime(&self, out: &mut Vec<u8>, config: &EndpointConfig) -> Range<usize> {
        sse::retry(config.retry, out);
        let begin = out.len();
        let id_len = self.begin_event(Some(0), out);
        out.extend_from_slice(sse::END);
        begin..begin + id_len
    }

    pub(super) fn remembers(&self, config: &EndpointConfig) -> bool {
        self.number > 0 && config.store.is_some()
    }

    /// Writes the line with the id, if the event has a place to resume the stream after, and what precedes the data. Returns the length
    /// of the line.
    #[inline]
    fn begin_event(&self, place: Option<u64>, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        if let Some(place) = place {
            out.extend_from_slice(b"id: ");
            decimal(self.number, out);
            out.push(b'-');
            decimal(place, out);
            out.push(b'\n');
        }
        let id_len = out.len() - start;
        sse::begin(None, None, out);
        id_len
    }

    /// Writes the only event of a response. The store gets a slice of the same text.
    pub(super) fn only_event(
        &self,
        state: &mut StreamState,
        frame: &Frame,
        size: usize,
        config: &EndpointConfig,
    ) {
        let remember = self.remember(size, config);
        let mut text = Vec::with_capacity(AROUND + size);
        if remember.is_some() && self.is_to_prime(state, config) {
            self.write_prime(&mut text, config);
        }
        state.place += 1;
        let begin = text.len();
        let id_len = self.begin_event(remember.map(|_| state.place), &mut text);
        let start = text.len();
        frame.write(&mut text);
        let end = text.len();
        text.extend_from_slice(sse::END);
        let text = Bytes::from(text);
        let stored = remember.map(|(session, store)| {
            let id = EventId::new(self.number, state.place);
            store.append(session, Event::new(id, text.slice(start..end)), true)
        });
        state.phase = match stored {
            // What precedes it waits as well: one piece has it all.
            Some(Some(stored)) => Phase::Storing { stored, ids: begin + id_len, text },
            _ => Phase::Event(text),
        };
    }

    /// The store for a frame of this size, and its session. `None` if the frame is not remembered.
    pub(super) fn remember<'a>(
        &self,
        size: usize,
        config: &'a EndpointConfig,
    ) -> Option<(SessionId, &'a EndpointStore)> {
        let remember = self.session.zip(config.store.as_ref());
        remember.filter(|_| self.number > 0 && size <= config.event_limit)
    }

    /// Appends an event to the queue and to the store. An event with answers waits in the queue until it is stored, and the first event
    /// of a stream until the store has the stream. After an event that the store has refused, each waits, until it has one.
    #[inline]
    pub(super) fn event(
        &self,
        state: &mut StreamState,
        frame: &Frame,
        (size, answers): (usize, usize),
        config: &EndpointConfig,
    ) {
        let remember = self.remember(size, config);
        let is_last = state.ended;
        let begun = if is_last { None } else { self.begin_stored(state, config) };
        let is_required = begun.is_some() || answers > 0;
        if is_last && remember.is_none() {
            self.end_stored(state, config);
        }
        if !state.attached && remember.is_none() {
            return;
        }
        state.place += 1;
        let place = state.place;
        let can_resume = self.remembers(config) && !(is_last && remember.is_none());
        let queue = state.end_of_queue();
        let before = queue.len();
        let tail = queue.tail();
        let begin = tail.len();
        let id_len = self.begin_event(can_resume.then_some(place), tail);
        let (pieces, data) = write_data(frame, size, remember.is_some(), tail);
        let mut stored = remember.zip(data).and_then(|((session, store), data)| {
            store.append(session, Event::new(EventId::new(self.number, place), data), is_last)
        });
        // The store writes the events of a stream after its beginning, so waiting for an event covers both.
        let waits = answers > 0 || state.is_lost || stored.as_mut().is_some_and(Stored::is_refused);
        match if waits { stored.or(begun) } else { begun } {
            _ if !state.attached => {}
            Some(stored) => {
                let text = state.end_of_queue().tail().split_off(begin);
                state.hold(stored, is_required, 0..id_len, text.into());
            }
            None if state.is_held() => state.hold_id(before..before + id_len),
            // The event is stored already, unless it is too large.
            None => {
                state.is_lost &= remember.is_none();
                if state.is_lost {
                    state.queue.tail().drain(begin..begin + id_len);
                }
            }
        }
        let queue = state.end_of_queue();
        let pieces = pieces.into_iter().flat_map(|pieces| pieces.0);
        pieces.filter(|piece| !piece.is_empty()).for_each(|piece| queue.push(piece));
        queue.tail().extend_from_slice(sse::END);
        queue.grown();
        if !state.attached {
            state.queue.clear();
        }
    }

    /// Stores that the stream runs, once. Completes when the store has that: a client that has got an id of the stream must find it when
    /// it resumes the stream. None if there is nothing to wait for.
    fn begin_stored(&self, state: &mut StreamState, config: &EndpointConfig) -> Option<Stored> {
        if state.begun || self.number == 0 {
            return None;
        }
        let (session, store) = self.session.zip(config.store.as_ref())?;
        state.begun = true;
        let (first, others) = &self.requests;
        store.begin(session, self.number, first.iter().chain(others).cloned())
    }

    /// Stores that the stream has ended without a last event, where the store knows that it runs.
    pub(super) fn end_stored(&self, state: &StreamState, config: &EndpointConfig) {
        if state.begun
            && let Some((session, store)) = self.session.zip(config.store.as_ref())
        {
            store.end(session, self.number);
        }
    }
}

/// Writes the data of an event to `tail`, or returns the pieces of a long one, which are not copied. Also returns the text for the store
/// if the event is remembered.
#[inline]
fn write_data(
    frame: &Frame,
    size: usize,
    is_remembered: bool,
    tail: &mut Vec<u8>,
) -> (Option<Text>, Option<Bytes>) {
    if size >= COPY_LIMIT {
        let text = Text::of(frame);
        let data = is_remembered.then(|| text.joined());
        return (Some(data.clone().map_or(text, Text::from)), data);
    }
    let start = tail.len();
    frame.write(tail);
    (None, is_remembered.then(|| Bytes::copy_from_slice(&tail[start..])))
}
