//! The tokens that are taken, and the texts about others for a client and an operator.

use agentwire_mcp_auth::Algorithm;
use agentwire_mcp_auth::Secret;
use agentwire_mcp_auth::server::{AccessToken, Rejection, ResourceServer};
use jsonwebtoken::{EncodingKey, Header};
use serde_json::{Value, json};

use super::support::{
    EC, ISSUER, OK, RESOURCE, Server, Web, claims, header, issuer, jwk, now, signed, token,
};

#[tokio::test]
async fn a_valid_token_names_the_caller() {
    let server = Server::new(&Web::with_issuer());
    let reply = server.bearer(&token(json!({}))).await;
    assert_eq!(reply.status, OK, "{reply:?}");
    assert!(reply.body.contains(r#"[\"https://login.example\",\"ann\"]"#), "{}", reply.body);
    for (change, name) in [
        (json!({ "aud": ["https://other.example", RESOURCE] }), "ann"),
        (json!({ "exp": now() - 30 }), "ann"),
        (json!({ "nbf": now() + 30 }), "ann"),
        (json!({ "exp": (now() + 300) as f64 + 0.5 }), "ann"),
        (json!({ "scope": null, "scp": ["mcp", "x"] }), "ann"),
        (json!({ "scope": null, "scp": "x mcp" }), "ann"),
        (json!({ "sub": "ben\",\"" }), "ben"),
    ] {
        let reply = server.bearer(&token(change.clone())).await;
        assert_eq!(reply.status, OK, "{change}: {:?}", reply.body);
        assert!(reply.body.contains(name));
    }
    let client = server.bearer(&token(json!({ "sub": null, "client_id": "ann" }))).await;
    assert!(client.body.contains(r#"[\"https://login.example\",null,\"ann\"]"#), "{}", client.body);
}

#[tokio::test]
async fn a_type_that_is_no_access_token_s_is_refused() {
    let server = Server::new(&Web::with_issuer());
    let typed = |kind: Option<&str>| {
        let mut header = header();
        header.typ = kind.map(str::to_owned);
        signed(&header, &claims(json!({})))
    };
    for kind in [None, Some("JWT"), Some("jwt"), Some("at+jwt"), Some("AT+JWT"), Some("application/at+jwt")] {
        assert_eq!(server.bearer(&typed(kind)).await.status, OK, "{kind:?}");
    }
    for kind in ["", "id+jwt", "dpop+jwt", "logout+jwt", "at+jwt ", "secevent+jwt"] {
        assert_eq!(server.bearer(&typed(Some(kind))).await.status, 401, "{kind}");
        assert!(matches!(server.rejection(), Rejection::Type { .. }));
    }
    let strict =
        Server::of(ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&Web::with_issuer()).require_type()));
    assert_eq!(strict.bearer(&typed(Some("JWT"))).await.status, 401);
    assert_eq!(strict.bearer(&typed(None)).await.status, 401);
    assert_eq!(strict.bearer(&typed(Some("at+jwt"))).await.status, OK);
}

type IsReason = fn(&Rejection) -> bool;

#[tokio::test]
async fn p19_p20_a_wrong_claim_is_refused_with_a_reason_for_the_operator_alone() {
    let server = Server::new(&Web::with_issuer());
    let reasons: &[(Value, IsReason)] = &[
        (json!({ "iss": "https://login.example/" }), |why| matches!(why, Rejection::Issuer { .. })),
        (json!({ "iss": "https://LOGIN.example" }), |why| matches!(why, Rejection::Issuer { .. })),
        (json!({ "iss": null }), |why| matches!(why, Rejection::Issuer { .. })),
        (json!({ "aud": null }), |why| matches!(why, Rejection::Claim { claim: "aud", .. })),
        (json!({ "aud": [] }), |why| matches!(why, Rejection::Audience { .. })),
        (json!({ "aud": "app" }), |why| matches!(why, Rejection::Audience { .. })),
        (json!({ "aud": "https://mcp.example/mcp/" }), |why| matches!(why, Rejection::Audience { .. })),
        (json!({ "aud": "https://mcp.example" }), |why| matches!(why, Rejection::Audience { .. })),
        (json!({ "aud": ["app", 1] }), |why| matches!(why, Rejection::Claim { claim: "aud", .. })),
        (json!({ "exp": null }), |why| matches!(why, Rejection::Claim { claim: "exp", .. })),
        (json!({ "exp": "9999999999" }), |why| matches!(why, Rejection::Claim { claim: "exp", .. })),
        (json!({ "exp": 1e300 }), |why| matches!(why, Rejection::Claim { claim: "exp", .. })),
        (json!({ "exp": u64::MAX }), |why| matches!(why, Rejection::Claim { claim: "exp", .. })),
        (json!({ "exp": -1 }), |why| matches!(why, Rejection::Claim { claim: "exp", .. })),
        (json!({ "exp": now() - 61 }), |why| matches!(why, Rejection::Expired { .. })),
        (json!({ "nbf": now() + 120 }), |why| matches!(why, Rejection::NotYetValid { .. })),
        (json!({ "nbf": "soon" }), |why| matches!(why, Rejection::Claim { claim: "nbf", .. })),
        (json!({ "sub": null, "client_id": null }), |why| {
            matches!(why, Rejection::Claim { claim: "sub", .. })
        }),
        (json!({ "sub": 1, "client_id": 2 }), |why| matches!(why, Rejection::Claim { claim: "sub", .. })),
        (json!({ "cnf": { "x5t#S256": "x" } }), |why| matches!(why, Rejection::Bound)),
    ];
    for (change, is_reason) in reasons {
        let token = token(change.clone());
        let reply = server.bearer(&token).await;
        assert_eq!(reply.status, 401, "{change}");
        let why = server.rejection();
        assert!(is_reason(&why), "{change}: {why:?}");
        assert!(reply.challenge().contains("error=\"invalid_token\""), "{}", reply.challenge());
        assert!(!reply.challenge().contains("login.example") && !reply.body.contains("login.example"));
        assert!(!format!("{why} {why:?}").contains(&token[..40]));
    }
}

#[tokio::test]
async fn another_spelling_of_this_server_is_taken_where_it_is_configured() {
    let auth = ResourceServer::new(RESOURCE).unwrap();
    let server = Server::of(auth.issuer(issuer(&Web::with_issuer()).audience("api://mcp")));
    assert_eq!(server.bearer(&token(json!({ "aud": "api://mcp" }))).await.status, OK);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    assert_eq!(server.bearer(&token(json!({ "aud": "api://other" }))).await.status, 401);
}

#[tokio::test]
async fn each_issuer_has_its_own_keys() {
    let web = Web::with_issuer();
    web.put("https://other.example/keys", json!({ "keys": [jwk(EC, Algorithm::Es256, "one")] }));
    let other = agentwire_mcp_auth::server::Issuer::jwks("https://other.example", web.clone())
        .jwks_uri("https://other.example/keys")
        .addresses(agentwire_mcp_auth::AddressPolicy::new().trust("other.example"));
    let server = Server::with(&web, |auth| auth.issuer(other));
    let mut ec = Header::new(jsonwebtoken::Algorithm::ES256);
    ec.kid = Some("one".to_owned());
    let of = |header: &Header, claims: &Value| {
        let key = EncodingKey::from_ec_pem(EC.as_bytes()).unwrap();
        jsonwebtoken::encode(header, claims, &key).unwrap()
    };
    let theirs = of(&ec, &claims(json!({ "iss": "https://other.example" })));
    let reply = server.bearer(&theirs).await;
    assert!(reply.status == OK && reply.body.contains("other.example"), "{reply:?}");
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
    // Each signs for itself only.
    assert_eq!(server.bearer(&of(&ec, &claims(json!({})))).await.status, 401);
    assert!(matches!(server.rejection(), Rejection::Key { .. }));
    assert_eq!(server.bearer(&token(json!({ "iss": "https://other.example" }))).await.status, 401);
}

#[tokio::test]
async fn a_check_of_the_program_gets_what_no_issuer_has_signed() {
    let check = async |token: Secret| match token.expose() {
        "good" => Ok(AccessToken::new("https://mcp.example", "ann").with_scopes(["mcp"])),
        "narrow" => Ok(AccessToken::new("https://mcp.example", "ann")),
        "old" => {
            Ok(AccessToken::new("https://mcp.example", "ann").with_expiry(now() - 100).with_scopes(["mcp"]))
        }
        "bound" => {
            Ok(AccessToken::new("https://mcp.example", "ann").with_key_thumbprint("x").with_scopes(["mcp"]))
        }
        _ => Err(Rejection::other("never heard of it")),
    };
    let server = Server::with(&Web::with_issuer(), |auth| auth.check(check));
    assert_eq!(server.bearer("good").await.status, OK);
    for (token, status) in [("narrow", 403), ("old", 401), ("bound", 401), ("bad", 401)] {
        assert_eq!(server.bearer(token).await.status, status, "{token}");
    }
    assert_eq!(server.rejection(), Rejection::other("never heard of it"));
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK, "of the issuer");
    assert_eq!(server.bearer(&token(json!({ "aud": "x" }))).await.status, 401, "the issuer has decided");
    let ours = jsonwebtoken::encode(
        &Header::default(),
        &claims(json!({ "iss": ISSUER })),
        &EncodingKey::from_secret(b"secret"),
    );
    assert_eq!(server.bearer(&ours.unwrap()).await.status, 401);
}

#[tokio::test]
async fn p18_a_refusal_says_which_scopes_are_needed_and_a_page_can_read_it() {
    let server = Server::with(&Web::with_issuer(), |auth| auth.tool_scopes("write", ["files:write"]));
    let page = |request: &mut http::Request<_>| {
        request.headers_mut().insert("origin", "https://app.example".parse().unwrap());
    };
    let metadata = "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"";
    let reply = server.call_with(None, page).await;
    assert_eq!((reply.status, reply.challenge()), (401, &*format!("Bearer {metadata}, scope=\"mcp\"")));
    assert_eq!(reply.header("access-control-allow-origin"), Some("https://app.example"));
    assert!(reply.header("access-control-expose-headers").unwrap().contains("www-authenticate"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert!(serde_json::from_str::<Value>(&reply.body).unwrap()["error"]["message"].is_string());
    let foreign = |request: &mut http::Request<_>| {
        request.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    };
    let reply = server.call_with(None, foreign).await;
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, None));
    let reply = server.call_with(Some(&format!("Bearer {}", token(json!({ "scope": "x" })))), page).await;
    assert_eq!(reply.status, 403);
    assert!(
        reply.challenge().contains("error=\"insufficient_scope\"") && reply.challenge().contains(metadata)
    );
    // The headers of 2026-07-28 name the operation, so the first login asks for its scopes too.
    let write = super::support::modern("tools/call", Some("write"));
    let reply = super::support::Reply::of(server.send(write).await).await;
    assert!(reply.challenge().contains("scope=\"mcp files:write\""), "{}", reply.challenge());
}

#[tokio::test]
async fn a_token_has_a_limit_that_can_be_set() {
    let long = token(json!({ "x": "x".repeat(1000) }));
    let server = Server::with(&Web::with_issuer(), |auth| auth.token_limit(long.len() - 1));
    assert_eq!(server.bearer(&long).await.status, 401);
    assert!(matches!(server.rejection(), Rejection::TooLong { limit, .. } if limit == long.len() - 1));
    let server = Server::with(&Web::with_issuer(), |auth| auth.token_limit(long.len()));
    assert_eq!(server.bearer(&long).await.status, OK);
}

#[tokio::test]
async fn a_handler_gets_the_token_itself_only_if_that_is_asked_for() {
    use std::convert::Infallible;

    use bytes::Bytes;
    use http::{Request, Response};
    use tower_layer::Layer;
    use tower_service::Service;

    #[derive(Clone)]
    struct Show;

    impl Service<Request<()>> for Show {
        type Response = Response<Bytes>;
        type Error = Infallible;
        type Future = std::future::Ready<Result<Response<Bytes>, Infallible>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
            std::task::Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<()>) -> Self::Future {
            assert!(request.headers().is_empty());
            let token = request.extensions().get::<AccessToken>().expect("a token");
            let shown = token.token().map_or("none", Secret::expose).to_owned();
            std::future::ready(Ok(Response::new(shown.into())))
        }
    }

    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&Web::with_issuer()));
    let sent = token(json!({}));
    let call = async |auth: &ResourceServer| {
        let request = Request::post("/").header("authorization", format!("Bearer {sent}")).body(()).unwrap();
        auth.layer().layer(Show).call(request).await.unwrap().into_body()
    };
    assert_eq!(call(&auth).await, "none");
    assert_eq!(call(&auth.keep_token()).await, sent);
}

#[tokio::test]
async fn a_panic_of_the_program_ends_one_request() {
    let panicking =
        async |token: Secret| -> Result<AccessToken, Rejection> { panic!("{token:?}, as a test does") };
    let server = Server::with(&Web::with_issuer(), |auth| {
        auth.check(panicking).operation_scopes(|operation| {
            assert!(operation.method != "panic", "as a test does");
            Vec::new()
        })
    });
    assert_eq!(server.bearer("opaque").await.status, 500);
    let mut request = super::support::modern("panic", None);
    request.headers_mut().insert("authorization", format!("Bearer {}", token(json!({}))).parse().unwrap());
    assert_eq!(server.send(request).await.status(), 500);
    assert_eq!(server.bearer(&token(json!({}))).await.status, OK);
}

#[tokio::test]
async fn a_preflight_needs_no_token() {
    let server = Server::new(&Web::with_issuer());
    let preflight = |origin: &str| {
        http::Request::options("https://mcp.example/mcp")
            .header("host", "mcp.example")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, dpop")
            .body(Default::default())
            .unwrap()
    };
    let answer = server.send(preflight("https://app.example")).await;
    assert_eq!(answer.status(), 204);
    let allowed = answer.headers()["access-control-allow-headers"].to_str().unwrap();
    assert!(allowed.contains("authorization") && allowed.contains("dpop"));
    assert_eq!(server.send(preflight("https://evil.example")).await.status(), 403);
    let mut bare = preflight("https://app.example");
    bare.headers_mut().remove("access-control-request-method");
    assert_eq!(server.send(bare).await.status(), 401);
}
