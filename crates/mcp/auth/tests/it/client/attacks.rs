//! Hostile servers: each is refused with an error that names the reason, before anything secret is sent.

use std::time::{Duration, Instant};

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::client::{AuthConfig, AuthError};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault, RecordedRequest, Site};
use agentwire_transport_http::client::HttpClient;
use futures::future::join_all;

use super::{Client, Person, assert_no_secret, count};
use crate::DEADLINE;

/// How far a client may go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Until {
    /// It sends no person to the authorization server.
    Authorization,
    /// It sends no code to the token endpoint.
    Token,
    /// It sends no token to the resource.
    Resource,
}

async fn refused(fault: Fault, until: Until, why: &str) {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(fault);
    let config = AuthConfig::new("Test").user_agent(Person::new()).timeout(Duration::from_secs(2));
    let client = Client::new(&server, config);
    let started = Instant::now();
    let error = client.get().await.expect_err(fault.name());
    let text = WithCauses::new(&*error).plain();
    let shown = format!("{text} {error:?} {client:?}", client = client.authorization);
    assert!(text.contains(why), "{fault}: {text}");
    assert_no_secret(&server, &shown);
    assert!(started.elapsed() < DEADLINE, "{fault}: {:?}", started.elapsed());
    let log = server.log();
    // Metadata may be anywhere, as long as it is that of the resource.
    let is_allowed = |request: &RecordedRequest| request.endpoint == Endpoint::ResourceMetadata;
    assert!(log.at(Site::OtherOrigin).into_iter().all(is_allowed), "{fault}: {log:?}");
    if until == Until::Authorization {
        assert!(log.to(Endpoint::Authorization).is_empty(), "{fault}: {log:?}");
    }
    if until != Until::Resource {
        assert!(log.to(Endpoint::Token).is_empty(), "{fault}: {log:?}");
    }
    assert!(log.to(Endpoint::Resource).iter().all(|request| request.token().is_none()), "{fault}: {log:?}");
}

#[tokio::test]
async fn nobody_is_sent_to_a_server_whose_metadata_is_wrong() {
    let until = Until::Authorization;
    for (fault, why) in [
        (Fault::ChallengeMetadataLinkLocal, "not requesting"),
        (Fault::ChallengeMetadataOtherHost, "another resource"),
        (Fault::ResourceOtherHost, "another resource"),
        (Fault::ResourceMissing, "another resource"),
        (Fault::AuthorizationServersMissing, "no authorization server"),
        (Fault::AuthorizationServersEmpty, "no authorization server"),
        (Fault::MetadataIssuerDiffers, "another issuer"),
        (Fault::MetadataIssuerTrailingSlash, "another issuer"),
        (Fault::MetadataIssuerOtherHost, "another issuer"),
        (Fault::MetadataIssuerMissing, "another issuer"),
        (Fault::MetadataEndless, "limit of 262144 bytes"),
        (Fault::MetadataDrips, "has not answered within 2s"),
        (Fault::MetadataRedirectLoop, "redirects"),
        (Fault::MetadataRedirects, "redirects"),
        (Fault::PkceNotAdvertised, "PKCE"),
        (Fault::PkcePlainOnly, "expected `S256`, found `plain`"),
        (Fault::AuthorizationEndpointJavascript, "cannot be opened"),
        (Fault::AuthorizationEndpointFile, "cannot be opened"),
        (Fault::RegistrationRefused, "the registration of the client was refused"),
        (Fault::RegistrationWithoutClientId, "the registration of the client"),
    ] {
        refused(fault, until, why).await;
    }
}

#[tokio::test]
async fn no_code_is_sent_after_a_wrong_redirect() {
    for (fault, why) in [
        (Fault::IssMissing, "lacks the `iss`"),
        (Fault::IssWrong, "another authorization server"),
        (Fault::IssUnexpectedWrong, "another authorization server"),
        (Fault::IssNormalized, "another authorization server"),
        (Fault::StateChanged, "`state`"),
        (Fault::StateMissing, "`state`"),
        (Fault::CodeMissing, "neither a code"),
        (Fault::AccessDenied, "access_denied"),
        (Fault::TokenEndpointScheme, "not requesting"),
        (Fault::TokenEndpointLinkLocal, "not requesting"),
    ] {
        refused(fault, Until::Token, why).await;
    }
}

#[tokio::test]
async fn no_token_comes_of_a_wrong_answer() {
    for (fault, why) in [
        (Fault::CodeRefused, "invalid_grant"),
        (Fault::TokenNotJson, "not what OAuth asks for"),
        (Fault::TokenEndless, "limit of 262144 bytes"),
        (Fault::TokenRedirects, "redirects"),
        (Fault::AccessTokenMissing, "not what OAuth asks for"),
        (Fault::TokenTypeUnknown, "expected `Bearer`, found `mac`"),
    ] {
        refused(fault, Until::Resource, why).await;
    }
}

#[tokio::test]
async fn a_token_goes_to_no_other_origin() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.set(Fault::ResourceRedirects);
    assert_eq!(client.get().await.unwrap(), 307, "the transport decides about redirects");
    // Even where a transport asks for it, a token stays at home.
    assert!(super::get(&client.http, &server.issuer()).await.is_ok());
    let log = server.log();
    let elsewhere = log.at(Site::AuthServer).into_iter().chain(log.at(Site::OtherOrigin));
    assert!(elsewhere.into_iter().all(|request| request.token().is_none()));
}

#[tokio::test]
async fn setting_of_the_program_is_sent_as_it_is() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()));
    assert_eq!(client.get().await.unwrap(), 200);
    let mut request = http::Request::new(bytes::Bytes::new());
    *request.uri_mut() = server.resource_url().parse().unwrap();
    request.headers_mut().insert("authorization", "Bearer of-the-program".parse().unwrap());
    assert_eq!(client.http.send(request).await.unwrap().status(), 401);
    let log = server.log();
    assert_eq!(log.to(Endpoint::Resource).last().unwrap().token(), Some("of-the-program"));
    assert_eq!(log.to(Endpoint::Authorization).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_refusals_at_once_are_one_login() {
    let server = AuthServer::builder().start().await.unwrap();
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
    let results = join_all((0..1000).map(|_| client.get())).await;
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == 200));
    assert_eq!(person.asked(), 1);
    assert_eq!(count(&server, Endpoint::Token), 1);
    server.advance(Duration::from_secs(7200));
    let results = join_all((0..1000).map(|_| client.get())).await;
    assert!(results.iter().all(|result| *result.as_ref().unwrap() == 200));
    assert_eq!(server.log().grants("refresh_token").len(), 1);
}

#[tokio::test]
async fn a_server_that_is_never_satisfied_is_given_up() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::AlwaysUnauthorized);
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
    let error = client.get().await.unwrap_err();
    assert!(matches!(&*error, AuthError::Rejected { .. }), "{error:?}");
    assert_eq!(person.asked(), 1);

    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::AlwaysForbidden);
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
    assert_eq!(client.get().await.unwrap(), 403);
    assert_eq!(client.get().await.unwrap(), 403);
    assert_eq!(person.asked(), 1, "asking for the same scopes again changes nothing");
}
