//! The effects of time without messages, on a clock that is made up.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use agentwire_transport::Packet;
use agentwire_transport_http::server::{Body, Head, Principal};
use agentwire_transport_sse::server::{Connection, Endpoint, EndpointConfig, Stalled};
use bytes::Bytes;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, SinkExt, StreamExt};
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use http_body::Frame;
use tokio::time::Instant;
use tower_service::Service;

use crate::server::script::OfConnections;

/// An endpoint, and the connections of its clients. The futures that serve them wait for ever, so a connection decides alone.
fn endpoint(config: EndpointConfig) -> (Endpoint, UnboundedReceiver<Connection>) {
    let (connections, coming) = unbounded();
    let service = OfConnections(move |connection| {
        connections.unbounded_send(connection).unwrap();
        std::future::pending()
    });
    (Endpoint::serving(config, service), coming)
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"n"}"#;

/// The body of a request.
enum Sent {
    Text(Option<&'static str>),
    Never,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Text(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text.into())))),
            Self::Never => Poll::Pending,
        }
    }
}

async fn get(endpoint: &Endpoint) -> Response<Body> {
    let request = Request::get("/sse").header("host", "localhost");
    endpoint.clone().call(request.body(Sent::Text(None)).unwrap()).await.unwrap()
}

fn post(uri: &str, body: Sent) -> Request<Sent> {
    let request = Request::post(uri).header("host", "localhost").header("content-type", "application/json");
    request.body(body).unwrap()
}

async fn status(endpoint: &Endpoint, request: Request<Sent>) -> StatusCode {
    endpoint.clone().call(request).await.unwrap().status()
}

/// The next piece of a stream.
async fn next(body: &mut Body) -> Option<Result<String, String>> {
    let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    let text = |frame: Frame<Bytes>| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    Some(frame.map(text).map_err(|error| error.to_string()))
}

/// Opens a stream. Gives it, and where to post.
async fn open(endpoint: &Endpoint) -> (Body, String) {
    let mut body = get(endpoint).await.into_body();
    let first = next(&mut body).await.unwrap().unwrap();
    let uri = first.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_owned();
    (body, uri)
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_kept_alive() {
    let (endpoint, _links) = endpoint(EndpointConfig::new());
    let (mut body, uri) = open(&endpoint).await;
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 202);
    let started = Instant::now();
    for _ in 0..1000 {
        assert_eq!(next(&mut body).await, Some(Ok(":\n\n".to_owned())));
    }
    let took = started.elapsed().as_secs();
    assert!((14_999..15_010).contains(&took), "{took} s: a session lasts as long as its stream");
}

#[tokio::test(start_paused = true)]
async fn client_that_sends_no_message_is_cut() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (mut body, uri) = open(&endpoint).await;
    let started = Instant::now();
    while let Some(comment) = next(&mut body).await {
        assert_eq!(comment, Ok(":\n\n".to_owned()));
    }
    let took = started.elapsed().as_secs();
    assert!((60..62).contains(&took), "{took} s");
    drop(body);
    assert!(connections.next().await.unwrap().next().await.is_none());
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 404);
}

#[tokio::test(start_paused = true)]
async fn no_time_is_too_long_for_the_clock() {
    let config = EndpointConfig::new()
        .with_http(|http| http.keep_alive(Duration::MAX).opening_timeout(Duration::MAX).stall(Duration::MAX));
    let (endpoint, _links) = endpoint(config);
    let (mut body, _) = open(&endpoint).await;
    assert!(tokio::time::timeout(Duration::from_secs(1 << 20), next(&mut body)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn full_unread_stream_is_cut() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (mut body, uri) = open(&endpoint).await;
    let mut connection = connections.next().await.unwrap();
    let started = Instant::now();
    let mut sent = 0;
    let fault = loop {
        match connection.send(Packet::from_json(NOTE)).await {
            Ok(()) => sent += 1,
            Err(fault) => break fault,
        }
    };
    assert_eq!(started.elapsed().as_secs(), 30);
    assert!((1000..3000).contains(&sent), "{sent} messages of some 50 bytes wait in 64 KiB");
    let agentwire_transport::TransportError::Other(error) = fault else { panic!("{fault}") };
    assert_eq!(error.downcast_ref::<Stalled>().unwrap().after, Duration::from_secs(30));
    assert!(next(&mut body).await.unwrap().is_err(), "the end of a stream that was cut is not a clean one");
    assert!(connection.next().await.is_none());
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 404);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_read_in_time_is_not_cut() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new().with_http(|http| http.high_water(1)));
    let (mut body, _) = open(&endpoint).await;
    let mut connection = connections.next().await.unwrap();
    for _ in 0..10 {
        connection.send(Packet::from_json(NOTE)).await.unwrap();
        let (sent, read) = tokio::join!(connection.send(Packet::from_json(NOTE)), async {
            tokio::time::sleep(Duration::from_secs(29)).await;
            next(&mut body).await
        });
        sent.unwrap();
        assert!(read.unwrap().unwrap().contains("event: message"));
        next(&mut body).await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_is_refused() {
    let (endpoint, _links) = endpoint(EndpointConfig::new());
    let (_body, uri) = open(&endpoint).await;
    let started = Instant::now();
    assert_eq!(status(&endpoint, post(&uri, Sent::Never)).await, 408);
    assert_eq!(started.elapsed().as_secs(), 30);
}

#[tokio::test]
async fn a_session_is_found_only_by_its_principal() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new());
    let mut request = Request::get("/a/sse").header("host", "localhost").body(Sent::Text(None)).unwrap();
    request.extensions_mut().insert(Principal::new("one"));
    let mut body = endpoint.clone().call(request).await.unwrap().into_body();
    let first = next(&mut body).await.unwrap().unwrap();
    let uri = first.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end();
    assert!(uri.starts_with("/a/messages?"), "beside the stream: {uri}");
    let mut connection = connections.next().await.unwrap();
    assert_eq!(connection.head().extensions().get(), Some(&Principal::new("one")));
    assert_eq!(connection.head().headers()["host"], "localhost");
    for (expected, caller) in [(404, None), (404, Some("other")), (202, Some("one"))] {
        let mut request = post(uri, Sent::Text(Some(NOTE)));
        request.extensions_mut().extend({
            let mut extensions = http::Extensions::new();
            caller.map(|caller| extensions.insert(Principal::new(caller)));
            extensions
        });
        assert_eq!(status(&endpoint, request).await, expected, "{caller:?}");
    }
    let packet = connection.next().await.unwrap().unwrap();
    let Packet::Frame { source: Some(source), .. } = packet else { panic!("{packet:?}") };
    let head = source.downcast_ref::<Head>().unwrap();
    assert_eq!(head.extensions().get(), Some(&Principal::new("one")));
    assert!(uri.ends_with(head.uri().query().unwrap()), "that of the POST, not of the GET");
}

#[tokio::test]
async fn endpoint_that_shuts_down_takes_no_message_and_finishes_its_sessions() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new());
    let (mut body, uri) = open(&endpoint).await;
    let mut connection = connections.next().await.unwrap();
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 202);
    let _shutdown = endpoint.shutdown(Duration::from_secs(5));
    assert_eq!(get(&endpoint).await.status(), 503);
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 503);
    assert!(connections.next().now_or_never().is_none(), "no further client");
    assert!(connection.next().await.is_some(), "an accepted message is delivered");
    assert!(connection.next().await.is_none());
    connection.send(Packet::from_json(NOTE)).await.unwrap();
    assert!(next(&mut body).now_or_never().flatten().unwrap().unwrap().contains(NOTE));
    assert!(next(&mut body).now_or_never().is_none(), "it ends with its connection");
    drop(connection);
    assert_eq!(next(&mut body).await, None);
}

/// Counts its owners.
struct Counted;

impl Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

#[tokio::test]
async fn clients_that_do_not_wait_until_there_is_room_leave_nothing_behind() {
    let (endpoint, mut connections) = endpoint(EndpointConfig::new().with_http(|http| http.inbox_limit(1)));
    let (_body, uri) = open(&endpoint).await;
    let mut connection = connections.next().await.unwrap();
    let note = || post(&uri, Sent::Text(Some(NOTE)));
    assert_eq!(status(&endpoint, note()).await, 202);
    let counted = Arc::new(Counted);
    for _ in 0..100 {
        let waker = Waker::from(counted.clone());
        let mut left = endpoint.clone().call(note());
        assert!(left.poll_unpin(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(Arc::strong_count(&counted), 1);
    // Of those that wait, the first is woken when there is room. If it leaves without having taken it, the next is.
    let mut first = Box::pin(status(&endpoint, note()));
    assert!(futures::poll!(&mut first).is_pending());
    let told = async {
        assert!(connection.next().await.is_some());
        drop(first);
    };
    // The second is polled before there is room, and then only when it is woken.
    let mut second = FuturesUnordered::from_iter([status(&endpoint, note())]);
    let (second, ()) = futures::join!(second.next(), told);
    assert_eq!(second, Some(StatusCode::ACCEPTED));
}

#[tokio::test]
async fn connection_that_is_dropped_at_once_ends_its_stream() {
    let (endpoint, connections) = endpoint(EndpointConfig::new());
    let (mut body, uri) = open(&endpoint).await;
    drop(connections);
    assert_eq!(next(&mut body).await, None);
    assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 404);
}

/// The bounds of axum for a service that it routes to.
#[test]
fn an_endpoint_can_be_mounted_anywhere() {
    fn mountable<S>(_: &S)
    where
        S: Service<Request<Sent>, Response = Response<Body>, Error = std::convert::Infallible, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
    }
    mountable(&Endpoint::serving(EndpointConfig::new(), OfConnections(|_| async {})));
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"slow"}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
const GRACE: Duration = Duration::from_secs(10);

/// Each way in which a call ends: what ends it after 3 s, how long the shutdown takes then, and what the client reads.
#[tokio::test(start_paused = true)]
async fn a_shutdown_waits_for_the_calls_that_run_and_cuts_them_at_the_end_of_the_grace() {
    for (ending, took, last) in
        [("answer", 3, r#""result":{}"#), ("cancel", 3, ""), ("nothing", 10, "shutting down")]
    {
        let (endpoint, mut connections) = endpoint(EndpointConfig::new());
        let (mut body, uri) = open(&endpoint).await;
        let mut connection = connections.next().await.unwrap();
        assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(CALL)))).await, 202);
        connection.next().await.unwrap().unwrap();

        let begun = Instant::now();
        let shutdown = tokio::spawn(endpoint.shutdown(GRACE));
        assert_eq!(get(&endpoint).await.status(), 503);
        assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(CALL)))).await, 503);
        assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(NOTE)))).await, 202, "a call may need it");
        connection.next().await.unwrap().unwrap();
        let reading = tokio::spawn(async move {
            let mut text = String::new();
            while let Some(more) = next(&mut body).await {
                text += &more.unwrap();
            }
            text
        });
        tokio::time::sleep(Duration::from_secs(3)).await;
        match ending {
            "answer" => {
                let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
                connection.send(Packet::from_json(answer)).await.unwrap();
            }
            "cancel" => {
                assert_eq!(status(&endpoint, post(&uri, Sent::Text(Some(CANCEL)))).await, 202);
                connection.next().await.unwrap().unwrap();
            }
            _ => {}
        }
        assert!(connection.next().await.is_none(), "{ending}");
        drop(connection);
        shutdown.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), took, "{ending}");
        let text = reading.await.unwrap();
        assert!(text.contains(last), "{ending}: {text}");
    }
}
