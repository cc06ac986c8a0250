//! Attacks that succeeded, or that harmed other clients, before they were found.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_mcp_auth::server::{DpopPolicy, Issuer, Rejection, ReplayStore, ResourceServer};
use agentwire_mcp_auth::{AddressPolicy, Algorithm, Secret};
use agentwire_transport_http::client::{Body, BoxError, HttpClient};
use agentwire_transport_http::server::{Operation, Principal};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use http::{Request, Response};
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};
use tokio::time::{Instant, advance, timeout};

use super::dpop;
use super::support::{
    ISSUER, KEYS, METADATA, OK, RESOURCE, RSA, Reply, Server, Web, claims, header, in_session, initialize,
    issuer, jwk, now, response, signed, token,
};

const ENDPOINT: &str = "https://login.example/introspect";
const OTHER_ENDPOINT: &str = "https://other.example/introspect";

fn introspection(url: &str, endpoint: &str, web: &Web) -> Issuer {
    let hosts = AddressPolicy::new().trust("login.example").trust("other.example");
    Issuer::introspection(url, endpoint, "mcp", "secret", web.clone()).addresses(hosts)
}

fn active(change: &Value) -> Value {
    let mut answer = json!({ "active": true });
    answer.as_object_mut().unwrap().extend(claims(change.clone()).as_object().unwrap().clone());
    answer
}

/// Hydra names the kind of a token in `token_use`, others in `token_type`.
#[tokio::test]
async fn a_refresh_token_that_is_active_is_no_access_token() {
    let web = Web::default();
    let server = Server::of(
        ResourceServer::new(RESOURCE).unwrap().issuer(introspection(ISSUER, ENDPOINT, &web)).scopes(["mcp"]),
    );
    for (number, (change, status)) in [
        (json!({ "token_use": "refresh_token" }), 401),
        (json!({ "token_use": "refresh" }), 401),
        (json!({ "token_type": "refresh_token" }), 401),
        (json!({ "token_type": "Refresh" }), 401),
        (json!({ "token_use": "id_token" }), 401),
        (json!({ "token_use": "access_token", "token_type": "Bearer" }), OK),
        (json!({ "token_use": "access" }), OK),
    ]
    .into_iter()
    .enumerate()
    {
        web.put(ENDPOINT, active(&change));
        assert_eq!(server.bearer(&format!("opaque{number}")).await.status, status, "{change}");
    }
}

/// A logout token and every other security event token (RFC 8417) has `events`.
#[tokio::test]
async fn a_logout_token_is_no_access_token() {
    let server = Server::new(&Web::with_issuer());
    let events = json!({ "http://schemas.openid.net/event/backchannel-logout": {} });
    assert_eq!(server.bearer(&token(json!({ "events": events }))).await.status, 401);
    assert!(matches!(server.rejection(), Rejection::Type { .. }));
}

/// Two users of one client would be one caller otherwise.
#[tokio::test]
async fn a_subject_that_is_no_text_is_not_taken_for_none() {
    let server = Server::new(&Web::with_issuer());
    for subject in [json!(1), json!(["ann"]), json!({ "name": "ann" }), json!(true)] {
        assert_eq!(server.bearer(&token(json!({ "sub": subject }))).await.status, 401, "{subject}");
        assert_eq!(server.rejection().to_string(), "the claim `sub` of the token is missing or invalid");
    }
    assert_eq!(server.bearer(&token(json!({ "sub": null }))).await.status, OK, "a client acts for itself");
}

#[tokio::test]
async fn one_issuer_that_is_away_costs_no_token_where_another_does_not_know_it() {
    let web = Web::default();
    web.answer(ENDPOINT, |_| response(500, ""));
    web.put(OTHER_ENDPOINT, json!({ "active": false }));
    let [one, other] = [(ISSUER, ENDPOINT), ("https://other.example", OTHER_ENDPOINT)]
        .map(|(url, at)| introspection(url, at, &web));
    for order in [[one.clone(), other.clone()], [other, one]] {
        let auth = order.into_iter().fold(ResourceServer::new(RESOURCE).unwrap(), ResourceServer::issuer);
        assert_eq!(Server::of(auth.clone()).bearer("opaque").await.status, 503);
        let auth = auth.check(async |_: Secret| Err(Rejection::Inactive));
        assert_eq!(Server::of(auth).bearer("opaque").await.status, 503);
    }
}

#[tokio::test]
async fn a_token_of_another_issuer_is_sent_to_no_endpoint_however_it_is_signed() {
    let web = Web::default();
    web.put(ENDPOINT, active(&json!({})));
    let server =
        Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(introspection(ISSUER, ENDPOINT, &web)));
    let signed = |issuer: &str| {
        let claims = claims(json!({ "iss": issuer }));
        jsonwebtoken::encode(&Header::default(), &claims, &EncodingKey::from_secret(b"secret")).unwrap()
    };
    assert_eq!(server.bearer(&signed("https://bank.example")).await.status, 401);
    assert!(
        matches!(server.rejection(), Rejection::Issuer { found: Some(found), .. } if found == "https://bank.example")
    );
    assert!(web.asked().is_empty());
    assert_eq!(server.bearer(&signed(ISSUER)).await.status, OK, "only that issuer has to read it");
}

/// Anybody can use up the one fetch in a minute with a token of no key.
#[tokio::test(start_paused = true)]
async fn a_strangers_token_costs_no_client_its_new_token() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    let with_kid = |kid: &str, age: u64| {
        let mut header = header();
        header.kid = Some(kid.to_owned());
        signed(&header, &claims(json!({ "iat": now() - age })))
    };
    assert_eq!(server.bearer(&with_kid("one", 100)).await.status, OK);
    advance(Duration::from_secs(60)).await;
    assert_eq!(server.bearer(&with_kid("strange", 0)).await.status, 401);
    web.put(KEYS, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "two")] }));
    advance(Duration::from_secs(30)).await;
    let reply = server.bearer(&with_kid("two", 10)).await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")), "the client keeps its token");
    assert_eq!(
        server.bearer(&with_kid("two", 40)).await.status,
        401,
        "the keys are newer, and it has none of them"
    );
    advance(Duration::from_secs(30)).await;
    assert_eq!(server.bearer(&with_kid("two", 10)).await.status, OK);
}

#[tokio::test]
async fn a_document_of_an_issuer_fills_no_log() {
    let web = Web::with_issuer();
    web.put(KEYS, json!("\u{1b}[31m\u{202e}".repeat(10_000)));
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, 503);
    let shown = server.rejection().to_string();
    assert!(shown.contains(KEYS) && shown.len() < 10_000, "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
}

/// An issuer that takes requests and never answers is as good as one that is away.
#[tokio::test(start_paused = true)]
async fn an_issuer_that_hangs_holds_nobody_up_while_its_keys_are_known() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    let ever = token(json!({ "exp": 9_000_000_000_u64 }));
    assert_eq!(server.bearer(&ever).await.status, OK);
    web.delay(Duration::from_secs(3600));
    advance(Duration::from_secs(3600)).await;
    let (mut slowest, mut waited) = (Duration::ZERO, 0);
    for _ in 0..200 {
        let began = Instant::now();
        assert_eq!(server.bearer(&ever).await.status, OK);
        slowest = slowest.max(began.elapsed());
        waited += u32::from(began.elapsed() > Duration::from_millis(10));
        advance(Duration::from_secs(1)).await;
    }
    assert!(slowest <= Duration::from_secs(1) && waited < 20, "{slowest:?}, {waited} of 200");
}

#[tokio::test(start_paused = true)]
async fn a_fetch_whose_clients_have_all_left_is_finished() {
    let web = Web::with_issuer();
    web.delay(Duration::from_secs(1));
    let server = Server::new(&web);
    let good = token(json!({}));
    assert!(timeout(Duration::from_millis(10), server.bearer(&good)).await.is_err());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.bearer(&good).await.status, OK, "{:?}", server.rejection());
}

/// Panics once, and then asks the web.
#[derive(Clone)]
struct PanicsOnce(Web, Arc<AtomicUsize>);

impl HttpClient for PanicsOnce {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        let (web, asked) = (self.0.clone(), self.1.fetch_add(1, Ordering::Relaxed));
        async move {
            assert!(asked > 0, "a bug in a client");
            web.send(request).await
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_panics_once_does_not_for_ever() {
    let http = PanicsOnce(Web::with_issuer(), Arc::default());
    let issuer = Issuer::jwks(ISSUER, http).addresses(AddressPolicy::new().trust("login.example"));
    let server = Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(issuer));
    let good = token(json!({}));
    assert_eq!(server.bearer(&good).await.status, 503);
    advance(Duration::from_secs(5)).await;
    assert_eq!(server.bearer(&good).await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_check_that_panics_or_hangs_opens_no_door() {
    let check = async |token: Secret| match token.expose() {
        "hang" => std::future::pending().await,
        _ => panic!("a bug in a check"),
    };
    let auth = ResourceServer::new(RESOURCE).unwrap().check(check);
    let server = Server::of(auth.clone());
    assert_eq!(server.bearer("panic").await.status, 500);
    let began = Instant::now();
    assert_eq!(timeout(Duration::from_secs(60), server.bearer("hang")).await.expect("an end").status, 503);
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    let server = Server::of(auth.check_timeout(Duration::from_secs(1)));
    let began = Instant::now();
    assert_eq!(server.bearer("hang").await.status, 503);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
}

/// A store that never answers.
#[derive(Debug)]
struct Hangs;

impl ReplayStore for Hangs {
    fn insert(&self, _: &str, _: &Principal, _: u64) -> BoxFuture<'static, Result<bool, BoxError>> {
        std::future::pending().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_of_proofs_that_hangs_opens_no_door() {
    let server = Server::with(&Web::with_issuer(), |auth| {
        auth.dpop(DpopPolicy::Require).replay_store(Arc::new(Hangs)).check_timeout(Duration::from_secs(2))
    });
    let bound = dpop::bound();
    let proof = dpop::proof(&bound, json!({}));
    let proofs = [&*proof];
    let reply = dpop::send(&server, "DPoP", &bound, &proofs);
    assert_eq!(timeout(Duration::from_secs(60), reply).await.expect("an end").status, 503);
}

#[tokio::test]
async fn a_challenge_is_no_longer_than_a_header_may_be() {
    let server = Server::with(&Web::with_issuer(), |auth| {
        auth.operation_scopes(|operation: &Operation<'_>| {
            operation.name.iter().map(|name| format!("tool:{name}")).collect()
        })
    });
    let narrow = token(json!({}));
    let opened = Reply::of(server.send(in_session(None, &narrow, &initialize("2025-11-25"))).await).await;
    let session = opened.header("mcp-session-id").unwrap();
    for (name, is_named) in [("x".repeat(1_000_000), false), ("x".repeat(100), true)] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } });
        let reply = Reply::of(server.send(in_session(Some(session), &narrow, &body)).await).await;
        assert_eq!(reply.status, 403);
        assert!(reply.challenge().len() < 5000, "{} bytes", reply.challenge().len());
        assert_eq!(reply.challenge().contains("tool:xxx"), is_named);
    }
}

/// Without a token, anybody can make the server ask.
#[tokio::test(start_paused = true)]
async fn a_thousand_unknown_tokens_are_asked_about_a_few_at_a_time() {
    let web = Web::default();
    web.put(ENDPOINT, active(&json!({})));
    let server =
        Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(introspection(ISSUER, ENDPOINT, &web)));
    assert_eq!(server.bearer("known").await.status, OK);
    web.delay(Duration::from_secs(5));
    let unknown: Vec<_> = (0..1000).map(|number| format!("opaque{number}")).collect();
    let flood = join_all(unknown.iter().map(|token| server.bearer(token)));
    let mut flood = Box::pin(flood);
    assert!(timeout(Duration::from_secs(1), &mut flood).await.is_err());
    assert_eq!(web.count(ENDPOINT), 1 + 64);
    let began = Instant::now();
    assert_eq!(server.bearer("known").await.status, OK, "who is known does not wait");
    assert_eq!(began.elapsed(), Duration::ZERO);
    let statuses: Vec<_> = flood.await.into_iter().map(|reply| reply.status).collect();
    assert!(statuses.contains(&OK) && statuses.iter().all(|status| [OK, 503].contains(status)));
}

#[tokio::test]
async fn a_task_and_a_watched_resource_have_names_in_every_revision() {
    let server = Server::with(&Web::with_issuer(), |auth| {
        auth.operation_scopes(|operation: &Operation<'_>| match operation.name.as_deref() {
            Some(name) if name.contains("secret") => vec!["secret".to_owned()],
            _ => Vec::new(),
        })
    });
    let narrow = token(json!({ "exp": now() + 300 }));
    let opened = Reply::of(server.send(in_session(None, &narrow, &initialize("2025-11-25"))).await).await;
    let session = opened.header("mcp-session-id").unwrap();
    for (method, member) in [
        ("tasks/result", "taskId"),
        ("tasks/get", "taskId"),
        ("resources/subscribe", "uri"),
        ("resources/unsubscribe", "uri"),
        ("resources/read", "uri"),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { member: "a:secret" } });
        let reply = Reply::of(server.send(in_session(Some(session), &narrow, &body)).await).await;
        assert_eq!(reply.status, 403, "{method}");
    }
}

#[tokio::test]
async fn the_metadata_of_no_issuer_is_asked_for_a_strangers_token() {
    let web = Web::with_issuer();
    let server = Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&web)));
    for strange in ["opaque", "a.b.c", &*token(json!({ "iss": format!("{ISSUER}/") })), "e30.e30.e30"] {
        assert_eq!(server.bearer(strange).await.status, 401);
    }
    assert_eq!(web.count(METADATA), 0);
}
