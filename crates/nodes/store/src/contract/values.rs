//! Records, events and helpers that the tests use.

use std::future::Future;
use std::time::Duration;

use crate::{Event, EventId, EventStore, SessionId, SessionRecord};
use agentwire_jsonrpc::RawJson;

use crate::contract::Fixture;

/// A new session.
pub(crate) fn session() -> SessionId {
    SessionId::random().expect("the system has randomness")
}

/// An event whose data names its place.
pub(crate) fn event(stream: u64, place: u64) -> Event {
    Event::new(EventId::new(stream, place), format!(r#"{{"stream":{stream},"place":{place}}}"#).into())
}

/// An event with data of its own.
pub(crate) fn event_of(stream: u64, place: u64, data: &str) -> Event {
    Event::new(EventId::new(stream, place), format!("\"{data}\"").into())
}

/// The record of a session with so many messages.
pub(crate) fn record(messages: usize) -> SessionRecord {
    let message = |number: usize| RawJson::encode(&format!("message {number}")).expect("a text is JSON");
    SessionRecord::new(Some([7; 32]), (0..messages).map(message).collect())
}

/// Appends the events with these places to a stream.
pub(crate) async fn append(
    events: &dyn EventStore,
    session: SessionId,
    stream: u64,
    places: impl IntoIterator<Item = u64>,
) {
    for place in places {
        let appended = events.append(session, event(stream, place), false).wait().await;
        assert!(appended.is_ok(), "event {stream}-{place} is appended: {appended:?}");
    }
}

/// The places of all events of a stream after one. Each must have its own data.
pub(crate) async fn places(events: &dyn EventStore, session: SessionId, stream: u64, after: u64) -> Vec<u64> {
    let replay = events.replay(session, EventId::new(stream, after), usize::MAX).await;
    let replay = replay.expect("a replay succeeds");
    for found in &replay.events {
        assert_eq!(*found, event(stream, found.id.place), "an event has the data that it was appended with");
    }
    replay.events.iter().map(|event| event.id.place).collect()
}

/// A part of the time to live, in percent.
pub(crate) fn percent(fixture: &dyn Fixture, percent: u32) -> Duration {
    fixture.time_to_live() * percent / 100
}

/// Repeats a check of the store, with a little of its time in between, until the check returns true.
pub(crate) async fn eventually<F: Future<Output = bool>>(
    fixture: &dyn Fixture,
    what: &str,
    mut look: impl FnMut() -> F,
) {
    for _ in 0..100 {
        if look().await {
            return;
        }
        fixture.pass(fixture.time_to_live() / 20).await;
    }
    assert!(look().await, "{what}");
}
