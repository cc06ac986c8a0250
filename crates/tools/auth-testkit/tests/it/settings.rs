//! The effects of a builder's settings.

use std::time::Duration;

use agentwire_mcp_auth_testkit::{
    AuthServer, Authorized, DpopMode, Endpoint, MetadataPlace, RefreshTokens, RegisteredClient,
    ResourceMetadataPlace, Signer, TokenFormat, TokenSpec,
};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::json;

use crate::client::{Client, REDIRECT, call, post_json, text};
use crate::raw::{get, post, send};

#[tokio::test]
async fn metadata_is_where_it_is_set_to_be() {
    use MetadataPlace::{OauthInserted, OpenIdAppended, OpenIdInserted};
    let paths = [
        (OauthInserted, "/.well-known/oauth-authorization-server/a/b"),
        (OpenIdInserted, "/.well-known/openid-configuration/a/b"),
        (OpenIdAppended, "/a/b/.well-known/openid-configuration"),
    ];
    for (place, _) in paths {
        let server = AuthServer::builder().issuer_path("/a/b").metadata_at(&[place]).start().await.unwrap();
        let origin = server.issuer().replace("/a/b", "");
        for (other, path) in paths {
            let status = get(&format!("{origin}{path}")).await.status;
            assert_eq!(status, if other == place { 200 } else { 404 }, "{place:?} {path}");
        }
    }
    use ResourceMetadataPlace::{Path, Root};
    for (place, path) in [(Path, "/x"), (Root, "")] {
        let server =
            AuthServer::builder().resource_path("/x").resource_metadata_at(&[place]).start().await.unwrap();
        let origin = server.resource_url().replace("/x", "");
        for other in ["/x", ""] {
            let status = get(&format!("{origin}/.well-known/oauth-protected-resource{other}")).await.status;
            assert_eq!(status, if other == path { 200 } else { 404 }, "{place:?} {other}");
        }
        let challenge = call(&server, None).await;
        let named = format!("resource_metadata=\"{origin}/.well-known/oauth-protected-resource{path}\"");
        assert!(challenge.header("www-authenticate").unwrap().contains(&named));
    }
}

#[tokio::test]
async fn an_old_server_has_no_metadata_and_its_endpoints_at_the_root() {
    let server = AuthServer::builder()
        .same_origin(true)
        .metadata_at(&[])
        .resource_metadata_at(&[])
        .challenge_metadata(false)
        .challenge_scope(false)
        .response_iss(false)
        .start()
        .await
        .unwrap();
    assert_eq!(server.resource_url(), format!("{}/mcp", server.issuer()));
    assert_eq!(call(&server, None).await.header("www-authenticate"), Some("Bearer"));
    assert_eq!(get(&format!("{}/.well-known/oauth-authorization-server", server.issuer())).await.status, 404);
    let client = Client { resource: None, ..Client::register(&server).await };
    assert_eq!(client.authorize().await.location_param("iss"), None);
    let token = text(&client.login().await, "access_token");
    assert_eq!(call(&server, Some(&token)).await.status, 200);
    assert_eq!(server.log().to(Endpoint::Resource).len(), 2);
}

#[tokio::test]
async fn a_client_is_known_by_the_url_of_its_document() {
    let url = "https://app.example/client.json";
    let document =
        json!({"client_id": url, "client_name": "App", "redirect_uris": ["http://127.0.0.1/callback"]});
    let wrong = json!({"client_id": "https://app.example/", "redirect_uris": [REDIRECT]});
    let builder = || {
        AuthServer::builder()
            .registration(false)
            .client_document(url, document.clone())
            .client_document("https://wrong.example/client.json", wrong.clone())
    };
    let server = builder().start().await.unwrap();
    let path = "/.well-known/oauth-authorization-server";
    let metadata = get(&format!("{}{path}", server.issuer())).await.json();
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
    assert!(metadata["registration_endpoint"].is_null());
    assert_eq!(post_json(&server.endpoint("register"), &json!({})).await.status, 404);
    assert_eq!(Client::known(&server, url).login().await.status, 200);
    let wrong = Client::known(&server, "https://wrong.example/client.json");
    assert_eq!(wrong.authorize().await.status, 400);

    let without = builder().client_documents(false).start().await.unwrap();
    assert_eq!(Client::known(&without, url).authorize().await.status, 400);
}

#[tokio::test]
async fn operations_need_scopes_of_their_own() {
    let server = AuthServer::builder()
        .path_scope("/mcp/admin", "tools:write")
        .tool_scope("delete", "tools:write")
        .start()
        .await
        .unwrap();
    let narrow = format!("Bearer {}", server.mint(TokenSpec::new("tools:read")));
    let wide = format!("Bearer {}", server.mint(TokenSpec::new("tools:read tools:write")));
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "delete"}}).to_string();
    let other = call.replace("delete", "list");
    let ask = async |token: &str, path: &str, body: &str| {
        send("POST", &format!("{}{path}", server.resource_url()), &[("authorization", token)], body).await
    };
    for (path, body) in [("/admin", ""), ("", call.as_str())] {
        let refused = ask(&narrow, path, body).await;
        assert_eq!(refused.status, 403);
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("scope=\"tools:read tools:write\""), "{challenge}");
        assert_eq!(ask(&wide, path, body).await.status, 200);
    }
    assert_eq!(ask(&narrow, "", &other).await.status, 200);
    assert_eq!(server.counters().authorized_requests, 3);
}

#[tokio::test]
async fn a_handler_answers_those_who_are_authorized() {
    let server = AuthServer::builder()
        .handler(|request: Request<Bytes>| async move {
            let authorized = request.extensions().get::<Authorized>().cloned().unwrap();
            let text = format!("{} {} {}", request.method(), request.uri(), authorized.subject);
            Response::builder().status(202).body(Full::new(Bytes::from(text))).unwrap()
        })
        .subject("user-9")
        .start()
        .await
        .unwrap();
    let token = format!("Bearer {}", server.mint(TokenSpec::new("tools:read")));
    let url = format!("{}/sub?a=b", server.resource_url());
    let answer = send("PUT", &url, &[("authorization", &token)], "").await;
    assert_eq!((answer.status, answer.body), (202, b"PUT /mcp/sub?a=b user-9".to_vec()));
    assert_eq!(send("PUT", &url, &[], "").await.status, 401);
}

#[tokio::test]
async fn refresh_tokens_are_given_as_set() {
    for (when, scope, given) in [
        (RefreshTokens::Always, "tools:read", true),
        (RefreshTokens::OfflineAccess, "tools:read", false),
        (RefreshTokens::OfflineAccess, "tools:read offline_access", true),
        (RefreshTokens::Never, "tools:read offline_access", false),
    ] {
        let server = AuthServer::builder().refresh_tokens(when).start().await.unwrap();
        let client = Client { scope: Some(scope.into()), ..Client::register(&server).await };
        assert_eq!(client.login().await.json()["refresh_token"].is_string(), given, "{when:?} {scope}");
    }
    let server = AuthServer::builder().refresh_token_lifetime(Duration::from_secs(60)).start().await.unwrap();
    let client = Client::register(&server).await;
    let token = text(&client.login().await, "refresh_token");
    server.advance(Duration::from_secs(61));
    assert_eq!(client.refresh(&token).await.status, 400);
    let code = client.code().await;
    server.advance(Duration::from_secs(61));
    assert_eq!(text(&client.exchange(&code).await, "error"), "invalid_grant");
}

#[tokio::test]
async fn minted_tokens_are_introspected_and_keys_rotate() {
    let server = AuthServer::builder().token_format(TokenFormat::Opaque).start().await.unwrap();
    let key = Signer::es256("proof");
    let spec = TokenSpec::new("tools:read").audience("https://mcp.example").client("c").bound_to(&key);
    let token = server.mint(spec.subject("s").lifetime(Duration::from_secs(5)));
    assert!(!token.contains('.'));
    let introspect =
        async |token: &str| post(&server.endpoint("introspect"), &[("token", token)], &[]).await.json();
    let answer = introspect(&token).await;
    for (name, value) in [
        ("active", json!(true)),
        ("aud", json!("https://mcp.example")),
        ("sub", json!("s")),
        ("client_id", json!("c")),
        ("scope", json!("tools:read")),
        ("cnf", json!({"jkt": key.thumbprint()})),
    ] {
        assert_eq!(answer[name], value, "{name}");
    }
    server.advance(Duration::from_secs(5));
    assert_eq!(introspect(&token).await, json!({"active": false}));

    let server = AuthServer::builder().token_format(TokenFormat::Rs256).start().await.unwrap();
    let kids = async || {
        let keys = get(&server.endpoint("jwks")).await.json();
        let list = keys["keys"].as_array().cloned().unwrap_or_default();
        list.iter().map(|key| (key["kid"].clone(), key["kty"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(kids().await, [(json!("key-1"), json!("RSA"))]);
    server.rotate_keys();
    server.rotate_keys();
    assert_eq!(kids().await, [(json!("key-2"), json!("RSA")), (json!("key-3"), json!("RSA"))]);
    let minted = server.mint(TokenSpec::new("").claim("x", 1).claim("sub", serde_json::Value::Null));
    let claims = crate::faults::part(&minted, 1);
    assert_eq!((&claims["x"], &claims["sub"]), (&json!(1), &serde_json::Value::Null));
}

#[tokio::test]
async fn documents_and_clients_can_be_changed() {
    let server = AuthServer::builder()
        .dpop(DpopMode::Off)
        .scopes_supported(&["a", "b"])
        .required_scope("a")
        .edit_metadata(|metadata| drop(metadata.insert("x".into(), 1.into())))
        .edit_resource_metadata(|metadata| drop(metadata.remove("scopes_supported")))
        .strict_resource(false)
        .start()
        .await
        .unwrap();
    let metadata = get(&format!("{}/.well-known/openid-configuration", server.issuer())).await.json();
    assert_eq!((&metadata["x"], &metadata["scopes_supported"]), (&json!(1), &json!(["a", "b"])));
    assert!(metadata["dpop_signing_alg_values_supported"].is_null());
    let url = server.resource_url().replace("/mcp", "/.well-known/oauth-protected-resource");
    assert!(get(&url).await.json()["scopes_supported"].is_null());

    server.add_client(RegisteredClient::new("late").redirect_uri(REDIRECT).scope("a"));
    let mut client =
        Client { resource: Some("https://mine.example/mcp".into()), ..Client::known(&server, "late") };
    assert_eq!(client.authorize().await.location_param("error").as_deref(), Some("invalid_target"));
    server.accept_resource("https://mine.example/mcp");
    let code = client.code().await;
    client.resource = None;
    assert_eq!(client.exchange(&code).await.status, 200);
    client.scope = Some("b".into());
    assert_eq!(client.authorize().await.location_param("error").as_deref(), Some("invalid_scope"));
    server.forget_clients();
    assert_eq!(client.authorize().await.status, 400);
}

#[tokio::test]
async fn a_dropped_server_is_gone_and_its_port_can_be_taken_again() {
    // Another test may be given the port in between.
    for _ in 0..5 {
        let server = AuthServer::builder().start().await.unwrap();
        let issuer = server.issuer();
        let port: u16 = issuer.rsplit(':').next().unwrap().parse().unwrap();
        assert!(AuthServer::builder().port(port).start().await.is_err());
        drop(server);
        for _ in 0..50 {
            if let Ok(again) = AuthServer::builder().port(port).start().await {
                assert_eq!(again.issuer(), issuer);
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    panic!("the port stays taken");
}

#[tokio::test]
async fn introspection_can_need_credentials() {
    let server = AuthServer::builder()
        .introspection_auth(true)
        .client(RegisteredClient::new("resource").secret_post("resource-secret"))
        .client(RegisteredClient::new("public"))
        .start()
        .await
        .unwrap();
    let token = server.mint(TokenSpec::new("tools:read"));
    let ask = async |more: &[(&str, &str)]| {
        let mut form = vec![("token", token.as_str())];
        form.extend(more);
        post(&server.endpoint("introspect"), &form, &[]).await
    };
    assert_eq!(ask(&[]).await.status, 401);
    assert_eq!(ask(&[("client_id", "public")]).await.status, 401);
    assert_eq!(ask(&[("client_id", "resource"), ("client_secret", "wrong")]).await.status, 401);
    let answer = ask(&[("client_id", "resource"), ("client_secret", "resource-secret")]).await;
    assert_eq!(answer.json()["active"], true);
}

#[tokio::test]
async fn token_requests_can_take_longer() {
    let delay = Duration::from_millis(150);
    let server = AuthServer::builder().token_delay(delay).start().await.unwrap();
    let start = std::time::Instant::now();
    assert_eq!(Client::register(&server).await.login().await.status, 200);
    assert!(start.elapsed() >= delay);
}

#[tokio::test]
async fn bodies_are_limited_and_secrets_are_remembered() {
    let server = AuthServer::builder().start().await.unwrap();
    let url = server.resource_url();
    let long = "x".repeat(100 << 10);
    assert_eq!(send("POST", &url, &[("authorization", "Bearer never-issued")], &long).await.status, 401);
    assert_eq!(server.log().requests[0].body.len(), 64 << 10);
    assert!(server.secrets().contains(&"never-issued".to_owned()));
    let client = Client::register(&server).await;
    assert_eq!(client.login().await.status, 200);
    assert!(server.secrets().contains(&client.verifier));
    let path = "/.well-known/oauth-protected-resource";
    assert_eq!(send("POST", &url.replace("/mcp", path), &[], "").await.status, 405);
}
