//! Tokens that only the authorization server can read.

use std::time::Duration;

use agentwire_mcp_auth::AddressPolicy;
use agentwire_mcp_auth::server::{Issuer, Rejection, ResourceServer};
use futures::future::join_all;
use serde_json::{Value, json};

use super::support::{ISSUER, OK, RESOURCE, Server, Web, now, response, token};

const ENDPOINT: &str = "https://login.example/introspect";

fn introspection(web: &Web) -> Issuer {
    Issuer::introspection(ISSUER, ENDPOINT, "mcp server", "s:3cret&", web.clone())
        .addresses(AddressPolicy::new().trust("login.example"))
}

fn server(web: &Web) -> Server {
    Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(introspection(web)).scopes(["mcp"]))
}

fn active(change: Value) -> Value {
    let mut answer =
        json!({ "active": true, "aud": RESOURCE, "sub": "ann", "scope": "mcp", "exp": now() + 300 });
    let members = answer.as_object_mut().unwrap();
    members.extend(change.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    answer
}

#[tokio::test]
async fn the_authorization_server_is_asked_by_form_and_password() {
    let web = Web::default();
    web.answer(ENDPOINT, |request| {
        // base64 of `mcp+server:s%3A3cret%26`
        assert_eq!(request.headers()["authorization"], "Basic bWNwK3NlcnZlcjpzJTNBM2NyZXQlMjY=");
        assert_eq!(request.headers()["content-type"], "application/x-www-form-urlencoded");
        assert_eq!(&request.body()[..], b"token=opaque%2B1&token_type_hint=access_token");
        response(200, active(json!({})).to_string())
    });
    let reply = server(&web).bearer("opaque+1").await;
    assert!(reply.status == OK && reply.body.contains("ann"), "{reply:?}");
}

#[tokio::test]
async fn an_answer_is_checked_as_a_token_is() {
    let web = Web::default();
    for (answer, status) in [
        (active(json!({ "exp": null })), OK),
        (active(json!({ "iss": ISSUER })), OK),
        (active(json!({ "scope": "other" })), 403),
        (active(json!({ "aud": null })), 401),
        (active(json!({ "aud": "https://other.example" })), 401),
        (active(json!({ "iss": "https://evil.example" })), 401),
        (active(json!({ "exp": now() - 100 })), 401),
        (active(json!({ "active": false })), 401),
        (active(json!({ "active": "true" })), 401),
        (active(json!({ "active": null })), 401),
        (active(json!({ "cnf": { "jkt": "x" } })), 401),
        (json!([]), 503),
    ] {
        web.put(ENDPOINT, answer.clone());
        assert_eq!(server(&web).bearer("opaque").await.status, status, "{answer}");
    }
    web.answer(ENDPOINT, |_| response(200, r#"{"active":true,"active":true}"#));
    assert_eq!(server(&web).bearer("opaque").await.status, 503);
    for status in [400, 401, 500, 302] {
        web.answer(ENDPOINT, move |_| response(status, ""));
        assert_eq!(server(&web).bearer("opaque").await.status, 503, "{status}");
    }
    web.put(ENDPOINT, active(json!({ "aud": null })));
    let trusting = ResourceServer::new(RESOURCE).unwrap().issuer(introspection(&web).any_audience());
    assert_eq!(Server::of(trusting).bearer("opaque").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_remembered_for_a_minute_at_most() {
    let web = Web::default();
    web.put(ENDPOINT, active(json!({})));
    let long = introspection(&web).remember(Duration::from_secs(3600));
    let server = Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(long));
    for _ in 0..3 {
        assert_eq!(server.bearer("opaque").await.status, OK);
    }
    assert_eq!(web.count(ENDPOINT), 1);
    web.put(ENDPOINT, json!({ "active": false }));
    assert_eq!(server.bearer("other").await.status, 401);
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(server.bearer("opaque").await.status, OK);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(server.bearer("opaque").await.status, 401);
    // What is not active may be in a moment.
    web.put(ENDPOINT, active(json!({})));
    assert_eq!(server.bearer("opaque").await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn not_all_tokens_are_asked_about_at_once() {
    let web = Web::default();
    web.put(ENDPOINT, active(json!({})));
    web.delay(Duration::from_secs(1));
    let few = introspection(&web).concurrent_introspections(4).timeout(Duration::from_millis(3500));
    let server = Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(few));
    let one = join_all((0..100).map(|_| server.bearer("opaque"))).await;
    assert!(one.iter().all(|reply| reply.status == OK));
    assert_eq!(web.count(ENDPOINT), 4, "the others found the answer");
    let tokens: Vec<_> = (0..20).map(|number| format!("opaque{number}")).collect();
    let many = join_all(tokens.iter().map(|token| server.bearer(token))).await;
    let answered = many.iter().filter(|reply| reply.status == OK).count();
    assert_eq!((answered, web.count(ENDPOINT)), (16, 20), "four each second, for three and a half");
    assert!(many.iter().all(|reply| reply.status == OK || reply.status == 503));
}

#[tokio::test]
async fn a_token_of_another_issuer_is_sent_to_no_endpoint() {
    let web = Web::default();
    web.put(ENDPOINT, active(json!({})));
    let server = server(&web);
    assert_eq!(server.bearer(&token(json!({ "iss": "https://bank.example" }))).await.status, 401);
    assert!(
        matches!(server.rejection(), Rejection::Issuer { found: Some(found), .. } if found == "https://bank.example")
    );
    assert!(web.asked().is_empty());
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK, "a JWT of that issuer");
    assert_eq!(web.count(ENDPOINT), 1);
}

#[tokio::test]
async fn a_server_can_have_both_kinds() {
    let web = Web::with_issuer();
    let opaque = "https://opaque.example/introspect";
    web.put(opaque, active(json!({ "sub": "ben" })));
    let other = Issuer::introspection("https://opaque.example", opaque, "a", "b", web.clone())
        .addresses(AddressPolicy::new().trust("opaque.example"));
    let server = Server::with(&web, |auth| auth.issuer(other));
    assert!(server.bearer(&token(json!({}))).await.body.contains("ann"));
    assert!(server.bearer("opaque").await.body.contains("ben"));
    assert_eq!(server.bearer(&token(json!({ "aud": "x" }))).await.status, 401);
    assert_eq!(web.count(opaque), 1, "only what is not a token of the other");
}
