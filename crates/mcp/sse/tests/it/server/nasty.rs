//! Hostile clients: bodies in odd pieces, too long or broken, and clients that do not read.

use agentwire_transport_sse::server::EndpointConfig;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::server::raw::{JSON, Raw, Session, result};
use crate::server::script::{Server, WAYS, Way};

/// The head of a POST to a session.
fn head(session: &Session, port: u16, headers: &str) -> String {
    let endpoint = &session.endpoint;
    format!(
        "POST {endpoint} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{headers}\r\n"
    )
}

#[tokio::test]
async fn a_body_comes_in_any_pieces() {
    let server = Server::start(EndpointConfig::new(), Way::Inline).await;
    let mut session = Session::open(server.port).await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "echo", "params": ["🦀日本"]}).to_string();
    let mut raw = Raw::connect(server.port).await;
    raw.write(head(&session, server.port, "Transfer-Encoding: chunked\r\n").as_bytes()).await;
    for byte in body.as_bytes() {
        raw.write(&[b"1\r\n", &[*byte][..], b"\r\n"].concat()).await;
    }
    raw.write(b"0\r\n\r\n").await;
    assert_eq!(raw.response().await.0.status, 202);
    assert_eq!(session.message().await, result(1, json!(["🦀日本"])));

    let length = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
    raw.write(head(&session, server.port, &length).as_bytes()).await;
    assert_eq!(raw.head().await.status, 100);
    raw.write(body.as_bytes()).await;
    assert_eq!(raw.response().await.0.status, 202);
    assert_eq!(session.message().await, result(1, json!(["🦀日本"])));
}

#[tokio::test]
async fn a_body_is_never_longer_than_the_limit() {
    let server =
        Server::start(EndpointConfig::new().with_http(|http| http.body_limit(1 << 20)), Way::Inline).await;
    let mut session = Session::open(server.port).await;
    let mut raw = Raw::connect(server.port).await;
    let length = format!("Content-Length: {}\r\n", 512 << 20);
    raw.write(head(&session, server.port, &length).as_bytes()).await;
    assert_eq!(raw.response().await.0.status, 413, "before a byte of it was read");

    let mut raw = Raw::connect(server.port).await;
    raw.write(head(&session, server.port, "Transfer-Encoding: chunked\r\n").as_bytes()).await;
    let chunk = [&b"10000\r\n"[..], &[b' '; 0x10000], b"\r\n"].concat();
    let mut written = 0;
    while written < 64 << 20 && raw.stream.write_all(&chunk).await.is_ok() {
        written += 0x10000;
    }
    assert!(written < 64 << 20, "an endless body was taken");
    session.call(1, "echo", json!([1])).await;
    assert_eq!(session.message().await, result(1, json!([1])));
}

#[tokio::test]
async fn invalid_text_and_broken_connections_harm_no_session() {
    for way in WAYS {
        let server = Server::start(EndpointConfig::new(), way).await;
        let mut session = Session::open(server.port).await;
        let mut raw = Raw::connect(server.port).await;
        raw.write(head(&session, server.port, "Content-Length: 4\r\n").as_bytes()).await;
        raw.write(b"\"\xFF\" ").await;
        assert_eq!(raw.response().await.0.status, 400);
        for _ in 0..30 {
            let mut raw = Raw::connect(server.port).await;
            raw.write(head(&session, server.port, "Content-Length: 1000\r\n").as_bytes()).await;
            raw.write(b"{").await;
            raw.stream.set_zero_linger().unwrap();
        }
        session.call(1, "echo", json!([1])).await;
        assert_eq!(session.message().await, result(1, json!([1])));
    }
}

#[tokio::test]
async fn client_that_stops_reading_stalls_no_other() {
    for way in WAYS {
        let config = EndpointConfig::new()
            .with_http(|http| http.high_water(1 << 10).stall(std::time::Duration::from_millis(100)));
        let server = Server::start(config, way).await;
        let mut stalled = Session::open(server.port).await;
        let mut other = Session::open(server.port).await;
        // More than all buffers on the way take.
        stalled.call(1, "count", json!({"n": 1_000_000})).await;
        for at in 0..20 {
            other.call(at, "echo", json!([at])).await;
            assert_eq!(other.message().await, result(at, json!([at])));
        }
        match way {
            Way::Spawned => {
                // Only the other is left.
                server.state.attends(1).await;
                assert_eq!(stalled.post(r#"{"jsonrpc":"2.0","method":"n"}"#).await.0, 404);
            }
            // It waits, and goes on when it is read.
            Way::Inline => {
                server.state.attends(2).await;
                for _ in 0..1000 {
                    assert_eq!(stalled.message().await["method"], "progress");
                }
            }
        }
    }
}

#[tokio::test]
async fn messages_beyond_a_full_inbox_wait_in_their_posts() {
    let server =
        Server::start(EndpointConfig::new().with_http(|http| http.inbox_limit(2)), Way::Inline).await;
    let session = Session::open(server.port).await;
    session.call(0, "hang", json!({})).await;
    server.state.has_received(1).await;
    session.call(1, "echo", json!({})).await;
    session.call(2, "echo", json!({})).await;
    let mut raw = Raw::connect(server.port).await;
    raw.send(&format!("POST {}", session.endpoint), &[JSON], r#"{"jsonrpc":"2.0","method":"n"}"#).await;
    let waiting = tokio::time::timeout(std::time::Duration::from_millis(100), raw.head());
    assert!(waiting.await.is_err(), "a third message was taken");
    drop(session);
    let head = Raw::head(&mut raw).await;
    assert_eq!(head.status, 404, "the session has ended");
}
