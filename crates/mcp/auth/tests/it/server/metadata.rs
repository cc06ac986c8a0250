//! The metadata.

use agentwire_mcp_auth::server::{DpopPolicy, Issuer, ResourceServer};
use http::Request;
use serde_json::{Value, json};
use tower_service::Service;

use super::support::{ISSUER, RESOURCE, Reply, Web, issuer};

async fn document(auth: &ResourceServer) -> Value {
    let mut service = auth.metadata();
    let reply = Reply::of(service.call(Request::get("/").body(()).unwrap()).await.unwrap()).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    serde_json::from_str(&reply.body).unwrap()
}

#[tokio::test]
async fn the_document_says_what_a_client_needs() {
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&Web::default()));
    assert_eq!(
        document(&auth).await,
        json!({ "resource": RESOURCE, "authorization_servers": [ISSUER], "bearer_methods_supported": ["header"] })
    );
    let auth = auth
        .issuer(Issuer::jwks("https://other.example", Web::default()))
        .authorization_server("https://third.example")
        .scopes(["mcp", "offline_access"])
        .tool_scopes("write", ["files:write"])
        .dpop(DpopPolicy::Require)
        .name("Files")
        .documentation("https://mcp.example/docs");
    let full = document(&auth).await;
    assert_eq!(
        full["authorization_servers"],
        json!([ISSUER, "https://other.example", "https://third.example"])
    );
    assert_eq!(full["scopes_supported"], json!(["mcp", "files:write"]));
    assert_eq!(full["dpop_bound_access_tokens_required"], true);
    assert!(full["dpop_signing_alg_values_supported"].as_array().unwrap().contains(&json!("ES256")));
    assert_eq!(
        (&full["resource_name"], &full["resource_documentation"]),
        (&json!("Files"), &json!("https://mcp.example/docs"))
    );
    assert_eq!(document(&auth.scopes_supported(["basic"])).await["scopes_supported"], json!(["basic"]));
}

#[tokio::test]
async fn the_document_is_read_and_not_changed() {
    let mut service = ResourceServer::new(RESOURCE).unwrap().metadata();
    for (method, status) in [("HEAD", 200), ("OPTIONS", 204), ("POST", 405), ("DELETE", 405)] {
        let request = Request::builder().method(method).uri("/").body(()).unwrap();
        let reply = Reply::of(service.call(request).await.unwrap()).await;
        assert_eq!((reply.status, &*reply.body), (status, ""), "{method}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    }
}
