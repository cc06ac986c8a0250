//! The requests of an attacker, each refused, with nothing of the token in the texts for an operator or a client.

use agentwire_mcp_auth::server::Rejection;
use agentwire_mcp_auth::{Algorithm, SigningKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};

use super::support::{KEYS, METADATA, OK, RSA, Server, Web, claims, header, jwk, signed, token};
use crate::thread_time;

fn raw(header: Value, claims: &Value, signature: &[u8]) -> String {
    [header.to_string().as_bytes(), claims.to_string().as_bytes(), signature]
        .map(|part| URL_SAFE_NO_PAD.encode(part))
        .join(".")
}

#[tokio::test]
async fn a_token_without_a_signature_is_refused() {
    let server = Server::new(&Web::with_issuer());
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let unsigned = raw(json!({ "alg": name, "typ": "at+jwt" }), &claims(json!({})), b"");
        assert_eq!(server.bearer(&unsigned).await.status, 401, "{name}");
        assert!(matches!(server.rejection(), Rejection::Algorithm { .. }), "{name}");
    }
    let good = token(json!({}));
    let (signed, _) = good.rsplit_once('.').unwrap();
    assert_eq!(server.bearer(&format!("{signed}.")).await.status, 401);
    assert_eq!(server.bearer(signed).await.status, 401);
    assert_eq!(server.bearer(&format!("{signed}.{}", URL_SAFE_NO_PAD.encode([0; 256]))).await.status, 401);
    assert_eq!(server.rejection(), Rejection::Signature);
}

#[tokio::test]
async fn a_public_key_is_no_secret() {
    let server = Server::new(&Web::with_issuer());
    let public = SigningKey::from_pkcs8_pem(RSA, Algorithm::Rs256).unwrap().public_jwk();
    for secret in [serde_json::to_vec(&public).unwrap(), RSA.as_bytes().to_vec(), b"one".to_vec()] {
        for algorithm in
            [jsonwebtoken::Algorithm::HS256, jsonwebtoken::Algorithm::HS384, jsonwebtoken::Algorithm::HS512]
        {
            let mut header = Header::new(algorithm);
            header.kid = Some("one".to_owned());
            let forged =
                jsonwebtoken::encode(&header, &claims(json!({})), &EncodingKey::from_secret(&secret))
                    .unwrap();
            assert_eq!(server.bearer(&forged).await.status, 401);
            assert!(matches!(server.rejection(), Rejection::Algorithm { .. }));
        }
    }
}

/// A key id is compared, and is not a path, a URL or a query. Keys in headers are not looked at.
#[tokio::test]
async fn a_header_leads_to_no_other_key() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    for kid in [
        "../../../../dev/null",
        "/etc/passwd",
        "https://evil.example/keys",
        "one' OR '1'='1",
        "one\0",
        "ONE",
        "one ",
        &"k".repeat(4000),
    ] {
        let mut header = header();
        header.kid = Some(kid.to_owned());
        assert_eq!(server.bearer(&signed(&header, &claims(json!({})))).await.status, 401, "{kid}");
        assert!(server.rejection().to_string().len() < 600);
    }
    let evil = SigningKey::generate().unwrap().public_jwk();
    for more in [
        json!({ "jwk": evil, "kid": "two" }),
        json!({ "jku": "https://evil.example/keys", "kid": "two" }),
        json!({ "x5u": "https://evil.example/keys", "kid": "two" }),
        json!({ "crit": ["exp"], "kid": "one" }),
        json!({ "kid": 1 }),
        json!({ "kid": { "$ne": null } }),
    ] {
        let mut header = json!({ "alg": "ES256", "typ": "at+jwt" });
        header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(server.bearer(&raw(header, &claims(json!({})), &[1; 64])).await.status, 401, "{more}");
    }
    assert_eq!(web.asked(), [METADATA, KEYS], "within a minute, nothing else was asked");
}

#[tokio::test]
async fn an_id_token_is_no_access_token() {
    let server = Server::new(&Web::with_issuer());
    let mut plain = header();
    plain.typ = Some("JWT".to_owned());
    let id_token = |header: &Header, aud: &str| {
        signed(header, &claims(json!({ "aud": aud, "nonce": "n", "scope": null })))
    };
    assert_eq!(server.bearer(&id_token(&plain, "app")).await.status, 401);
    assert!(matches!(server.rejection(), Rejection::Audience { .. }));
    // One that names this server, as a client with the server's URL for an id would get.
    for change in [
        json!({ "at_hash": "h" }),
        json!({ "c_hash": "h" }),
        json!({ "typ": "ID" }),
        json!({ "token_use": "id" }),
    ] {
        assert_eq!(server.bearer(&signed(&plain, &claims(change.clone()))).await.status, 401, "{change}");
        assert!(matches!(server.rejection(), Rejection::Type { .. }), "{change}");
    }
    for change in [json!({ "typ": "Bearer" }), json!({ "token_use": "access" }), json!({ "nonce": "n" })] {
        assert_eq!(server.bearer(&signed(&plain, &claims(change.clone()))).await.status, OK, "{change}");
    }
    plain.typ = Some("id_token+jwt".to_owned());
    assert_eq!(server.bearer(&id_token(&plain, super::support::RESOURCE)).await.status, 401);
}

#[tokio::test]
async fn a_token_in_the_query_is_refused_and_shown_nowhere() {
    let server = Server::new(&Web::with_issuer());
    let good = token(json!({}));
    for (authorization, query) in [
        (None, format!("access_token={good}")),
        (Some(format!("Bearer {good}")), format!("access_token={good}")),
        (Some(format!("Bearer {good}")), "a=b&access_token=".to_owned()),
        (None, format!("%61ccess_token={good}")),
    ] {
        let uri = format!("https://mcp.example/mcp?{query}");
        let reply = server
            .call_with(authorization.as_deref(), |request| *request.uri_mut() = uri.parse().unwrap())
            .await;
        assert_eq!(reply.status, 400);
        assert!(reply.challenge().contains("error=\"invalid_request\""));
        let why = server.rejection();
        let shown = format!("{why} {why:?} {} {}", reply.body, reply.challenge());
        assert!(why == Rejection::InQuery && !shown.contains(&good[..30]));
    }
}

#[tokio::test]
async fn two_headers_are_refused() {
    let server = Server::new(&Web::with_issuer());
    let good = format!("Bearer {}", token(json!({})));
    for second in [good.as_str(), "Bearer x", "Basic eDp5", ""] {
        let add = |request: &mut http::Request<_>| {
            request.headers_mut().append("authorization", second.parse().unwrap());
        };
        assert_eq!(server.call_with(Some(&good), add).await.status, 400, "{second}");
        assert!(matches!(server.rejection(), Rejection::Repeated { .. }));
    }
    for scheme in ["bearer", "BEARER", "bEaReR"] {
        assert_eq!(server.call(Some(&good.replace("Bearer", scheme))).await.status, OK);
    }
    for scheme in ["Bear", "Bearer:", "Token", "Negotiate", "Bearer\t"] {
        assert_eq!(server.call(Some(&good.replace("Bearer", scheme))).await.status, 401, "{scheme}");
    }
}

#[tokio::test]
async fn a_long_token_costs_little() {
    let web = Web::with_issuer();
    let server = Server::new(&web);
    let started = thread_time();
    for long in [
        "x".repeat(1 << 20),
        format!("{}.x.x", "A".repeat(1 << 20)),
        ".".repeat(1 << 20),
        "=".repeat(1 << 20),
    ] {
        assert_eq!(server.bearer(&long).await.status, 401);
        assert!(matches!(server.rejection(), Rejection::TooLong { .. }));
    }
    let deep = format!("{}{}", "[".repeat(6000), "]".repeat(6000));
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256"}"#);
    let deep = format!("{header}.{}.AAAA", URL_SAFE_NO_PAD.encode(deep));
    assert_eq!(server.bearer(&deep).await.status, 401);
    let objects = format!("{{\"x\":[{}]}}", vec![r#"{"":0}"#; 1500].join(","));
    let bushy = format!("{header}.{}.AAAA", URL_SAFE_NO_PAD.encode(objects));
    assert_eq!(server.bearer(&bushy).await.status, 401, "it would take a hundred times its length");
    assert!(matches!(server.rejection(), Rejection::Malformed { .. }));
    let wide = signed(&super::support::header(), &claims(json!({ "scope": "x ".repeat(5000) })));
    assert_eq!(server.bearer(&wide).await.status, 403);
    assert!(server.rejection().to_string().len() < 1000);
    let took = thread_time() - started;
    assert!(took.as_secs() < 5, "{took:?}");
    assert_eq!(web.count(KEYS), 1, "only the one that could be read");
}

/// Each character of a token counts: in the header, in the claims and in the signature.
#[tokio::test]
async fn no_changed_token_is_taken() {
    let server = Server::new(&Web::with_issuer());
    let good = token(json!({}));
    assert_eq!(server.bearer(&good).await.status, OK);
    for at in 0..good.len() {
        let mut changed = good.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert_eq!(server.bearer(std::str::from_utf8(&changed).unwrap()).await.status, 401, "at {at}");
        assert_ne!(server.bearer(&good[..at]).await.status, OK, "up to {at}");
        changed[at] = b'.';
        assert_eq!(
            server.bearer(std::str::from_utf8(&changed).unwrap()).await.status == OK,
            changed == good.as_bytes()
        );
    }
    for more in ["A", ".", "=", ".A", "AAAA"] {
        assert_eq!(server.bearer(&format!("{good}{more}")).await.status, 401, "{more}");
    }
}

#[tokio::test]
async fn nothing_of_a_token_reaches_a_log() {
    let server = Server::new(&Web::with_issuer());
    let shown = format!("{:?}", server.service);
    assert!(shown.contains("login.example"), "{shown}");
    let mut parts: Vec<String> = Vec::new();
    for bad in [
        token(json!({ "aud": "x" })),
        token(json!({ "exp": 1 })),
        raw(json!({ "alg": "HS256" }), &claims(json!({ "marker": "hunter2" })), b"hunter2"),
        "hunter2-hunter2".to_owned(),
    ] {
        let reply = server.bearer(&bad).await;
        let why = server.rejection();
        parts.push(format!("{why} {why:?} {} {}", reply.body, reply.challenge()));
        let end = &bad[bad.len() - 12..];
        assert!(parts.iter().all(|text| !text.contains(end) && !text.contains("hunter2")), "{parts:?}");
    }
}

#[tokio::test]
async fn text_of_a_peer_is_shown_escaped() {
    let server = Server::new(&Web::with_issuer());
    for change in [json!({ "iss": "https://a\u{1b}[2J\n" }), json!({ "aud": "x\u{202e}\r\n" })] {
        assert_eq!(server.bearer(&token(change)).await.status, 401);
        let shown = server.rejection().to_string();
        assert!(shown.chars().all(|char| !char.is_control() && char != '\u{202e}'), "{shown:?}");
    }
}

/// Each key by itself is small; together they are not tried without bound.
#[tokio::test]
async fn a_key_set_of_many_keys_is_used_in_part() {
    let web = Web::with_issuer();
    let mut keys: Vec<Value> = (0..100)
        .map(|_| serde_json::to_value(SigningKey::generate().unwrap().public_jwk().with_kid("one")).unwrap())
        .collect();
    keys.push(jwk(RSA, Algorithm::Rs256, "one"));
    web.put(KEYS, json!({ "keys": keys }));
    assert_eq!(Server::new(&web).bearer(&token(json!({}))).await.status, 401, "the hundred and first");
}
