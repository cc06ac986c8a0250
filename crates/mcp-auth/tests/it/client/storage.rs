//! A store that fails: what a server has rotated is not lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_auth::Secret;
use agentwire_mcp_auth::client::AuthConfig;
use agentwire_mcp_auth::store::{CredentialStore, MemoryStore, StoreError, StoreGuard};
use agentwire_mcp_auth_testkit::AuthServer;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Client, Person};

const LATER: Duration = Duration::from_secs(7200);

/// A store of which one operation fails: the one after so many.
#[derive(Clone, Debug)]
struct Flaky {
    inner: MemoryStore,
    /// 0 is never, 1 is the next.
    countdown: Arc<AtomicUsize>,
}

impl Flaky {
    fn new() -> Self {
        Self { inner: MemoryStore::new(), countdown: Arc::default() }
    }

    fn fail_after(&self, operations: usize) {
        self.countdown.store(operations + 1, Ordering::SeqCst);
    }

    fn heal(&self) {
        self.countdown.store(0, Ordering::SeqCst);
    }

    fn fails(&self) -> bool {
        let next = |left: usize| left.checked_sub(1);
        self.countdown.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next) == Ok(1)
    }

    fn error<T: Send + 'static>() -> BoxFuture<'static, Result<T, StoreError>> {
        async { Err(StoreError::new("cannot use the store", "the disk is full")) }.boxed()
    }
}

impl CredentialStore for Flaky {
    fn read(&self, key: &str) -> BoxFuture<'static, Result<Option<Secret>, StoreError>> {
        if self.fails() { Self::error() } else { self.inner.read(key) }
    }

    fn write(&self, key: &str, entry: Option<Secret>) -> BoxFuture<'static, Result<(), StoreError>> {
        if self.fails() { Self::error() } else { self.inner.write(key, entry) }
    }

    fn lock(&self, key: &str) -> BoxFuture<'static, Result<Box<dyn StoreGuard>, StoreError>> {
        if self.fails() { Self::error() } else { self.inner.lock(key) }
    }
}

#[tokio::test]
async fn a_rotated_token_survives_each_failure_of_the_store() {
    for operations in 0..20 {
        let server = AuthServer::builder().start().await.unwrap();
        let (store, person) = (Flaky::new(), Person::new());
        let client =
            Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()).store(store.clone()));
        assert_eq!(client.get().await.unwrap(), 200);
        server.advance(LATER);
        store.fail_after(operations);
        // The request may fail, the next one may not.
        let _ = client.get().await;
        store.heal();
        assert_eq!(client.get().await.unwrap(), 200, "after {operations}");
        server.advance(LATER);
        assert_eq!(client.get().await.unwrap(), 200, "after {operations}");
        assert_eq!(server.reused_refresh_tokens(), 0, "after {operations}");
        assert_eq!(person.asked(), 1, "after {operations}");
        // And the store has it again.
        server.advance(LATER);
        let other = Client::new(&server, AuthConfig::new("Test").store(store.inner.clone()));
        assert_eq!(other.get().await.unwrap(), 200, "after {operations}");
    }
}

#[tokio::test]
async fn a_login_survives_each_failure_of_the_store() {
    for operations in 0..20 {
        let server = AuthServer::builder().start().await.unwrap();
        let (store, person) = (Flaky::new(), Person::new());
        let client =
            Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()).store(store.clone()));
        store.fail_after(operations);
        let first = client.get().await;
        store.heal();
        assert_eq!(client.get().await.unwrap(), 200, "after {operations}: {first:?}");
        assert_eq!(person.asked(), 1, "after {operations}: {first:?}");
    }
}

#[tokio::test]
async fn a_token_that_still_serves_needs_no_store() {
    let builder = AuthServer::builder().access_token_lifetime(Duration::from_secs(10));
    let server = builder.start().await.unwrap();
    let store = Flaky::new();
    let config = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    let client = Client::new(&server, config);
    assert_eq!(client.get().await.unwrap(), 200);
    // The last tenth of its life.
    tokio::time::sleep(Duration::from_millis(9100)).await;
    store.fail_after(0);
    assert_eq!(client.get().await.unwrap(), 200);
}

#[tokio::test]
async fn a_server_that_moves_leaves_no_tokens_behind() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = MemoryStore::new();
    let entries = || format!("{store:?}");
    let mut seen = Vec::new();
    for id in ["one", "two", "three", "four"] {
        let registered =
            agentwire_mcp_auth_testkit::RegisteredClient::new(id).redirect_uri(super::REDIRECT_URI);
        server.add_client(registered);
        let client = agentwire_mcp_auth::client::ClientIdentity::new(id);
        let config = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone()).client(client);
        Client::new(&server, config).authorization.login(&server.resource_url()).await.unwrap();
        seen.push(entries());
    }
    assert!(seen.iter().all(|entries| *entries == seen[0]), "{seen:?}");
}
