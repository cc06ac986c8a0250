//! An endpoint that serves its clients itself: what differs from giving out connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_jsonrpc::{Frame, Message, RawJson, Response};
use agentwire_transport::{Exchange, Packet, service_fn};
use agentwire_transport_http::server::{self, Endpoint, EndpointConfig, Era, Routes, Spawner, serve};
use futures::channel::{mpsc, oneshot};
use futures::{FutureExt, SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::modern::{VERSION, modern};
use super::raw::{Events, PATIENCE, Raw};
use super::script::{Heard, Server, initialize, notification, request, serve_connection};
use super::time::{call, piece};
use crate::connections::{Connection, Inline};

pub(super) fn headers(method: &str) -> [(&str, &str); 2] {
    [VERSION, ("Mcp-Method", method)]
}

#[tokio::test]
async fn a_request_is_served_within_its_response() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    let mut raw = server.raw().await;
    for id in 0..3 {
        let (head, body) = raw.exchange("POST", &headers("echo"), &modern(id, "echo", json!({}))).await;
        assert_eq!((head.status, head.header("content-type")), (200, Some("application/json")));
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["id"], id);
        server.hears(&Heard::Ended).await;
    }
    // More than fits into the stream at once, so that the sender waits for the reader.
    raw.send("POST", &headers("count"), &modern(3, "count", json!({"n": 5000}))).await;
    assert_eq!(raw.head().await.header("content-type"), Some("text/event-stream"));
    let mut events = Events::new(raw);
    for at in 1..=5000 {
        assert_eq!(events.next().await.unwrap().json()["params"]["at"], at);
    }
    assert_eq!(events.next().await.unwrap().json()["result"], "counted");
    assert_eq!(events.next().await, None);
    let (status, _) = server.exchange("POST", &headers("x"), &notification("x")).await;
    assert_eq!(status, 202);
    server.hears(&Heard::Message("x".to_owned())).await;
}

#[tokio::test]
async fn leaving_drops_what_serves() {
    let mut server = Server::inline(EndpointConfig::new()).await;
    // Before anything was said, and after.
    for method in ["wait", "ask"] {
        let mut raw = server.raw().await;
        raw.send("POST", &headers(method), &modern(1, method, json!({}))).await;
        server.hears(&Heard::Message(method.to_owned())).await;
        if method == "ask" {
            assert_eq!(raw.head().await.status, 200);
        }
        drop(raw);
        server.hears(&Heard::Ended).await;
    }
    assert_eq!(
        server.exchange("POST", &headers("echo"), &modern(1, "echo", json!({}))).await.0,
        200,
        "and nothing else"
    );
}

#[tokio::test]
async fn a_panic_ends_only_what_panicked() {
    let server = Server::inline(EndpointConfig::new()).await;
    let client = server.open("2025-11-25").await;
    let (status, body) = server.exchange("POST", &headers("panic"), &modern(7, "panic", json!({}))).await;
    let error: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &error["id"], &error["error"]["code"]), (500, &json!(7), &json!(-32603)));
    assert_eq!(client.post(&request(1, "echo", json!({}))).await.0, 200);
    // In a session, the session has panicked.
    assert_eq!(client.post(&request(2, "panic", json!({}))).await.0, 500);
    assert_eq!(client.post(&request(3, "echo", json!({}))).await.0, 404);
    assert_eq!(server.exchange("POST", &[], &initialize("2025-11-25")).await.0, 200);
}

/// The messages that a test receives from an endpoint without a socket.
pub(super) fn endpoint(config: EndpointConfig) -> (Endpoint, mpsc::UnboundedReceiver<Heard>) {
    let (say, heard) = mpsc::unbounded();
    (Endpoint::serving(config, Inline(move |connection| serve_connection(connection, say.clone()))), heard)
}

#[tokio::test(start_paused = true)]
async fn time_passes_while_it_runs() {
    let config =
        EndpointConfig::new().idle(Duration::from_secs(600)).opening_timeout(Duration::from_secs(600));
    let config = config.keep_alive(Duration::from_secs(10));
    let (mut endpoint, _heard) = endpoint(config);
    let running = tokio::spawn(endpoint.run());
    // A long time in which nothing happens, after which the clock has to be started again.
    for _ in 0..2 {
        let start = tokio::time::Instant::now();
        let slow = call(&mut endpoint, "POST", &headers("wait"), &modern(1, "wait", json!({}))).await;
        assert_eq!(slow.headers()["content-type"], "text/event-stream");
        let mut body = slow.into_body();
        for _ in 0..3 {
            assert_eq!(piece(&mut body).await.as_deref(), Some(":\n\n"));
        }
        let took = start.elapsed();
        assert!((Duration::from_secs(29)..Duration::from_secs(34)).contains(&took), "{took:?}");
        drop(body);
        tokio::time::sleep(Duration::from_secs(5000)).await;
    }

    let response = call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await;
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let headers = [("mcp-session-id", session.as_str())];
    drop(response);
    for (wait, status) in [(500, 202), (500, 202), (700, 404)] {
        tokio::time::sleep(Duration::from_secs(wait)).await;
        assert_eq!(call(&mut endpoint, "POST", &headers, &notification("x")).await.status(), status);
    }
    endpoint.shutdown(Duration::ZERO).await;
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn clock_stops_without_timed_entries() {
    let (mut endpoint, _heard) = endpoint(EndpointConfig::new());
    let polls = Arc::new(AtomicUsize::new(0));
    let mut running = Box::pin(endpoint.run());
    let counted = polls.clone();
    tokio::spawn(std::future::poll_fn(move |cx| {
        counted.fetch_add(1, Ordering::Relaxed);
        running.as_mut().poll(cx)
    }));
    // Here it goes, and then it has nothing to do any more.
    let slow = call(&mut endpoint, "POST", &headers("wait"), &modern(1, "wait", json!({}))).await;
    assert!(polls.load(Ordering::Relaxed) > 10);
    drop(slow);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let before = polls.load(Ordering::Relaxed);
    for _ in 0..100 {
        let response = call(&mut endpoint, "POST", &headers("echo"), &modern(1, "echo", json!({}))).await;
        assert_eq!(response.status(), 200);
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(polls.load(Ordering::Relaxed), before, "woken for what was answered at once");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_comes_while_the_endpoint_is_shut_is_not_waited_for() {
    let (mut endpoint, _heard) = endpoint(EndpointConfig::new());
    let late = call(&mut endpoint, "POST", &headers("wait"), &modern(1, "wait", json!({})));
    let _shutdown = endpoint.shutdown(Duration::from_secs(60));
    assert_eq!(late.await.status(), 503, "its body came too late");
    let later = call(&mut endpoint, "POST", &headers("echo"), &modern(1, "echo", json!({})));
    assert_eq!(later.await.status(), 503);
}

#[tokio::test]
async fn several_share_a_listener_and_a_shutdown() {
    let (stop, stopped) = oneshot::channel::<()>();
    let (one, heard_one) = endpoint(EndpointConfig::new());
    let (two, heard_two) = endpoint(EndpointConfig::new().era(Era::Modern));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let routes = Routes::new().at("/mcp", one).at("/two/mcp", two);
    let server = serve(listener, routes).shutdown(stopped.map(drop)).into_future();
    let server = Server { port, heard: heard_one, tasks: vec![tokio::spawn(server)] };

    let mut session = {
        let client = server.open("2025-11-25").await;
        client.get().await
    };
    session.next().await.unwrap();
    let mut two = Raw::mcp(port).await;
    let body = modern(1, "ask", json!({}));
    let head = "Host: localhost\r\nContent-Type: application/json\r\nMcp-Method: ask\r\nMCP-Protocol-Version: 2026-07-28";
    let length = body.len();
    two.write(
        format!("POST /two/mcp HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes(),
    )
    .await;
    assert_eq!(two.head().await.status, 200);
    let mut two = Events::new(two);
    two.next().await.unwrap();
    for path in ["/", "/mcp//", "/two", "/two/mcp2"] {
        let mut raw = Raw::mcp(port).await;
        raw.write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await;
        assert_eq!(raw.head().await.status, 404, "{path}");
    }

    stop.send(()).unwrap();
    let ending = async {
        assert_eq!(session.next().await, None);
        assert_eq!(two.next().await, None);
        for task in server.tasks {
            task.await.unwrap();
        }
    };
    let grace = Duration::from_secs(5);
    tokio::time::timeout(grace, ending).await.expect("nobody waits until the time to finish is over");
    drop((server.heard, heard_two));
}

#[tokio::test]
async fn unfinished_requests_are_dropped_after_the_grace() {
    let (stop, stopped) = oneshot::channel::<()>();
    let (dropped, hung) = mpsc::unbounded::<()>();
    let (begin, mut begun) = mpsc::unbounded::<()>();
    let endpoint = Endpoint::serving(
        EndpointConfig::new(),
        Inline(move |connection: Connection| {
            let dropped = dropped.clone();
            begin.unbounded_send(()).expect("the test waits for it");
            async move {
                let _dropped = dropped;
                let _connection = connection;
                std::future::pending::<()>().await;
            }
        }),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let front = serve(listener, endpoint).grace(Duration::from_millis(50)).shutdown(stopped.map(drop));
    let front = tokio::spawn(front.into_future());
    let (mut session, mut request) = (Raw::mcp(port).await, Raw::mcp(port).await);
    session.send("POST", &[], &initialize("2025-11-25")).await;
    request.send("POST", &headers("x"), &modern(1, "x", json!({}))).await;
    assert!(session.read().now_or_never().is_none() && request.read().now_or_never().is_none());
    for _ in 0..2 {
        let next = tokio::time::timeout(PATIENCE, futures::StreamExt::next(&mut begun)).await;
        next.expect("both are served in time");
    }
    stop.send(()).unwrap();
    front.await.unwrap();
    for mut raw in [session, request] {
        let head = raw.head().await;
        let body = raw.body(&head).await;
        assert!(body.contains("shutting down"), "{body}");
        assert_eq!(raw.read().await, 0);
    }
    let all = futures::StreamExt::collect::<Vec<()>>(hung);
    tokio::time::timeout(Duration::from_secs(5), all).await.expect("everything was dropped");
}

/// A function that blocks its thread stalls its own client only, in a session and without one. The runtime has other work: after
/// a thread that has found one task to do no thread waits for sockets, until another thread is woken.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn blocked_thread_stalls_no_other_client() {
    let (runtime, (other_work, end)) = (tokio::runtime::Handle::current(), std::sync::mpsc::channel::<()>());
    std::thread::spawn(move || {
        while end.recv_timeout(Duration::from_millis(10)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            runtime.spawn(async {});
        }
    });
    let ((release, released), (begin, mut begun)) =
        (std::sync::mpsc::channel::<()>(), mpsc::unbounded::<()>());
    let released = Arc::new(std::sync::Mutex::new(released));
    let block = move || {
        begin.unbounded_send(()).expect("the test waits for it");
        let _ = released.lock().unwrap().recv();
    };
    let (block_session, block_exchange) = (block.clone(), block);
    let session = move |mut connection: server::Connection| {
        let block = block_session.clone();
        async move {
            while let Some(Ok(packet)) = connection.next().await {
                if format!("{packet:?}").contains("block") {
                    block();
                }
                let Packet::Frame { frame: Frame::Single(Message::Request(request)), .. } = packet else {
                    continue;
                };
                let answer = Response::new(request.id, Ok(request.params.unwrap_or(RawJson::EMPTY_OBJECT)));
                let _ = connection.send(Message::from(answer).into()).await;
            }
        }
    };
    let exchange = move |exchange: Exchange| {
        let block = block_exchange.clone();
        async move {
            if exchange.request.method == "block" {
                block();
            }
            Response::new(exchange.request.id, Ok(RawJson::EMPTY_OBJECT))
        }
    };
    let endpoint = Endpoint::serving(EndpointConfig::new(), service_fn(session, exchange));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(serve(listener, endpoint).into_future());
    let (mut one, mut two) = (Raw::mcp(port).await, Raw::mcp(port).await);
    let (head, _) = two.exchange("POST", &[], &initialize("2025-11-25")).await;
    let session = [("Mcp-Session-Id", head.header("mcp-session-id").unwrap())];
    two.send("POST", &session, &request(1, "block", json!({}))).await;
    one.send("POST", &headers("block"), &modern(1, "block", json!({}))).await;
    for _ in 0..2 {
        tokio::time::timeout(PATIENCE, begun.next()).await.expect("both block");
    }
    for _ in 0..3 {
        let mut other = Raw::mcp(port).await;
        let (head, _) = other.exchange("POST", &headers("echo"), &modern(1, "echo", json!({}))).await;
        assert_eq!(head.status, 200);
        let (head, _) = other.exchange("POST", &[], &initialize("2025-11-25")).await;
        assert_eq!(head.status, 200);
    }
    drop(release);
    for mut raw in [one, two] {
        assert_eq!(raw.head().await.status, 200);
    }
    drop(other_work);
}

#[tokio::test]
async fn sessions_run_by_the_given_spawner() {
    let kinds = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = kinds.clone();
    let mut endpoint = Endpoint::serving(
        EndpointConfig::new(),
        Inline(move |connection: Connection| {
            seen.lock().unwrap().push(connection.is_session());
            serve_connection(connection, mpsc::unbounded().0)
        }),
    );
    let spawned = Arc::new(AtomicUsize::new(0));
    let counted = spawned.clone();
    tokio::spawn(endpoint.run_with(Spawner::new(move |task| {
        counted.fetch_add(1, Ordering::Relaxed);
        drop(tokio::spawn(task));
    })));
    assert_eq!(call(&mut endpoint, "POST", &[], &initialize("2025-11-25")).await.status(), 200);
    let response = call(&mut endpoint, "POST", &headers("echo"), &modern(1, "echo", json!({}))).await;
    assert_eq!(response.status(), 200);
    assert_eq!((spawned.load(Ordering::Relaxed), &*kinds.lock().unwrap()), (1, &vec![true, false]));
}
