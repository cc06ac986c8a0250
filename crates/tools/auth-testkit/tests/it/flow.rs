//! The whole flow: challenge, metadata, registration, authorization, tokens, refresh, revocation.

use std::time::Duration;

use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Site};
use serde_json::json;

use crate::client::{Client, REDIRECT, call, post_json, registration, text};
use crate::raw::{get, post};

#[tokio::test]
async fn a_client_gets_from_the_challenge_to_a_refreshed_token() {
    let server = AuthServer::builder().issuer_path("/tenant1").start().await.unwrap();

    // The challenge leads to the resource's metadata.
    let refused = call(&server, None).await;
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.starts_with("Bearer ") && challenge.contains("scope=\"tools:read\""), "{challenge}");
    let url = challenge.split("resource_metadata=\"").nth(1).unwrap().split('"').next().unwrap();
    let metadata = get(url).await.json();
    assert_eq!(metadata["resource"], server.resource_url());
    assert_eq!(metadata["authorization_servers"], json!([server.issuer()]));

    // That leads to the server's metadata, at three places.
    let origin = server.issuer().replace("/tenant1", "");
    for url in [
        format!("{origin}/.well-known/oauth-authorization-server/tenant1"),
        format!("{origin}/.well-known/openid-configuration/tenant1"),
        format!("{origin}/tenant1/.well-known/openid-configuration"),
    ] {
        let metadata = get(&url).await.json();
        assert_eq!(metadata["issuer"], server.issuer(), "{url}");
        assert_eq!(metadata["token_endpoint"], server.endpoint("token"));
        assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    }
    assert_eq!(get(&format!("{origin}/.well-known/oauth-authorization-server")).await.status, 404);

    // Registration, authorization, and a code that leads to tokens.
    let mut client = Client::register(&server).await;
    client.scope = Some("tools:read offline_access".into());
    let answer = client.authorize().await;
    assert_eq!(answer.status, 302);
    assert!(answer.header("location").unwrap().starts_with(REDIRECT));
    assert_eq!(answer.location_param("state").as_deref(), Some("state-1"));
    assert_eq!(answer.location_param("iss"), Some(server.issuer()));
    let tokens = client.exchange(&answer.location_param("code").unwrap()).await;
    assert_eq!(tokens.status, 200);
    assert_eq!(text(&tokens, "token_type"), "Bearer");
    assert_eq!(tokens.json()["expires_in"], 3600);
    let token = text(&tokens, "access_token");
    let answer = call(&server, Some(&token)).await;
    assert_eq!((answer.status, text(&answer, "subject")), (200, "user-1".into()));

    // A refresh replaces the refresh token.
    let first = text(&tokens, "refresh_token");
    let refreshed = client.refresh(&first).await;
    assert_eq!(refreshed.status, 200);
    let second = text(&refreshed, "refresh_token");
    assert!(!second.is_empty() && second != first);
    assert_eq!(call(&server, Some(&text(&refreshed, "access_token"))).await.status, 200);

    // It may ask for less, once.
    let narrow = async |token: &str, scope: &str| {
        client.token(vec![("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)]).await
    };
    assert_eq!(text(&narrow(&second, "tools:write").await, "error"), "invalid_scope");
    let narrowed = narrow(&second, "tools:read").await;
    assert_eq!(text(&narrowed, "scope"), "tools:read");
    let widened = client.refresh(&text(&narrowed, "refresh_token")).await;
    assert_eq!(text(&widened, "scope"), "tools:read offline_access");

    // The log has it all in order, and each `resource` the same.
    let log = server.log();
    assert_eq!(log.to(Endpoint::Registration).len(), 1);
    let resources = log.values("resource");
    assert_eq!(resources, vec![Some(server.resource_url().as_str()); 6]);
    assert_eq!(log.grants("refresh_token")[0].param("client_id"), Some(client.id.as_str()));
    assert_eq!(log.requests[0].status, Some(401));
    assert!(log.at(Site::OtherOrigin).is_empty());
    assert_eq!(log.at(Site::Resource).len(), 4);
    let shown = format!("{log:?}");
    assert!(server.secrets().iter().all(|secret| !shown.contains(secret)), "{shown}");
    assert!(server.secrets().contains(&token));
    assert_eq!(server.counters().refreshes, 3);
}

#[tokio::test]
async fn a_reused_refresh_token_revokes_its_family() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::register(&server).await;
    let first = client.login().await;
    let second = client.refresh(&text(&first, "refresh_token")).await;
    assert_eq!(second.status, 200);
    assert_eq!(server.reused_refresh_tokens(), 0);

    let reused = client.refresh(&text(&first, "refresh_token")).await;
    assert_eq!((reused.status, text(&reused, "error")), (400, "invalid_grant".into()));
    assert_eq!(server.reused_refresh_tokens(), 1);
    assert_eq!(client.refresh(&text(&second, "refresh_token")).await.status, 400);
    assert_eq!(call(&server, Some(&text(&second, "access_token"))).await.status, 401);
    // Another client revokes nothing.
    let other = Client::register(&server).await;
    let third = client.login().await;
    let fourth = client.refresh(&text(&third, "refresh_token")).await;
    assert_eq!(other.refresh(&text(&third, "refresh_token")).await.status, 400);
    assert_eq!(client.refresh(&text(&fourth, "refresh_token")).await.status, 200);
    // Another login is another family.
    assert_eq!(call(&server, Some(&text(&client.login().await, "access_token"))).await.status, 200);
}

#[tokio::test]
async fn a_code_is_used_once() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::register(&server).await;
    let code = client.code().await;
    let tokens = client.exchange(&code).await;
    assert_eq!(tokens.status, 200);
    assert_eq!(client.exchange(&code).await.status, 400);
    assert_eq!(server.counters().replayed_codes, 1);
    assert_eq!(call(&server, Some(&text(&tokens, "access_token"))).await.status, 401);
}

#[tokio::test]
async fn a_code_needs_the_verifier_the_resource_and_the_client_of_its_request() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::register(&server).await;
    let other = Client::register(&server).await;
    let code = client.code().await;
    let wrong = Client { verifier: "another".into(), ..client.clone() };
    assert_eq!(text(&wrong.exchange(&code).await, "error"), "invalid_grant");
    let without = Client { resource: None, ..client.clone() };
    assert_eq!(text(&without.exchange(&code).await, "error"), "invalid_target");
    assert_eq!(text(&other.exchange(&code).await, "error"), "invalid_grant");
    let tokens = client.exchange(&code).await;
    assert_eq!(tokens.status, 200);
    assert_eq!(text(&without.refresh(&text(&tokens, "refresh_token")).await, "error"), "invalid_target");
    assert_eq!(client.refresh(&text(&tokens, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn forbidden_requests_of_a_client_are_refused() {
    let server = AuthServer::builder().start().await.unwrap();
    let client = Client::register(&server).await;
    let unknown = Client { id: "unknown".into(), ..client.clone() };
    assert_eq!(unknown.authorize().await.status, 400);
    let elsewhere = Client { resource: Some("https://other.example".into()), ..client.clone() };
    assert_eq!(elsewhere.authorize().await.location_param("error").as_deref(), Some("invalid_target"));
    let greedy = Client { scope: Some("everything".into()), ..client.clone() };
    assert_eq!(greedy.authorize().await.location_param("error").as_deref(), Some("invalid_scope"));

    // The port of a loopback redirect may differ, nothing else.
    let authorize = |redirect: &str, method: &str| {
        let url = format!(
            "{}?response_type=code&client_id={}&redirect_uri={redirect}&code_challenge={}&code_challenge_method={method}",
            client.authorization_endpoint,
            client.id,
            crate::client::CHALLENGE
        );
        async move { get(&url).await }
    };
    let answer = authorize("http%3A%2F%2F127.0.0.1%3A7%2Fcallback", "S256").await;
    assert!(answer.location_param("code").is_some());
    assert_eq!(authorize("http%3A%2F%2F127.0.0.1%3A7%2Fother", "S256").await.status, 400);
    let answer = authorize("http%3A%2F%2F127.0.0.1%3A7%2Fcallback", "plain").await;
    assert_eq!(answer.location_param("error").as_deref(), Some("invalid_request"));

    let mut web = registration();
    web.as_object_mut().unwrap().remove("application_type");
    let answer = post_json(&server.endpoint("register"), &web).await;
    assert_eq!((answer.status, text(&answer, "error")), (400, "invalid_redirect_uri".into()));
}

#[tokio::test]
async fn tokens_expire_and_are_revoked() {
    let server =
        AuthServer::builder().access_token_lifetime(Duration::from_millis(1500)).start().await.unwrap();
    let client = Client::register(&server).await;
    let tokens = client.login().await;
    assert_eq!(tokens.json()["expires_in"], 1);
    let token = text(&tokens, "access_token");
    assert_eq!(call(&server, Some(&token)).await.status, 200);
    server.advance(Duration::from_millis(1500));
    let refused = call(&server, Some(&token)).await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().contains("error=\"invalid_token\""));

    let refreshed = client.refresh(&text(&tokens, "refresh_token")).await;
    let token = text(&refreshed, "access_token");
    assert_eq!(call(&server, Some(&token)).await.status, 200);
    let refresh_token = text(&refreshed, "refresh_token");
    let form = [("token", refresh_token.as_str()), ("client_id", &client.id)];
    assert_eq!(post(&server.endpoint("revoke"), &form, &[]).await.status, 200);
    assert_eq!(call(&server, Some(&token)).await.status, 401);
    assert_eq!(client.refresh(&refresh_token).await.status, 400);

    let again = client.login().await;
    server.revoke_access_tokens();
    assert_eq!(call(&server, Some(&text(&again, "access_token"))).await.status, 401);
    assert_eq!(client.refresh(&text(&again, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn requests_are_answered_concurrently() {
    let server = AuthServer::builder().start().await.unwrap();
    let answers = futures::future::join_all((0..200).map(|_| call(&server, None))).await;
    assert!(answers.iter().all(|answer| answer.status == 401));
    assert_eq!(server.log().to(Endpoint::Resource).len(), 200);
    server.clear_log();
    assert!(server.log().requests.is_empty());
}
