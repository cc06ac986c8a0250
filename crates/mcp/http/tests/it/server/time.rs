//! The effects of time, on a clock of the test's own.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::server::{Body, Endpoint, EndpointConfig, Principal};
use bytes::Bytes;
use futures::{FutureExt, SinkExt, StreamExt};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use serde_json::json;
use tower_service::Service;

use super::script::{initialize, notification, request};
use crate::connections::{Connection, Connections, endpoint};

/// A body of one piece; of none that ever comes, if it is to be waited for.
struct Sent(Option<Bytes>);

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        if self.0.as_ref().is_some_and(Bytes::is_empty) {
            return Poll::Pending;
        }
        Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }
}

/// On a clock of one's own, this is over at once.
const LONG: Duration = Duration::from_secs(2 * 3600);

pub(crate) fn call(
    endpoint: &mut Endpoint,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> impl Future<Output = Response<Body>> + use<> {
    let mut builder = Request::builder().method(method).header("host", "localhost");
    builder = builder.header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let request = builder.body(Sent(Some(Bytes::from(body.to_owned())))).unwrap();
    let response = tokio::time::timeout(LONG, endpoint.call(request));
    response.map(|response| response.expect("a response in two hours").unwrap())
}

/// The next piece of a body. `None` at its end.
pub(crate) async fn piece(body: &mut Body) -> Option<String> {
    let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
    let frame = tokio::time::timeout(LONG, frame).await.expect("something is said in two hours")?;
    Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
}

/// Opens a session, with the first answer already given.
pub(crate) async fn open(endpoint: &mut Endpoint, connections: &mut Connections) -> (String, Connection) {
    let response = tokio::spawn(call(endpoint, "POST", &[], &initialize("2025-11-25")));
    let mut connection = connections.next().await.unwrap();
    connection.next().await.unwrap().unwrap();
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
    connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
    let response = response.await.unwrap();
    (response.headers()["mcp-session-id"].to_str().unwrap().to_owned(), connection)
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_is_silent_for_too_long() {
    let config =
        EndpointConfig::new().idle(Duration::from_secs(600)).opening_timeout(Duration::from_secs(600));
    let (mut endpoint, mut connections) = endpoint(config);
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let driver = tokio::spawn(async move { connections.next().await.is_none() });
    let headers = [("mcp-session-id", session.as_str())];
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(500)).await;
        let response = call(&mut endpoint, "POST", &headers, &notification("x")).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED, "whoever is heard is not idle");
        connection.next().await.unwrap().unwrap();
    }
    let listening = call(&mut endpoint, "GET", &headers, "").await;
    tokio::time::sleep(Duration::from_secs(5000)).await;
    assert!(connection.next().now_or_never().is_none(), "whoever listens is not idle");
    drop(listening);
    assert!(connection.next().await.is_none());
    let response = call(&mut endpoint, "POST", &headers, &notification("x")).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    drop(endpoint);
    assert!(driver.await.unwrap(), "without an endpoint no more connections come");
}

#[tokio::test(start_paused = true)]
async fn silent_streams_are_kept_alive() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().keep_alive(Duration::from_secs(10)));
    let (session, _connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await });
    let headers = [("mcp-session-id", session.as_str())];
    let mut listening = call(&mut endpoint, "GET", &headers, "").await.into_body();
    assert!(piece(&mut listening).await.unwrap().starts_with("retry: 1000\nid: "));
    let start = tokio::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(piece(&mut listening).await.as_deref(), Some(":\n\n"));
    }
    let took = start.elapsed();
    assert!((Duration::from_secs(29)..Duration::from_secs(34)).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_long_becomes_a_stream() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "slow")];
    let response = tokio::spawn(call(&mut endpoint, "POST", &headers, &request(1, "slow", meta)));
    let mut connection = connections.next().await.unwrap();
    let _driver = tokio::spawn(async move { connections.next().await });
    let response = response.await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut body = response.into_body();
    assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"));
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    connection.send(Packet::from_json(answer)).await.unwrap();
    assert_eq!(piece(&mut body).await, Some(format!("data: {answer}\n\n")));
    assert_eq!(piece(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_read_is_cut_and_can_be_resumed() {
    let config = EndpointConfig::new().stall(Duration::from_secs(20)).high_water(1000);
    let (mut endpoint, mut connections) = endpoint(config);
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await });
    let headers = [("mcp-session-id", session.as_str())];
    let mut unread = call(&mut endpoint, "GET", &headers, "").await.into_body();
    let start = tokio::time::Instant::now();
    for _ in 0..100 {
        connection.send(Packet::from_json(&notification(&"n".repeat(100)))).await.unwrap();
    }
    let took = start.elapsed();
    assert!((Duration::from_secs(19)..Duration::from_secs(25)).contains(&took), "{took:?}");
    let cut = std::future::poll_fn(|cx| Pin::new(&mut unread).poll_frame(cx)).await;
    assert!(cut.unwrap().unwrap_err().to_string().contains("20s"));
    drop(unread);
    // Until it was cut, all was for it; then what came was kept for the next.
    let headers = [("mcp-session-id", session.as_str()), ("last-event-id", "2-0")];
    let mut again = call(&mut endpoint, "GET", &headers, "").await.into_body();
    let (mut events, mut text) = (0, String::new());
    while let Some(Some(more)) = piece(&mut again).now_or_never() {
        events += more.matches("data: {").count();
        text += &more;
    }
    assert!((10..100).contains(&events), "{events}");
    assert!(text.starts_with("id: 2-1\n"), "{text:.20}");
}

#[tokio::test(start_paused = true)]
async fn streams_can_be_made_to_come_back() {
    let (mut endpoint, mut connections) =
        endpoint(EndpointConfig::new().stream_time(Some(Duration::from_secs(5))));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await });
    let headers = [("mcp-session-id", session.as_str())];
    let mut body = call(&mut endpoint, "POST", &headers, &request(1, "x", json!({}))).await.into_body();
    let primed = piece(&mut body).await.unwrap();
    assert!(primed.contains("id: 2-0\n"), "{primed}");
    assert_eq!(piece(&mut body).await, None, "closed early, and not cut");
    drop(body);
    connection.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)).await.unwrap();
    let headers = [("mcp-session-id", session.as_str()), ("last-event-id", "2-0")];
    let mut body = call(&mut endpoint, "GET", &headers, "").await.into_body();
    assert!(piece(&mut body).await.unwrap().contains("\"result\""));
    assert_eq!(piece(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_a_get_can_be_polled_too() {
    let (mut endpoint, mut connections) =
        endpoint(EndpointConfig::new().stream_time(Some(Duration::from_secs(5))));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await });
    let mut last = String::new();
    for round in 0..3 {
        let headers = [("mcp-session-id", session.as_str()), ("last-event-id", last.as_str())];
        let mut body = call(&mut endpoint, "GET", &headers, "").await.into_body();
        connection.send(Packet::from_json(&notification(&format!("round-{round}")))).await.unwrap();
        let mut text = String::new();
        while let Some(more) = piece(&mut body).await {
            text += &more;
        }
        assert_eq!(text.matches("round-").count(), 1, "{text}");
        assert!(text.contains(&format!("round-{round}")), "{text}");
        let id = text.lines().rfind(|line| line.starts_with("id: ")).unwrap();
        last = id["id: ".len()..].to_owned();
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_not_closed_before_its_answer() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _driver = tokio::spawn(async move { connections.next().await });
    let headers = [("mcp-session-id", session.as_str())];
    let mut body = call(&mut endpoint, "POST", &headers, &request(1, "x", json!({}))).await.into_body();
    assert!(piece(&mut body).await.unwrap().contains("id: 2-0\n"));
    let answering = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        connection.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)).await.unwrap();
    };
    let reading = async {
        let mut text = String::new();
        while let Some(more) = piece(&mut body).await {
            text += &more;
        }
        text
    };
    let (text, ()) = futures::join!(reading, answering);
    assert!(text.ends_with("\"result\":{}}\n\n") && text.starts_with(":\n\n"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let (mut endpoint, _links) = endpoint(EndpointConfig::new());
    let start = tokio::time::Instant::now();
    let response = call(&mut endpoint, "POST", &[], "").await;
    assert_eq!((response.status(), start.elapsed().as_secs()), (StatusCode::REQUEST_TIMEOUT, 30));
}

#[tokio::test]
async fn posts_wait_while_the_connection_takes_nothing() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().inbox_limit(2));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let headers = [("mcp-session-id", session.as_str())];
    let mut posts: Vec<_> =
        (0..3).map(|_| Box::pin(call(&mut endpoint, "POST", &headers, &notification("x")))).collect();
    let done = |posts: &mut Vec<Pin<Box<_>>>| {
        posts.retain_mut(|post: &mut Pin<Box<_>>| FutureExt::now_or_never(post).is_none());
        posts.len()
    };
    assert_eq!(done(&mut posts), 1);
    connection.next().await.unwrap().unwrap();
    assert_eq!(done(&mut posts), 0);
}

#[tokio::test]
async fn posts_that_wait_and_leave_are_not_remembered_without_bound() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new().inbox_limit(1).stream_limit(4));
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let post = || {
        let (mut endpoint, session) = (endpoint.clone(), session.clone());
        tokio::spawn(async move {
            let headers = [("mcp-session-id", session.as_str())];
            call(&mut endpoint, "POST", &headers, &notification("x")).await.status()
        })
    };
    assert_eq!(post().await.unwrap(), StatusCode::ACCEPTED);
    for number in 0..20 {
        let post = post();
        tokio::task::yield_now().await;
        if number < 4 {
            post.abort();
            assert!(post.await.unwrap_err().is_cancelled());
        } else {
            assert_eq!(post.await.unwrap(), StatusCode::TOO_MANY_REQUESTS);
        }
    }
    connection.next().await.unwrap().unwrap();
    assert_eq!(post().await.unwrap(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn session_belongs_to_the_principal_that_opened_it() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (session, connection) = {
        let mut request =
            Request::post("/").header("host", "localhost").header("content-type", "application/json");
        request.extensions_mut().unwrap().insert(Principal::new("alice"));
        let request = request.body(Sent(Some(initialize("2025-11-25").into()))).unwrap();
        let response = tokio::spawn(endpoint.call(request));
        let mut connection = connections.next().await.unwrap();
        assert_eq!(connection.head().extensions().get::<Principal>().unwrap().as_str(), "alice");
        let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
        connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
        let response = response.await.unwrap().unwrap();
        (response.headers()["mcp-session-id"].clone(), connection)
    };
    for (principal, status) in [(None, 404), (Some("bob"), 404), (Some("alice"), 202)] {
        for method in ["POST", "GET", "DELETE"] {
            if principal == Some("alice") && method != "POST" {
                continue;
            }
            let mut request = Request::builder().method(method).header("host", "localhost");
            request = request.header("content-type", "application/json").header("mcp-session-id", &session);
            if let Some(principal) = principal {
                request.extensions_mut().unwrap().insert(Principal::new(principal));
            }
            let request = request.body(Sent(Some(notification("x").into()))).unwrap();
            let response = endpoint.call(request).await.unwrap();
            assert_eq!(response.status(), status, "{method} {principal:?}");
        }
    }
    drop(connection);
}

#[tokio::test]
async fn requests_are_refused_once_the_serving_task_has_ended() {
    let (mut endpoint, connections) = endpoint(EndpointConfig::new());
    drop(connections);
    let response = call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
}
