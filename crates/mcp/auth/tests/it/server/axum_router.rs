//! The layer and the metadata in a router of axum.

use agentwire_mcp_auth::server::{AccessToken, ResourceServer};
use axum::Router;
use axum::body::Body;
use axum::extract::Extension;
use axum::routing::get;
use http::Request;
use serde_json::json;
use tower_service::Service;

use super::support::{RESOURCE, Reply, Web, issuer, token};

#[tokio::test]
async fn routes_of_axum_can_be_behind_the_layer() {
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&Web::with_issuer())).scopes(["mcp"]);
    let who = |Extension(token): Extension<AccessToken>| async move {
        token.subject().unwrap_or("nobody").to_owned()
    };
    let mut router = Router::new().route("/who", get(who)).layer(auth.layer());
    for path in auth.metadata_paths() {
        router = router.route_service(&path, auth.metadata());
    }
    let call = |path: &str, token: Option<&str>| {
        let mut request = Request::get(path).body(Body::empty()).unwrap();
        if let Some(token) = token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let mut router = router.clone();
        async move { Reply::of(Service::call(&mut router, request).await.unwrap()).await }
    };
    assert_eq!(call("/who", None).await.status, 401);
    let reply = call("/who", Some(&token(json!({})))).await;
    assert_eq!((reply.status, &*reply.body), (200, "ann"));
    assert_eq!(call("/.well-known/oauth-protected-resource", None).await.status, 200);
    assert_eq!(call("/.well-known/oauth-protected-resource/mcp", None).await.status, 200);
}
