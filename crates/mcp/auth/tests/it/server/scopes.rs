//! Scopes of the endpoint, of operations and of single calls, in every revision and over both transports.

use agentwire_mcp_auth::server::{Rejection, ResourceServer};
use agentwire_transport_http::server::{AnswerForm, Operation};
use serde_json::{Value, json};

use super::support::{OK, RESOURCE, Reply, Server, Web, in_session, initialize, issuer, modern, token};

fn server(web: &Web) -> Server {
    Server::with(web, |auth| {
        auth.tool_scopes("write", ["files:write"])
            .tool_scopes("delete", ["files:delete", "audit"])
            .method_scopes("prompts/get", ["prompts"])
            .operation_scopes(|operation: &Operation<'_>| match operation.name.as_deref() {
                Some(uri) if uri.starts_with("file:///secret") => vec!["secret".to_owned()],
                _ => Vec::new(),
            })
            .scope_implies("admin", ["files:write", "audit", "mcp"])
    })
}

fn call(id: u64, method: &str, member: &str, name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { member: name } })
}

/// The status, and the scopes of the challenge.
fn outcome(reply: &Reply) -> (u16, Option<&str>) {
    let scopes = reply.challenge().split("scope=\"").nth(1).and_then(|rest| rest.split('"').next());
    (reply.status, scopes)
}

const CASES: &[(&str, &str, &str, &str, Option<&str>)] = &[
    // the token's scopes, the method, the member, the name, and the scopes of the challenge if it is refused
    ("mcp", "tools/call", "name", "read", None),
    ("mcp", "tools/call", "name", "write", Some("mcp files:write")),
    ("mcp", "tools/call", "name", "delete", Some("mcp files:delete audit")),
    ("mcp audit", "tools/call", "name", "delete", Some("mcp files:delete audit")),
    ("mcp audit files:delete", "tools/call", "name", "delete", None),
    ("mcp", "prompts/get", "name", "write", Some("mcp prompts")),
    ("mcp prompts", "prompts/get", "name", "write", None),
    ("mcp", "resources/read", "uri", "file:///secret/x", Some("mcp secret")),
    ("mcp", "resources/read", "uri", "file:///open", None),
    ("admin", "tools/call", "name", "write", None),
    ("admin", "tools/call", "name", "delete", Some("mcp files:delete audit")),
    ("files:write", "tools/call", "name", "write", Some("mcp files:write")),
];

#[tokio::test]
async fn modern_operation_needs_its_scopes() {
    let server = server(&Web::with_issuer());
    for (scope, method, _, name, needed) in CASES {
        let mut request = modern(method, Some(name));
        let bearer = format!("Bearer {}", token(json!({ "scope": scope })));
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        let reply = Reply::of(server.send(request).await).await;
        let status = if needed.is_some() { 403 } else { OK };
        assert_eq!(outcome(&reply), (status, *needed), "{scope} {method} {name}: {}", reply.body);
        if needed.is_some() {
            assert!(reply.challenge().contains("error=\"insufficient_scope\""));
            assert!(reply.challenge().contains("resource_metadata=\"https://mcp.example/"));
            assert!(matches!(server.rejection(), Rejection::InsufficientScope { .. }));
        }
    }
}

#[tokio::test]
async fn an_operation_in_a_session_needs_its_scopes() {
    let server = server(&Web::with_issuer());
    for (scope, method, member, name, needed) in CASES {
        let open = in_session(None, &token(json!({ "scope": "mcp" })), &initialize("2025-11-25"));
        let opened = Reply::of(server.send(open).await).await;
        let session = opened.header("mcp-session-id").unwrap();
        let request =
            in_session(Some(session), &token(json!({ "scope": scope })), &call(7, method, member, name));
        let reply = Reply::of(server.send(request).await).await;
        let status = if needed.is_some() { 403 } else { OK };
        // Without the scopes of the endpoint, a request is refused before its body is read.
        let needed = if *scope == "files:write" { &Some("mcp") } else { needed };
        assert_eq!(outcome(&reply), (status, *needed), "{scope} {method} {name}: {}", reply.body);
        if needed.is_some() && *scope != "files:write" {
            assert_eq!(serde_json::from_str::<Value>(&reply.body).unwrap()["id"], 7, "the id of the request");
        }
    }
}

#[tokio::test]
async fn a_batch_needs_the_scopes_of_all_its_operations() {
    let server = server(&Web::with_issuer());
    let narrow = token(json!({}));
    let opened = Reply::of(server.send(in_session(None, &narrow, &initialize("2025-03-26"))).await).await;
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let batch = json!([
        call(1, "tools/call", "name", "read"),
        call(2, "tools/call", "name", "write"),
        call(3, "tools/call", "name", "delete"),
        { "jsonrpc": "2.0", "method": "notifications/progress", "params": {} },
    ]);
    let send = |token: &str| {
        let mut request = in_session(Some(&session), token, &batch);
        request.headers_mut().remove("mcp-protocol-version");
        server.send(request)
    };
    let reply = Reply::of(send(&narrow).await).await;
    assert_eq!(outcome(&reply), (403, Some("mcp files:write files:delete audit")));
    let wide = token(json!({ "scope": "mcp files:write files:delete audit" }));
    let reply = Reply::of(send(&wide).await).await;
    assert_eq!(reply.status, OK, "{}", reply.body);
    assert_eq!(reply.body.matches("ann").count(), 3);
}

#[tokio::test]
async fn a_message_that_names_two_operations_is_refused() {
    let server = server(&Web::with_issuer());
    let opened =
        Reply::of(server.send(in_session(None, &token(json!({})), &initialize("2025-11-25"))).await).await;
    let session = opened.header("mcp-session-id").unwrap();
    for params in [r#"{"name":"read","name":"write"}"#, r#"{"name":"write","n\u0061me":"read"}"#] {
        let mut request = in_session(Some(session), &token(json!({})), &json!({}));
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        *request.body_mut() = http_body_util::Full::new(body.into());
        assert_eq!(Reply::of(server.send(request).await).await.status, 400, "{params}");
    }
    // An escape hides no name.
    let mut request = in_session(Some(session), &token(json!({})), &json!({}));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"n\u0061me":"wr\u0069te"}}"#;
    *request.body_mut() = http_body_util::Full::new(body.into());
    assert_eq!(outcome(&Reply::of(server.send(request).await).await), (403, Some("mcp files:write")));
}

#[tokio::test]
async fn a_handler_can_demand_more() {
    let server = server(&Web::with_issuer());
    let demand = |scope: &str| {
        let mut request = modern("demand", None);
        let bearer = format!("Bearer {}", token(json!({ "scope": scope })));
        request.headers_mut().insert("authorization", bearer.parse().unwrap());
        server.send(request)
    };
    let reply = Reply::of(demand("mcp").await).await;
    assert_eq!(outcome(&reply), (403, Some("mcp extra")));
    assert!(reply.challenge().contains("error=\"insufficient_scope\""));
    assert_eq!(serde_json::from_str::<Value>(&reply.body).unwrap()["id"], 1, "the handler's own error");
    assert!(matches!(server.rejection(), Rejection::InsufficientScope { .. }));
    assert_eq!(Reply::of(demand("mcp extra").await).await.status, OK);
}

#[tokio::test]
async fn a_handler_in_a_session_can_demand_more() {
    let web = Web::with_issuer();
    let auth = ResourceServer::new(RESOURCE).unwrap().issuer(issuer(&web)).scopes(["mcp"]);
    let server = Server::configured(auth, |config| config.legacy_answer(AnswerForm::Json));
    let narrow = token(json!({}));
    let opened = Reply::of(server.send(in_session(None, &narrow, &initialize("2025-11-25"))).await).await;
    let session = opened.header("mcp-session-id").unwrap();
    let demand = json!({ "jsonrpc": "2.0", "id": 1, "method": "demand" });
    let send = |token: &str| server.send(in_session(Some(session), token, &demand));
    let reply = Reply::of(send(&narrow).await).await;
    assert_eq!(outcome(&reply), (403, Some("mcp extra")), "{}", reply.body);
    // The demand of one request does not count for the next, and a better token is taken in the same session.
    assert_eq!(Reply::of(send(&token(json!({ "scope": "mcp extra" }))).await).await.status, OK);
    let whoami = json!({ "jsonrpc": "2.0", "id": 2, "method": "whoami" });
    assert_eq!(Reply::of(server.send(in_session(Some(session), &narrow, &whoami)).await).await.status, OK);
}
