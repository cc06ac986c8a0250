//! The key set: one fetch for all, rotation, what is used while the issuer is away, and what is skipped.

use std::time::Duration;

use agentwire_mcp_auth::server::{Rejection, ResourceServer};
use agentwire_mcp_auth::{AddressPolicy, Algorithm};
use futures::future::join_all;
use jsonwebtoken::{EncodingKey, Header};
use serde_json::json;

use super::support::{
    EC, ISSUER, KEYS, METADATA, OK, RESOURCE, RSA, Server, Web, claims, header, issuer, jwk, response,
    signed, token,
};

fn with_kid(kid: &str) -> String {
    let mut header = header();
    header.kid = Some(kid.to_owned());
    signed(&header, &claims(json!({})))
}

#[tokio::test(start_paused = true)]
async fn concurrent_requests_fetch_the_keys_once() {
    let web = Web::with_issuer();
    web.delay(Duration::from_secs(1));
    let server = Server::new(&web);
    let token = token(json!({}));
    let replies = join_all((0..50).map(|_| server.bearer(&token))).await;
    assert!(replies.iter().all(|reply| reply.status == OK));
    assert_eq!((web.count(METADATA), web.count(KEYS)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_unknown_keys_cost_one_fetch_a_minute() {
    let web = Web::with_issuer();
    web.delay(Duration::from_millis(100));
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    let unknown: Vec<_> = (0..1000).map(|number| with_kid(&format!("k{number}"))).collect();
    tokio::time::advance(Duration::from_secs(60)).await;
    let replies = join_all(unknown.iter().map(|token| server.bearer(token))).await;
    assert!(replies.iter().all(|reply| reply.status == 401));
    assert_eq!(web.count(KEYS), 2);
    assert!(matches!(server.rejection(), Rejection::Key { kid: Some(_), .. }));
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(server.bearer(&unknown[0]).await.status, 503, "it is newer than the keys");
    assert_eq!(web.count(KEYS), 2);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(server.bearer(&unknown[0]).await.status, 401);
    assert_eq!(web.count(KEYS), 3);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_ends_no_fetch_and_begins_no_other() {
    let web = Web::with_issuer();
    web.delay(Duration::from_secs(1));
    let server = Server::new(&web);
    let good = token(json!({}));
    for _ in 0..20 {
        assert!(tokio::time::timeout(Duration::from_millis(10), server.bearer(&good)).await.is_err());
    }
    assert_eq!(server.bearer(&good).await.status, OK);
    assert_eq!((web.count(METADATA), web.count(KEYS)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_new_is_found_and_one_that_is_gone_is_not_used() {
    let web = Web::with_issuer();
    let server = Server::of(
        ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&web).refresh_interval(Duration::from_secs(10))),
    );
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    web.put(KEYS, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "two")] }));
    assert_eq!(server.bearer(&with_kid("two")).await.status, 401, "too soon");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(server.bearer(&with_kid("two")).await.status, OK);
    assert_eq!(server.bearer(&with_kid("one")).await.status, 401);
    // One that is withdrawn and not replaced.
    web.put(KEYS, json!({ "keys": [] }));
    assert_eq!(server.bearer(&with_kid("two")).await.status, OK);
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert_eq!(server.bearer(&with_kid("two")).await.status, 401);
}

#[tokio::test(start_paused = true)]
async fn keys_are_used_on_while_the_issuer_is_away() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    let ever = signed(&header(), &claims(json!({ "exp": 9_000_000_000_u64 })));
    assert_eq!(server.bearer(&ever).await.status, OK);
    web.answer(KEYS, |_| response(500, ""));
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert_eq!(server.bearer(&ever).await.status, OK);
    let asked = web.count(KEYS);
    assert_eq!(
        (server.bearer(&ever).await.status, web.count(KEYS)),
        (OK, asked),
        "it is not asked each time"
    );
    tokio::time::advance(Duration::from_secs(24 * 3600)).await;
    let reply = server.bearer(&ever).await;
    assert_eq!((reply.status, reply.challenge(), reply.header("retry-after")), (503, "", Some("1")));
    assert!(matches!(server.rejection(), Rejection::Unavailable { .. }));
    web.put(KEYS, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "one")] }));
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(server.bearer(&ever).await.status, OK);
}

#[tokio::test(start_paused = true)]
async fn a_new_key_of_an_issuer_that_is_away_costs_no_token() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    web.answer(KEYS, |_| response(500, ""));
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(server.bearer(&with_kid("two")).await.status, 503);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK, "the old keys are used on");
    web.put(KEYS, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "two")] }));
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(server.bearer(&with_kid("two")).await.status, OK);
    assert_eq!(server.bearer(&with_kid("three")).await.status, 401);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_away_at_first_costs_no_token() {
    let web = Web::with_issuer();
    web.remove(METADATA);
    let server = Server::new(&web);
    let good = token(json!({}));
    assert_eq!(server.bearer(&good).await.status, 503);
    web.put(METADATA, json!({ "issuer": ISSUER, "jwks_uri": KEYS }));
    assert_eq!(server.bearer(&good).await.status, 503, "it is not asked each time");
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(server.bearer(&good).await.status, OK);
}

#[tokio::test]
async fn p20_odd_keys_are_skipped_one_by_one() {
    let web = Web::with_issuer();
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    let odd = [
        json!(null),
        json!(1),
        json!([]),
        json!({}),
        json!({ "kty": "oct", "k": "AAAA", "kid": "one" }),
        json!({ "kty": "EC", "crv": "secp256k1", "x": x, "y": x, "kid": "one" }),
        json!({ "kty": "EC", "crv": "P-256", "x": x, "y": x, "kid": "one" }),
        json!({ "kty": "OKP", "crv": "Ed448", "x": "AAAA", "kid": "one" }),
        json!({ "kty": "RSA", "n": "!", "e": "AQAB", "kid": "one" }),
        json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "one" }),
        json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA" }),
    ];
    let mut keys = odd.to_vec();
    let mut encryption = jwk(RSA, Algorithm::Rs256, "one");
    encryption["use"] = "enc".into();
    keys.push(encryption);
    keys.push(jwk(RSA, Algorithm::Rs256, "one"));
    web.put(KEYS, json!({ "keys": keys, "extra": {} }));
    assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, OK);
    for document in [json!({ "keys": odd }), json!({ "keys": [] })] {
        web.put(KEYS, document);
        assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, 401);
    }
    for document in [json!({}), json!([]), json!({ "keys": {} }), json!("keys")] {
        web.put(KEYS, document);
        assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, 503);
    }
}

#[tokio::test]
async fn a_token_without_the_id_of_a_key_is_tried_with_all() {
    let web = Web::with_issuer();
    web.put(KEYS, json!({ "keys": [jwk(EC, Algorithm::Es256, "a"), jwk(RSA, Algorithm::Rs256, "b")] }));
    let server = Server::new(&web);
    let mut header = header();
    header.kid = None;
    assert_eq!(server.bearer(&signed(&header, &claims(json!({})))).await.status, OK);
    let mut ec = Header::new(jsonwebtoken::Algorithm::ES256);
    ec.typ = None;
    let key = EncodingKey::from_ec_pem(EC.as_bytes()).unwrap();
    let of_ec = jsonwebtoken::encode(&ec, &claims(json!({})), &key).unwrap();
    assert_eq!(server.bearer(&of_ec).await.status, OK);
}

#[tokio::test]
async fn only_configured_algorithms_are_taken() {
    let web = Web::with_issuer();
    let only = issuer(&web).algorithms([Algorithm::Es256]);
    let server = Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(only));
    assert_eq!(server.bearer(&token(json!({}))).await.status, 401);
    assert!(matches!(server.rejection(), Rejection::Algorithm { .. }));
}

#[tokio::test]
async fn the_metadata_is_of_that_issuer_exactly() {
    for found in ["https://login.example/", "https://evil.example", ""] {
        let web = Web::with_issuer();
        web.put(METADATA, json!({ "issuer": found, "jwks_uri": KEYS }));
        let server = Server::new(&web);
        assert_eq!(server.bearer(&token(json!({}))).await.status, 503, "{found}");
        assert_eq!(web.count(KEYS), 0);
        let why = server.rejection().to_string();
        assert!(why.contains(&format!("`{found}`")) && why.contains("`https://login.example`"), "{why}");
    }
    let web = Web::with_issuer();
    web.remove(METADATA);
    let openid = "https://login.example/.well-known/openid-configuration";
    web.put(openid, json!({ "issuer": ISSUER, "jwks_uri": KEYS }));
    assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, OK);
    web.put(openid, json!({ "issuer": ISSUER }));
    assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, 503);
}

#[tokio::test]
async fn keys_are_fetched_from_no_other_place() {
    let at = |uri: &str, policy: AddressPolicy| {
        let web = Web::with_issuer();
        web.put(METADATA, json!({ "issuer": ISSUER, "jwks_uri": uri }));
        web.put(uri, json!({ "keys": [jwk(RSA, Algorithm::Rs256, "one")] }));
        let issuer = issuer(&web).addresses(policy.trust("login.example"));
        (Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(issuer)), web)
    };
    for uri in [
        "https://169.254.169.254/latest/meta-data",
        "http://169.254.169.254/keys",
        "https://127.0.0.1/keys",
        "https://localhost/keys",
        "https://10.0.0.1/keys",
        "https://[::1]/keys",
        "https://[fd00::1]/keys",
        "http://192.0.2.1/keys",
        "file:///etc/passwd",
        "keys",
    ] {
        let (server, web) = at(uri, AddressPolicy::new());
        assert_eq!(server.bearer(&token(json!({}))).await.status, 503, "{uri}");
        assert_eq!(web.count(uri), 0, "{uri}");
    }
    let (server, web) = at("http://127.0.0.1:8080/keys", AddressPolicy::new().loopback(true));
    assert_eq!((server.bearer(&token(json!({}))).await.status, web.asked().len()), (OK, 2));
    let (server, _) = at("https://169.254.169.254/keys", AddressPolicy::new().loopback(true).private(true));
    assert_eq!(server.bearer(&token(json!({}))).await.status, 503);
}

#[tokio::test]
async fn a_redirect_of_the_keys_is_not_followed() {
    let web = Web::with_issuer();
    web.answer(KEYS, |_| {
        let mut redirect = response(302, "");
        redirect.headers_mut().insert("location", "https://evil.example/keys".parse().unwrap());
        redirect
    });
    web.put("https://evil.example/keys", json!({ "keys": [jwk(RSA, Algorithm::Rs256, "one")] }));
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, 503);
    assert_eq!(web.count("https://evil.example/keys"), 0);
    assert!(server.rejection().to_string().contains("redirects to"));
}

#[tokio::test(start_paused = true)]
async fn a_key_set_without_an_end_is_left() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use futures::StreamExt;

    let (web, sent) = (Web::with_issuer(), Arc::new(AtomicUsize::new(0)));
    let counted = sent.clone();
    web.answer(KEYS, move |_| {
        let counted = counted.clone();
        let endless = futures::stream::repeat_with(move || {
            counted.fetch_add(64 << 10, Ordering::SeqCst);
            Ok(Bytes::from(vec![b' '; 64 << 10]))
        });
        http::Response::new(endless.take(1600).boxed())
    });
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, 503);
    assert!(sent.load(Ordering::SeqCst) <= 512 << 10);
    assert!(server.rejection().to_string().contains("limit of 262144 bytes"), "{}", server.rejection());
    // One that sends nothing.
    web.delay(Duration::from_secs(3600));
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(server.bearer(&token(json!({}))).await.status, 503);
}
