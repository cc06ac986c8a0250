//! Sessions: how they open, carry messages and end, beside each other and beside Streamable HTTP.

use agentwire_transport::connection_fn;
use agentwire_transport_http::server as http_server;
use agentwire_transport_http::server::Routes;
use agentwire_transport_sse::server::EndpointConfig;
use serde_json::{Value, json};

use crate::server::raw::{JSON, Raw, Session, result};
use crate::server::script::{Server, WAYS, Way};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn sse_01_02_a_get_opens_a_stream_that_begins_with_the_endpoint() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut raw = Raw::connect(server.port).await;
        raw.send("GET /sse?token=1", &[], "").await;
        let head = raw.head().await;
        assert_eq!(head.status, 200);
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(head.header("cache-control"), Some("no-cache"));
        assert_eq!(head.header("x-accel-buffering"), Some("no"));
        assert_eq!(head.header("access-control-allow-origin"), None);
        let first = String::from_utf8(raw.chunk().await.unwrap()).unwrap();
        let id = first.strip_prefix("event: endpoint\ndata: /messages?sessionId=").unwrap();
        let id = id.strip_suffix("\n\n").unwrap();
        assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    }
}

#[tokio::test]
async fn sse_05_messages_come_on_the_stream_and_never_in_the_response_to_the_post() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut session = Session::open(server.port).await;
        session.call(1, "echo", json!({"text": "日本\n"})).await;
        assert_eq!(session.message().await, result(1, json!({"text": "日本\n"})));

        session.call(2, "count", json!({"n": 3})).await;
        for at in 0..3 {
            let progress = json!({"jsonrpc": "2.0", "method": "progress", "params": {"at": at}});
            assert_eq!(session.message().await, progress);
        }
        assert_eq!(session.message().await, result(2, json!("counted")));

        session.call(3, "ask", json!({})).await;
        assert_eq!(session.message().await["method"], "roots/list");
        let roots = json!({"jsonrpc": "2.0", "id": "s-1", "result": {"roots": []}});
        assert_eq!(session.post(&roots.to_string()).await, (202, String::new()));
        assert_eq!(session.message().await, result(3, json!({"roots": []})));

        session.call(4, "large", json!({"n": 1_000_000})).await;
        assert_eq!(session.message().await["result"].as_str().unwrap().len(), 1_000_000);
    }
}

#[tokio::test]
async fn sse_08_a_post_without_a_session_is_refused() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let session = Session::open(server.port).await;
    let mut raw = Raw::connect(server.port).await;
    let unknown = format!("/messages?sessionId={:032x}", 7);
    let upper = session.endpoint.to_ascii_uppercase().replace("/MESSAGES?SESSIONID", "/messages?sessionId");
    assert_ne!(upper, session.endpoint, "an id without a letter");
    let twice = format!("{}&{}", session.endpoint, session.endpoint.split_once('?').unwrap().1);
    for (status, target) in [
        (400, "/messages"),
        (400, "/messages?session=1"),
        // By which a client of Streamable HTTP knows that it must try the older transport.
        (400, "/sse"),
        (404, "/messages?sessionId="),
        (404, "/messages?sessionId=1"),
        (404, &unknown),
        (404, &upper),
        (404, &twice),
    ] {
        let (head, body) = raw.exchange(&format!("POST {target}"), &[JSON], PING).await;
        assert_eq!(head.status, status, "{target}: {body}");
        let error: Value = serde_json::from_str(&body).unwrap();
        assert!(error["error"]["message"].is_string() && error.get("result").is_none(), "{body}");
    }
    let (head, _) = raw.exchange(&format!("POST {}&x=1", session.endpoint), &[JSON], PING).await;
    assert_eq!(head.status, 202, "the id is the only thing that counts");
}

#[tokio::test]
async fn sse_11_closing_the_stream_ends_the_session_and_its_requests() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let session = Session::open(server.port).await;
        // The script of a connection is notified of the end only where it listens.
        if let Way::Inline = way {
            session.call(1, "hang", json!({})).await;
            server.state.has_received(1).await;
        }
        server.state.attends(1).await;
        let Session { raw, endpoint, .. } = session;
        drop(raw);
        server.state.attends(0).await;
        let (head, _) =
            Raw::connect(server.port).await.exchange(&format!("POST {endpoint}"), &[JSON], PING).await;
        assert_eq!(head.status, 404, "{way:?}");
    }
}

#[tokio::test]
async fn sse_11_connection_that_ends_closes_the_stream_after_its_events() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut session = Session::open(server.port).await;
        session.call(1, "large", json!({"n": 500_000})).await;
        session.call(2, "leave", json!({})).await;
        assert_eq!(session.message().await["id"], 1);
        assert_eq!(session.event().await, None, "{way:?}");
        assert_eq!(session.post(PING).await.0, 404);
    }
}

#[tokio::test]
async fn a_panic_ends_one_session_only() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut one = Session::open(server.port).await;
    let mut other = Session::open(server.port).await;
    one.call(1, "panic", json!({})).await;
    assert_eq!(one.event().await, None);
    other.call(1, "echo", json!([1])).await;
    assert_eq!(other.message().await, result(1, json!([1])));
}

#[tokio::test]
async fn sse_13_body_that_is_not_a_message_is_refused() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut session = Session::open(server.port).await;
    for (code, body) in [
        (-32700, "{"),
        (-32600, "\u{feff}{}"),
        (-32600, "{}"),
        (-32600, "1"),
        (-32600, r#"{"JSONRPC":"2.0","id":1,"METHOD":"ping"}"#),
        (-32600, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
        // 2024-11-05 has no batches.
        (-32600, "[]"),
        (-32600, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
    ] {
        let (status, text) = session.post(body).await;
        let error: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, error["error"]["code"].as_i64()), (400, Some(code)), "{body}: {text}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(session.post(&deep).await.0, 400);
    let (status, text) = session.post(r#"{"jsonrpc":"2.0","id":7,"method":3}"#).await;
    assert_eq!(status, 400);
    assert!(text.contains(r#""id":7"#), "{text}");
    session.call(1, "echo", json!([1])).await;
    assert_eq!(session.message().await, result(1, json!([1])), "nothing was executed, and the session lives");
}

#[tokio::test]
async fn sse_14_equal_ids_of_two_clients_are_not_mixed_up() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut sessions = Vec::new();
        for _ in 0..8 {
            sessions.push(Session::open(server.port).await);
        }
        let mut endpoints: Vec<_> = sessions.iter().map(|session| session.endpoint.clone()).collect();
        endpoints.sort();
        endpoints.dedup();
        assert_eq!(endpoints.len(), sessions.len(), "no id occurs twice");
        for round in 0..6 {
            for (secret, session) in sessions.iter().enumerate() {
                session.call(5, "echo", json!([round, secret])).await;
            }
            for (secret, session) in sessions.iter_mut().enumerate() {
                assert_eq!(session.message().await, result(5, json!([round, secret])));
            }
        }
    }
}

#[tokio::test]
async fn a_second_get_does_not_take_the_stream_of_the_first() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut session = Session::open(server.port).await;
    let endpoint = session.endpoint.clone();
    let other = Session::open_at(server.port, &endpoint).await;
    assert_ne!(other.endpoint, endpoint);
    session.call(1, "echo", json!([1])).await;
    assert_eq!(session.message().await, result(1, json!([1])));
}

#[tokio::test]
async fn sse_16_both_transports_are_served_on_one_listener() {
    let session = |_connection: http_server::Connection| async {};
    let streamable =
        http_server::Endpoint::serving(http_server::EndpointConfig::new(), connection_fn(session));
    let routes = Routes::from(streamable);
    let server = Server::start_beside(EndpointConfig::new(), Way::Inline, routes).await;
    let mut session = Session::open(server.port).await;
    session.call(1, "echo", json!([1])).await;
    assert_eq!(session.message().await, result(1, json!([1])));

    let mut raw = Raw::connect(server.port).await;
    let headers = [JSON, ("Accept", "application/json, text/event-stream")];
    let (head, _) = raw.exchange("POST /mcp", &headers, PING).await;
    assert_eq!(head.status, 400, "the other endpoint finds no session");
    let (head, _) = raw.exchange("GET /other", &[], "").await;
    assert_eq!(head.status, 404);
}

#[tokio::test]
async fn path_of_the_messages_can_be_configured() {
    let server = Server::start(EndpointConfig::new().messages("/prefix/messages?v=1"), Way::Inline).await;
    let session = Session::open(server.port).await;
    assert!(session.endpoint.starts_with("/prefix/messages?v=1&sessionId="), "{}", session.endpoint);
}

#[tokio::test]
async fn a_server_that_stops_lets_its_sessions_end() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut session = Session::open(server.port).await;
        session.call(1, "echo", json!([1])).await;
        server.stop().await;
        assert_eq!(session.message().await, result(1, json!([1])));
        assert_eq!(session.event().await, None, "{way:?}");
    }
}
