//! Tests with lost connections, and with a restart of the store.

use crate::{EventId, NodeId, Rest, SessionId, StoreError, Stores, StreamRun};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join};

use crate::contract::Fixture;
use crate::contract::events::{interrupted, rest};
use crate::contract::records::create;
use crate::contract::values::{append, event, places, record, session};

/// How many times an operation is repeated while the store cannot be reached.
const ATTEMPTS: usize = 200;

/// Cuts connections before, during and after appends. Each acknowledged event must be stored, none twice, and no append may take
/// longer than an operation may. Needs [`Fixture::cut`].
pub fn a_cut_loses_and_doubles_no_event(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        append(&*node.events, session, 1, [1]).await;
        if !fixture.cut().await {
            return;
        }
        for place in 2..=60 {
            for attempt in 0.. {
                let appended = append_and_cut(fixture, &node, session, place, attempt).await;
                // `TakenOver`: an earlier attempt has stored the event, and its response was lost.
                if matches!(appended, Ok(()) | Err(StoreError::TakenOver)) {
                    break;
                }
                assert!(matches!(appended, Err(StoreError::Away(_))), "{appended:?}");
                assert!(attempt < ATTEMPTS, "the store comes back");
                fixture.pass(fixture.time_to_live() / 20).await;
            }
        }
        let replay = || node.events.replay(session, EventId::new(1, 0), usize::MAX);
        let found = eventually_done(fixture, replay).await.expect("the store comes back").events;
        let expected: Vec<_> = (1..=60).map(|place| event(1, place)).collect();
        assert_eq!(found, expected, "no gap, no event twice");
    })
}

/// Appends an event and cuts the connections by turns before, during or after it. Later attempts do not cut.
async fn append_and_cut(
    fixture: &dyn Fixture,
    node: &Stores,
    session: SessionId,
    place: u64,
    attempt: usize,
) -> Result<(), StoreError> {
    if attempt == 0 && place.is_multiple_of(3) {
        fixture.cut().await;
    }
    let append = node.events.append(session, event(1, place), false).wait();
    let mut result = None;
    let append = async { result = Some(append.await) };
    let in_time = match (attempt, place % 3) {
        (0, 1) => join(fixture.in_time(append.boxed()), fixture.cut()).await.0,
        _ => fixture.in_time(append.boxed()).await,
    };
    assert!(in_time, "an append takes longer than an operation may");
    if attempt == 0 && place % 3 == 2 {
        fixture.cut().await;
    }
    result.expect("it has completed")
}

/// Cuts connections during operations on records and names. No stream number and no name may be given twice, a deleted record
/// must stay deleted, and no operation may take longer than it may. Needs [`Fixture::cut`].
pub fn a_cut_gives_no_number_and_no_name_twice(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session) = (fixture.node().await, session());
        create(fixture, &node, session, record(1)).await;
        if !fixture.cut().await {
            return;
        }
        let mut numbers = Vec::new();
        for round in 0..30 {
            let taken = cut_during(fixture, node.records.take_streams(session, 8)).await;
            numbers.extend(taken.into_iter().flatten().flatten());
            let name = format!("state/{round}");
            let mut first = 0;
            for _ in 0..3 {
                let used = cut_during(fixture, node.once.insert(&name, None, fixture.time_to_live())).await;
                first += usize::from(used == Some(true));
                fixture.pass(fixture.time_to_live() / 100).await;
            }
            assert!(first <= 1, "a name is taken {first} times");
            // The use of the record keeps it.
            let _ = cut_during(fixture, node.records.touch(session, fixture.time_to_live())).await;
        }
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "a number is given twice");
        let deleted = eventually_done(fixture, || node.records.delete(session)).await;
        assert!(deleted.is_some(), "the store comes back");
        let found = eventually_done(fixture, || node.records.load(session)).await;
        assert_eq!(found, Some(None));
    })
}

/// Runs an operation while all connections are cut. `None` if it fails.
async fn cut_during<T: Send>(
    fixture: &dyn Fixture,
    operation: BoxFuture<'static, Result<T, StoreError>>,
) -> Option<T> {
    let mut result = None;
    let operation = async { result = Some(operation.await) };
    let (in_time, _) = join(fixture.in_time(operation.boxed()), fixture.cut()).await;
    assert!(in_time, "an operation takes longer than it may");
    let result = result.expect("it has completed");
    assert!(matches!(&result, Ok(_) | Err(StoreError::Away(_))), "{:?}", result.err());
    result.ok()
}

/// Repeats an operation until the store can be reached.
async fn eventually_done<T>(
    fixture: &dyn Fixture,
    operation: impl Fn() -> BoxFuture<'static, Result<T, StoreError>>,
) -> Option<T> {
    for _ in 0..ATTEMPTS {
        if let Ok(result) = operation().await {
            return Some(result);
        }
        fixture.pass(fixture.time_to_live() / 20).await;
    }
    None
}

/// Acknowledged writes survive the end of the store and of all nodes. Needs [`Fixture::restart`].
pub fn what_is_durable_survives_a_restart(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session, deleted) = (fixture.node().await, session(), session());
        create(fixture, &node, session, record(2)).await;
        create(fixture, &node, deleted, record(2)).await;
        assert_eq!(node.records.delete(deleted).await.ok(), Some(true));
        assert_eq!(node.records.update(session, record(3)).await.ok(), Some(true));
        let block = node.records.take_streams(session, 64).await.ok().flatten();
        let next = block.expect("there are numbers").end;
        let id = NodeId::random().expect("the system has randomness");
        let lease = node.nodes.join(id).await.expect("a node joins");
        let runs = StreamRun::new(lease.node(), vec![1_u64.into()]);
        let begun = node.events.begin(session, 1, runs.clone()).wait().await;
        assert!(begun.is_ok(), "{begun:?}");
        append(&*node.events, session, 1, 1..=3).await;
        let last = node.events.append(session, event(2, 1), true).wait().await;
        assert!(last.is_ok(), "{last:?}");
        let name = node.once.insert("state/1", None, fixture.time_to_live()).await;
        assert_eq!(name.ok(), Some(true));
        let old = lease.node();
        drop((lease, node));
        if !fixture.restart().await {
            return;
        }
        let node = fixture.node().await;
        let mut expected = record(3);
        expected.version = 1;
        assert_eq!(node.records.load(session).await.ok(), Some(Some(expected)));
        assert_eq!(node.records.load(deleted).await.ok(), Some(None));
        // A store may skip numbers if it cannot know which was taken last.
        let block = node.records.take_streams(session, 1).await.ok().flatten().expect("there are numbers");
        assert!(block.start >= next && block.end == block.start + 1, "{block:?} after {next}");
        assert_eq!(node.once.insert("state/1", None, fixture.time_to_live()).await.ok(), Some(false));
        assert_eq!(places(&*node.events, session, 1, 0).await, [1, 2, 3]);
        assert_eq!(places(&*node.events, session, 2, 0).await, [1]);
        assert_eq!(rest(&*node.events, session, 2).await, Rest::Ended);
        assert_eq!(rest(&*node.events, session, 1).await, Rest::Running(Some(runs)));
        assert_eq!(node.nodes.is_alive(old).await.ok(), Some(false));
        let taken = node.events.take_over(session, 1, Some(interrupted())).await;
        assert!(matches!(taken, Ok(true)), "{taken:?}");
        assert_ne!(NodeId::random(), Some(old));
    })
}
