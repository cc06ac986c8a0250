//! Errors that name the setting which gets around them.

use std::sync::Arc;

use agentwire_mcp_auth::client::{AuthConfig, AuthError, Authorization, Remedy};
use agentwire_mcp_auth::store::MemoryStore;
use agentwire_mcp_auth_testkit::{AuthServer, Fault};

use super::hostile::tampering;
use super::{Client, Person, get};

fn config() -> AuthConfig {
    AuthConfig::new("Test").user_agent(Person::new())
}

#[tokio::test]
async fn each_refusal_has_its_remedy() {
    for (fault, expected) in [
        (Fault::RegistrationRefused, Some(Remedy::Client)),
        (Fault::RegistrationWithoutClientId, Some(Remedy::Client)),
        (Fault::ClientForgotten, Some(Remedy::Client)),
        (Fault::PkceNotAdvertised, Some(Remedy::AssumePkce)),
        (Fault::PkcePlainOnly, None),
        (Fault::ResourceOtherHost, Some(Remedy::Resource)),
        (Fault::ResourceParameterRefused, Some(Remedy::Resource)),
        (Fault::MetadataIssuerTrailingSlash, Some(Remedy::AuthorizationServer)),
        (Fault::AuthorizationServersMissing, Some(Remedy::AuthorizationServer)),
        (Fault::RegistrationFails, None),
        (Fault::AccessDenied, None),
    ] {
        let server = AuthServer::builder().start().await.unwrap();
        server.set(fault);
        let client = Client::new(&server, config());
        let error = client.authorization.login(&server.resource_url()).await.unwrap_err();
        assert_eq!(error.remedy(), expected, "{fault}: {error}");
    }
}

#[tokio::test]
async fn an_authorization_server_without_registration_asks_for_a_client() {
    let edit = |document: &mut serde_json::Map<String, serde_json::Value>| {
        document.remove("registration_endpoint");
    };
    let server = AuthServer::builder().edit_metadata(edit).start().await.unwrap();
    let client = Client::new(&server, config());
    let error = client.authorization.login(&server.resource_url()).await.unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Client), "{error}");
}

/// A server that wants a token and has no OAuth: everything else is 404.
#[tokio::test]
async fn a_server_without_oauth_wants_a_token() {
    let url = "http://127.0.0.1:1/mcp";
    for challenge in ["Bearer", "Bearer realm=\"x\""] {
        let http = tampering(move |request| match request.uri().path() {
            "/mcp" => Some((401, challenge.to_owned(), String::new())),
            _ => Some((404, String::new(), "<p>not found</p>".into())),
        });
        // A login fails at the registration, whose endpoint is assumed.
        let login = Authorization::new(config(), http.clone()).login(url).await.unwrap_err();
        assert!(matches!(login, AuthError::Misconfigured(_)), "{login:?}");
        let text = login.to_string();
        assert!(
            text.starts_with("http://127.0.0.1:1/mcp asks for a token and names no authorization server"),
            "{text}"
        );
        assert_eq!(login.remedy(), Some(Remedy::Token));
        // Without a person, the error names no login that cannot succeed.
        let unattended = Authorization::new(AuthConfig::new("Test"), http.clone());
        let error = get(&unattended.wrap(url, http).unwrap(), url).await.unwrap_err();
        assert!(
            matches!(&*error, AuthError::NeedsPerson { has_authorization_server: false, .. }),
            "{error:?}"
        );
        assert_eq!(error.remedy(), Some(Remedy::Token));
    }
}

/// A page of HTML at an endpoint has no line and no column.
#[tokio::test]
async fn page_in_place_of_a_registration_asks_for_a_client() {
    let server = AuthServer::builder().start().await.unwrap();
    let http = tampering(|request| {
        let is_registration = String::from_utf8_lossy(request.body()).contains("redirect_uris");
        is_registration.then(|| (200, String::new(), "<html>".into()))
    });
    let error = Authorization::new(config(), http).login(&server.resource_url()).await.unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Client));
    assert!(error.to_string().ends_with("is not what OAuth asks for"), "{error}");
}

/// The same login would bring the same token.
#[tokio::test]
async fn refused_token_of_a_login_asks_for_another_token() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::RefreshTokenNeverIssued);
    let store = Arc::new(MemoryStore::new());
    let person = Client::new(&server, config().store(store.clone()));
    person.authorization.login(&server.resource_url()).await.unwrap();
    server.set(Fault::AlwaysUnauthorized);
    let unattended = Client::new(&server, AuthConfig::new("Test").store(store));
    for error in [unattended.get().await.unwrap_err(), person.get().await.unwrap_err()] {
        assert_eq!(error.remedy(), Some(Remedy::OtherToken), "{error}");
        let needs_person = matches!(&*error, AuthError::NeedsPerson { .. });
        assert!(!needs_person || matches!(&*error, AuthError::NeedsPerson { refused: Some(_), .. }));
    }
}

#[tokio::test]
async fn a_login_that_can_succeed_is_what_an_error_without_a_person_asks_for() {
    let server = AuthServer::builder().start().await.unwrap();
    for fault in [None, Some(Fault::ChallengeMissing)] {
        fault.into_iter().for_each(|fault| server.set(fault));
        let unattended = Client::new(&server, AuthConfig::new("Test"));
        match unattended.get().await {
            Err(error) => assert_eq!(error.remedy(), None, "{error}"),
            Ok(status) => assert_eq!((status, fault), (401, Some(Fault::ChallengeMissing))),
        }
    }
}
