//! Leases of nodes.

use crate::{Lease, NodeId, Rest, StoreError, Stores, StreamRun};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::contract::Fixture;
use crate::contract::events::{interrupted, rest};
use crate::contract::values::{append, event, eventually, session};

/// A node is alive from its join to the end of its lease, at all nodes.
pub fn a_node_is_alive_while_it_holds_its_lease(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second) = (fixture.node().await, fixture.node().await);
        let (one, two, three) = (join(&first).await, join(&second).await, join(&first).await);
        assert!(one.node() != two.node() && two.node() != three.node() && one.node() != three.node());
        assert!(is_alive(&second, one.node()).await && is_alive(&first, two.node()).await);
        assert!(!is_alive(&first, NodeId::new(one.node().number() ^ 1)).await);
        let released = one.release().await;
        assert!(released.is_ok(), "{released:?}");
        assert!(!is_alive(&second, one.node()).await);
        let dropped = two.node();
        drop(two);
        eventually(fixture, "the lease ends when it is dropped", || async {
            !is_alive(&first, dropped).await
        })
        .await;
        assert!(is_alive(&second, three.node()).await);
        assert!(three.lost().now_or_never().is_none(), "a lease that holds is not lost");
        let checked = first.nodes.check().await;
        assert!(checked.is_ok(), "{checked:?}");
    })
}

/// A node that was stopped for longer than its lease learns that it is lost, and its streams are taken over. Needs
/// [`Fixture::expire`].
pub fn a_node_that_was_stopped_writes_nothing_any_more(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (old, new, session) = (fixture.node().await, fixture.node().await, session());
        let lease = join(&old).await;
        let runs = StreamRun::new(lease.node(), vec![1_u64.into()]);
        let begun = old.events.begin(session, 1, runs.clone()).wait().await;
        assert!(begun.is_ok(), "{begun:?}");
        append(&*old.events, session, 1, [1]).await;
        if !fixture.expire(lease.node()).await {
            return;
        }
        assert!(!is_alive(&new, lease.node()).await);
        assert_eq!(rest(&*new.events, session, 1).await, Rest::Running(Some(runs)));
        let taken = new.events.take_over(session, 1, Some(interrupted())).await;
        assert!(matches!(taken, Ok(true)), "{taken:?}");
        let in_time = fixture.in_time(lease.lost()).await;
        assert!(in_time, "the node learns that its lease is lost");
        let late = old.events.append(session, event(1, 2), true).wait().await;
        assert!(matches!(late, Err(StoreError::TakenOver)), "{late:?}");
        let again = join_as(&old, lease.node()).await;
        assert!(is_alive(&new, again.node()).await);
        assert!(!lease.is_settled(), "it is lost");
    })
}

/// A node keeps its id: it takes its lease again, and what becomes of the former lease does not matter.
pub fn a_lease_is_taken_again(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, other) = (fixture.node().await, fixture.node().await);
        let former = join(&node).await;
        let id = former.node();
        let again = join_as(&node, id).await;
        let in_time = fixture.in_time(former.lost()).await;
        assert!(in_time, "the former lease is lost");
        let released = former.release().await;
        assert!(released.is_ok(), "{released:?}");
        drop(former);
        assert!(is_alive(&other, id).await);
        eventually(fixture, "a lease that is held for long is settled", || async { again.is_settled() })
            .await;
        assert!(is_alive(&other, id).await && again.lost().now_or_never().is_none());
        let released = again.release().await;
        assert!(released.is_ok(), "{released:?}");
        assert!(!is_alive(&other, id).await && !again.is_settled());
        // As after an end of all leases.
        let again = join_as(&node, id).await;
        assert!(is_alive(&other, id).await);
        drop(again);
    })
}

async fn join(node: &Stores) -> Box<dyn Lease> {
    join_as(node, NodeId::random().expect("the system has randomness")).await
}

async fn join_as(node: &Stores, id: NodeId) -> Box<dyn Lease> {
    let lease = node.nodes.join(id).await.expect("a node joins");
    assert_eq!(lease.node(), id);
    lease
}

async fn is_alive(node: &Stores, id: NodeId) -> bool {
    node.nodes.is_alive(id).await.expect("the store answers")
}
