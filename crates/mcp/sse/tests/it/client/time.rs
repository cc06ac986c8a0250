//! The waits of a client, on a clock that is made up, with an HTTP client whose answers are given.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::client::{Body, BoxError, HttpClient, HttpError, Wait};
use agentwire_transport_sse::client::{Config, Sse, SseError};
use bytes::Bytes;
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt};
use http::{Method, Request, Response};
use tokio::time::Instant;

type Pieces = mpsc::UnboundedSender<Result<Bytes, BoxError>>;

/// Answers a GET with a stream, and a POST never.
#[derive(Clone, Default)]
struct Scripted {
    streams: Arc<Mutex<Vec<Pieces>>>,
    /// A POST is refused in the poll that sends it.
    refuses: bool,
    /// Not even the head of the stream comes.
    silent: bool,
}

impl Scripted {
    fn send(&self, text: &'static str) {
        self.streams.lock().unwrap()[0].unbounded_send(Ok(text.into())).unwrap();
    }
}

impl HttpClient for Scripted {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        if self.refuses && request.method() == Method::POST {
            let refusal = Response::builder().status(503).body(futures::stream::empty().boxed());
            return futures::future::ready(Ok(refusal.unwrap())).boxed();
        }
        if self.silent || request.method() != Method::GET {
            return futures::future::pending().boxed();
        }
        let (pieces, body) = mpsc::unbounded();
        self.streams.lock().unwrap().push(pieces);
        let response = Response::builder().header("content-type", "text/event-stream");
        futures::future::ready(Ok(response.body(body.boxed()).unwrap())).boxed()
    }
}

fn config() -> Config {
    Config::new("http://localhost/sse").unwrap()
}

/// Opens a transport.
async fn open(config: Config) -> (Sse, Scripted) {
    let server = Scripted::default();
    let mut transport = config.open_with(server.clone());
    assert!(transport.opened().now_or_never().is_none());
    server.send("event: endpoint\ndata: /m\n\n");
    transport.opened().await.unwrap();
    (transport, server)
}

fn request(id: u64) -> Packet {
    Packet::from_json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
}

/// The task that reads waits already, and nothing else wakes it.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_while_its_request_is_written_wakes_the_reader() {
    let server = Scripted { refuses: true, ..Scripted::default() };
    let mut transport = config().open_with(server.clone());
    assert!(transport.opened().now_or_never().is_none());
    server.send("event: endpoint\ndata: /m\n\n");
    transport.opened().await.unwrap();
    let (mut writer, mut reader) = transport.split();
    let reading = tokio::spawn(async move { reader.next().await });
    tokio::task::yield_now().await;
    writer.send(request(1)).await.unwrap();
    let read = tokio::time::timeout(Duration::from_secs(1), reading).await.expect("it is woken").unwrap();
    assert!(matches!(read, Some(Ok(Packet::RequestFailed { .. }))), "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn missing_endpoint_event_is_an_error_in_time() {
    for (silent, text) in [(true, ""), (false, ""), (false, ": hello\n\nevent: other\ndata: x\n\nid: 1\n\n")]
    {
        let started = Instant::now();
        let server = Scripted { silent, ..Scripted::default() };
        let mut transport = config().open_with(server.clone());
        assert!(transport.opened().now_or_never().is_none());
        if !silent {
            server.send(text);
        }
        let error = transport.opened().await.unwrap_err();
        assert!(matches!(error, SseError::EndpointTimedOut { .. }), "{error:?}");
        assert_eq!(started.elapsed().as_secs(), 30);
    }
}

#[tokio::test(start_paused = true)]
async fn stream_may_be_silent_for_ever_without_an_idle_timeout() {
    let (mut transport, _server) = open(config()).await;
    let year = Duration::from_secs(365 * 24 * 60 * 60);
    assert!(tokio::time::timeout(year, transport.next()).await.is_err());

    let (mut transport, server) = open(config().idle_timeout(Some(Duration::from_secs(20)))).await;
    let started = Instant::now();
    for _ in 0..10 {
        assert!(tokio::time::timeout(Duration::from_secs(15), transport.next()).await.is_err());
        server.send(":\n\n");
    }
    let fault = transport.next().await.unwrap().unwrap_err();
    let error = SseError::of(&fault).unwrap();
    assert!(matches!(error, SseError::Http(HttpError::TimedOut { wait: Wait::NextByte, .. })), "{error:?}");
    assert_eq!(started.elapsed().as_secs(), 170);
    assert!(transport.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn posts_that_are_not_accepted_time_out() {
    let (mut transport, _server) = open(config()).await;
    let started = Instant::now();
    transport.send(request(1)).await.unwrap();
    transport.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"n"}"#)).await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 30, "the next message waits that long");
    transport.send(request(2)).await.unwrap();
    for (expected, after) in [(1_u64, 300), (2, 330)] {
        let Some(Ok(Packet::RequestFailed { id, error: fault })) = transport.next().await else {
            panic!("no failure");
        };
        assert_eq!((id, started.elapsed().as_secs()), (expected.into(), after));
        let error = SseError::of(&fault).unwrap();
        assert!(
            matches!(error, SseError::Http(HttpError::TimedOut { wait: Wait::FirstByte, .. })),
            "{error:?}"
        );
    }
}
