//! The store in memory.

use agentwire_mcp_auth::store::{CredentialStore as _, MemoryStore};
use futures::FutureExt as _;

use super::{shown, text, write};

#[tokio::test]
async fn an_entry_is_replaced_and_removed() {
    let store = MemoryStore::new();
    assert_eq!(text(&store, "a").await, None);
    write(&store, "a", "1").await.unwrap();
    write(&store.clone(), "a", "2").await.unwrap();
    assert_eq!(text(&store, "a").await.as_deref(), Some("2"));
    store.write("a", None).await.unwrap();
    assert_eq!(text(&store, "a").await, None);
}

#[tokio::test]
async fn entries_and_bytes_are_bounded() {
    let store = MemoryStore::new().entry_limit(2).byte_limit(10);
    write(&store, "a", "1234").await.unwrap();
    write(&store, "b", "1234").await.unwrap();
    write(&store, "b", "4321").await.unwrap();
    let error = write(&store, "c", "").await.unwrap_err();
    assert_eq!(shown(&error), "the store in memory is full: the limit is 2 entries");
    let error = write(&store, "b", "12345").await.unwrap_err();
    assert_eq!(shown(&error), "the store in memory is full: the limit is 10 bytes");
    assert_eq!(text(&store, "b").await.as_deref(), Some("4321"));
    store.write("a", None).await.unwrap();
    write(&store, "c", "12").await.unwrap();
}

#[tokio::test]
async fn a_key_is_held_by_one_and_granted_in_order() {
    let store = MemoryStore::new();
    let held = store.lock("a").await.unwrap();
    assert!(store.lock("b").now_or_never().is_some(), "another key is free");
    let (mut first, mut dropped, mut last) = (store.lock("a"), store.lock("a"), store.lock("a"));
    for waiting in [&mut first, &mut dropped, &mut last] {
        assert!(waiting.now_or_never().is_none());
    }
    drop((held, dropped));
    assert!((&mut last).now_or_never().is_none(), "the first who asked is next");
    let held = first.await.unwrap();
    assert!((&mut last).now_or_never().is_none());
    drop(held);
    assert!(last.now_or_never().is_some());
}

#[tokio::test]
async fn debug_shows_no_entry() {
    let store = MemoryStore::new();
    write(&store, "a", "hunter2").await.unwrap();
    let debug = format!("{store:?}");
    assert!(debug.contains("entries: 1") && !debug.contains("hunter2"), "{debug}");
}
