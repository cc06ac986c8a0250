//! Answers that are compressed.

use std::io::Write;

use agentwire_transport::Packet;
use agentwire_transport_http::client::{Body, BoxError, Config, HttpClient, HttpError};
use agentwire_transport_http::sse::DecodeError;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::future::BoxFuture;
use futures::{FutureExt, SinkExt, StreamExt, stream};
use http::{Request, Response};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::mock::{Client, Mock, event, ok, open, result};

const JSON: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n";
const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n";

pub(super) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn large(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"text": "a message of some length, ".repeat(20_000)}})
}

/// In one part and in two, with its length and without, and cut after every few bytes.
#[tokio::test]
async fn json_may_be_compressed() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let text = large(1).to_string();
    let (first, second) = text.as_bytes().split_at(1000);
    for body in [gzip(text.as_bytes()), [gzip(first), gzip(second)].concat()] {
        client.call(1);
        let request = mock.next().await;
        assert_eq!(request.header("accept-encoding"), Some("gzip"));
        let length = format!("\r\nContent-Length: {}\r\n\r\n", body.len());
        request.finish(&[JSON.replace("\r\n\r\n", &length).as_bytes(), &body].concat()).await;
        assert_eq!(client.frame().await, large(1));

        client.call(1);
        let mut socket = mock.next().await.open(JSON).await;
        for piece in body.chunks(7) {
            socket.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        drop(socket);
        assert_eq!(client.frame().await, large(1));
    }
}

/// An event that has arrived is not held back until there is more.
#[tokio::test]
async fn events_arrive_one_by_one_through_compression() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    client.call(1);
    let mut socket = mock.next().await.open(EVENTS).await;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let note = |at: u64| json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"at": at}});
    for at in 0..50 {
        encoder.write_all(event("", &note(at)).as_bytes()).unwrap();
        encoder.flush().unwrap();
        socket.write_all(&std::mem::take(encoder.get_mut())).await.unwrap();
        assert_eq!(client.frame().await, note(at));
    }
    encoder.write_all(event("", &large(1)).as_bytes()).unwrap();
    socket.write_all(&encoder.finish().unwrap()).await.unwrap();
    assert_eq!(client.frame().await, large(1));
}

#[tokio::test]
async fn truncated_and_malformed_gzip_fails_the_call() {
    let mock = Mock::new().await;
    let mut client = mock.client();
    let whole = gzip(large(1).to_string().as_bytes());
    for body in [&b"no gzip"[..], b"", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        for head in [JSON, EVENTS] {
            client.call(1);
            mock.next().await.finish(&[head.as_bytes(), body].concat()).await;
            client.failed(1, |error| assert!(matches!(error, HttpError::Broken(_)), "{error:?}")).await;
        }
    }
    client.call(1);
    let refusal = "HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n\r\n";
    mock.next().await.finish(&[refusal.as_bytes(), &gzip(b"out of order")].concat()).await;
    client.failed(1, |error| assert!(error.to_string().contains("out of order"), "{error}")).await;
}

/// The limit holds for what comes out: a few KiB that become many MiB are given up long before their end.
#[tokio::test]
async fn a_decompression_bomb_goes_no_further_than_the_limit() {
    let limit = 1 << 20;
    let mock = Mock::new().await;
    let mut client = Client::new(open(mock.config().message_limit(limit)));
    let bomb = gzip(&vec![b' '; 16 << 20]);
    for (head, name) in [(JSON, ""), (EVENTS, "data:"), (EVENTS, ":")] {
        client.call(1);
        let body = [gzip(name.as_bytes()), bomb.clone()].concat();
        assert!(body.len() < 32 << 10);
        mock.next().await.finish(&[head.as_bytes(), &body].concat()).await;
        let is_too_long = |error: &HttpError| {
            matches!(error, HttpError::TooLong { .. } | HttpError::Stream(DecodeError::TooLong { .. }))
        };
        client.failed(1, |error| assert!(is_too_long(error), "{error:?}")).await;
    }
    client.call(1);
    mock.next().await.finish(&ok("", &result(1))).await;
    assert_eq!(client.frame().await, result(1));
}

/// A client that passes on what it got.
struct Raw;

impl HttpClient for Raw {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, BoxError>> {
        assert!(!request.headers().contains_key("accept-encoding"), "it is for the client to ask");
        let body = stream::iter([Ok(gzip(b"{}").into())]).boxed();
        let response = Response::builder().header("content-type", "application/json");
        async { Ok(response.header("content-encoding", "gzip").body(body)?) }.boxed()
    }
}

#[tokio::test]
async fn compressed_body_is_an_error_without_decompression() {
    let mut http = Config::new("http://localhost/").unwrap().open_with(Raw);
    http.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await.unwrap();
    let Some(Ok(Packet::RequestFailed { error: fault, .. })) = http.next().await else { panic!() };
    match HttpError::of(&fault) {
        Some(HttpError::ContentEncoding { coding, .. }) => assert_eq!(coding, "gzip"),
        other => panic!("{other:?}"),
    }
}
