//! Tests of two writers of one stream, and of taking streams over.

use crate::{EventId, NodeId, Rest, SessionId, StoreError, Stores, StreamRun, TAKE_OVER_GAP};
use futures_util::future::{BoxFuture, join, join_all};

use crate::contract::Fixture;
use crate::contract::events::{interrupted, rest};
use crate::contract::values::{append, event, event_of, places, session};

/// If two nodes write the same place, one succeeds, and both learn which.
pub fn of_two_writers_of_one_place_one_wins(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second, session) = (fixture.node().await, fixture.node().await, session());
        for place in 1..=50 {
            let data = ["first", "second"].map(|writer| event_of(1, place, writer));
            let written = join(
                first.events.append(session, data[0].clone(), false).wait(),
                second.events.append(session, data[1].clone(), false).wait(),
            );
            let written: [Result<(), StoreError>; 2] = written.await.into();
            let winner = match &written {
                [Ok(()), Err(StoreError::TakenOver)] => 0,
                [Err(StoreError::TakenOver), Ok(())] => 1,
                _ => 2,
            };
            assert!(winner < 2, "one is stored and the other refused at place {place}: {written:?}");
            for node in [&first, &second] {
                let after = EventId::new(1, place - 1);
                let replay = node.events.replay(session, after, usize::MAX).await;
                assert_eq!(replay.map(|replay| replay.events).ok(), Some(vec![data[winner].clone()]));
            }
        }
    })
}

/// A place that is not above the last stored one is refused.
pub fn a_place_is_never_taken_twice(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second, session) = (fixture.node().await, fixture.node().await, session());
        append(&*first.events, session, 1, 1..=3).await;
        for place in 1..=3 {
            let again = second.events.append(session, event_of(1, place, "other"), false).wait().await;
            assert!(matches!(again, Err(StoreError::TakenOver)), "{again:?}");
        }
        assert_eq!(places(&*first.events, session, 1, 0).await, [1, 2, 3]);
    })
}

/// A stream that is taken over ends with the given event, even if it had no event before, and refuses its former node.
pub fn a_stream_that_is_taken_over_refuses_its_former_node(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (old, new, session) = (fixture.node().await, fixture.node().await, session());
        for (stream, count) in [(1, 3), (2, 0)] {
            begin(&old, session, stream).await;
            append(&*old.events, session, stream, 1..=count).await;
            take_over(&new, session, stream, true).await;
            let late = old.events.append(session, event(stream, count + 1), true).wait().await;
            assert!(matches!(late, Err(StoreError::TakenOver)), "{late:?}");
            let far = old.events.append(session, event(stream, count + 100), false).wait().await;
            assert!(matches!(far, Err(StoreError::TakenOver)), "{far:?}");
            for node in [&old, &new] {
                let replay = node.events.replay(session, EventId::new(stream, 0), usize::MAX).await;
                let replay = replay.expect("a replay succeeds");
                let (last, before) = replay.events.split_last().expect("there is the last event");
                let found: Vec<_> = before.iter().map(|event| event.id.place).collect();
                assert_eq!(found, (1..=count).collect::<Vec<_>>());
                assert!(last.id.place > count && last.id.place < u64::MAX, "{:?}", last.id);
                assert_eq!((&last.data, &replay.rest), (&interrupted(), &Rest::Ended));
                let after = node.events.replay(session, last.id, usize::MAX).await;
                assert_eq!(
                    after.map(|replay| (replay.events.len(), replay.rest)).ok(),
                    Some((0, Rest::Ended))
                );
            }
            take_over(&old, session, stream, false).await;
        }
        // The stream of a GET, on which no request is unanswered.
        begin(&old, session, 3).await;
        let taken = new.events.take_over(session, 3, None).await;
        assert!(matches!(taken, Ok(true)), "{taken:?}");
        let late = old.events.append(session, event(3, 1), false).wait().await;
        assert!(matches!(late, Err(StoreError::TakenOver)), "{late:?}");
        assert!(places(&*new.events, session, 3, 0).await.is_empty());
    })
}

/// A stream that has ended, or is unknown, is not taken over.
pub fn a_stream_that_has_ended_is_not_taken_over(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        take_over(&node, session, 1, false).await;
        assert_eq!(rest(&*node.events, session, 1).await, Rest::Unknown);
        begin(&node, session, 1).await;
        let last = node.events.append(session, event(1, 1), true).wait().await;
        assert!(last.is_ok(), "{last:?}");
        take_over(&node, session, 1, false).await;
        assert_eq!(places(&*node.events, session, 1, 0).await, [1]);
        append(&*node.events, session, 2, [1]).await;
        let ended = node.events.end(session, 2).wait().await;
        assert!(ended.is_ok(), "{ended:?}");
        take_over(&node, session, 2, false).await;
        assert_eq!(places(&*node.events, session, 2, 0).await, [1]);
    })
}

/// If several nodes take a stream over at once, one succeeds.
pub fn of_several_take_overs_one_wins(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let nodes = join_all((0..4).map(|_| fixture.node())).await;
        let session = session();
        for stream in 1..=20 {
            begin(&nodes[0], session, stream).await;
            append(&*nodes[0].events, session, stream, [1]).await;
            let takes = nodes.iter().map(|node| node.events.take_over(session, stream, Some(interrupted())));
            let taken = join_all(takes).await;
            let winners = taken.iter().filter(|taken| matches!(taken, Ok(true))).count();
            assert_eq!(winners, 1, "{taken:?}");
            assert!(taken.iter().all(Result::is_ok), "{taken:?}");
            let replay = nodes[1].events.replay(session, EventId::new(stream, 1), usize::MAX).await;
            assert_eq!(replay.map(|replay| replay.events.len()).ok(), Some(1));
            // A client that has received events which are not stored gets the last event too, and once.
            for (after, expected) in [(9, 1), (1 + TAKE_OVER_GAP, 0)] {
                let replay = nodes[1].events.replay(session, EventId::new(stream, after), usize::MAX).await;
                assert_eq!(replay.map(|replay| replay.events.len()).ok(), Some(expected), "after {after}");
            }
        }
    })
}

/// A result is appended while the stream is taken over: the client gets one of the two, and the writer learns which.
pub fn a_result_and_a_take_over_exclude_each_other(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (old, new, session) = (fixture.node().await, fixture.node().await, session());
        for stream in 1..=50 {
            begin(&old, session, stream).await;
            append(&*old.events, session, stream, [1]).await;
            let (result, taken) = join(
                old.events.append(session, event(stream, 2), true).wait(),
                new.events.take_over(session, stream, Some(interrupted())),
            )
            .await;
            let replay = new.events.replay(session, EventId::new(stream, 1), usize::MAX).await;
            let replay = replay.expect("a replay succeeds");
            let data: Vec<_> = replay.events.iter().map(|event| event.data.clone()).collect();
            match result {
                Ok(()) => {
                    assert!(matches!(taken, Ok(false)), "{taken:?}");
                    assert_eq!(data, [event(stream, 2).data]);
                }
                Err(refused) => {
                    assert!(matches!(refused, StoreError::TakenOver), "{refused:?}");
                    assert!(matches!(taken, Ok(true)), "{taken:?}");
                    assert_eq!(data, [interrupted()]);
                }
            }
            assert_eq!(replay.rest, Rest::Ended);
        }
    })
}

async fn begin(node: &Stores, session: SessionId, stream: u64) {
    let begun =
        node.events.begin(session, stream, StreamRun::new(NodeId::new(1), vec![stream.into()])).wait().await;
    assert!(begun.is_ok(), "{begun:?}");
}

async fn take_over(node: &Stores, session: SessionId, stream: u64, expected: bool) {
    let taken = node.events.take_over(session, stream, Some(interrupted())).await;
    assert_eq!(taken.as_ref().ok(), Some(&expected), "stream {stream}: {taken:?}");
}
