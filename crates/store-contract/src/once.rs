//! Names that are used once.

use agentwire_store::MAX_ONCE_NAME;
use futures_util::future::{BoxFuture, join_all};

use crate::Fixture;
use crate::values::percent;

/// A name is taken once among all nodes, until it expires.
pub fn a_name_is_taken_once_until_it_expires(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second, live) = (fixture.node().await, fixture.node().await, fixture.time_to_live());
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(false));
        assert_eq!(first.once.insert("state/ü 1", live).await.ok(), Some(true));
        assert_eq!(second.once.insert("state/ü 1", live).await.ok(), Some(false));
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(true));
        assert_eq!(second.once.insert("state/ü 2", live).await.ok(), Some(true));
        fixture.pass(percent(fixture, 60)).await;
        assert_eq!(second.once.insert("state/ü 1", live).await.ok(), Some(false), "that prolongs nothing");
        fixture.pass(percent(fixture, 60)).await;
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(false));
        assert_eq!(second.once.insert("state/ü 1", live).await.ok(), Some(true));
    })
}

/// Of several uses of a name at once, one is the first.
pub fn of_several_uses_at_once_one_is_the_first(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let nodes = join_all((0..4).map(|_| fixture.node())).await;
        for round in 0..50 {
            let name = format!("proof/{round}");
            let uses = nodes.iter().map(|node| node.once.insert(&name, fixture.time_to_live()));
            let used = join_all(uses).await;
            assert_eq!(used.iter().filter(|used| matches!(used, Ok(true))).count(), 1, "{used:?}");
            assert!(used.iter().all(Result::is_ok), "{used:?}");
        }
    })
}

/// The longest name is taken, and a longer one refused.
pub fn a_name_has_a_longest_length(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (node, live) = (fixture.node().await, fixture.time_to_live());
        let longest = "n".repeat(MAX_ONCE_NAME);
        assert_eq!(node.once.insert(&longest, live).await.ok(), Some(true));
        assert_eq!(node.once.insert(&longest, live).await.ok(), Some(false));
        let longer = node.once.insert(&format!("{longest}n"), live).await;
        assert!(longer.is_err(), "{longer:?}");
    })
}
