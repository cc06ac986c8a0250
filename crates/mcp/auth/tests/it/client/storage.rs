//! A store that fails: what a server has rotated is not lost.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::Secret;
use agentwire_mcp_auth::client::{AuthConfig, AuthError, ClientIdentity};
use agentwire_mcp_auth::store::{CredentialStore, MemoryStore, StoreError, StoreGuard};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault, RegisteredClient};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Client, Person, count};

pub(super) const LATER: Duration = Duration::from_secs(7200);

/// A store of which one operation fails: the one after so many. Or all writes fail, as on a full disk.
#[derive(Clone, Debug)]
struct Flaky {
    inner: MemoryStore,
    /// 0 is never, 1 is the next.
    countdown: Arc<AtomicUsize>,
    /// How many writes succeed before the disk is full.
    room: Arc<AtomicUsize>,
}

impl Flaky {
    fn new() -> Self {
        Self { inner: MemoryStore::new(), countdown: Arc::default(), room: Arc::new(usize::MAX.into()) }
    }

    fn fail_after(&self, operations: usize) {
        self.countdown.store(operations + 1, Ordering::SeqCst);
    }

    fn fill_after(&self, writes: usize) {
        self.room.store(writes, Ordering::SeqCst);
    }

    fn heal(&self) {
        self.room.store(usize::MAX, Ordering::SeqCst);
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
        let next = |left: usize| left.checked_sub(1);
        let is_full = self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).is_err();
        if is_full || self.fails() { Self::error() } else { self.inner.write(key, entry) }
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

/// The warnings of a client, as texts.
fn warned(config: AuthConfig) -> (AuthConfig, Arc<Mutex<Vec<String>>>) {
    let warnings = Arc::<Mutex<Vec<String>>>::default();
    let all = warnings.clone();
    (config.on_warning(move |warning| all.lock().unwrap().push(warning.to_string())), warnings)
}

#[tokio::test]
async fn a_full_disk_spends_no_refresh_token() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let first = AuthConfig::new("Test").user_agent(person.clone()).store(store.clone());
    assert_eq!(Client::new(&server, first).get().await.unwrap(), 200);
    server.advance(LATER);
    store.fill_after(0);
    let (config, warnings) = warned(AuthConfig::new("Test").store(store.clone()));
    let error = Client::new(&server, config).get().await.unwrap_err();
    assert!(matches!(&*error, AuthError::Transient { .. }), "{error:?}");
    let text = WithCauses::new(&*error).to_string();
    assert!(text.contains("the disk is full"), "{text}");
    assert!(server.log().grants("refresh_token").is_empty(), "it is tried first");
    let warnings = warnings.lock().unwrap().join("\n");
    assert!(warnings.contains("is not renewed, because a new one could not be stored"), "{warnings}");
    // The next program renews it, without a login.
    store.heal();
    let other = Client::new(&server, AuthConfig::new("Test").store(store.clone()));
    assert_eq!(other.get().await.unwrap(), 200);
    assert_eq!(server.reused_refresh_tokens(), 0);
}

#[tokio::test]
async fn a_renewed_token_that_cannot_be_stored_is_used() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let first = AuthConfig::new("Test").user_agent(person.clone()).store(store.clone());
    assert_eq!(Client::new(&server, first).get().await.unwrap(), 200);
    server.advance(LATER);
    // The disk gets full while the authorization server answers.
    store.fill_after(1);
    let (config, warnings) = warned(AuthConfig::new("Test").store(store.clone()));
    let client = Client::new(&server, config);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(server.log().grants("refresh_token").len(), 1);
    let texts = warnings.lock().unwrap().clone();
    assert!(texts.len() == 1 && texts[0].contains("is used, but could not be stored"), "{texts:?}");
    // It is stored as soon as there is room.
    store.heal();
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);
    let other = Client::new(&server, AuthConfig::new("Test").store(store.clone()));
    assert_eq!(other.get().await.unwrap(), 200);
    assert_eq!(server.reused_refresh_tokens(), 0);
    assert_eq!(person.asked(), 1);
}

#[tokio::test]
async fn a_login_that_cannot_be_kept_is_not_asked_of_a_person() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let config = AuthConfig::new("Test").user_agent(person.clone()).store(store.clone());
    let client = Client::new(&server, config);
    store.fill_after(0);
    let error = client.authorization.login(&server.resource_url()).await.unwrap_err();
    assert!(matches!(error, AuthError::Transient { .. }), "{error:?}");
    assert_eq!(person.asked(), 0);
    store.heal();
    client.authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(client.get().await.unwrap(), 200);
}

#[tokio::test]
async fn implied_login_on_a_full_disk_registers_no_client() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let config = AuthConfig::new("Test").user_agent(person.clone()).store(store.clone());
    let client = Client::new(&server, config);
    store.fill_after(0);
    for _ in 0..2 {
        let error = client.get().await.unwrap_err();
        assert!(matches!(&*error, AuthError::Transient { .. }), "{error:?}");
        assert!(WithCauses::new(&*error).to_string().contains("the disk is full"), "{error:?}");
    }
    assert_eq!((count(&server, Endpoint::Registration), person.asked()), (0, 0));
    store.heal();
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!((count(&server, Endpoint::Registration), person.asked()), (1, 1));
}

#[tokio::test]
async fn registration_that_cannot_be_kept_is_used_and_warned_of() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let (config, warnings) = warned(AuthConfig::new("Test").user_agent(person.clone()).store(store.clone()));
    let client = Client::new(&server, config);
    // The disk gets full while the authorization server answers.
    store.fill_after(1);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!((count(&server, Endpoint::Registration), person.asked()), (1, 1));
    let texts = warnings.lock().unwrap().clone();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("the client's registration for http"), "{texts:?}");
    assert!(texts[1].contains("is used, but could not be stored"), "{texts:?}");
    // The token has the client, so its renewal needs no other.
    store.heal();
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!((count(&server, Endpoint::Registration), person.asked()), (1, 1));
}

#[tokio::test]
async fn login_stays_if_its_client_cannot_be_kept() {
    let registered = RegisteredClient::new("mine").redirect_uri(super::REDIRECT_URI).secret_basic("hunter2");
    let server = AuthServer::builder().client(registered).start().await.unwrap();
    let store = Flaky::new();
    let config = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    let given = ClientIdentity::new("mine").secret("hunter2");
    let (config, warnings) = warned(config.client(given).keep_client(true));
    let client = Client::new(&server, config);
    // The trial, the token and its server.
    store.fill_after(3);
    client.authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(client.get().await.unwrap(), 200);
    let texts = warnings.lock().unwrap().clone();
    assert!(texts.len() == 1 && texts[0].starts_with("the client's registration for http"), "{texts:?}");
}

#[tokio::test]
async fn refusal_stays_if_a_record_of_it_cannot_be_kept() {
    let builder = AuthServer::builder().path_scope("/mcp/admin", "tools:write");
    let server = builder.start().await.unwrap();
    let store = Flaky::new();
    let first = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    assert_eq!(Client::new(&server, first).get().await.unwrap(), 200);
    let (config, warnings) = warned(AuthConfig::new("Test").store(store.clone()));
    let client = Client::new(&server, config);
    let admin = format!("{}/admin", server.resource_url());
    store.fill_after(0);
    let error = super::get(&client.http, &admin).await.unwrap_err();
    assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{error:?}");
    // The renewal begins, and the authorization server refuses the refresh token.
    server.revoke_all();
    store.fill_after(1);
    let error = client.get().await.unwrap_err();
    assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{error:?}");
    assert_eq!(server.log().grants("refresh_token").len(), 1);
    let texts = warnings.lock().unwrap().clone();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("the scopes that a request needs for http"), "{texts:?}");
    assert!(texts[1].starts_with("the end of the refresh token for http"), "{texts:?}");
}

/// The disk gets full before the registration that the authorization server has forgotten is removed.
#[tokio::test]
async fn forgotten_client_that_cannot_be_removed_is_refused_once() {
    let server = AuthServer::builder().start().await.unwrap();
    let (store, person) = (Flaky::new(), Person::new());
    let (config, warnings) = warned(AuthConfig::new("Test").user_agent(person.clone()).store(store.clone()));
    let client = Client::new(&server, config);
    client.authorization.login(&server.resource_url()).await.unwrap();
    server.set(Fault::ClientForgotten);
    store.fill_after(1);
    let error = client.authorization.login(&server.resource_url()).await.unwrap_err();
    assert!(matches!(error, AuthError::Rejected { .. }), "{error:?}");
    let texts = warnings.lock().unwrap().clone();
    assert!(texts.len() == 1 && texts[0].starts_with("the end of the client's registration"), "{texts:?}");
    assert_eq!((count(&server, Endpoint::Registration), person.asked()), (1, 2));
}

#[tokio::test]
async fn a_server_that_moves_leaves_no_tokens_behind() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = MemoryStore::new();
    let entries = || format!("{store:?}");
    let mut seen = Vec::new();
    for id in ["one", "two", "three", "four"] {
        let registered = RegisteredClient::new(id).redirect_uri(super::REDIRECT_URI);
        server.add_client(registered);
        let client = ClientIdentity::new(id);
        let config = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone()).client(client);
        Client::new(&server, config).authorization.login(&server.resource_url()).await.unwrap();
        seen.push(entries());
    }
    assert!(seen.iter().all(|entries| *entries == seen[0]), "{seen:?}");
}
