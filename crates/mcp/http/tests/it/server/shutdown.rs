//! The end of an endpoint, and an endpoint that no task runs, on a clock of the test's own.

use std::time::Duration;

use agentwire_jsonrpc::Response;
use agentwire_transport::{Exchange, Packet};
use agentwire_transport_http::server::{self, Body, Endpoint, EndpointConfig};
use futures::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::inline::headers;
use super::modern::modern;
use super::raw::{Raw, parse_events};
use super::script::{initialize, notification, request};
use super::time::{call, open, piece};
use crate::connections::{Connection, Inline, endpoint};

const GRACE: Duration = Duration::from_secs(10);

/// All of a response: its status, and its last message.
async fn answer(response: http::Response<Body>) -> (u16, Value) {
    let (head, mut body) = response.into_parts();
    let mut text = String::new();
    while let Some(more) = piece(&mut body).await {
        text += &more;
    }
    let json = serde_json::from_str(&text).ok();
    let answer = json.or_else(|| parse_events(&text).pop().map(|event| event.json()));
    (head.status.as_u16(), answer.unwrap_or_else(|| panic!("{text}")))
}

fn result(id: u64) -> Packet {
    Packet::from_json(&json!({"jsonrpc": "2.0", "id": id, "result": "done"}).to_string())
}

/// An endpoint whose exchanges take so long.
fn slow(time: Duration) -> Endpoint {
    let exchange = move |exchange: Exchange| async move {
        tokio::time::sleep(time).await;
        Response::new(exchange.request.id, Ok(agentwire_jsonrpc::RawJson::EMPTY_OBJECT))
    };
    let session = |connection| async move { drop(connection) };
    Endpoint::serving(EndpointConfig::new(), agentwire_transport::service_fn(session, exchange))
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_session_finishes_within_the_grace_and_new_requests_are_refused() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let running = tokio::spawn(async move { connections.next().await.is_none() });
    let headers = [("mcp-session-id", session.as_str())];
    let mut listening = call(&mut endpoint, "GET", &headers, "").await.into_body();
    assert!(piece(&mut listening).await.unwrap().contains("id: "));
    let called = call(&mut endpoint, "POST", &headers, &request(1, "slow", json!({}))).await;
    connection.next().await.unwrap().unwrap();

    let begun = Instant::now();
    let shutdown = tokio::spawn(endpoint.shutdown(GRACE));
    for (headers, body) in [(&[][..], initialize("2025-11-25")), (&headers, request(2, "x", json!({})))] {
        let refused = call(&mut endpoint, "POST", headers, &body).await;
        assert_eq!(
            (refused.status().as_u16(), refused.headers()["retry-after"].as_bytes()),
            (503, &b"1"[..])
        );
        let (_, body) = answer(refused).await;
        assert!(body["error"]["message"].as_str().unwrap().contains("shutting down"), "{body}");
        assert_eq!(body["error"]["code"], -32603, "MCP defines no code for this");
    }
    assert_eq!(call(&mut endpoint, "GET", &headers, "").await.status(), 503);
    // What the call may wait for still arrives.
    let told = call(&mut endpoint, "POST", &headers, &notification("note")).await;
    assert_eq!(told.status(), 202);
    connection.next().await.unwrap().unwrap();
    assert!(connection.next().now_or_never().is_none(), "the input goes on while a call runs");

    tokio::time::sleep(Duration::from_secs(3)).await;
    connection.send(result(1)).await.unwrap();
    assert!(connection.next().await.is_none(), "the last answer ends the session");
    drop(connection);
    let (status, body) = answer(called).await;
    assert_eq!((status, &body["result"]), (200, &json!("done")));
    assert_eq!(piece(&mut listening).await, None, "and its GET stream");
    drop(listening);
    shutdown.await.unwrap();
    assert_eq!(begun.elapsed().as_secs(), 3);
    assert!(running.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_session_is_cut_at_the_end_of_the_grace() {
    let endpoint = Endpoint::serving(
        EndpointConfig::new(),
        Inline(|mut connection: Connection| async move {
            let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
            connection.next().await;
            connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
            while connection.next().await.is_some() {}
            // It does not mind that its input has ended.
            tokio::time::sleep(Duration::from_secs(60)).await;
        }),
    );
    let (mut endpoint, running) = (endpoint.clone(), tokio::spawn(endpoint.run()));
    let opened = call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    drop(opened);
    let headers = [("mcp-session-id", session.as_str())];
    let called = call(&mut endpoint, "POST", &headers, &request(1, "slow", json!({}))).await;
    let reading = tokio::spawn(answer(called));
    let begun = Instant::now();
    endpoint.shutdown(GRACE).await;
    assert_eq!(begun.elapsed(), GRACE);
    running.await.unwrap();
    let (status, body) = reading.await.unwrap();
    assert_eq!((status, &body["id"]), (200, &json!(1)));
    assert!(body["error"]["message"].as_str().unwrap().contains("shutting down"), "{body}");
    assert_eq!(body["error"]["code"], -32603);
    let late = call(&mut endpoint, "POST", &headers, &notification("x")).await;
    assert_eq!(late.status(), 503);
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_session_finishes_within_the_grace_or_is_cut() {
    // One is answered with its head; the other has become a stream before that, after `keep_alive`.
    for (takes, waits, status, ends) in
        [(3, 0, 200, 3), (60, 0, 503, 10), (30, 20, 200, 10), (60, 20, 200, 10)]
    {
        let mut endpoint = slow(Duration::from_secs(takes));
        let _running = tokio::spawn(endpoint.run());
        let called =
            tokio::spawn(call(&mut endpoint, "POST", &headers("x"), &modern(1, "x", json!({}))).then(answer));
        tokio::time::sleep(Duration::from_secs(waits)).await;
        tokio::task::yield_now().await;
        let begun = Instant::now();
        let shutdown = tokio::spawn(endpoint.shutdown(GRACE));
        let late = call(&mut endpoint, "POST", &headers("x"), &modern(2, "x", json!({}))).await;
        assert_eq!(late.status(), 503);
        assert!(answer(late).await.1["error"]["message"].as_str().unwrap().contains("shutting down"));
        shutdown.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), ends, "{takes}");
        let (had, body) = called.await.unwrap();
        assert_eq!((had, &body["id"]), (status, &json!(1)), "{body}");
        let cut = takes - waits > 10;
        assert_eq!(body["error"]["message"].to_string().contains("shutting down"), cut, "{body}");
    }
}

/// The client that does not read does not hold the shutdown up for longer than a second.
#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_ends_with_the_grace() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (session, mut connection) = open(&mut endpoint, &mut connections).await;
    let _running = tokio::spawn(async move { connections.next().await.is_none() });
    let headers = [("mcp-session-id", session.as_str())];
    let unread = call(&mut endpoint, "POST", &headers, &request(1, "slow", json!({}))).await;
    connection.next().await.unwrap().unwrap();
    let begun = Instant::now();
    endpoint.shutdown(GRACE).await;
    assert_eq!(begun.elapsed(), GRACE + Duration::from_secs(1));
    assert!(connection.next().await.is_none());
    assert!(answer(unread).await.1["error"].is_object());
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_without_work_shuts_down_at_once() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new());
    let begun = Instant::now();
    endpoint.shutdown(Duration::MAX).await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert!(connections.next().await.is_none());
}

/// The endpoint ends between the head of a request and its body.
#[tokio::test(start_paused = true)]
async fn a_session_whose_opening_meets_the_end_is_refused_as_one_after_it() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let running = tokio::spawn(async move { connections.next().await.is_none() });
    tokio::task::yield_now().await;
    let opening = call(&mut endpoint, "POST", &[], &initialize("2025-11-25"));
    endpoint.shutdown(Duration::ZERO).await;
    assert!(running.await.unwrap(), "nothing is served any more");
    let (status, body) = answer(opening.await).await;
    assert_eq!((status, &body["id"]), (503, &json!(0)), "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("shutting down"), "{body}");
}

fn names_the_missing_call(body: &Value) -> bool {
    body["id"] == 0 && body["error"]["message"].as_str().unwrap().contains("spawn `endpoint.run()`")
}

/// A router with the endpoint, and nothing else: what one forgets is the task.
#[tokio::test(start_paused = true)]
async fn session_of_an_endpoint_without_a_task_is_refused() {
    let mut endpoint = slow(Duration::ZERO);
    let unpolled = endpoint.run();
    let begun = Instant::now();
    for _ in 0..64 {
        let (status, body) = answer(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await).await;
        assert_eq!((status, names_the_missing_call(&body)), (500, true), "{body}");
    }
    assert_eq!(begun.elapsed().as_secs(), 64, "each waits a second for the task");
    let begun = Instant::now();
    let (status, body) = answer(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await).await;
    assert_eq!((status, names_the_missing_call(&body)), (500, true), "{body}");
    drop(unpolled);
    let (status, body) = answer(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await).await;
    assert_eq!((status, names_the_missing_call(&body)), (500, true), "{body}");
    assert_eq!(begun.elapsed(), Duration::ZERO, "too many wait, or none will come");
    // A request without a session needs no task.
    assert_eq!(call(&mut endpoint, "POST", &headers("x"), &modern(1, "x", json!({}))).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_session_waits_for_a_task_that_starts_late() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let opening = tokio::spawn(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")));
    tokio::time::sleep(Duration::from_millis(900)).await;
    let mut connection = connections.next().await.unwrap();
    connection.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}});
    connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
    assert_eq!(opening.await.unwrap().status(), 200);
}

/// Sends a request to many endpoints, each of which shuts down without a grace at about the same time. None answers by
/// itself. Each must end the request.
fn shut_down_while_called(headers: &'static [(&'static str, &'static str)], body: String) {
    const ROUNDS: usize = 3000;
    let (sender, endpoints) = std::sync::mpsc::sync_channel::<Endpoint>(0);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let calling = std::thread::spawn(move || {
        runtime().block_on(async {
            for mut endpoint in endpoints {
                let call = call(&mut endpoint, "POST", headers, &body);
                let answered = tokio::time::timeout(Duration::from_secs(5), call).await;
                // 200 brings the error of a call that was cut.
                let status = answered.expect("it is answered").status().as_u16();
                assert!(matches!(status, 200 | 503), "{status}");
            }
        });
    });
    runtime().block_on(async {
        for round in 0..ROUNDS {
            let session = |connection: server::Connection| async move {
                let _unserved = connection;
                std::future::pending().await
            };
            let exchange = |_: Exchange| std::future::pending::<Response>();
            let service = agentwire_transport::service_fn(session, exchange);
            let endpoint = Endpoint::serving(EndpointConfig::new(), service);
            let running = tokio::spawn(endpoint.run());
            sender.send(endpoint.clone()).expect("the caller goes on");
            (0..round % 500).for_each(|_| std::hint::spin_loop());
            endpoint.shutdown(Duration::ZERO).await;
            running.abort();
        }
    });
    drop(sender);
    calling.join().unwrap();
}

#[test]
fn no_request_outlives_a_shutdown_that_it_meets() {
    const HEADERS: [(&str, &str); 2] = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "x")];
    shut_down_while_called(&HEADERS, modern(1, "x", json!({})));
}

#[test]
fn no_session_outlives_a_shutdown_that_it_meets() {
    shut_down_while_called(&[], initialize("2025-11-25"));
}

/// In axum: the connection of a call that finishes is kept, others are answered, and then the server ends.
#[tokio::test]
async fn a_router_of_axum_drains_with_its_endpoint() {
    // The call takes 2 s, so that another request can arrive before it ends, even on a busy machine.
    let endpoint = slow(Duration::from_secs(2));
    tokio::spawn(endpoint.run());
    let router = axum::Router::new().route_service("/mcp", endpoint.clone());
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let drained = async move {
        let _ = stopped.await;
        endpoint.shutdown(GRACE).await;
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(axum::serve(listener, router).with_graceful_shutdown(drained).into_future());
    let (mut called, mut late) = (Raw::mcp(port).await, Raw::mcp(port).await);
    called.send("POST", &headers("x"), &modern(1, "x", json!({}))).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (head, body) = late.exchange("POST", &headers("x"), &modern(2, "x", json!({}))).await;
    assert_eq!((head.status, head.header("retry-after")), (503, Some("1")), "{body}");
    let head = called.head().await;
    assert_eq!((head.status, called.body(&head).await.contains("result")), (200, true));
    tokio::time::timeout(GRACE / 2, serving).await.expect("nothing is left to wait for").unwrap().unwrap();
}
