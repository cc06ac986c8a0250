//! Documents with members that are `null`, and documents that cannot be read.

use agentwire_mcp_auth::client::{AuthConfig, AuthError, Authorization, Remedy};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault};
use serde_json::{Map, Value, json};

use super::hostile::tampering;
use super::{Client, Person, count};

fn config() -> AuthConfig {
    AuthConfig::new("Test").user_agent(Person::new())
}

/// Sets these members to `null`.
fn nulls(names: &'static [&'static str]) -> impl Fn(&mut Map<String, Value>) + Send + Sync + 'static {
    move |document| document.extend(names.iter().map(|name| (String::from(*name), Value::Null)))
}

#[tokio::test]
async fn null_members_of_metadata_are_absent() {
    let of_server = nulls(&[
        "scopes_supported",
        "revocation_endpoint",
        "token_endpoint_auth_methods_supported",
        "dpop_signing_alg_values_supported",
        "client_id_metadata_document_supported",
    ]);
    let of_resource = nulls(&["scopes_supported", "dpop_bound_access_tokens_required"]);
    let server = AuthServer::builder()
        .edit_metadata(of_server)
        .edit_resource_metadata(of_resource)
        .start()
        .await
        .unwrap();
    assert_eq!(Client::new(&server, config()).get().await.unwrap(), 200);
    assert_eq!(count(&server, Endpoint::Registration), 1);
}

#[tokio::test]
async fn null_authorization_servers_are_none() {
    let edit = nulls(&["authorization_servers"]);
    let server = AuthServer::builder().edit_resource_metadata(edit).start().await.unwrap();
    let error = Client::new(&server, config()).get().await.unwrap_err();
    assert!(error.to_string().contains("names no authorization server"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::AuthorizationServer));
}

#[tokio::test]
async fn null_members_of_a_registration_are_absent() {
    let server = AuthServer::builder().start().await.unwrap();
    let registered = json!({
        "client_id": "unknown", "client_secret": null, "client_secret_expires_at": null, "scope": null,
        "token_endpoint_auth_method": null,
    });
    let http = tampering(move |request| {
        request.uri().path().contains("register").then(|| (201, String::new(), registered.to_string()))
    });
    let login = Authorization::new(config(), http).login(&server.resource_url()).await;
    // The answer is read: the authorization server is asked with this id.
    let log = server.log();
    assert_eq!(log.to(Endpoint::Authorization)[0].param("client_id"), Some("unknown"), "{login:?}");
}

#[tokio::test]
async fn malformed_optional_member_costs_no_login() {
    for scopes in [json!(5), json!("a b"), json!([null])] {
        let edit = move |document: &mut Map<String, Value>| {
            document.insert("scopes_supported".into(), scopes.clone());
            document.insert("revocation_endpoint".into(), json!(5));
            if let Some(Value::Array(servers)) = document.get_mut("authorization_servers") {
                servers.insert(0, Value::Null);
            }
        };
        let of_server = AuthServer::builder().edit_metadata(edit.clone()).start().await.unwrap();
        let of_resource = AuthServer::builder().edit_resource_metadata(edit).start().await.unwrap();
        for server in [of_server, of_resource] {
            assert_eq!(Client::new(&server, config()).get().await.unwrap(), 200);
        }
    }
}

#[tokio::test]
async fn metadata_that_cannot_be_read_is_called_unreadable() {
    let of_server: &[&str] = &["oauth-authorization-server", "openid-configuration"];
    for (places, body, expected) in [
        (of_server, r#"{"issuer":"#, "cannot be read: EOF"),
        (&["oauth-protected-resource"], r#"{"resource":"#, "cannot be read: EOF"),
        (of_server, "[]", "is not a JSON object"),
    ] {
        let server = AuthServer::builder().start().await.unwrap();
        let http = tampering(move |request| {
            let is_there = places.iter().any(|place| request.uri().path().contains(place));
            is_there.then(|| (200, String::new(), body.to_owned()))
        });
        let error = Authorization::new(config(), http).login(&server.resource_url()).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, AuthError::Misconfigured(_)), "{error:?}");
        assert!(text.contains(places[0]) && text.contains(expected), "{text}");
        assert!(!text.contains("4xx"), "{text}");
    }
}

#[tokio::test]
async fn a_page_in_place_of_metadata_is_named() {
    let server = AuthServer::builder().start().await.unwrap();
    server.set(Fault::MetadataNotJson);
    let error = Client::new(&server, config()).get().await.unwrap_err();
    assert!(error.to_string().contains("is not a JSON object"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::AuthorizationServer));
}

#[tokio::test]
async fn a_byte_order_mark_before_metadata_is_skipped() {
    let server = AuthServer::builder().start().await.unwrap();
    let issuer = server.issuer().to_owned();
    let document = json!({
        "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"), "code_challenge_methods_supported": ["S256"],
    });
    let http = tampering(move |request| {
        let is_metadata = request.uri().path().contains("oauth-authorization-server");
        is_metadata.then(|| (200, String::new(), format!("\u{feff}{document}")))
    });
    let error = Authorization::new(config(), http).login(&server.resource_url()).await.unwrap_err();
    assert!(error.to_string().contains("registers no clients"), "{error}");
}
