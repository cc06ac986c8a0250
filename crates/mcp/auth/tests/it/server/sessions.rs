//! A session belongs to the caller that opened it, over both transports, and so do its streams.

use std::time::Duration;

use agentwire_mcp_auth::server::ResourceServer;
use agentwire_transport::connection_fn;
use agentwire_transport_sse::server as sse;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tower_layer::Layer;
use tower_service::Service;

use super::support::{
    OK, RESOURCE, Reply, Server, Web, in_session, initialize, issuer, serve_session, token,
};

fn plain(method: &str, uri: &str, token: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(uri)
        .header("host", "mcp.example")
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("accept", "text/event-stream, application/json")
}

#[tokio::test]
async fn a_stolen_session_id_is_worth_nothing_with_another_token() {
    let server = Server::new(&Web::with_issuer());
    let (ann, ben) = (token(json!({})), token(json!({ "sub": "ben" })));
    let opened = Reply::of(server.send(in_session(None, &ann, &initialize("2025-11-25"))).await).await;
    let session = opened.header("mcp-session-id").unwrap();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "whoami" });
    let post = |token: &str| server.send(in_session(Some(session), token, &ping));
    let other = |method: &str, token: &str, last: Option<&str>| {
        let mut builder = plain(method, RESOURCE, token)
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-11-25");
        if let Some(last) = last {
            builder = builder.header("last-event-id", last);
        }
        server.send(builder.body(Full::<Bytes>::default()).unwrap())
    };
    let answered = Reply::of(post(&ann).await).await;
    assert_eq!(answered.status, OK);
    let event = answered.body.lines().find_map(|line| line.strip_prefix("id: ")).expect("an id of an event");
    // Another subject, and the same client with no subject.
    for thief in [ben, token(json!({ "sub": null, "client_id": "ann" }))] {
        assert_eq!(post(&thief).await.status(), 404);
        assert_eq!(other("GET", &thief, None).await.status(), 404);
        assert_eq!(other("GET", &thief, Some(event)).await.status(), 404);
        assert_eq!(other("DELETE", &thief, None).await.status(), 404);
    }
    assert_eq!(other("GET", "x", None).await.status(), 401);
    assert_eq!(other("DELETE", "x", None).await.status(), 401);
    // A new token of the same subject goes on.
    let renewed = token(json!({ "jti": "2", "scope": "mcp more" }));
    assert_eq!(post(&renewed).await.status(), 200);
    assert_eq!(other("GET", &renewed, Some(event)).await.status(), 200);
    assert_eq!(other("DELETE", &ann, None).await.status(), 204);
}

#[tokio::test]
async fn p19_no_session_begins_without_a_valid_token() {
    let server = Server::new(&Web::with_issuer());
    for token in ["anything".to_owned(), token(json!({ "aud": "https://other.example" }))] {
        let reply = Reply::of(server.send(in_session(None, &token, &initialize("2025-11-25"))).await).await;
        assert_eq!((reply.status, reply.header("mcp-session-id")), (401, None));
    }
}

#[tokio::test]
async fn a_session_over_sse_belongs_to_its_caller() {
    let web = Web::with_issuer();
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&web)).scopes(["mcp"]);
    let auth = auth.tool_scopes("write", ["files:write"]);
    let config = sse::EndpointConfig::new().with_http(|http| http.hosts(["mcp.example"]));
    let endpoint = sse::Endpoint::serving(config, connection_fn(serve_session));
    let service = auth.layer().layer(endpoint);
    let send = |request: Request<Full<Bytes>>| {
        let mut service = service.clone();
        async move { Service::call(&mut service, request).await.unwrap() }
    };
    let (ann, ben) = (token(json!({})), token(json!({ "sub": "ben" })));
    let get = |token: &str| plain("GET", "https://mcp.example/sse", token).body(Full::default()).unwrap();
    assert_eq!(send(get("x")).await.status(), 401);
    let mut stream: Response<_> = send(get(&ann)).await;
    assert_eq!(stream.status(), 200);
    let first = next(&mut stream).await;
    let uri = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned();
    let post = |token: &str, body: serde_json::Value| {
        let uri = format!("https://mcp.example{uri}");
        send(plain("POST", &uri, token).body(Full::new(body.to_string().into())).unwrap())
    };
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "whoami" });
    let write = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "write" } });
    assert_eq!(post(&ben, ping.clone()).await.status(), 404);
    assert_eq!(post("x", ping.clone()).await.status(), 401);
    let refused = Reply::of(post(&ann, write.clone()).await).await;
    assert_eq!(refused.status, 403);
    assert!(refused.challenge().contains("scope=\"mcp files:write\""), "{}", refused.challenge());
    assert!(refused.body.contains("\"id\":2"), "{}", refused.body);
    assert_eq!(post(&ann, ping).await.status(), 202);
    assert!(next(&mut stream).await.contains("ann"));
    assert_eq!(post(&token(json!({ "scope": "mcp files:write" })), write).await.status(), 202);
    assert!(next(&mut stream).await.contains("\"id\":2"));
}

async fn next<B>(stream: &mut Response<B>) -> String
where
    B: http_body::Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Debug,
{
    let frame = tokio::time::timeout(Duration::from_secs(5), stream.body_mut().frame()).await.unwrap();
    String::from_utf8(frame.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap()
}
