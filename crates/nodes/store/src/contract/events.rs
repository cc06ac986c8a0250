//! Tests of append, replay, order, isolation, limits and the end of streams.

use crate::{EventId, EventStore, NodeId, Replay, Rest, SessionId, StoreError, StreamRun};
use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::contract::Fixture;
use crate::contract::values::{append, event, event_of, places, session};

/// Events are replayed in order, those after the given place, at every node.
pub fn events_are_replayed_in_order_after_a_place(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (writer, reader, session) = (fixture.node().await, fixture.node().await, session());
        append(&*writer.events, session, 1, 1..=5).await;
        assert_eq!(places(&*reader.events, session, 1, 0).await, [1, 2, 3, 4, 5]);
        assert_eq!(places(&*reader.events, session, 1, 3).await, [4, 5]);
        assert!(places(&*reader.events, session, 1, 5).await.is_empty());
        assert!(places(&*reader.events, session, 1, u64::MAX).await.is_empty());
    })
}

/// Many appends that no caller waits for are all stored, in their order.
pub fn unawaited_appends_keep_their_order(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        for place in 1..=200 {
            drop(node.events.append(session, event(1, place), false));
        }
        let last = node.events.append(session, event(1, 201), false).wait().await;
        assert!(last.is_ok(), "{last:?}");
        assert_eq!(places(&*node.events, session, 1, 0).await, (1..=201).collect::<Vec<_>>());
    })
}

/// A replay has every event that was appended before at the same node, also those whose append was not awaited.
pub fn a_replay_has_what_was_appended_before(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        for stream in 1..=5 {
            drop(node.events.begin(session, stream, StreamRun::new(NodeId::new(1), vec![stream.into()])));
            for count in 1..=50 {
                drop(node.events.append(session, event(stream, count), count == 50));
                if count % 10 == 0 {
                    let found = places(&*node.events, session, stream, 0).await;
                    assert_eq!(found, (1..=count).collect::<Vec<_>>());
                }
            }
            assert_eq!(rest(&*node.events, session, stream).await, Rest::Ended);
        }
    })
}

/// A replay has events of no other stream and of no other session.
pub fn streams_and_sessions_are_apart(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session, other) = (fixture.node().await, session(), session());
        for place in 1..=3 {
            append(&*node.events, session, 1, [place]).await;
            append(&*node.events, session, 12, [place]).await;
            let appended =
                node.events.append(other, event_of(1, place, "of the other session"), false).wait().await;
            assert!(appended.is_ok(), "{appended:?}");
        }
        append(&*node.events, session, 1, [4]).await;
        assert_eq!(places(&*node.events, session, 1, 0).await, [1, 2, 3, 4]);
        assert_eq!(places(&*node.events, session, 12, 1).await, [2, 3]);
        assert_eq!(rest(&*node.events, session, 2).await, Rest::Unknown);
        node.events.forget(session);
        let again = node.events.replay(other, EventId::new(1, 0), usize::MAX).await;
        assert_eq!(again.map(|replay| replay.events.len()).ok(), Some(3));
        crate::contract::values::eventually(fixture, "a session that has ended is forgotten", || async {
            rest(&*node.events, session, 1).await == Rest::Unknown
        })
        .await;
    })
}

/// Data comes back byte for byte.
pub fn data_is_kept_byte_for_byte(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        let texts = [
            "".to_owned(),
            " ".to_owned(),
            "\\u0000 \\r\\n ü 漢 \u{1f600} \u{2028} $* :1 {}".to_owned(),
            "x".repeat((100 << 10).min(fixture.session_limit() / 8)),
        ];
        for (place, text) in (1..).zip(&texts) {
            let appended = node.events.append(session, event_of(1, place, text), false).wait().await;
            assert!(appended.is_ok(), "{appended:?}");
        }
        let replay = replay(&*node.events, session, 1, 0, usize::MAX).await;
        let expected: Vec<_> = (1..).zip(&texts).map(|(place, text)| event_of(1, place, text)).collect();
        assert_eq!(replay.events, expected);
    })
}

/// A replay stops after its limit, reports that, and can be continued from there.
pub fn a_replay_has_a_limit(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        append(&*node.events, session, 1, 1..=50).await;
        let length = event(1, 10).data.len();
        let (mut seen, mut replays) = (Vec::new(), 0);
        loop {
            let after = seen.last().copied().unwrap_or(0);
            let replay = replay(&*node.events, session, 1, after, 10 * length).await;
            assert!(!replay.events.is_empty(), "a replay has at least one event");
            let size: usize = replay.events.iter().map(|event| event.data.len()).sum();
            assert!(size <= 11 * length, "{size} bytes, where the limit is {}", 10 * length);
            seen.extend(replay.events.iter().map(|event| event.id.place));
            replays += 1;
            if replay.rest != Rest::More {
                assert!(matches!(replay.rest, Rest::Running(_)), "the stream runs: {:?}", replay.rest);
                break;
            }
        }
        assert_eq!(seen, (1..=50).collect::<Vec<_>>());
        assert!(replays > 3, "{replays}");
        let one = replay(&*node.events, session, 1, 0, 0).await;
        assert_eq!((one.events.len(), one.rest), (1, Rest::More));
    })
}

/// A running stream reports its node and its requests, and then its end.
pub fn a_stream_runs_until_it_ends(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (writer, reader, session) = (fixture.node().await, fixture.node().await, session());
        assert_eq!(rest(&*reader.events, session, 1).await, Rest::Unknown);
        let runs = StreamRun::new(NodeId::new(u64::MAX), vec![7_u64.into(), "seven".into()]);
        for stream in [1, 2, 3] {
            let begun = writer.events.begin(session, stream, runs.clone()).wait().await;
            assert!(begun.is_ok(), "{begun:?}");
            assert_eq!(rest(&*reader.events, session, stream).await, Rest::Running(Some(runs.clone())));
            append(&*writer.events, session, stream, [1]).await;
            assert_eq!(
                places(&*reader.events, session, stream, 0).await,
                [1],
                "the beginning is not an event"
            );
        }
        let last = writer.events.append(session, event(1, 2), true).wait().await;
        assert!(last.is_ok(), "{last:?}");
        let ended = writer.events.end(session, 2).wait().await;
        assert!(ended.is_ok(), "{ended:?}");
        for (stream, events) in [(1, vec![1, 2]), (2, vec![1])] {
            assert_eq!(rest(&*reader.events, session, stream).await, Rest::Ended);
            assert_eq!(places(&*reader.events, session, stream, 0).await, events, "the end is not an event");
            let late = writer.events.append(session, event(stream, 3), false).wait().await;
            assert!(matches!(late, Err(StoreError::TakenOver)), "nothing comes behind the end: {late:?}");
            assert_eq!(places(&*reader.events, session, stream, 0).await, events);
        }
        assert_eq!(rest(&*reader.events, session, 3).await, Rest::Running(Some(runs)));
        // A stream without `begin`.
        let only = writer.events.append(session, event(4, 1), true).wait().await;
        assert!(only.is_ok(), "{only:?}");
        assert_eq!(rest(&*reader.events, session, 4).await, Rest::Ended);
    })
}

/// The events of a session are bounded; the newest stay. A larger event than all is refused, and costs no other.
pub fn the_events_of_a_session_are_bounded(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session, limit) = (fixture.node().await, session(), fixture.session_limit());
        let data = "x".repeat(1000);
        let count = 4 * (limit / 1000) as u64 + 1;
        for place in 1..count {
            drop(node.events.append(session, event_of(1, place, &data), false));
        }
        let last = node.events.append(session, event_of(1, count, &data), false).wait().await;
        assert!(last.is_ok(), "{last:?}");
        let kept = replay(&*node.events, session, 1, 0, usize::MAX).await.events;
        let size: usize = kept.iter().map(|event| event.data.len()).sum();
        assert!(size <= limit, "{size} bytes, where the limit is {limit}");
        let first = kept.first().map_or(0, |event| event.id.place);
        assert!(first > 1, "the oldest are forgotten");
        let places: Vec<_> = kept.iter().map(|event| event.id.place).collect();
        assert_eq!(places, (first..=count).collect::<Vec<_>>(), "the newest stay, without a gap");
        let huge = event_of(2, 1, &"x".repeat(limit));
        let refused = node.events.append(session, huge, true).wait().await;
        assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
        assert_eq!(replay(&*node.events, session, 1, 0, usize::MAX).await.events, kept);
    })
}

/// Streams that have ended without events take no room.
pub fn a_stream_without_events_is_forgotten_once_it_ends(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        append(&*node.events, session, 1, [1]).await;
        for stream in 2..1000 {
            drop(node.events.begin(session, stream, StreamRun::new(NodeId::new(1), vec![stream.into()])));
            drop(node.events.end(session, stream));
        }
        let ended = node.events.end(session, 1).wait().await;
        assert!(ended.is_ok(), "{ended:?}");
        assert!(matches!(rest(&*node.events, session, 500).await, Rest::Unknown | Rest::Ended));
        assert_eq!(places(&*node.events, session, 1, 0).await, [1]);
    })
}

/// The store does not grow with the events of sessions that have ended. Needs [`Fixture::size`].
pub fn many_events_take_bounded_room(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let node = fixture.node().await;
        if fixture.size().await.is_none() {
            return;
        }
        let (data, mut peaks) = ("x".repeat(1000), [0, 0]);
        for round in 0..60 {
            let session = session();
            for place in 1..1000 {
                drop(node.events.append(session, event_of(1, place, &data), false));
            }
            let last = node.events.append(session, event_of(1, 1000, &data), true).wait().await;
            assert!(last.is_ok(), "{last:?}");
            node.events.forget(session);
            let peak = &mut peaks[usize::from(round >= 20)];
            *peak = fixture.size().await.unwrap_or(0).max(*peak);
        }
        let [first, later] = peaks;
        assert!(
            later <= 2 * first + (1 << 20),
            "{later} bytes, after {first} bytes of a third of the events"
        );
    })
}

async fn replay(
    events: &dyn EventStore,
    session: SessionId,
    stream: u64,
    after: u64,
    limit: usize,
) -> Replay {
    events.replay(session, EventId::new(stream, after), limit).await.expect("a replay succeeds")
}

pub(crate) async fn rest(events: &dyn EventStore, session: SessionId, stream: u64) -> Rest {
    replay(events, session, stream, 0, usize::MAX).await.rest
}

/// The error that a node writes for a stream whose node has died.
pub(crate) fn interrupted() -> Bytes {
    Bytes::from_static(b"\"interrupted\"")
}
