//! The recording proxy, between clients that speak raw bytes and a server of this process.

use std::fs;
use std::time::Duration;

use agentwire_recording::http::{Proxy, Upstream, UpstreamBody};
use agentwire_recording::{RecorderConfig, SECRET_HEADERS, TransportKind};
use bytes::Bytes;
use futures::{FutureExt, StreamExt, stream};
use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LIMIT: Duration = Duration::from_secs(60);

/// A server that answers with the given type and pieces, and then either ends or goes on.
fn server(content_type: &'static str, pieces: Vec<&'static str>, goes_on: bool) -> Upstream {
    Box::new(move |_: Request<Bytes>| {
        let pieces = stream::iter(pieces.clone()).map(|piece| Ok(Bytes::from(piece)));
        let body: UpstreamBody = match goes_on {
            true => pieces.chain(stream::pending()).boxed(),
            false => pieces.boxed(),
        };
        let response = Response::builder().header("content-type", content_type).body(body);
        async { Ok(response.expect("a response")) }.boxed()
    })
}

/// Runs clients against the proxy for a server, and returns what they return, and the recording.
async fn run<T>(
    upstream: Upstream,
    change: impl FnOnce(Proxy) -> Proxy,
    clients: impl AsyncFnOnce(std::net::SocketAddr) -> T,
) -> (T, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let recorder = RecorderConfig::new(TransportKind::Http).create(&path).unwrap();
    let proxy = change(Proxy::new("http://server/mcp".parse().unwrap(), upstream, recorder.clone()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let done = async {
        tokio::select! {
            served = proxy.serve(listener) => match served.unwrap() {},
            done = clients(address) => done,
        }
    };
    let done = tokio::time::timeout(LIMIT, done).await.expect("in time");
    assert!(recorder.finish(LIMIT));
    (done, fs::read_to_string(&path).unwrap())
}

async fn connected(address: std::net::SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn until(stream: &mut TcpStream, words: &str) -> String {
    let mut text = String::new();
    while !text.contains(words) {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "{words:?} is not in {text:?}");
        text.push_str(str::from_utf8(&piece[..count]).unwrap());
    }
    text
}

const GET: &str = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn only_the_first_event_of_a_stream_is_held_back() {
    let lines = server("application/x-ndjson", vec!["{\"line\":1}\n"], true);
    run(lines, |proxy| proxy, async |address| until(&mut connected(address, GET).await, "\"line\":1").await)
        .await;
    let events = server(
        "text/event-stream",
        vec![": alive\n\n", "event: endpoint\n", "data: http://server/m\n\n"],
        true,
    );
    let (text, recorded) =
        run(events, |proxy| proxy, async |address| until(&mut connected(address, GET).await, "/m\n\n").await)
            .await;
    assert!(text.contains(": alive") && text.contains("data: http://127.0.0.1:"), "{text}");
    assert!(recorded.contains("\"text\":\"http://server/m\""), "{recorded}");
}

#[tokio::test]
async fn bodies_that_are_too_long_or_stall_are_refused_and_recorded() {
    let answer = || server("application/json", vec!["{}"], false);
    let post =
        |length: usize| format!("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
    let long = 33 << 20;
    let (text, recorded) = run(
        answer(),
        |proxy| proxy,
        async |address| {
            let mut stream = connected(address, &post(long)).await;
            stream.write_all(&vec![b'x'; long]).await.unwrap();
            until(&mut stream, "too long").await
        },
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    assert!(
        recorded.contains(&format!("\"length\":{long}")) && recorded.contains("\"status\":413"),
        "{recorded}"
    );
    assert!(recorded.len() < 8000);

    let (text, recorded) = run(
        answer(),
        |proxy| proxy.stall_limit(Duration::from_millis(100)),
        async |address| {
            let mut open = connected(address, "POST /x HT").await;
            assert_eq!(open.read_to_end(&mut Vec::new()).await.unwrap_or_default(), 0);
            until(&mut connected(address, &(post(10) + "begun")).await, "go on").await
        },
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert!(recorded.contains("\"text\":\"begun\""), "{recorded}");
}

#[tokio::test]
async fn the_bodies_of_all_requests_have_one_limit() {
    let answer = server("application/json", vec!["{}"], false);
    let (text, recorded) = run(
        answer,
        |proxy| proxy.bodies_limit(10_000),
        async |address| {
            let post = "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000\r\n\r\n";
            let mut first = connected(address, post).await;
            first.write_all(&[b'x'; 7000]).await.unwrap();
            // The proxy has read it once it answers another client.
            until(&mut connected(address, GET).await, "{}").await;
            let mut second = connected(address, post).await;
            second.write_all(&[b'y'; 8000]).await.unwrap();
            let refused = until(&mut second, "too many").await;
            first.write_all(&[b'x'; 1000]).await.unwrap();
            until(&mut first, "{}").await;
            refused
        },
    )
    .await;
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    assert!(recorded.contains("\"length\":8000") && recorded.contains("yyyy"), "{}", &recorded[..1000]);
}

#[tokio::test]
async fn a_connection_that_stays_open_holds_up_no_others() {
    let answer = server("application/json", vec!["{}"], true);
    let clients = async |address| {
        let _open = connected(address, GET).await;
        for _ in 0..4 {
            // Each leaves before the next one comes.
            until(&mut connected(address, GET).await, "{}").await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    run(answer, |proxy| proxy, clients).await;
}

#[tokio::test]
async fn every_header_of_a_secret_is_recorded_and_masked() {
    let headers: String =
        SECRET_HEADERS.iter().map(|name| format!("{name}: planted-{name}-secret\r\n")).collect();
    let request = GET.replace("\r\n\r\n", &format!("\r\n{headers}x-other: not recorded\r\n\r\n"));
    let answer = server("application/json", vec!["{}"], false);
    let (_, recorded) = run(
        answer,
        |proxy| proxy,
        async |address| until(&mut connected(address, &request).await, "{}").await,
    )
    .await;
    for name in SECRET_HEADERS {
        assert!(recorded.contains(&format!("[\"{name}\",\"«secret ")), "{name}: {recorded}");
    }
    assert!(!recorded.contains("planted") && !recorded.contains("x-other"), "{recorded}");
}
