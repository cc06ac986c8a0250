//! The limit of the store in memory.

use agentwire_acp_sessions::{ListQuery, MemoryStore, SessionStore, StoreError, StoreWarning};
use futures::executor::block_on;

use crate::store::{header, read_well, record};

#[test]
fn a_store_in_memory_has_a_limit() {
    block_on(async {
        let store = MemoryStore::new().limit(40_000);
        let add = async |id: &str, updated| {
            store.create(&header(id, updated)).await?;
            store.append(&id.into(), &[record("x".repeat(10_000))]).await
        };
        for (id, updated) in [("one", 1), ("open", 0), ("two", 2)] {
            add(id, updated).await.unwrap();
        }
        let claim = store.claim(&"open".into()).await.unwrap();
        assert!(store.take_warnings().is_empty());
        // The one that is open is the oldest, and stays.
        add("three", 3).await.unwrap();
        let warnings = store.take_warnings();
        assert!(matches!(warnings[..], [StoreWarning::Forgotten { sessions: 1, .. }]), "{warnings:?}");
        let ids = async || {
            let headers = store.list(&ListQuery::new()).await.unwrap();
            headers.iter().map(|header| header.session_id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(ids().await, ["three", "two", "open"]);

        // What never fits changes nothing of what is open.
        let long = [record("x".repeat(50_000))];
        let refused = store.append(&"open".into(), &long).await;
        assert!(matches!(refused, Err(StoreError::Full { limit: 40_000, .. })), "{refused:?}");
        assert_eq!((ids().await, read_well(&store, "open").await.len()), (vec!["open".to_owned()], 1));
        let titled = header("open", 4).title("x".repeat(50_000));
        assert!(matches!(store.update_header(&titled).await, Err(StoreError::Full { .. })));

        // What is deleted makes room.
        drop(claim);
        store.append(&"open".into(), &[record("x".repeat(25_000))]).await.unwrap();
        let claim = store.claim(&"open".into()).await.unwrap();
        assert!(matches!(add("four", 4).await, Err(StoreError::Full { .. })));
        drop(claim);
        assert!(store.delete(&"open".into()).await.unwrap());
        add("five", 5).await.unwrap();
    });
}

#[test]
fn headers_alone_fill_a_store_in_memory_no_further_than_its_limit() {
    block_on(async {
        let store = MemoryStore::new().limit(100_000);
        for number in 0..10_000 {
            store.create(&header(&format!("session-{number}"), number)).await.unwrap();
        }
        let headers = store.list(&ListQuery::new()).await.unwrap();
        assert!((50..200).contains(&headers.len()), "{}", headers.len());
        assert_eq!(*headers[0].session_id, *"session-9999");
    });
}
