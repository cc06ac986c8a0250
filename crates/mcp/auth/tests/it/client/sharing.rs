//! Tasks that need a token at once: each gets the result of its own need, whatever becomes of the others.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agentwire_mcp_auth::client::{AuthConfig, AuthError, LoginError, RedirectListener, UserAgent};
use agentwire_mcp_auth::store::{CredentialStore, MemoryStore};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault};
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, StreamExt};
use http::Uri;
use tokio::sync::Semaphore;

use super::{Client, Person, count, get};

/// A person who logs in once, and declines the next login when the test wants it.
#[derive(Clone)]
struct Hesitant {
    person: Person,
    declines: Arc<Semaphore>,
}

impl fmt::Debug for Hesitant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hesitant")
    }
}

impl UserAgent for Hesitant {
    fn redirect_uris(&self) -> Vec<String> {
        self.person.redirect_uris()
    }

    fn listen(&self) -> BoxFuture<'static, Result<Box<dyn RedirectListener>, LoginError>> {
        if self.person.asked() == 0 {
            return self.person.listen();
        }
        let listener: Box<dyn RedirectListener> = Box::new(self.clone());
        async move { Ok(listener) }.boxed()
    }
}

impl RedirectListener for Hesitant {
    fn redirect_uri(&self) -> String {
        RedirectListener::redirect_uri(&self.person)
    }

    fn authorize(self: Box<Self>, _: Uri, _: String) -> BoxFuture<'static, Result<String, LoginError>> {
        async move {
            let _ = self.declines.acquire().await;
            Err(LoginError::unavailable("the page", "it was closed"))
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_declined_step_up_is_no_failure_of_others() {
    let builder = AuthServer::builder().path_scope("/mcp/admin", "tools:write");
    let server = builder.access_token_lifetime(Duration::from_secs(3)).start().await.unwrap();
    let declines = Arc::new(Semaphore::new(0));
    let agent = Hesitant { person: Person::new(), declines: declines.clone() };
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(agent));
    assert_eq!(client.get().await.unwrap(), 200);
    let admin = format!("{}/admin", server.resource_url());
    let step_up = get(&client.http, &admin);
    let other = async {
        // The token has ended, and its renewal waits for the step-up.
        tokio::time::sleep(Duration::from_millis(3100)).await;
        let request = client.get();
        let decline = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            declines.add_permits(10);
        };
        futures::join!(request, decline).0
    };
    let (step_up, other) = futures::join!(step_up, other);
    assert!(step_up.is_err(), "{step_up:?}");
    assert_eq!(other.unwrap(), 200);
}

#[tokio::test]
async fn two_step_ups_at_once_each_get_their_scope() {
    let builder = AuthServer::builder().path_scope("/mcp/a", "tools:a").path_scope("/mcp/b", "tools:b");
    let builder = builder.path_scope("/mcp/c", "tools:c").path_scope("/mcp/d", "tools:d");
    let scopes = ["tools:read", "tools:a", "tools:b", "tools:c", "tools:d", "offline_access"];
    let server = builder.scopes_supported(&scopes).start().await.unwrap();
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()).step_up_limit(1));
    assert_eq!(client.get().await.unwrap(), 200);
    let urls = ["a", "b", "c", "d"].map(|path| format!("{}/{path}", server.resource_url()));
    let results = join_all(urls.iter().map(|url| get(&client.http, url))).await;
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == 200), "{results:?}");
    assert!(person.asked() <= 5, "{}", person.asked());
}

#[tokio::test]
async fn a_renewal_that_fails_early_is_one_attempt_for_all() {
    let builder = AuthServer::builder().access_token_lifetime(Duration::from_secs(10));
    let server = builder.token_delay(Duration::from_millis(20)).start().await.unwrap();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.set(Fault::RefreshFails);
    // The last tenth of its life: it is valid for another 0.9 s, which is long enough on a busy machine.
    tokio::time::sleep(Duration::from_millis(9100)).await;
    join_all((0..10).map(|_| client.get())).await;
    for _ in 0..5 {
        let _ = client.get().await;
    }
    let attempts = server.log().grants("refresh_token").len();
    assert!(attempts <= 3, "{attempts} attempts");
}

#[tokio::test]
async fn a_login_that_fails_after_the_redirect_is_not_offered_again() {
    for fault in [Fault::CodeRefused, Fault::TokenNotJson, Fault::AccessTokenMissing] {
        let server = AuthServer::builder().start().await.unwrap();
        server.set(fault);
        let person = Person::new();
        let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
        client.get().await.unwrap_err();
        let error = client.get().await.unwrap_err();
        assert_eq!(person.asked(), 1, "{fault}: a server must not open a browser with each request");
        assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{fault}: {error:?}");
        server.clear_all();
        client.authorization.login(&server.resource_url()).await.unwrap();
        assert_eq!(client.get().await.unwrap(), 200);
    }
}

#[tokio::test]
async fn nobody_is_asked_where_a_login_does_not_begin_by_itself() {
    let server = AuthServer::builder().start().await.unwrap();
    let person = Person::new();
    let config = AuthConfig::new("Test").user_agent(person.clone()).automatic_login(false);
    let client = Client::new(&server, config);
    let error = client.get().await.unwrap_err();
    assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{error:?}");
    assert_eq!(person.asked(), 0);
    client.authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(client.get().await.unwrap(), 200);
}

#[tokio::test]
async fn a_login_that_is_asked_for_begins_whatever_the_clock_says() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = MemoryStore::new();
    let key = serde_json::json!(["login", server.resource_url()]).to_string();
    // The clock was ahead when a login failed.
    store.write(&key, Some(r#"{"failed_at":4000000000000}"#.into())).await.unwrap();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()).store(store.clone()));
    assert_eq!(client.get().await.unwrap(), 200);
    store.write(&key, Some(r#"{"failed_at":4000000000000}"#.into())).await.unwrap();
    client.authorization.login(&server.resource_url()).await.unwrap();
}

#[tokio::test]
async fn a_token_that_has_ended_at_its_issue_is_not_renewed_all_the_time() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::ExpiresInNegative);
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()));
    let started = Instant::now();
    let requests = futures::stream::iter((0..200).map(|_| client.get())).buffer_unordered(20);
    let results: Vec<_> = requests.collect().await;
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == 200), "{results:?}");
    let (tokens, seconds) = (count(&server, Endpoint::Token), started.elapsed().as_secs() as usize);
    assert!(tokens <= 2 + seconds, "{tokens} requests for tokens in {seconds} s");
}

#[tokio::test]
async fn a_request_that_is_given_up_loses_no_token() {
    let server = AuthServer::builder().token_delay(Duration::from_millis(30)).start().await.unwrap();
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
    assert_eq!(client.get().await.unwrap(), 200);
    // At whatever point of its way.
    for milliseconds in 0..25 {
        server.advance(Duration::from_secs(7200));
        let _ = tokio::time::timeout(Duration::from_millis(2 * milliseconds), client.get()).await;
        assert_eq!(client.get().await.unwrap(), 200, "{milliseconds}");
    }
    assert_eq!((server.reused_refresh_tokens(), person.asked()), (0, 1));
}

#[tokio::test]
async fn a_logout_ends_the_token_that_another_process_has_just_renewed() {
    let server = AuthServer::builder().token_delay(Duration::from_millis(300)).start().await.unwrap();
    let store = MemoryStore::new();
    let config = || AuthConfig::new("Test").store(store.clone());
    let one = Client::new(&server, config().user_agent(Person::new()).automatic_login(false));
    let other = Client::new(&server, config());
    one.authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(one.get().await.unwrap(), 200);
    server.advance(Duration::from_secs(7200));
    let logout = async {
        // The server records a request before the delay of its answer.
        while server.log().grants("refresh_token").is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        other.authorization.logout(&server.resource_url()).await
    };
    let (renewed, logout) = futures::join!(one.get(), logout);
    assert_eq!((renewed.unwrap(), logout.unwrap()), (200, true));
    let log = server.log();
    let renewed = log.grants("refresh_token")[0].param("refresh_token");
    let revoked = log.to(Endpoint::Revocation)[0].param("token");
    assert!(revoked.is_some() && revoked != renewed, "what is revoked is what the renewal gave");
    // It does not come back.
    server.advance(Duration::from_secs(7200));
    for client in [&one, &other] {
        let error = client.get().await.unwrap_err();
        assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{error:?}");
    }
}
