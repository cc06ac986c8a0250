//! HTTP/2, by a client of hyper: many requests on one connection, each with a stream that can be closed alone.

use std::time::{Duration, Instant};

use agentwire_transport_http::server::EndpointConfig;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::modern::{VERSION, modern};
use super::raw::{PATIENCE, parse_events};
use super::script::{Heard, Server, initialize, request};

type Connection = SendRequest<Full<Bytes>>;

async fn connect(server: &Server) -> Connection {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn send(
    connection: &mut Connection,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> impl Future<Output = Response<Incoming>> + use<> {
    let mut request = Request::builder().method(method).uri("http://localhost/mcp");
    request = request.header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::from(body.to_owned())).unwrap();
    let response = connection.send_request(request);
    async { tokio::time::timeout(PATIENCE, response).await.expect("a response in time").unwrap() }
}

/// The rest of a body.
async fn text(body: Incoming) -> String {
    let body = tokio::time::timeout(PATIENCE, body.collect()).await.expect("the body ends").unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

/// The next piece. `None` at the end, which an empty frame may be.
async fn piece(body: &mut Incoming) -> Option<String> {
    let frame = tokio::time::timeout(PATIENCE, body.frame()).await.expect("something is said")?;
    let text = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
    Some(text).filter(|text| !text.is_empty())
}

#[tokio::test]
async fn requests_share_a_connection_and_are_answered_as_json_or_as_events() {
    let server = Server::inline(EndpointConfig::new()).await;
    let mut connection = connect(&server).await;
    let calls: Vec<_> = (0..50)
        .map(|id| {
            let method = if id % 2 == 0 { "echo" } else { "count" };
            let body = modern(id, method, json!({"n": id}));
            (method, send(&mut connection, "POST", &[VERSION, ("mcp-method", method)], &body))
        })
        .collect();
    for (id, (method, call)) in calls.into_iter().enumerate().rev() {
        let response = call.await;
        assert_eq!(response.status(), StatusCode::OK);
        let events = response.headers()["content-type"] == "text/event-stream";
        let body = text(response.into_body()).await;
        if method == "echo" {
            assert_eq!(
                (events, serde_json::from_str::<Value>(&body).unwrap()["result"]["n"].as_u64()),
                (false, Some(id as u64))
            );
        } else {
            assert_eq!((events, parse_events(&body).len()), (true, id + 1));
        }
    }
}

#[tokio::test]
async fn a_session_has_its_streams() {
    let server = Server::inline(EndpointConfig::new()).await;
    let mut connection = connect(&server).await;
    let response = send(&mut connection, "POST", &[], &initialize("2025-11-25")).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    assert!(text(response.into_body()).await.contains("2025-11-25"));
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];

    let mut listening = send(&mut connection, "GET", &headers, "").await.into_body();
    assert!(piece(&mut listening).await.unwrap().contains("\nid: 2-0\n"), "primed");
    let call = send(&mut connection, "POST", &headers, &request(1, "announce", json!({"at": 7}))).await;
    assert_eq!(parse_events(&text(call.into_body()).await).last().unwrap().json()["result"], "announced");
    let announced = parse_events(&piece(&mut listening).await.unwrap()).pop().unwrap().json();
    assert_eq!((&announced["method"], &announced["params"]["at"]), (&json!("changed"), &json!(7)));

    let response = send(&mut connection, "DELETE", &headers, "").await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert_eq!(piece(&mut listening).await, None);
    assert_eq!(send(&mut connection, "GET", &headers, "").await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn closing_a_stream_is_leaving_and_the_connection_goes_on() {
    let mut server = Server::start(EndpointConfig::new()).await;
    let mut connection = connect(&server).await;
    // Before anything was said.
    let waiting =
        send(&mut connection, "POST", &[VERSION, ("mcp-method", "wait")], &modern("a", "wait", json!({})));
    server.hears(&Heard::Message("wait".to_owned())).await;
    drop(waiting);
    server.hears(&Heard::Cancelled("a".into())).await;
    // After something was.
    let asking =
        send(&mut connection, "POST", &[VERSION, ("mcp-method", "ask")], &modern("b", "ask", json!({})));
    let mut body = asking.await.into_body();
    assert!(piece(&mut body).await.unwrap().contains("roots/list"));
    drop(body);
    server.hears(&Heard::Cancelled("b".into())).await;
    let echo =
        send(&mut connection, "POST", &[VERSION, ("mcp-method", "echo")], &modern(1, "echo", json!({})));
    assert_eq!(echo.await.status(), StatusCode::OK);
}

/// A stream that is not read fills its own window, and nothing else.
#[tokio::test]
async fn an_unread_stream_holds_up_no_other() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut connection = connect(&server).await;
    let body = modern(1, "flood", json!({"n": 20_000}));
    let unread = send(&mut connection, "POST", &[VERSION, ("mcp-method", "flood")], &body).await;
    server.hears(&Heard::Sent(50)).await;
    for id in 0..20 {
        let echo =
            send(&mut connection, "POST", &[VERSION, ("mcp-method", "echo")], &modern(id, "echo", json!({})));
        assert_eq!(echo.await.status(), StatusCode::OK);
    }
    let mut sent = 0;
    while let Ok(heard) = server.heard.try_recv() {
        if let Heard::Sent(at) = heard {
            sent = at;
        }
    }
    assert!(sent < 10_000, "{sent} messages were taken, and nobody read them");
    drop(unread);
    server.hears(&Heard::Ended).await;
}

#[tokio::test]
async fn foreign_authorities_are_refused() {
    let server = Server::inline(EndpointConfig::new()).await;
    let mut connection = connect(&server).await;
    let body = Full::from(initialize("2025-11-25"));
    let request = Request::post("http://localhost.evil/mcp").header("content-type", "application/json");
    let response = connection.send_request(request.body(body).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
}

/// The frames of a client that begins, with the settings that it has none of.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// The beginning of a head on stream 1, with the flag that more of it will come: `:method: POST`.
const HALF_A_HEAD: &[u8] = b"\0\0\x01\x01\0\0\0\0\x01\x83";

/// Reads until the server closes the connection, and returns how long that took: less than the 30 s of the default time for a head.
async fn closed(mut stream: TcpStream) -> Duration {
    let (start, mut bytes) = (Instant::now(), Vec::new());
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await;
    // Closed it is, politely or not.
    drop(read.expect("the connection is closed"));
    start.elapsed()
}

#[tokio::test]
async fn slow_heads_and_silent_connections_are_closed() {
    let limit = Duration::from_millis(200);
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.header_timeout(limit)).await;
    for said in [&PREFACE[..10], PREFACE, &[PREFACE, HALF_A_HEAD].concat()] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
        stream.write_all(said).await.unwrap();
        let took = closed(stream).await;
        assert!(took >= limit / 2, "{took:?}");
    }
}

/// A client with a request gets pings that check the connection.
#[tokio::test]
async fn a_connection_is_kept_while_its_client_is_there() {
    // The time that a busy machine may take to answer a ping.
    let limit = Duration::from_secs(1);
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.header_timeout(limit)).await;
    let mut connection = connect(&server).await;
    for id in 0..2 {
        let echo = modern(id, "echo", json!({}));
        let echo = send(&mut connection, "POST", &[VERSION, ("mcp-method", "echo")], &echo).await;
        assert_eq!(echo.status(), StatusCode::OK);
        tokio::time::sleep(2 * limit).await;
    }
    // A client that sends a request and then nothing more, not even a pong: its answer is a refusal, and then the end.
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let whole_head = b"\0\0\x03\x01\x05\0\0\0\x01\x82\x84\x86";
    stream.write_all(&[PREFACE, whole_head].concat()).await.unwrap();
    let took = closed(stream).await;
    assert!(took >= limit, "{took:?}");
}

/// A client that has asked once and answers every ping is closed all the same when it has no stream for long enough.
#[tokio::test]
async fn a_connection_without_a_stream_is_closed_in_the_end() {
    let limit = Duration::from_millis(500);
    let server = Server::inline_with(EndpointConfig::new(), |serve| serve.idle_timeout(limit)).await;
    let stream = TcpStream::connect(("127.0.0.1", server.port)).await.unwrap();
    let (mut sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let mut closed = tokio::spawn(connection);
    let initialized = send(&mut sender, "POST", &[], &initialize("2025-11-25")).await;
    let session = initialized.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    text(initialized.into_body()).await;
    let headers = [("mcp-session-id", session.as_str())];
    let listening = send(&mut sender, "GET", &headers, "").await;
    assert!(tokio::time::timeout(4 * limit, &mut closed).await.is_err(), "a stream is open");
    drop(listening);
    let closed = tokio::time::timeout(PATIENCE, closed).await.expect("it is closed").unwrap();
    assert!(closed.is_ok(), "it is told, and not cut: {closed:?}");
}
