//! The client of this crate at a server of this crate: each judges the other, with the authorization server of the test kit between.

use agentwire_jsonrpc::{RawJson, Response as Answer};
use agentwire_mcp_auth::AddressPolicy;
use agentwire_mcp_auth::client::{AuthConfig, Authorization, DpopMode};
use agentwire_mcp_auth::server::{DpopPolicy, Issuer, ResourceServer};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint as AuthEndpoint};
use agentwire_transport::{Exchange, service_fn};
use agentwire_transport_http::client::HttpClient;
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Routes, serve};
use bytes::Bytes;
use futures::TryStreamExt;
use http::Request;
use serde_json::json;
use tokio::net::TcpListener;

use crate::client::{Person, count, hyper};

/// Starts a server for the tokens of the kit. Its URL.
async fn start(kit: &AuthServer, adjust: impl FnOnce(ResourceServer) -> ResourceServer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    kit.accept_resource(url.as_str());
    let issuer = Issuer::jwks(kit.issuer(), hyper()).addresses(AddressPolicy::new().loopback(true));
    let auth = ResourceServer::new(url.as_str()).unwrap().issuer(issuer).scopes(["mcp"]);
    let auth = adjust(auth.tool_scopes("write", ["files:write"]));
    let endpoint = Endpoint::serving(EndpointConfig::new(), service_fn(session, exchange));
    let routes = auth.mount(Routes::new().at("/mcp", endpoint));
    tokio::spawn(async move { serve(listener, routes).await });
    url
}

async fn session(connection: Connection) {
    drop(connection);
}

async fn exchange(exchange: Exchange) -> Answer {
    Answer::new(exchange.request.id, Ok(RawJson::EMPTY_OBJECT))
}

fn call(url: &str, tool: &str) -> Request<Bytes> {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
    });
    Request::post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_string().into())
        .unwrap()
}

async fn status(http: &impl HttpClient, request: Request<Bytes>) -> u16 {
    let response = http.send(request).await.unwrap();
    let status = response.status().as_u16();
    let _: Vec<Bytes> = response.into_body().try_collect().await.unwrap();
    status
}

#[tokio::test]
async fn a_login_and_a_step_up_at_a_server_of_ours() {
    let kit = AuthServer::builder().scopes_supported(&["mcp", "files:write"]).start().await.unwrap();
    let url = start(&kit, |auth| auth).await;
    let person = Person::new();
    let authorization = Authorization::new(AuthConfig::new("test").user_agent(person.clone()), hyper());
    let http = authorization.wrap(&url, hyper()).unwrap();
    assert_eq!(status(&http, call(&url, "read")).await, 200);
    assert_eq!(person.asked(), 1);
    assert_eq!(status(&http, call(&url, "write")).await, 200, "after a step up");
    assert_eq!(person.asked(), 2);
    assert_eq!(status(&http, call(&url, "write")).await, 200);
    assert_eq!(status(&http, call(&url, "read")).await, 200);
    assert_eq!(person.asked(), 2, "one login for each set of scopes");
    // The keys of the authorization server change, and the client's token with them.
    kit.rotate_keys();
    assert_eq!(status(&http, call(&url, "read")).await, 200);
}

#[tokio::test]
async fn proofs_of_our_client_satisfy_our_server() {
    let kit = AuthServer::builder().scopes_supported(&["mcp", "files:write"]).start().await.unwrap();
    let url = start(&kit, |auth| auth.dpop(DpopPolicy::Require).proof_nonces().unwrap()).await;
    let person = Person::new();
    let config = AuthConfig::new("test").user_agent(person.clone()).dpop(DpopMode::Always);
    let http = Authorization::new(config, hyper()).wrap(&url, hyper()).unwrap();
    for tool in ["read", "read", "write", "read"] {
        assert_eq!(status(&http, call(&url, tool)).await, 200, "{tool}");
    }
    assert_eq!(person.asked(), 2);
    assert!(count(&kit, AuthEndpoint::Token) >= 2);
}
