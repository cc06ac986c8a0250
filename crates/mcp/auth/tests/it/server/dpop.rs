//! Proofs of possession: of this key, for this request, for this token, once.

use std::time::Duration;

use agentwire_mcp_auth::server::{DpopPolicy, MemoryReplayStore, Rejection, ResourceServer};
use agentwire_mcp_auth::{Algorithm, SigningKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{EncodingKey, Header};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::support::{EC, OK, RESOURCE, RSA, Reply, Server, Web, issuer, jwk, now, token};

/// The thumbprint of the key in `EC`.
fn thumbprint() -> String {
    SigningKey::from_pkcs8_pem(EC, Algorithm::Es256).unwrap().public_jwk().thumbprint()
}

pub(crate) fn bound() -> String {
    token(json!({ "cnf": { "jkt": thumbprint() } }))
}

/// A proof for a POST with that token, changed.
pub(crate) fn proof(token: &str, change: Value) -> String {
    proof_with(token, change, |_| {})
}

fn proof_with(token: &str, change: Value, adjust: impl FnOnce(&mut Header)) -> String {
    let mut key = jwk(EC, Algorithm::Es256, "x");
    key.as_object_mut().unwrap().retain(|name, _| ["kty", "crv", "x", "y"].contains(&name.as_str()));
    let mut header = Header::new(jsonwebtoken::Algorithm::ES256);
    header.typ = Some("dpop+jwt".to_owned());
    header.jwk = Some(serde_json::from_value(key).unwrap());
    adjust(&mut header);
    let mut claims = json!({
        "htm": "POST", "htu": RESOURCE, "iat": now(), "jti": format!("{:?}", std::time::Instant::now()),
        "ath": URL_SAFE_NO_PAD.encode(digest(&SHA256, token.as_bytes())),
    });
    let members = claims.as_object_mut().unwrap();
    members.extend(change.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    jsonwebtoken::encode(&header, &claims, &EncodingKey::from_ec_pem(EC.as_bytes()).unwrap()).unwrap()
}

fn server(policy: DpopPolicy) -> Server {
    Server::with(&Web::with_issuer(), |auth| auth.dpop(policy))
}

pub(crate) async fn send(server: &Server, scheme: &str, token: &str, proofs: &[&str]) -> Reply {
    let add = |request: &mut http::Request<_>| {
        for proof in proofs {
            request.headers_mut().append("dpop", proof.parse().unwrap());
        }
    };
    server.call_with(Some(&format!("{scheme} {token}")), add).await
}

#[tokio::test]
async fn a_proof_of_the_key_is_taken_once() {
    for policy in [DpopPolicy::Accept, DpopPolicy::Require] {
        let (server, token) = (server(policy), bound());
        let proof = proof(&token, json!({}));
        assert_eq!(send(&server, "DPoP", &token, &[&proof]).await.status, OK);
        let again = send(&server, "DPoP", &token, &[&proof]).await;
        assert_eq!(again.status, 401);
        assert!(again.challenge().starts_with("DPoP error=\"invalid_dpop_proof\""), "{}", again.challenge());
        assert_eq!(
            server.rejection().to_string(),
            "the proof of possession is not valid: it has been used before"
        );
    }
}

#[tokio::test]
async fn a_proof_for_something_else_is_refused() {
    let (server, token) = (server(DpopPolicy::Accept), bound());
    for change in [
        json!({ "htm": "GET" }),
        json!({ "htm": "post" }),
        json!({ "htm": null }),
        json!({ "htu": "https://mcp.example/other" }),
        json!({ "htu": "https://evil.example/mcp" }),
        json!({ "htu": "http://mcp.example/mcp" }),
        json!({ "htu": null }),
        json!({ "ath": "x" }),
        json!({ "ath": null }),
        json!({ "iat": now() - 121 }),
        json!({ "iat": now() + 120 }),
        json!({ "iat": null }),
        json!({ "jti": null }),
        json!({ "jti": "" }),
        json!({ "jti": 1 }),
        json!({ "jti": "x".repeat(257) }),
    ] {
        let reply = send(&server, "DPoP", &token, &[&proof(&token, change.clone())]).await;
        assert_eq!(reply.status, 401, "{change}");
        assert!(matches!(server.rejection(), Rejection::Proof { .. }), "{change}");
    }
    for change in [json!({ "htu": "HTTPS://MCP.EXAMPLE:443/mcp?x#y" }), json!({ "iat": now() - 60 })] {
        let reply = send(&server, "DPoP", &token, &[&proof(&token, change.clone())]).await;
        assert_eq!(reply.status, OK, "{change}");
    }
}

#[tokio::test]
async fn a_proof_in_another_form_is_refused() {
    let (server, token) = (server(DpopPolicy::Accept), bound());
    let typed =
        |kind: Option<&str>| proof_with(&token, json!({}), |header| header.typ = kind.map(str::to_owned));
    let keyless = proof_with(&token, json!({}), |header| header.jwk = None);
    let stranger = proof_with(&token, json!({}), |header| {
        header.jwk = serde_json::from_value(jwk(RSA, Algorithm::Rs256, "x")).ok();
    });
    let long = format!("{}{}", proof(&token, json!({})), "A".repeat(9000));
    for bad in [
        typed(None),
        typed(Some("JWT")),
        typed(Some("at+jwt")),
        keyless,
        stranger,
        long,
        "x".into(),
        "..".into(),
    ] {
        assert_eq!(send(&server, "DPoP", &token, &[&bad]).await.status, 401, "{bad}");
        assert!(matches!(server.rejection(), Rejection::Proof { .. }), "{bad}");
    }
    assert_eq!(send(&server, "DPoP", &token, &[]).await.status, 401);
    let (one, other) = (proof(&token, json!({})), proof(&token, json!({})));
    assert_eq!(send(&server, "DPoP", &token, &[&one, &other]).await.status, 400);
}

/// The header brings the private key, which its sender has shown to everybody now.
#[tokio::test]
async fn a_proof_with_a_private_key_is_refused() {
    let (server, token) = (server(DpopPolicy::Accept), bound());
    let good = proof(&token, json!({}));
    let mut parts = good.split('.').map(str::to_owned).collect::<Vec<_>>();
    let mut header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(&parts[0]).unwrap()).unwrap();
    header["jwk"]["d"] = "AAAA".into();
    parts[0] = URL_SAFE_NO_PAD.encode(header.to_string());
    assert_eq!(send(&server, "DPoP", &token, &[&parts.join(".")]).await.status, 401);
    assert_eq!(
        server.rejection().to_string(),
        "the proof of possession is not valid: its `jwk` is not a public key"
    );
}

#[tokio::test]
async fn a_bound_token_needs_its_own_key() {
    let accept = server(DpopPolicy::Accept);
    let token = bound();
    let proof_of = |token: &str| proof(token, json!({}));
    assert_eq!(send(&accept, "Bearer", &token, &[]).await.status, 401);
    assert_eq!(accept.rejection(), Rejection::Bound);
    assert_eq!(send(&accept, "Bearer", &token, &[&proof_of(&token)]).await.status, 401, "the scheme counts");
    let other = super::support::token(json!({ "cnf": { "jkt": "another" } }));
    assert_eq!(send(&accept, "DPoP", &other, &[&proof_of(&other)]).await.status, 401);
    assert_eq!(accept.rejection(), Rejection::Bound);
    for cnf in [json!({}), json!({ "jkt": 1 }), json!("x"), json!({ "x5t#S256": "x" })] {
        let odd = super::support::token(json!({ "cnf": cnf }));
        assert_eq!(send(&accept, "DPoP", &odd, &[&proof_of(&odd)]).await.status, 401, "{cnf}");
    }
    let free = super::support::token(json!({}));
    assert_eq!(send(&accept, "Bearer", &free, &[]).await.status, OK);
    assert_eq!(send(&accept, "DPoP", &free, &[&proof_of(&free)]).await.status, 401);
    assert_eq!(accept.rejection(), Rejection::Unbound);
    let require = server(DpopPolicy::Require);
    assert_eq!(send(&require, "Bearer", &free, &[]).await.status, 401);
    assert_eq!(require.rejection(), Rejection::Unbound);
    let off = server(DpopPolicy::Off);
    assert_eq!(send(&off, "Bearer", &token, &[]).await.status, 401);
    assert_eq!(send(&off, "DPoP", &token, &[&proof_of(&token)]).await.status, 401);
    assert_eq!(send(&off, "Bearer", &free, &[]).await.status, OK);
}

#[tokio::test]
async fn a_nonce_is_demanded_given_and_taken() {
    let adjust =
        |auth: ResourceServer| auth.dpop(DpopPolicy::Accept).proof_nonces_of(b"a secret of all servers");
    let (one, other) = (Server::with(&Web::with_issuer(), adjust), Server::with(&Web::with_issuer(), adjust));
    let token = bound();
    for change in [json!({}), json!({ "nonce": "x" }), json!({ "nonce": 1 })] {
        let reply = send(&one, "DPoP", &token, &[&proof(&token, change)]).await;
        assert_eq!(reply.status, 401);
        assert!(reply.challenge().starts_with("DPoP error=\"use_dpop_nonce\""), "{}", reply.challenge());
    }
    let reply = send(&one, "DPoP", &token, &[&proof(&token, json!({}))]).await;
    let nonce = reply.header("dpop-nonce").unwrap();
    let reply = send(&other, "DPoP", &token, &[&proof(&token, json!({ "nonce": nonce }))]).await;
    assert_eq!(reply.status, OK);
    assert!(reply.header("dpop-nonce").is_some());
    let random =
        Server::with(&Web::with_issuer(), |auth| auth.dpop(DpopPolicy::Accept).proof_nonces().unwrap());
    let reply = send(&random, "DPoP", &token, &[&proof(&token, json!({ "nonce": nonce }))]).await;
    assert_eq!((reply.status, random.rejection()), (401, Rejection::Nonce));
}

#[tokio::test]
async fn servers_share_used_proofs_and_refuse_where_they_cannot_remember_one() {
    let store = std::sync::Arc::new(MemoryReplayStore::new(1));
    let make = || {
        Server::with(&Web::with_issuer(), |auth| auth.dpop(DpopPolicy::Require).replay_store(store.clone()))
    };
    let (one, other, token) = (make(), make(), bound());
    let first = proof(&token, json!({}));
    assert_eq!(send(&one, "DPoP", &token, &[&first]).await.status, OK);
    assert_eq!(send(&other, "DPoP", &token, &[&first]).await.status, 401);
    assert_eq!(send(&other, "DPoP", &token, &[&proof(&token, json!({}))]).await.status, 503);
    assert!(matches!(other.rejection(), Rejection::Unavailable { .. }));
}

#[tokio::test]
async fn a_proof_is_taken_for_its_lifetime() {
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&Web::with_issuer()));
    let auth = auth.dpop(DpopPolicy::Require).leeway(Duration::ZERO).proof_lifetime(Duration::from_secs(10));
    let (server, token) = (Server::of(auth), bound());
    assert_eq!(
        send(&server, "DPoP", &token, &[&proof(&token, json!({ "iat": now() - 5 }))]).await.status,
        OK
    );
    assert_eq!(
        send(&server, "DPoP", &token, &[&proof(&token, json!({ "iat": now() - 20 }))]).await.status,
        401
    );
    assert_eq!(
        send(&server, "DPoP", &token, &[&proof(&token, json!({ "iat": now() + 5 }))]).await.status,
        401
    );
}
