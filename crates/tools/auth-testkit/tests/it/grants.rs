//! The grants without a browser, and the ways to authenticate.

use agentwire_mcp_auth_testkit::{AuthServer, Counters, DpopMode, RegisteredClient, Signer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::client::{Client, REDIRECT, call, text};
use crate::raw::{Answer, post, send};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs()
}

async fn token(server: &AuthServer, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
    post(&server.endpoint("token"), form, headers).await
}

#[tokio::test]
async fn a_client_authenticates_only_as_it_is_registered() {
    let server = AuthServer::builder()
        .client(RegisteredClient::new("basic").secret_basic("a b:+/%"))
        .client(RegisteredClient::new("post").secret_post("secret"))
        .client(RegisteredClient::new("public"))
        .start()
        .await
        .unwrap();
    let grant = ("grant_type", "client_credentials");
    // Each part of `Basic` is form-encoded.
    let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
    let (right, raw) = (basic("basic:a+b%3A%2B%2F%25"), basic("basic:a b:+/%"));
    let answer = token(&server, &[grant], &[("authorization", &right)]).await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    let answer = token(&server, &[grant], &[("authorization", &raw)]).await;
    assert_eq!((answer.status, text(&answer, "error")), (401, "invalid_client".into()));
    assert!(answer.header("www-authenticate").unwrap().starts_with("Basic"));

    let post = [grant, ("client_id", "post"), ("client_secret", "secret")];
    let answer = token(&server, &post, &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(call(&server, Some(&text(&answer, "access_token"))).await.status, 200);
    assert!(answer.json()["refresh_token"].is_null());
    let post_header = basic("post:secret");
    for (form, headers) in [
        (vec![grant], vec![("authorization", post_header.as_str())]),
        (vec![grant, ("client_id", "post")], vec![]),
        (vec![grant, ("client_id", "post"), ("client_secret", "wrong")], vec![]),
        (vec![grant, ("client_id", "basic"), ("client_secret", "a b:+/%")], vec![]),
        (
            vec![grant, ("client_id", "post"), ("client_secret", "secret")],
            vec![("authorization", right.as_str())],
        ),
        (vec![grant, ("client_id", "unknown")], vec![]),
        (vec![grant], vec![]),
    ] {
        assert_eq!(token(&server, &form, &headers).await.status, 401, "{form:?}");
    }
    let answer = token(&server, &[grant, ("client_id", "public")], &[]).await;
    assert_eq!(text(&answer, "error"), "unauthorized_client");
}

#[tokio::test]
async fn a_client_authenticates_by_a_jwt() {
    for key in [Signer::es256("k"), Signer::rs256("k")] {
        let server = AuthServer::builder()
            .client(RegisteredClient::new("service").private_key_jwt(&key))
            .start()
            .await
            .unwrap();
        let claims = |id: &str, audience: &str, expires: u64| json!({"iss": id, "sub": id, "aud": audience, "jti": format!("{audience}{expires}"), "exp": expires});
        let ask = async |assertion: &str| {
            let form = [
                ("grant_type", "client_credentials"),
                ("client_assertion_type", ASSERTION_TYPE),
                ("client_assertion", assertion),
            ];
            token(&server, &form, &[]).await.status
        };
        let good = key.sign(json!({"typ": "JWT"}), &claims("service", &server.issuer(), now() + 60));
        assert_eq!(ask(&good).await, 200);
        assert_eq!(ask(&good).await, 401, "its `jti` is used");
        let endpoint = server.endpoint("token");
        assert_eq!(ask(&key.sign(json!({}), &claims("service", &endpoint, now() + 61))).await, 200);
        assert_eq!(ask(&key.sign(json!({}), &claims("service", "https://x.example", now() + 62))).await, 401);
        assert_eq!(ask(&key.sign(json!({}), &claims("service", &endpoint, now() - 1))).await, 401);
        assert_eq!(ask(&key.sign(json!({}), &claims("other", &endpoint, now() + 63))).await, 401);
        let forged = Signer::es256("k").sign(json!({}), &claims("service", &endpoint, now() + 64));
        assert_eq!(ask(&forged).await, 401);
        assert_eq!(ask("no.jwt").await, 401);
    }
}

#[tokio::test]
async fn an_identity_of_one_server_is_a_grant_of_another() {
    let client = RegisteredClient::new("desktop").secret_post("secret").id_elsewhere("abroad");
    let provider = AuthServer::builder().client(client).start().await.unwrap();
    let client = RegisteredClient::new("abroad").secret_post("secret");
    let server = AuthServer::builder().client(client).start().await.unwrap();
    let (issuer, resource) = (server.issuer(), server.resource_url());
    let id_token = provider.id_token("desktop", "employee-7");
    let auth = [("client_id", "desktop"), ("client_secret", "secret")];
    let exchange = async |subject_token: &str| {
        let mut form = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ("subject_token", subject_token),
            ("audience", &issuer),
            ("resource", &resource),
            ("scope", "tools:read"),
        ];
        form.extend(auth);
        token(&provider, &form, &[]).await
    };
    let foreign = provider.id_token("another", "employee-7");
    assert_eq!(text(&exchange(&foreign).await, "error"), "invalid_grant");
    let exchanged = exchange(&id_token).await;
    assert_eq!(text(&exchanged, "token_type"), "N_A");
    let assertion = text(&exchanged, "access_token");

    let present = async |assertion: &str| {
        let mut form = vec![("grant_type", JWT_BEARER), ("assertion", assertion)];
        form.extend([("client_id", "abroad"), ("client_secret", "secret")]);
        token(&server, &form, &[]).await
    };
    assert_eq!(text(&present(&assertion).await, "error"), "invalid_grant", "the provider is not trusted yet");
    server.trust(provider.issuer(), &provider.public_keys());
    let tokens = present(&assertion).await;
    assert_eq!(tokens.status, 200, "{}", tokens.json());
    assert_eq!(text(&present(&assertion).await, "error"), "invalid_grant", "an assertion is used once");
    let answer = call(&server, Some(&text(&tokens, "access_token"))).await;
    assert_eq!(text(&answer, "subject"), "employee-7");
}

#[tokio::test]
async fn a_workload_presents_the_identity_that_its_platform_gives_it() {
    let server = AuthServer::builder().start().await.unwrap();
    let platform = Signer::es256("platform-1");
    server.trust("https://platform.example", &[platform.jwk()]);
    let resource = server.resource_url();
    let present = async |claims: Value, signer: &Signer| {
        let assertion = signer.sign(json!({"typ": "JWT"}), &claims);
        let form = [("grant_type", JWT_BEARER), ("assertion", assertion.as_str()), ("resource", &resource)];
        token(&server, &form, &[]).await
    };
    let claims = json!({
        "iss": "https://platform.example",
        "sub": "job-1",
        "aud": server.issuer(),
        "exp": now() + 60,
    });
    let tokens = present(claims.clone(), &platform).await;
    assert_eq!(tokens.status, 200, "{}", tokens.json());
    assert_eq!(text(&call(&server, Some(&text(&tokens, "access_token"))).await, "subject"), "job-1");
    assert_eq!(present(claims.clone(), &Signer::es256("platform-1")).await.status, 400);
    for (name, value) in [
        ("aud", json!("https://other.example")),
        ("exp", json!(now() - 1)),
        ("iss", json!("https://other.example")),
        ("sub", Value::Null),
    ] {
        let mut changed = claims.clone();
        changed[name] = value;
        assert_eq!(text(&present(changed, &platform).await, "error"), "invalid_grant", "{name}");
    }
}

#[tokio::test]
async fn a_token_is_bound_to_the_key_of_a_proof() {
    let server = AuthServer::builder().dpop(DpopMode::Required).dpop_nonces(true).start().await.unwrap();
    let key = Signer::es256("proof");
    let client = Client::register(&server).await;
    assert_eq!(text(&client.login().await, "error"), "invalid_dpop_proof");

    // The first proof has no nonce, and the code is not used up by it.
    let endpoint = server.endpoint("token");
    let code = client.code().await;
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("code_verifier", &client.verifier),
        ("redirect_uri", REDIRECT),
        ("client_id", &client.id),
        ("resource", client.resource.as_deref().unwrap()),
    ];
    let ask = async |proof: &str| token(&server, &form, &[("dpop", proof)]).await;
    let refused = ask(&key.dpop_proof("POST", &endpoint, None, None)).await;
    assert_eq!((refused.status, text(&refused, "error")), (400, "use_dpop_nonce".into()));
    let nonce = refused.header("dpop-nonce").unwrap();
    for wrong in [
        key.dpop_proof("GET", &endpoint, Some(nonce), None),
        key.dpop_proof("POST", "https://other.example/token", Some(nonce), None),
        "no.proof.".into(),
    ] {
        assert_eq!(text(&ask(&wrong).await, "error"), "invalid_dpop_proof");
    }
    let tokens = ask(&key.dpop_proof("POST", &endpoint, Some(nonce), None)).await;
    assert_eq!(text(&tokens, "token_type"), "DPoP", "{}", tokens.json());
    let access = text(&tokens, "access_token");

    let resource = server.resource_url();
    let request = async |scheme: &str, proof: &str| {
        let value = format!("{scheme} {access}");
        send("POST", &resource, &[("authorization", value.as_str()), ("dpop", proof)], "{}").await
    };
    let proof = |key: &Signer, token: Option<&str>| key.dpop_proof("POST", &resource, Some(nonce), token);
    let good = proof(&key, Some(&access));
    assert_eq!(request("DPoP", &good).await.status, 200);
    assert_eq!(request("DPoP", &good).await.status, 401, "a proof is used once");
    assert_eq!(server.counters().replayed_proofs, 1);
    assert_eq!(request("DPoP", &proof(&key, None)).await.status, 401, "without the token's hash");
    assert_eq!(request("DPoP", &proof(&Signer::es256("x"), Some(&access))).await.status, 401, "another key");
    assert_eq!(request("Bearer", &proof(&key, Some(&access))).await.status, 401);
    assert_eq!(call(&server, Some(&access)).await.status, 401);

    server.rotate_dpop_nonce();
    let stale = request("DPoP", &proof(&key, Some(&access))).await;
    assert!(stale.header("www-authenticate").unwrap().starts_with("DPoP error=\"use_dpop_nonce\""));
    let nonce = stale.header("dpop-nonce").unwrap();
    let fresh = key.dpop_proof("POST", &resource, Some(nonce), Some(&access));
    assert_eq!(request("DPoP", &fresh).await.status, 200);

    // A refresh needs the same key. What a client signs is checked by the client's clock.
    server.advance(std::time::Duration::from_secs(3600));
    let refresh = text(&tokens, "refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh.as_str()),
        ("client_id", &client.id),
        ("resource", &resource),
    ];
    let other = Signer::es256("x").dpop_proof("POST", &endpoint, Some(nonce), None);
    assert_eq!(text(&token(&server, &form, &[("dpop", &other)]).await, "error"), "invalid_grant");
    let same = key.dpop_proof("POST", &endpoint, Some(nonce), None);
    assert_eq!(token(&server, &form, &[("dpop", &same)]).await.status, 200);
    let Counters { refreshes, access_tokens, .. } = server.counters();
    assert_eq!((refreshes, access_tokens), (1, 2));
}
