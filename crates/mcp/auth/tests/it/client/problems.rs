//! Problems that users of other clients have reported, each as a test that is named after it.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_auth::client::{AuthConfig, AuthError, ClientIdentity, ResourceParameter};
use agentwire_mcp_auth::store::MemoryStore;
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault, RegisteredClient};
use futures::future::join_all;

use super::{Client, Person, count, get, hyper};

/// Longer than the lifetime of a token.
const LATER: Duration = Duration::from_secs(7200);

fn config(person: &Person) -> AuthConfig {
    AuthConfig::new("Test").user_agent(person.clone())
}

/// A config for another process of the same user, without a person.
fn unattended(store: &Arc<MemoryStore>) -> AuthConfig {
    AuthConfig::new("Test").store(store.clone())
}

#[tokio::test]
async fn p01_the_refresh_names_the_same_resource() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::new(&server, config(&Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);
    let log = server.log();
    let resource = server.resource_url();
    let authorizations = log.to(Endpoint::Authorization);
    let tokens = log.to(Endpoint::Token);
    assert_eq!((authorizations.len(), tokens.len()), (1, 2));
    for request in authorizations.iter().chain(&tokens) {
        assert_eq!(request.params("resource"), [&*resource], "{request:?}");
    }
}

#[tokio::test]
async fn p02_a_stored_refresh_token_serves_every_client_of_the_server() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let first = Client::new(&server, config(&Person::new()).store(store.clone()));
    assert_eq!(first.get().await.unwrap(), 200);
    server.advance(LATER);
    // As the transports of both kinds of HTTP: each wraps a client of its own.
    let second = Client::new(&server, unattended(&store));
    let other = second.authorization.wrap(&server.resource_url(), hyper()).unwrap();
    assert_eq!(get(&other, &server.resource_url()).await.unwrap(), 200);
    assert_eq!(second.get().await.unwrap(), 200);
    assert_eq!(server.log().grants("refresh_token").len(), 1);
}

#[tokio::test]
async fn p04_a_registration_is_kept() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    for _ in 0..3 {
        let client = Client::new(&server, config(&Person::new()).store(store.clone()));
        client.authorization.login(&server.resource_url()).await.unwrap();
    }
    assert_eq!(count(&server, Endpoint::Authorization), 3);
    assert_eq!(count(&server, Endpoint::Registration), 1);
}

#[tokio::test]
async fn p05_a_registration_without_the_scopes_is_not_used() {
    for keep_client in [false, true] {
        let server = AuthServer::builder().start().await.unwrap();
        let store = Arc::new(MemoryStore::new());
        let login = async |scopes: &[&str]| {
            let config = config(&Person::new()).store(store.clone()).keep_client(keep_client);
            let client = Client::new(&server, config.scopes(scopes.iter().copied()));
            client.authorization.login(&server.resource_url()).await.unwrap();
            count(&server, Endpoint::Registration)
        };
        assert_eq!(login(&["tools:read"]).await, 1);
        assert_eq!(login(&["tools:read", "tools:write"]).await, 2, "it lacks a scope");
        assert_eq!(login(&["tools:read"]).await, 2, "it has more");
    }
}

#[tokio::test]
async fn p06_a_configured_client_id_comes_first() {
    let registered = RegisteredClient::new("mine").redirect_uri(super::REDIRECT_URI);
    let server = AuthServer::builder().client(registered).start().await.unwrap();
    let config = config(&Person::new())
        .client(ClientIdentity::new("mine"))
        .metadata_url("https://client.example/metadata.json");
    assert_eq!(Client::new(&server, config).get().await.unwrap(), 200);
    assert_eq!(count(&server, Endpoint::Registration), 0);
    for request in server.log().to(Endpoint::Authorization) {
        assert_eq!(request.param("client_id"), Some("mine"));
    }
}

#[tokio::test]
async fn p07_scopes_are_asked_for_everywhere_with_offline_access() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::new(&server, config(&Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    let log = server.log();
    let registration = String::from_utf8(log.to(Endpoint::Registration)[0].body.to_vec()).unwrap();
    assert!(registration.contains(r#""scope":"tools:read offline_access""#), "{registration}");
    assert_eq!(log.to(Endpoint::Authorization)[0].param("scope"), Some("tools:read offline_access"));
    // OpenID providers ignore the scope without it.
    assert_eq!(log.to(Endpoint::Authorization)[0].param("prompt"), Some("consent"));
    // It can be renewed.
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(count(&server, Endpoint::Authorization), 1);
}

#[tokio::test]
async fn p08_a_refresh_has_the_registered_secret() {
    let basic = |metadata: &mut serde_json::Map<String, serde_json::Value>| {
        metadata.insert("token_endpoint_auth_methods_supported".into(), vec!["client_secret_basic"].into());
    };
    let server = AuthServer::builder().edit_metadata(basic).start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let first = Client::new(&server, config(&Person::new()).store(store.clone()));
    assert_eq!(first.get().await.unwrap(), 200);
    server.advance(LATER);
    assert_eq!(Client::new(&server, unattended(&store)).get().await.unwrap(), 200);
    let log = server.log();
    let refresh = log.grants("refresh_token")[0];
    assert!(refresh.header("authorization").is_some_and(|value| value.starts_with("Basic ")));
}

#[tokio::test]
async fn p09_the_end_of_a_token_is_known_after_a_restart() {
    let server = AuthServer::builder().access_token_lifetime(Duration::from_secs(1)).start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let first = Client::new(&server, config(&Person::new()).store(store.clone()));
    assert_eq!(first.get().await.unwrap(), 200);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let before = count(&server, Endpoint::Resource);
    assert_eq!(Client::new(&server, unattended(&store)).get().await.unwrap(), 200);
    assert_eq!(count(&server, Endpoint::Resource), before + 1, "no request has the token that has ended");
}

#[tokio::test]
async fn p09_a_401_refreshes_where_nobody_said_when_a_token_ends() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::ExpiresInMissing);
    let client = Client::new(&server, config(&Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(server.log().grants("refresh_token").len(), 1);
    assert_eq!(count(&server, Endpoint::Authorization), 1);
}

#[tokio::test]
async fn p10_the_resource_is_spelled_as_its_metadata_spells_it() {
    let server = AuthServer::builder().start().await.unwrap();
    server.accept_resource(format!("{}/", server.resource_url()));
    server.set(Fault::ResourceTrailingSlash);
    let client = Client::new(&server, config(&Person::new()));
    client.authorization.login(&server.resource_url()).await.unwrap();
    let resource = format!("{}/", server.resource_url());
    let log = server.log();
    assert_eq!(log.to(Endpoint::Authorization)[0].param("resource"), Some(&*resource));
    assert_eq!(log.to(Endpoint::Token)[0].param("resource"), Some(&*resource));
    // The metadata at the server's path comes before that at the root.
    assert!(log.to(Endpoint::ResourceMetadata)[0].path.ends_with("/mcp"));
}

#[tokio::test]
async fn p11_the_resource_can_be_left_out_or_replaced() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::ResourceParameterRefused);
    let client = Client::new(&server, config(&Person::new()).resource(ResourceParameter::Omit));
    client.authorization.login(&server.resource_url()).await.unwrap();
    server.advance(LATER);
    let _ = client.get().await;
    let log = server.log();
    let sent = log.to(Endpoint::Authorization).into_iter().chain(log.to(Endpoint::Token));
    assert!(sent.into_iter().all(|request| request.params("resource").is_empty()));

    let server = AuthServer::builder().start().await.unwrap();
    server.accept_resource("api://tools");
    server.set(Fault::ResourceOtherHost);
    let replaced = ResourceParameter::Replace("api://tools".into());
    let client = Client::new(&server, config(&Person::new()).resource(replaced));
    client.authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(server.log().to(Endpoint::Token)[0].param("resource"), Some("api://tools"));
}

#[tokio::test]
async fn p12_an_issuer_with_another_slash_is_an_error_that_names_both() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::MetadataIssuerTrailingSlash);
    let error = Client::new(&server, config(&Person::new())).get().await.unwrap_err();
    let AuthError::Misconfigured(mismatch) = &*error else { panic!("{error:?}") };
    assert_eq!(mismatch.expected, Some(server.issuer()));
    assert_eq!(mismatch.found, Some(format!("{}/", server.issuer())));
    assert_eq!(count(&server, Endpoint::Authorization), 0);
}

#[tokio::test]
async fn p13_a_redirect_of_another_issuer_is_refused_with_words_for_the_operator() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::IssWrong);
    let error = Client::new(&server, config(&Person::new())).get().await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tell its operator") && text.contains(&server.issuer()), "{text}");
    assert_eq!(count(&server, Endpoint::Token), 0);
}

#[tokio::test]
async fn p14_a_login_at_run_time_goes_the_same_way_as_the_first() {
    let server = AuthServer::builder().start().await.unwrap();
    let person = Person::new();
    let client = Client::new(&server, config(&person));
    assert_eq!(client.get().await.unwrap(), 200);
    server.set(Fault::RefreshRefused);
    server.advance(LATER);
    // `Person` asserts that each listener is there first.
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(person.asked(), 2);
    assert_eq!(server.log().grants("authorization_code").len(), 2, "the code is exchanged");
}

#[tokio::test]
async fn p15_two_instances_log_in_once() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let person = Person::new();
    let instances = [0, 1].map(|_| Client::new(&server, config(&person).store(store.clone())));
    let results = join_all(instances.iter().map(Client::get)).await;
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == 200), "{results:?}");
    assert_eq!(person.asked(), 1);
}

#[tokio::test]
async fn p16_a_declined_login_is_offered_again_only_when_asked() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::AccessDenied);
    let (store, person) = (Arc::new(MemoryStore::new()), Person::new());
    let instances = [0, 1, 2].map(|_| Client::new(&server, config(&person).store(store.clone())));
    let requests = instances.iter().flat_map(|client| (0..50).map(|_| client.get()));
    let results = join_all(requests).await;
    assert!(results.iter().all(Result::is_err));
    assert_eq!(person.asked(), 1, "one tab, for all instances that waited");
    let error = instances[0].get().await.unwrap_err();
    assert!(matches!(&*error, AuthError::NeedsPerson { .. }), "{error:?}");
    assert_eq!(person.asked(), 1);
    server.clear(Fault::AccessDenied);
    instances[0].authorization.login(&server.resource_url()).await.unwrap();
    assert_eq!(instances[0].get().await.unwrap(), 200);
    assert_eq!(instances[1].get().await.unwrap(), 200);
    assert_eq!(person.asked(), 2);
}

#[tokio::test]
async fn p17_an_error_says_what_can_be_done() {
    let server = AuthServer::builder().start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let client = Client::new(&server, config(&Person::new()).store(store.clone()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.advance(LATER);
    for fault in
        [Fault::RefreshUnavailable, Fault::RefreshFails, Fault::RefreshConnectionClosed, Fault::MetadataFails]
    {
        server.set(fault);
        let error = Client::new(&server, unattended(&store)).get().await.unwrap_err();
        assert!(matches!(&*error, AuthError::Transient { .. }), "{fault}: {error:?}");
        server.clear(fault);
    }
    // That logs no person out.
    assert_eq!(Client::new(&server, unattended(&store)).get().await.unwrap(), 200);
    server.set(Fault::RefreshRefused);
    server.advance(LATER);
    let config = unattended(&store).login_command("example login");
    let error = Client::new(&server, config).get().await.unwrap_err();
    let AuthError::NeedsPerson { server: url, scopes, .. } = &*error else { panic!("{error:?}") };
    assert_eq!((url, &scopes[..]), (&server.resource_url(), &["tools:read".to_owned()][..]));
    let text = error.to_string();
    assert!(text.ends_with(&format!("for the scopes tools:read; run `example login {url}`")), "{text}");
}

/// Beside the twenty: the document of a client lists its loopback redirect without a port, and any port is right (RFC 8252, 7.3).
#[tokio::test]
async fn p21_a_client_with_a_metadata_document_registers_nowhere() {
    let url = "https://client.example/metadata.json";
    let document = serde_json::json!({
        "client_id": url, "client_name": "Test", "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    });
    let server = AuthServer::builder().client_document(url, document).start().await.unwrap();
    let client = Client::new(&server, config(&Person::new()).metadata_url(url));
    assert_eq!(client.get().await.unwrap(), 200);
    let log = server.log();
    assert_eq!(log.to(Endpoint::Authorization)[0].param("client_id"), Some(url));
    assert!(log.to(Endpoint::Registration).is_empty());
}

#[tokio::test]
async fn p17_the_login_that_an_error_names_asks_for_what_was_missing() {
    let server = AuthServer::builder().path_scope("/mcp/admin", "tools:write").start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let person = Person::new();
    let login = async || {
        let client = Client::new(&server, config(&person).store(store.clone()));
        client.authorization.login(&server.resource_url()).await.unwrap();
        server.log().to(Endpoint::Authorization).last().unwrap().param("scope").unwrap().to_owned()
    };
    assert_eq!(login().await, "tools:read offline_access");
    let admin = format!("{}/admin", server.resource_url());
    let error = get(&Client::new(&server, unattended(&store)).http, &admin).await.unwrap_err();
    assert!(error.to_string().contains("for the scopes tools:read tools:write"), "{error}");
    assert_eq!(login().await, "tools:read offline_access tools:write");
    assert_eq!(get(&Client::new(&server, unattended(&store)).http, &admin).await.unwrap(), 200);
    // It is asked for once: a logout forgets it.
    let client = Client::new(&server, config(&person).store(store.clone()));
    assert!(client.authorization.logout(&server.resource_url()).await.unwrap());
    assert_eq!(login().await, "tools:read offline_access");
}

#[tokio::test]
async fn products_that_differ_from_the_standard_can_be_used() {
    // One whose resources name its issuer with another slash than its metadata has.
    let server = AuthServer::builder().response_iss(false).start().await.unwrap();
    server.set(Fault::MetadataIssuerTrailingSlash);
    let config = config(&Person::new()).authorization_server(format!("{}/", server.issuer()));
    let client = Client::new(&server, config);
    assert_eq!(client.get().await.unwrap(), 200);
    server.advance(LATER);
    assert_eq!(client.get().await.unwrap(), 200);

    // One that supports PKCE and does not say so, and gives a refresh token for a parameter of its own.
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::PkceNotAdvertised);
    let config = self::config(&Person::new())
        .assume_pkce(true)
        .parameter("access_type", "offline")
        .parameter("prompt", "login")
        .parameter("code_challenge", "mine");
    assert_eq!(Client::new(&server, config).get().await.unwrap(), 200);
    let log = server.log();
    let asked = log.to(Endpoint::Authorization)[0];
    assert_eq!(asked.params("access_type"), ["offline"]);
    assert_eq!(asked.params("prompt"), ["login"]);
    assert_ne!(asked.params("code_challenge"), ["mine"]);
    // One that declares that it does not is refused.
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::PkcePlainOnly);
    let config = self::config(&Person::new()).assume_pkce(true);
    assert!(Client::new(&server, config).get().await.is_err());
}
