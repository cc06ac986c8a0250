//! Sessions: how they begin, what belongs to them, how they end.

use std::collections::HashSet;

use agentwire_transport_http::server::{AnswerForm, EndpointConfig};
use serde_json::{Value, json};

use super::raw::parse_events;
use super::script::{Heard, Server, initialize, notification, request};

#[tokio::test]
async fn a_session_begins_with_initialize_and_ends_with_delete() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut raw = server.raw().await;
    let (head, body) = raw.exchange("POST", &[], &initialize("2025-11-25")).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let id = head.header("mcp-session-id").unwrap().to_owned();
    assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()), "{id}");
    assert_eq!(parse_events(&body).last().unwrap().json()["result"]["protocolVersion"], "2025-11-25");

    let headers = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    // All of it on one connection.
    let (head, body) = raw.exchange("POST", &headers, &notification("notifications/initialized")).await;
    assert_eq!((head.status, head.header("content-length"), body.as_str()), (202, Some("0"), ""));
    let (head, body) = raw.exchange("POST", &headers, &request(1, "echo", json!({"a": 1}))).await;
    assert_eq!(head.status, 200);
    let answer = parse_events(&body).pop().unwrap().json();
    assert_eq!(answer, json!({"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}));
    let (head, _) = raw.exchange("DELETE", &headers, "").await;
    assert_eq!((head.status, head.header("mcp-session-id")), (204, None));
    server.hears(&Heard::Ended).await;
    for method in ["POST", "GET", "DELETE"] {
        let body = if method == "POST" { request(2, "echo", json!({})) } else { String::new() };
        let (head, _) = raw.exchange(method, &headers, &body).await;
        assert_eq!(head.status, 404, "{method}");
    }
}

#[tokio::test]
async fn a_session_that_is_refused_has_no_id() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let (head, body) = server.raw().await.exchange("POST", &[], &initialize("refuse")).await;
    assert_eq!((head.status, head.header("mcp-session-id")), (200, None));
    assert_eq!(parse_events(&body).pop().unwrap().json()["error"]["code"], -32602);
    server.hears(&Heard::Ended).await;
}

#[tokio::test]
async fn requests_without_a_session_or_with_a_wrong_one_are_refused() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let body = request(1, "echo", json!({}));
    let unknown = "0".repeat(32);
    for (session, status) in [(None, 400), (Some(unknown.as_str()), 404), (Some("x"), 404), (Some(""), 404)] {
        for method in ["POST", "GET", "DELETE"] {
            let headers: Vec<_> = session.iter().map(|session| ("Mcp-Session-Id", *session)).collect();
            let body = if method == "POST" { body.as_str() } else { "" };
            assert_eq!(server.exchange(method, &headers, body).await.0, status, "{method} {session:?}");
        }
    }
    assert_eq!(client.post(&body).await.0, 200, "the session is untouched");
}

#[tokio::test]
async fn the_version_header_is_checked_and_may_be_absent() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-06-18").await;
    let body = request(1, "echo", json!({}));
    for version in ["1999-01-01", "x", ""] {
        let headers = [("Mcp-Session-Id", client.session.as_str()), ("MCP-Protocol-Version", version)];
        let (status, answer) = server.exchange("POST", &headers, &body).await;
        assert_eq!(status, 400, "{version}");
        let error: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&error["id"], &error["error"]["data"]["requested"]), (&json!(1), &json!(version)));
        assert_eq!(server.exchange("GET", &headers, "").await.0, 400, "{version}");
        assert_eq!(server.exchange("DELETE", &headers, "").await.0, 400, "{version}");
    }
    let headers = [("Mcp-Session-Id", client.session.as_str())];
    assert_eq!(server.exchange("POST", &headers, &body).await.0, 200);
}

/// The negotiated revision counts. A header that names another revision with sessions changes nothing; one that names the
/// revision without, makes it a request of that revision.
#[tokio::test]
async fn the_revision_of_a_session_is_what_was_agreed_on() {
    let server = Server::inline(EndpointConfig::new()).await;
    let batch = format!("[{}]", notification("x"));
    for (agreed, other) in [("2025-11-25", "2025-03-26"), ("2025-03-26", "2025-11-25")] {
        let client = server.open(agreed).await;
        let with = |version| [("Mcp-Session-Id", client.session.as_str()), ("MCP-Protocol-Version", version)];
        for version in [agreed, other] {
            let (status, body) =
                server.exchange("POST", &with(version), &request(1, "echo", json!({}))).await;
            let primed = parse_events(&body)[0].data.is_empty();
            assert_eq!((status, primed), (200, agreed == "2025-11-25"), "{agreed} {version}");
            let (status, _) = server.exchange("POST", &with(version), &batch).await;
            assert_eq!(status, if agreed == "2025-03-26" { 202 } else { 400 }, "{agreed} {version}");
        }
        for (method, status) in [("POST", 400), ("GET", 405), ("DELETE", 405)] {
            let body = if method == "POST" { request(1, "echo", json!({})) } else { String::new() };
            let (seen, body) = server.exchange(method, &with("2026-07-28"), &body).await;
            assert_eq!((seen, body.contains("-32020")), (status, method == "POST"), "{method}");
        }
    }
}

#[tokio::test]
async fn st_02_a_body_of_the_revision_without_sessions_has_no_place_in_one() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let named = |version: &str| {
        request(3, "echo", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": version } }))
    };
    let escaped = named("2026-07-28").replace("/protocolVersion", r"\/protocolVersion");
    for body in [named("2026-07-28"), named("2099-01-01"), escaped] {
        for headers in [
            &[("Mcp-Session-Id", client.session.as_str()), ("MCP-Protocol-Version", "2025-11-25")][..],
            &[("Mcp-Session-Id", client.session.as_str())],
        ] {
            let (status, answer) = server.exchange("POST", headers, &body).await;
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!((status, &answer["error"]["code"], &answer["id"]), (400, &json!(-32020), &json!(3)));
        }
    }
    assert_eq!(client.post(&named("2025-11-25")).await.0, 200, "which a session may say, too");
}

#[tokio::test]
async fn sessions_know_nothing_of_each_other() {
    let server = Server::inline(EndpointConfig::new()).await;
    let clients = [server.open("2025-11-25").await, server.open("2025-11-25").await];
    assert_ne!(clients[0].session, clients[1].session);
    // The same id in both, unanswered at the same time.
    let mut calls = [
        clients[0].call(&request(5, "wait", json!({}))).await,
        clients[1].call(&request(5, "wait", json!({}))).await,
    ];
    let (status, _) = clients[1].post(&notification("finish")).await;
    assert_eq!(status, 202);
    assert_eq!(calls[1].rest().await.pop().unwrap().json()["result"], "late");
    assert_eq!(calls[0].next().await.unwrap().data, "", "only its beginning");
    clients[0].post(&notification("finish")).await;
    assert_eq!(calls[0].rest().await.len(), 1);
}

#[tokio::test]
async fn first_message_can_be_a_json_answer() {
    let server = Server::inline(EndpointConfig::new().legacy_answer(AnswerForm::Json)).await;
    let mut raw = server.raw().await;
    let (head, body) = raw.exchange("POST", &[], &initialize("2025-11-25")).await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["result"]["protocolVersion"], "2025-11-25");
    let headers = [("Mcp-Session-Id", head.header("mcp-session-id").unwrap())];
    let large = request(1, "large", json!({"n": 300_000}));
    let (head, body) = raw.exchange("POST", &headers, &large).await;
    assert_eq!(head.header("content-length"), Some(body.len().to_string().as_str()));
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["result"].as_str().unwrap().len(), 300_000);
    // What is said before the answer makes it a stream.
    let (head, body) = raw.exchange("POST", &headers, &request(2, "count", json!({"n": 2}))).await;
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(parse_events(&body).len(), 4);
}

/// TSK-14: who polls wants no stream.
#[tokio::test]
async fn tasks_get_is_answered_as_json_in_any_form() {
    for server in [Server::inline(EndpointConfig::new()).await, Server::start(EndpointConfig::new()).await] {
        let mut raw = server.raw().await;
        let (head, _) = raw.exchange("POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        let headers = [("Mcp-Session-Id", head.header("mcp-session-id").unwrap())];
        let (head, body) =
            raw.exchange("POST", &headers, &request(1, "tasks/get", json!({"taskId": "t"}))).await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["result"], json!({"taskId": "t"}));
    }
}

#[tokio::test]
async fn a_request_of_the_server_is_answered_by_a_post() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut call = {
        let client = server.open("2025-11-25").await;
        let mut call = client.call(&request(1, "ask", json!({}))).await;
        call.next().await.unwrap();
        let asked = call.next().await.unwrap().json();
        assert_eq!((&asked["id"], &asked["method"]), (&json!("s-1"), &json!("roots/list")));
        let answer = json!({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}}).to_string();
        assert_eq!(client.post(&answer).await, (202, String::new()));
        let unknown = json!({"jsonrpc": "2.0", "id": "s-9", "result": {}}).to_string();
        assert_eq!(client.post(&unknown).await.0, 202, "who is meant is not for the transport to know");
        call
    };
    assert_eq!(call.rest().await.pop().unwrap().json()["result"], "asked");
    server.hears(&Heard::Answer("s-1".into())).await;
}

#[tokio::test]
async fn batches_are_taken_where_the_revision_has_them() {
    let server = Server::inline(EndpointConfig::new()).await;
    let batch = format!(
        "[{},{},{{\"id\":9}},{}]",
        request(1, "echo", json!({})),
        notification("x"),
        request("two", "echo", json!({}))
    );
    let old = server.open("2025-03-26").await;
    let (status, body) = old.post(&batch).await;
    assert_eq!(status, 200, "{body}");
    let answers = parse_events(&body).pop().unwrap().json();
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!(1), json!(9), json!("two")]);
    assert_eq!(old.post(&format!("[{}]", notification("x"))).await, (202, String::new()));
    for bad in [
        "[]".to_owned(),
        format!("[{}]", initialize("2025-03-26")),
        format!("[{0},{0}]", request(1, "echo", json!({}))),
        // Nothing in it is answered, so nothing else could say what is wrong.
        "[1,2,null]".to_owned(),
        format!("[{},1]", notification("x")),
    ] {
        let (status, body) = old.post(&bad).await;
        assert_eq!((status, body.contains("-32600")), (400, true), "{bad}: {body}");
    }
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let (status, body) = server.open(revision).await.post(&batch).await;
        assert_eq!((status, body.contains("-32600")), (400, true), "{revision}: {body}");
    }
}

#[tokio::test]
async fn a_request_id_that_is_in_flight_is_refused_and_free_afterwards() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let mut first = client.call(&request(5, "wait", json!({}))).await;
    first.next().await.unwrap();
    let (status, body) = client.post(&request(5, "echo", json!({}))).await;
    assert_eq!((status, body.contains("-32600")), (400, true), "{body}");
    assert_eq!(client.post(&request("5", "echo", json!({}))).await.0, 200, "another id");
    client.post(&notification("finish")).await;
    assert_eq!(first.rest().await.len(), 1);
    assert_eq!(client.post(&request(5, "echo", json!({}))).await.0, 200);
}

#[tokio::test]
async fn limits_are_kept_and_named() {
    let server = Server::inline(EndpointConfig::new().session_limit(2).stream_limit(2)).await;
    let client = server.open("2025-11-25").await;
    let other = server.open("2025-11-25").await;
    // One that is not used would give way.
    for used in [&client, &other] {
        assert_eq!(used.post(&notification("x")).await.0, 202);
    }
    let (status, body) = server.exchange("POST", &[], &initialize("2025-11-25")).await;
    assert_eq!((status, body.contains("limit of 2")), (503, true), "{body}");
    let _open = [
        client.call(&request(1, "wait", json!({}))).await,
        client.call(&request(2, "wait", json!({}))).await,
    ];
    let (status, body) = client.post(&request(3, "echo", json!({}))).await;
    assert_eq!((status, body.contains("limit of 2")), (429, true), "{body}");
    assert_eq!(other.post(&request(3, "echo", json!({}))).await.0, 200, "the limit is that of one session");
    let _open = [client.get().await, client.get().await];
    assert_eq!(client.resume(None).await.err(), Some(429));
    server.exchange("DELETE", &other.headers(), "").await;
    server.open("2025-11-25").await;
}

#[tokio::test]
async fn ids_of_sessions_are_all_different() {
    let server = Server::inline(EndpointConfig::new().legacy_answer(AnswerForm::Json)).await;
    let mut raw = server.raw().await;
    let mut ids = HashSet::new();
    for _ in 0..200 {
        let (head, _) = raw.exchange("POST", &[], &initialize("2025-11-25")).await;
        assert!(ids.insert(head.header("mcp-session-id").unwrap().to_owned()));
    }
}
