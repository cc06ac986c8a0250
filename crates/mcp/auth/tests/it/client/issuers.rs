//! The secrets of one authorization server go to no other.

use std::sync::Arc;
use std::time::Duration;

use agentwire_mcp_auth::client::{Assertion, Grant};
use agentwire_mcp_auth::client::{AuthConfig, AuthError, Authorization, ClientIdentity, DpopMode};
use agentwire_mcp_auth::store::MemoryStore;
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault, RegisteredClient};

use super::{Client, Person, get, hyper};

const LATER: Duration = Duration::from_secs(7200);

fn registered() -> RegisteredClient {
    RegisteredClient::new("mine").redirect_uri(super::REDIRECT_URI)
}

/// Fails if the client proved its identity at the token endpoint.
fn assert_no_proof(server: &AuthServer) {
    for request in server.log().to(Endpoint::Token) {
        assert_eq!(request.header("authorization"), None, "{request:?}");
        assert_eq!(request.param("client_secret"), None, "{request:?}");
        assert_eq!(request.param("assertion"), None, "{request:?}");
    }
}

#[tokio::test]
async fn a_secret_goes_to_the_first_authorization_server_alone() {
    let good = AuthServer::builder().client(registered().secret_basic("hunter2")).start().await.unwrap();
    let evil = AuthServer::builder().client(registered()).start().await.unwrap();
    let config = AuthConfig::new("Test").user_agent(Person::new());
    let authorization =
        Authorization::new(config.client(ClientIdentity::new("mine").secret("hunter2")), hyper());
    for (server, is_good) in [(&good, true), (&evil, false)] {
        let url = server.resource_url();
        let http = authorization.wrap(&url, hyper()).unwrap();
        let result = get(&http, &url).await;
        match is_good {
            true => assert_eq!(result.unwrap(), 200),
            false => {
                let error = result.unwrap_err();
                assert!(matches!(&*error, AuthError::Misconfigured(_)), "{error:?}");
            }
        }
    }
    assert_no_proof(&evil);
}

#[tokio::test]
async fn a_secret_is_not_sent_with_the_refresh_of_anothers_client_of_the_same_name() {
    let evil = AuthServer::builder().client(registered()).start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let config = || AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    let before = Client::new(&evil, config().client(ClientIdentity::new("mine")));
    assert_eq!(before.get().await.unwrap(), 200);
    evil.advance(LATER);
    let client = ClientIdentity::new("mine").secret("hunter2").issuer("https://good.example");
    let after = Client::new(&evil, config().client(client));
    let _ = after.get().await;
    let _ = after.authorization.logout(&evil.resource_url()).await;
    assert_no_proof(&evil);
}

#[tokio::test]
async fn an_assertion_goes_to_the_first_authorization_server_alone() {
    let good = AuthServer::builder().start().await.unwrap();
    let evil = AuthServer::builder().start().await.unwrap();
    let grant = Grant::WorkloadIdentity(Assertion::new(async || Ok("assertion".into())));
    let authorization = Authorization::new(AuthConfig::new("Test").grant(grant), hyper());
    for server in [&good, &evil] {
        let url = server.resource_url();
        let http = authorization.wrap(&url, hyper()).unwrap();
        get(&http, &url).await.unwrap_err();
    }
    assert!(!good.log().to(Endpoint::Token).is_empty());
    assert_no_proof(&evil);
}

#[tokio::test]
async fn a_token_that_must_be_bound_is_no_bearer_token() {
    let server = AuthServer::builder().start().await.unwrap();
    let config = AuthConfig::new("Test").user_agent(Person::new()).dpop(DpopMode::Always);
    let client = Client::new(&server, config);
    assert_eq!(client.get().await.unwrap(), 200);
    server.set(Fault::DpopIgnored);
    server.advance(LATER);
    let error = client.get().await.unwrap_err();
    assert!(error.to_string().contains("expected `DPoP`, found `Bearer`"), "{error}");
    let log = server.log();
    let sent = log.to(Endpoint::Resource).into_iter().filter_map(|request| request.header("authorization"));
    assert!(sent.into_iter().all(|value| value.starts_with("DPoP ")));
}

#[tokio::test]
async fn a_client_that_the_user_has_given_is_not_forgotten() {
    let client = registered().secret_basic("hunter2");
    let server = AuthServer::builder().client(client).registration(false).start().await.unwrap();
    let store = Arc::new(MemoryStore::new());
    let config = || AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    let given = config().client(ClientIdentity::new("mine").secret("hunter2")).keep_client(true);
    let url = server.resource_url();
    Client::new(&server, given).authorization.login(&url).await.unwrap();
    server.set(Fault::ClientForgotten);
    Client::new(&server, config()).authorization.login(&url).await.unwrap_err();
    server.clear_all();
    Client::new(&server, config()).authorization.login(&url).await.unwrap();
}
