//! Names that are used once.

use crate::MAX_ONCE_NAME;
use futures_util::future::{BoxFuture, join_all};

use crate::contract::Fixture;
use crate::contract::values::percent;

/// A name is taken once among all nodes, until it expires.
pub fn a_name_is_taken_once_until_it_expires(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second, live) = (fixture.node().await, fixture.node().await, fixture.time_to_live());
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(false));
        assert_eq!(first.once.insert("state/ü 1", None, live).await.ok(), Some(true));
        assert_eq!(second.once.insert("state/ü 1", None, live).await.ok(), Some(false));
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(true));
        assert_eq!(second.once.insert("state/ü 2", None, live).await.ok(), Some(true));
        fixture.pass(percent(fixture, 60)).await;
        assert_eq!(
            second.once.insert("state/ü 1", None, live).await.ok(),
            Some(false),
            "that prolongs nothing"
        );
        fixture.pass(percent(fixture, 60)).await;
        assert_eq!(second.once.contains("state/ü 1").await.ok(), Some(false));
        assert_eq!(second.once.insert("state/ü 1", None, live).await.ok(), Some(true));
    })
}

/// Of several uses of a name at once, one is the first.
pub fn of_several_uses_at_once_one_is_the_first(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let nodes = join_all((0..4).map(|_| fixture.node())).await;
        for round in 0..50 {
            let name = format!("proof/{round}");
            let uses = nodes.iter().map(|node| node.once.insert(&name, None, fixture.time_to_live()));
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
        assert_eq!(node.once.insert(&longest, None, live).await.ok(), Some(true));
        assert_eq!(node.once.insert(&longest, None, live).await.ok(), Some(false));
        let longer = node.once.insert(&format!("{longest}n"), None, live).await;
        assert!(longer.is_err(), "{longer:?}");
    })
}

/// A name that was removed can be used again, once.
pub fn a_name_that_was_removed_is_used_again(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let (first, second, live) = (fixture.node().await, fixture.node().await, fixture.time_to_live());
        assert!(second.once.remove("state/1").await.is_ok(), "one that is not there may be removed");
        assert_eq!(first.once.insert("state/1", Some("ada"), live).await.ok(), Some(true));
        assert_eq!(first.once.insert("state/2", Some("ada"), live).await.ok(), Some(true));
        assert!(second.once.remove("state/1").await.is_ok());
        assert_eq!(first.once.contains("state/1").await.ok(), Some(false));
        assert_eq!(first.once.insert("state/1", Some("ben"), live).await.ok(), Some(true));
        assert_eq!(second.once.insert("state/1", Some("ada"), live).await.ok(), Some(false));
        assert_eq!(second.once.contains("state/2").await.ok(), Some(true));
    })
}
