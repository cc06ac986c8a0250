//! Modern requests, of 2026-07-28.

use agentwire_transport_http::server::{AnswerForm, EndpointConfig, Era};
use serde_json::{Value, json};

use super::raw::{Events, parse_events};
use super::script::{Heard, Server, notification, request};

pub(crate) const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    request(id, method, params)
}

#[tokio::test]
async fn a_request_is_answered_as_json_or_as_a_stream() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let mut raw = server.raw().await;
    let headers = [VERSION, ("mcp-method", "echo")];
    let (head, body) = raw.exchange("POST", &headers, &modern("a", "echo", json!({}))).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert_eq!(head.header("mcp-session-id"), None);
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["id"], "a");
    server.hears(&Heard::Opened { session: false }).await;
    server.hears(&Heard::Ended).await;

    let headers = [VERSION, ("MCP-METHOD", "count"), ("Mcp-Session-Id", "ignored"), ("Last-Event-ID", "1-1")];
    let (head, body) = raw.exchange("POST", &headers, &modern(2, "count", json!({"n": 2}))).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    let events = parse_events(&body);
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.id.is_none()), "nothing to resume");

    let server = Server::start(EndpointConfig::new().modern_answer(AnswerForm::Events)).await;
    let headers = [VERSION, ("Mcp-Method", "echo")];
    let (head, body) = server.raw().await.exchange("POST", &headers, &modern(1, "echo", json!({}))).await;
    assert_eq!((head.header("content-type"), parse_events(&body).len()), (Some("text/event-stream"), 1));
}

#[tokio::test]
async fn status_depends_on_the_error_code() {
    let server = Server::start(EndpointConfig::new().modern_answer(AnswerForm::Events)).await;
    let headers = [VERSION, ("Mcp-Method", "nothing")];
    let (status, body) = server.exchange("POST", &headers, &modern(1, "nothing", json!({}))).await;
    assert_eq!((status, body.contains("-32601")), (404, true));
    for (code, status) in
        [(-32602, 400), (-32022, 400), (-32021, 400), (-32020, 400), (-32603, 200), (7, 200)]
    {
        let body = modern(1, "fail", json!({"code": code}));
        let (seen, body) = server.exchange("POST", &[VERSION, ("Mcp-Method", "fail")], &body).await;
        assert_eq!(seen, status, "{code}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["error"]["code"], code);
    }
}

#[tokio::test]
async fn headers_must_match_the_body() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let call = modern(7, "tools/call", json!({"name": "日本"}));
    let read = modern(7, "resources/read", json!({"uri": "file:///a"}));
    let task = modern(7, "tasks/get", json!({"taskId": "t-1", "name": "other", "uri": "other"}));
    let good: [(&str, &[(&str, &str)]); 5] = [
        (&task, &[VERSION, ("Mcp-Method", "tasks/get"), ("Mcp-Name", "t-1")]),
        (&call, &[VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?5pel5pys?=")]),
        (&call, &[VERSION, ("Mcp-Method", " tools/call "), ("Mcp-Name", "  =?base64?5pel5pys?=\t")]),
        (&read, &[VERSION, ("Mcp-Method", "resources/read"), ("Mcp-Name", "file:///a")]),
        (&read, &[VERSION, ("Mcp-Method", "resources/read"), ("Mcp-Name", "=?base64?ZmlsZTovLy9h?=")]),
    ];
    for (body, headers) in good {
        assert_eq!(server.exchange("POST", headers, body).await.0, 200, "{headers:?}");
    }
    let mismatched = |version: &str| call.replace("2026-07-28", version);
    let bad: [(&str, &[(&str, &str)]); 12] = [
        (&task, &[VERSION, ("Mcp-Method", "tasks/get"), ("Mcp-Name", "other")]),
        (&task, &[VERSION, ("Mcp-Method", "tasks/get")]),
        (&call, &[("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?5pel5pys?=")]),
        (&call, &[("MCP-Protocol-Version", "2025-11-25"), ("Mcp-Method", "tools/call")]),
        (
            &mismatched("2025-11-25"),
            &[VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?5pel5pys?=")],
        ),
        (&call, &[VERSION, ("Mcp-Name", "=?base64?5pel5pys?=")]),
        (&call, &[VERSION, ("Mcp-Method", "TOOLS/CALL"), ("Mcp-Name", "=?base64?5pel5pys?=")]),
        (&call, &[VERSION, ("Mcp-Method", "tools/list"), ("Mcp-Name", "=?base64?5pel5pys?=")]),
        (&call, &[VERSION, ("Mcp-Method", "tools/call")]),
        (&call, &[VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "other")]),
        (&call, &[VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "=?base64?5pel5pys=?=")]),
        (
            &read,
            &[
                VERSION,
                ("Mcp-Method", "resources/read"),
                ("Mcp-Method", "tools/list"),
                ("Mcp-Name", "file:///a"),
            ],
        ),
    ];
    while server.heard.try_recv().is_ok() {}
    for (body, headers) in bad {
        let (status, answer) = server.exchange("POST", headers, body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(
            (status, &answer["error"]["code"], &answer["id"]),
            (400, &json!(-32020), &json!(7)),
            "{headers:?}"
        );
    }
    assert!(server.heard.try_recv().is_err(), "none of them was served");
}

#[tokio::test]
async fn unknown_versions_are_refused_by_the_endpoint_or_the_service() {
    let server = Server::start(EndpointConfig::new()).await;
    let future = [("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "echo")];
    let body = modern(1, "echo", json!({})).replace("2026-07-28", "2099-01-01");
    // In both places, it may be one that the service of the connection knows.
    assert_eq!(server.exchange("POST", &future, &body).await.0, 200);
    let (status, answer) = server.exchange("POST", &future, &request(1, "echo", json!({}))).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32022)));
    assert_eq!(
        answer["error"]["data"]["supported"],
        json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );

    let modern_only = Server::start(EndpointConfig::new().era(Era::Modern)).await;
    for headers in [&[][..], &[("MCP-Protocol-Version", "2025-11-25")]] {
        let (status, answer) =
            modern_only.exchange("POST", headers, &super::script::initialize("2025-11-25")).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
        assert_eq!((status, &answer["error"]["data"]), (400, &data));
    }
    assert_eq!(modern_only.exchange("GET", &[], "").await.0, 405);
    let legacy_only = Server::start(EndpointConfig::new().era(Era::Legacy)).await;
    let headers = [VERSION, ("Mcp-Method", "echo")];
    let (status, answer) = legacy_only.exchange("POST", &headers, &modern(1, "echo", json!({}))).await;
    assert_eq!((status, answer.contains("-32022")), (400, true));
}

#[tokio::test]
async fn only_one_request_or_notification_is_a_body() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let headers = [VERSION, ("Mcp-Method", "x")];
    assert_eq!(server.exchange("POST", &headers, &notification("x")).await, (202, String::new()));
    server.hears(&Heard::Message("x".to_owned())).await;
    server.hears(&Heard::Ended).await;
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string();
    let batch = format!("[{}]", modern(1, "x", json!({})));
    let null = modern(Value::Null, "x", json!({}));
    for body in [response, batch, null, "{}".to_owned(), "[]".to_owned()] {
        let (status, answer) = server.exchange("POST", &headers, &body).await;
        assert_eq!((status, answer.contains("-32600")), (400, true), "{body}: {answer}");
    }
    for method in ["GET", "DELETE"] {
        let (head, _) = server.raw().await.exchange(method, &[VERSION], "").await;
        assert_eq!((head.status, head.header("allow")), (405, Some("POST")));
    }
}

#[tokio::test]
async fn leaving_is_cancelling() {
    let mut server = Server::start(EndpointConfig::new()).await;
    // Before anything was said, and after.
    let mut raw = server.raw().await;
    raw.send("POST", &[VERSION, ("Mcp-Method", "wait")], &modern("gone", "wait", json!({}))).await;
    server.hears(&Heard::Message("wait".to_owned())).await;
    drop(raw);
    server.hears(&Heard::Cancelled("gone".into())).await;
    server.hears(&Heard::Ended).await;

    let mut raw = server.raw().await;
    raw.send("POST", &[VERSION, ("Mcp-Method", "ask")], &modern(3, "ask", json!({}))).await;
    assert_eq!(raw.head().await.status, 200);
    let mut events = Events::new(raw);
    events.next().await.unwrap();
    drop(events);
    server.hears(&Heard::Cancelled(3_u64.into())).await;
}

#[tokio::test]
async fn sessions_and_single_requests_share_the_endpoint() {
    let server = Server::start(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    for id in 0..3 {
        assert_eq!(client.post(&request(id, "echo", json!({}))).await.0, 200);
        let headers = [VERSION, ("Mcp-Method", "echo")];
        assert_eq!(server.exchange("POST", &headers, &modern(id, "echo", json!({}))).await.0, 200);
    }
}

#[tokio::test]
async fn requests_beyond_the_limit_get_retry_after() {
    let mut server = Server::start(EndpointConfig::new().exchange_limit(1)).await;
    let mut raw = server.raw().await;
    raw.send("POST", &[VERSION, ("Mcp-Method", "wait")], &modern(1, "wait", json!({}))).await;
    server.hears(&Heard::Message("wait".to_owned())).await;
    let headers = [VERSION, ("Mcp-Method", "echo")];
    let (head, body) = server.raw().await.exchange("POST", &headers, &modern(2, "echo", json!({}))).await;
    assert_eq!((head.status, head.header("retry-after")), (503, Some("1")));
    assert!(body.contains("limit of 1"), "{body}");
    drop(raw);
    server.hears(&Heard::Ended).await;
    assert_eq!(server.exchange("POST", &headers, &modern(2, "echo", json!({}))).await.0, 200);
}
