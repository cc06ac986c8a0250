//! The records of sessions: versions, expiry, deletion, and numbers of streams.

use crate::{SessionRecord, Stores};
use futures_util::future::{BoxFuture, join_all};

use crate::contract::Fixture;
use crate::contract::values::{percent, record, session};

/// A record is found at every node, as it was created, until it is deleted.
pub fn a_record_is_found_until_it_is_deleted(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second) = (fixture.node().await, fixture.node().await);
        let (session, other) = (session(), session());
        assert_eq!(second.records.load(session).await.ok(), Some(None));
        create(fixture, &first, session, record(3)).await;
        create(fixture, &first, other, SessionRecord::new(None, Vec::new())).await;
        assert_eq!(second.records.load(session).await.ok(), Some(Some(record(3))));
        assert_eq!(second.records.touch(session, fixture.time_to_live()).await.ok(), Some(true));
        assert_eq!(second.records.delete(session).await.ok(), Some(true));
        assert_eq!(first.records.delete(session).await.ok(), Some(false));
        assert_eq!(first.records.load(session).await.ok(), Some(None));
        assert_eq!(first.records.touch(session, fixture.time_to_live()).await.ok(), Some(false));
        assert_eq!(first.records.update(session, record(4)).await.ok(), Some(false));
        assert_eq!(first.records.take_streams(session, 64).await.ok(), Some(None));
        assert_eq!(first.records.load(session).await.ok(), Some(None), "nothing brings it back");
        let found = first.records.load(other).await.ok();
        assert_eq!(found, Some(Some(SessionRecord::new(None, Vec::new()))));
    })
}

/// Of several updates of one version one wins, and the version counts it.
pub fn of_several_updates_of_one_version_one_wins(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let nodes = join_all((0..4).map(|_| fixture.node())).await;
        let session = session();
        create(fixture, &nodes[0], session, record(1)).await;
        for version in 0..20 {
            let updates = nodes.iter().enumerate().map(|(number, node)| {
                let mut record = record(2 + number);
                record.version = version;
                node.records.update(session, record)
            });
            let updated = join_all(updates).await;
            let winners: Vec<_> = (0..4).filter(|number| matches!(updated[*number], Ok(true))).collect();
            assert_eq!(winners.len(), 1, "{updated:?}");
            assert!(updated.iter().all(Result::is_ok), "{updated:?}");
            let stored = nodes[3].records.load(session).await.ok().flatten();
            let stored = stored.expect("the record is there");
            assert_eq!((stored.messages.len(), stored.version), (2 + winners[0], version + 1));
            assert_eq!(stored.principal, record(1).principal);
        }
    })
}

/// A record expires when it is not used, and not before.
pub fn a_record_expires_when_it_is_not_used(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, session, other) = (fixture.node().await, session(), session());
        create(fixture, &node, session, record(1)).await;
        create(fixture, &node, other, record(1)).await;
        for uses in 0..2 {
            fixture.pass(percent(fixture, 60)).await;
            assert_eq!(node.records.touch(session, fixture.time_to_live()).await.ok(), Some(true));
            let found = node.records.load(other).await.map(|record| record.is_some());
            assert_eq!(found.ok(), Some(uses == 0), "a load is no use");
        }
        let longer = fixture.time_to_live() * 2;
        assert_eq!(node.records.touch(session, longer).await.ok(), Some(true));
        fixture.pass(percent(fixture, 130)).await;
        assert_eq!(node.records.take_streams(session, 1).await.ok(), Some(Some(1..2)));
        assert_eq!(node.records.update(session, record(1)).await.ok(), Some(true));
        fixture.pass(percent(fixture, 130)).await;
        assert_eq!(node.records.touch(session, fixture.time_to_live()).await.ok(), Some(false));
        assert_eq!(node.records.load(session).await.ok(), Some(None));
        assert_eq!(node.records.update(session, record(1)).await.ok(), Some(false));
        assert_eq!(node.records.take_streams(session, 1).await.ok(), Some(None));
        assert_eq!(node.records.delete(session).await.ok(), Some(false));
    })
}

/// The record of a session that no node has used can be deleted, and that of another cannot.
pub fn only_an_unused_record_is_deleted_as_such(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second) = (fixture.node().await, fixture.node().await);
        let (unused, used) = (session(), session());
        create(fixture, &first, unused, record(1)).await;
        create(fixture, &first, used, record(1)).await;
        assert_eq!(second.records.update(used, record(1)).await.ok(), Some(true));
        assert_eq!(first.records.delete_unused(used).await.ok(), Some(false));
        assert!(matches!(second.records.load(used).await, Ok(Some(_))));
        assert_eq!(first.records.delete_unused(unused).await.ok(), Some(true));
        assert_eq!(first.records.delete_unused(unused).await.ok(), Some(false));
        assert_eq!(second.records.load(unused).await.ok(), Some(None));
    })
}

/// No number of a stream is given twice, and an update of the record gives none again.
pub fn numbers_of_streams_are_given_once(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let nodes = join_all((0..4).map(|_| fixture.node())).await;
        let session = session();
        assert_eq!(nodes[0].records.take_streams(session, 64).await.ok(), Some(None));
        create(fixture, &nodes[0], session, record(1)).await;
        let mut numbers = Vec::new();
        for round in 0..10 {
            let blocks = nodes.iter().map(|node| node.records.take_streams(session, 64));
            for block in join_all(blocks).await {
                let block = block.ok().flatten().expect("there are numbers");
                assert_eq!(block.end - block.start, 64);
                numbers.extend(block);
            }
            let mut record = record(1);
            record.version = round;
            assert_eq!(nodes[1].records.update(session, record).await.ok(), Some(true));
        }
        numbers.sort_unstable();
        assert_eq!(numbers.first(), Some(&1));
        let count = numbers.len();
        numbers.dedup();
        assert_eq!((numbers.len(), count), (count, 4 * 10 * 64));
    })
}

pub(crate) async fn create(
    fixture: &dyn Fixture,
    node: &Stores,
    session: crate::SessionId,
    record: SessionRecord,
) {
    let created = node.records.create(session, record, fixture.time_to_live()).await;
    assert!(created.is_ok(), "{created:?}");
}
